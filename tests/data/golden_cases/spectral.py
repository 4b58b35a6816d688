"""Spectral normalisation: three steps of gradient descent and an evaluation, batch of 4, float64."""

import torch
from torch import nn
from torch.nn.utils import parametrizations

from .golden_file import GoldenFile

BATCH, STEPS, RATE = 4, 3, 0.05

# name: (shape of a sample as PyTorch sees it, layer)
CASES = {
    "dense": ((7,), lambda: nn.Linear(7, 5)),
    "flattened": ((3, 2, 4), lambda: nn.Sequential(nn.Flatten(), nn.Linear(24, 5))),
    "conv1d": ((6, 9), lambda: nn.Conv1d(6, 4, 3, groups=2)),
    "conv2d": ((3, 6, 5), lambda: nn.Conv2d(3, 8, (3, 2), bias=False)),
    "conv3d": ((2, 5, 4, 6), lambda: nn.Conv3d(2, 3, (3, 2, 4))),
}


def generate():
    golden = GoldenFile()
    for case, (sample, make) in CASES.items():
        golden.begin(case)
        # Sequences are (time, features) in castnet.
        seen = (lambda x: x.mT) if case == "conv1d" else (lambda x: x)
        network = make()
        layer = network[1] if isinstance(network, nn.Sequential) else network
        parametrizations.spectral_norm(layer)
        original = layer.parametrizations.weight.original
        power = layer.parametrizations.weight[0]
        x = torch.randn(BATCH, *sample, requires_grad=True)
        grad_output = torch.randn_like(network.eval()(x))
        network.train()
        golden.put(case, input=seen(x), grad_output=seen(grad_output), weight_before=original,
                   u_before=power._u, v_before=power._v)
        if layer.bias is not None:
            golden.put(case, bias_before=layer.bias)
        for step in range(STEPS):
            x.grad = None
            network.zero_grad()
            y = network(x)
            y.backward(grad_output)
            golden.put(case, **{f"output_{step}": seen(y), f"grad_input_{step}": seen(x.grad)})
            with torch.no_grad():
                for parameter in network.parameters():
                    parameter -= RATE * parameter.grad
        golden.put(case, weight_after=original, u_after=power._u, v_after=power._v,
                   output_evaluation=seen(network.eval()(x)))
    return golden
