"""Normalisations of samples: outputs and gradients, batch of 4, float64."""

import torch
import torch.nn.functional as F

from .golden_file import GoldenFile

BATCH = 4
IMAGE, SEQUENCE = (6, 3, 4), (5, 6)

# name: (shape of a sample as PyTorch sees it, shape of weight and bias, function)
CASES = {
    "layer_norm": (SEQUENCE, (6,), lambda x, **p: F.layer_norm(x, (6,), **p)),
    "layer_norm_features": ((7,), (7,), lambda x, **p: F.layer_norm(x, (7,), **p)),
    "layer_norm_image": (IMAGE, IMAGE, lambda x, **p: F.layer_norm(x, IMAGE, **p)),
    "rms_norm": (SEQUENCE, (6,), lambda x, weight: F.rms_norm(x, (6,), weight, 1e-6)),
    "group_norm_2": (IMAGE, (6,), lambda x, **p: F.group_norm(x, 2, **p)),
    "group_norm_1": (IMAGE, (6,), lambda x, **p: F.group_norm(x, 1, **p)),
    "group_norm_features": ((6,), (6,), lambda x, **p: F.group_norm(x, 3, **p)),
    "instance_norm": (IMAGE, (6,), lambda x, **p: F.instance_norm(x, **p)),
    "local_response_norm_5": (IMAGE, None, lambda x: F.local_response_norm(x, 5, 0.3, 0.75, 2)),
    "local_response_norm_4": (
        (6, 5),
        None,
        lambda x: F.local_response_norm(x.mT, 4, alpha=2.0, beta=1.5).mT,
    ),
    "instance_norm_plain": (IMAGE, None, lambda x: F.instance_norm(x)),
}


def generate():
    golden = GoldenFile()
    for case, (sample, affine, function) in CASES.items():
        golden.begin(case)
        inputs = dict(input=(3 * torch.randn(BATCH, *sample) + 2).requires_grad_())
        if affine:
            inputs["weight"] = (torch.rand(affine) + 0.5).requires_grad_()
        if affine and not case.startswith("rms_norm"):
            inputs["bias"] = torch.randn(affine).requires_grad_()
        parameters = {name: value for name, value in inputs.items() if name != "input"}
        golden.put_gradients(case, function(inputs["input"], **parameters), inputs)
    return golden
