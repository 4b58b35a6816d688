"""Layers of images beyond convolution and pooling: outputs and gradients, batch of 4, float64."""

import torch
import torch.nn.functional as F

from .golden_file import GoldenFile
from .layers import BATCH, random

# input is (channels, height, width); weight is (channels, filters / groups, height, width).
TRANSPOSED = {
    "3": dict(input=(3, 5, 4), weight=(3, 4, 3, 3)),
    "2_stride2": dict(input=(8, 4, 3), weight=(8, 4, 2, 2), stride=2),
    "3_stride2_pad1_more1": dict(
        input=(3, 4, 5), weight=(3, 6, 3, 3), stride=2, padding=1, output_padding=1
    ),
    "3x4_stride3x2_pad1x2": dict(
        input=(2, 4, 5), weight=(2, 3, 3, 4), stride=(3, 2), padding=(1, 2), output_padding=(2, 0)
    ),
    "groups2_dilation2": dict(input=(4, 5, 4), weight=(4, 3, 3, 3), groups=2, dilation=2),
    "depthwise_4_stride2_pad1": dict(
        input=(16, 3, 2), weight=(16, 1, 4, 4), groups=16, stride=2, padding=1
    ),
}

IMAGE, SMALL_IMAGE = (3, 7, 8), (2, 3, 4)

WITHOUT_PARAMETERS = {
    "adaptive_avg_pool2d_5x3": lambda x: F.adaptive_avg_pool2d(x, (5, 3)),
    "adaptive_avg_pool2d_7x2": lambda x: F.adaptive_avg_pool2d(x, (7, 2)),
    "adaptive_avg_pool2d_10x3": lambda x: F.adaptive_avg_pool2d(x, (10, 3)),
    "adaptive_max_pool2d_5x3": lambda x: F.adaptive_max_pool2d(x, (5, 3)),
    "zero_pad2d_1_2_3_0": lambda x: F.pad(x, (3, 0, 1, 2)),
    "crop2d_1_2_3_0": lambda x: x[:, :, 1:-2, 3:],
    "reflection_pad2d_1_2_3_0": lambda x: F.pad(x, (3, 0, 1, 2), mode="reflect"),
    "replication_pad2d_1_2_3_0": lambda x: F.pad(x, (3, 0, 1, 2), mode="replicate"),
    "circular_pad2d_1_2_3_0": lambda x: F.pad(x, (3, 0, 1, 2), mode="circular"),
}


SMALL = {
    "upsample_bilinear_2": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "upsample_bilinear_3": lambda x: F.interpolate(x, scale_factor=3, mode="bilinear"),
    "unfold2d_2": lambda x: F.unfold(x, 2),
    "unfold2d_2x3_stride2x1_pad1x2_dilation2x1": lambda x: F.unfold(
        x, (2, 3), stride=(2, 1), padding=(1, 2), dilation=(2, 1)
    ),
}


def transposed(golden, case, input, weight, **arguments):
    golden.begin(case, dict(input=input, weight=weight, **arguments))
    inputs = dict(
        input=random(BATCH, *input),
        weight=random(*weight),
        bias=random(weight[1] * arguments.get("groups", 1)),
    )
    golden.put_gradients(case, F.conv_transpose2d(**inputs, **arguments), inputs)


def separable(golden, case):
    golden.begin(case, "3 to 5 channels, kernel 3, stride 2, padding 1")
    inputs = {
        "input": random(BATCH, *IMAGE),
        "depthwise.weight": random(3, 1, 3, 3),
        "pointwise.weight": random(5, 3, 1, 1),
        "pointwise.bias": random(5),
    }
    x, depthwise, pointwise, bias = inputs.values()
    x = F.conv2d(x, depthwise, stride=2, padding=1, groups=3)
    golden.put_gradients(case, F.conv2d(x, pointwise, bias), inputs)


def squeeze_excitation(golden, case, activation, scale):
    golden.begin(case, "6 channels, 2 in between")
    inputs = {
        "input": random(BATCH, 6, 4, 5),
        "fc1.weight": random(2, 6, 1, 1),
        "fc1.bias": random(2),
        "fc2.weight": random(6, 2, 1, 1),
        "fc2.bias": random(6),
    }
    x, *fc = inputs.values()
    y = F.conv2d(F.adaptive_avg_pool2d(x, 1), fc[0], fc[1])
    y = F.conv2d(activation(y), fc[2], fc[3])
    golden.put_gradients(case, scale(y) * x, inputs)


def generate():
    golden = GoldenFile()
    for case, arguments in TRANSPOSED.items():
        transposed(golden, f"conv_transpose2d_{case}", **arguments)
    for sample, cases in ((IMAGE, WITHOUT_PARAMETERS), (SMALL_IMAGE, SMALL)):
        for case, function in cases.items():
            golden.begin(case)
            x = random(BATCH, *sample)
            golden.put_gradients(case, function(x), dict(input=x))
    for case, slopes in dict(prelu=1, prelu_per_channel=3).items():
        golden.begin(case, "the weight as given")
        inputs = dict(input=random(BATCH, *IMAGE), weight=random(slopes))
        golden.put_gradients(case, F.prelu(**inputs), inputs)
    separable(golden, "separable_conv2d")
    squeeze_excitation(golden, "squeeze_excitation", F.relu, torch.sigmoid)
    squeeze_excitation(golden, "squeeze_excitation_hard", F.silu, lambda x: F.relu6(x + 3) / 6)
    return golden
