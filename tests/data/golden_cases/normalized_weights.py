"""Spectral and weight normalisation: three steps of gradient descent and an evaluation, batch of 4, float64."""

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
    "conv2d_groups": ((4, 6, 5), lambda: nn.Conv2d(4, 6, 3, padding=1, groups=2)),
    "depthwise": ((3, 6, 5), lambda: nn.Conv2d(3, 6, 3, groups=3)),
    "conv3d": ((2, 5, 4, 6), lambda: nn.Conv3d(2, 3, (3, 2, 4))),
    "conv3d_groups": ((4, 3, 4, 4), lambda: nn.Conv3d(4, 2, 2, groups=2)),
    "conv_transpose1d": ((6, 5), lambda: nn.ConvTranspose1d(6, 4, 4, 2, 1, groups=2)),
    "conv_transpose2d": ((3, 4, 5), lambda: nn.ConvTranspose2d(3, 5, (3, 2), 2, 1, bias=False)),
    "conv_transpose2d_groups": ((4, 3, 4), lambda: nn.ConvTranspose2d(4, 6, 3, 2, groups=2)),
    "conv_transpose3d": ((2, 2, 3, 3), lambda: nn.ConvTranspose3d(2, 3, (3, 2, 2), 2)),
}


def spectral_norm(layer):
    """Normalises the layer; returns its tensors by castnet's names."""
    parametrizations.spectral_norm(layer)
    weight = layer.parametrizations.weight
    return {"weight": weight.original, "u": weight[0]._u, "v": weight[0]._v}


def weight_norm(layer):
    parametrizations.weight_norm(layer)
    weight = layer.parametrizations.weight
    return {"weight": weight.original1, "g": weight.original0}


def generate():
    golden = GoldenFile()
    for prefix, normalize in {"spectral_norm": spectral_norm, "weight_norm": weight_norm}.items():
        for case, (sample, make) in CASES.items():
            golden.begin(f"{prefix}/{case}")
            run(golden, f"{prefix}/{case}", normalize, sample, make())
    return golden


def run(golden, case, normalize, sample, network):
    # Sequences are (time, features) in castnet.
    seen = (lambda x: x.mT) if len(sample) == 2 else (lambda x: x)
    layer = network[1] if isinstance(network, nn.Sequential) else network
    tensors = normalize(layer)

    def put_tensors(when):
        golden.put(case, **{f"{name}_{when}": tensor.flatten() if name == "g" else tensor
                            for name, tensor in tensors.items()})

    x = torch.randn(BATCH, *sample, requires_grad=True)
    grad_output = torch.randn_like(network.eval()(x))
    network.train()
    golden.put(case, input=seen(x), grad_output=seen(grad_output))
    put_tensors("before")
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
    put_tensors("after")
    golden.put(case, output_evaluation=seen(network.eval()(x)))
