"""Layers of volumes (channels, depth, height, width): outputs and gradients, batch of 4, float64."""

import torch
import torch.nn.functional as F
from torch import nn

from .golden_file import GoldenFile
from .graphs import record
from .layers import BATCH, random

VOLUME = (2, 4, 5, 3)

# What is left out is stride 1, padding 0, dilation 1, groups 1.
CONVOLUTIONS = {
    "conv3d_2": dict(filters=4, kernel=(2, 2, 2)),
    "conv3d_same_3": dict(filters=3, kernel=(3, 3, 3), padding="same"),
    "conv3d_stride2_pad1": dict(filters=3, kernel=(3, 3, 3), stride=2, padding=1),
    "conv3d_kernel312_stride213_pad201": dict(
        filters=3, kernel=(3, 1, 2), stride=(2, 1, 3), padding=(2, 0, 1)
    ),
    "conv3d_dilation2_pad2": dict(filters=2, kernel=(2, 3, 2), dilation=2, padding=2),
    "conv3d_dilation213_pad201": dict(
        filters=3, kernel=(2, 3, 2), dilation=(2, 1, 3), padding=(2, 0, 1), stride=(1, 1, 2)
    ),
    "conv3d_dilation121": dict(filters=2, kernel=(3, 3, 2), dilation=(1, 2, 1)),
    "conv3d_groups2": dict(filters=4, kernel=(2, 3, 1), groups=2),
    "conv3d_depthwise": dict(filters=2, kernel=(3, 3, 3), groups=2, padding=1),
    "conv3d_kernel133": dict(filters=4, kernel=(1, 3, 3), padding=(0, 1, 1)),
    "conv3d_kernel311": dict(filters=4, kernel=(3, 1, 1)),
}

# What is left out is stride 1, padding 0, output_padding 0, dilation 1, groups 1.
TRANSPOSED = {
    "conv_transpose3d_2_stride2": dict(filters=3, kernel=(2, 2, 2), stride=2),
    "conv_transpose3d_kernel312_stride213_pad101_more001": dict(
        filters=2,
        kernel=(3, 1, 2),
        stride=(2, 1, 3),
        padding=(1, 0, 1),
        output_padding=(0, 0, 1),
    ),
    "conv_transpose3d_groups2_dilation2": dict(
        filters=4, kernel=(2, 2, 2), groups=2, dilation=2
    ),
    "conv_transpose3d_dilation132_stride212": dict(
        filters=3, kernel=(2, 2, 3), dilation=(1, 3, 2), stride=(2, 1, 2), padding=(0, 1, 0)
    ),
    "conv_transpose3d_kernel122": dict(filters=2, kernel=(1, 2, 2)),
}

POOLINGS = {
    "max_pool3d_2": lambda x: F.max_pool3d(x, 2),
    "max_pool3d_kernel323_stride211_pad101": lambda x: F.max_pool3d(
        x, (3, 2, 3), (2, 1, 1), (1, 0, 1)
    ),
    "max_pool3d_kernel122": lambda x: F.max_pool3d(x, (1, 2, 2)),
    "avg_pool3d_kernel211": lambda x: F.avg_pool3d(x, (2, 1, 1)),
    "avg_pool3d_2": lambda x: F.avg_pool3d(x, 2),
    "avg_pool3d_kernel323_stride211_pad101": lambda x: F.avg_pool3d(
        x, (3, 2, 3), (2, 1, 1), (1, 0, 1), count_include_pad=False
    ),
    "avg_pool3d_3_pad1_counted": lambda x: F.avg_pool3d(x, 3, 3, 1),
    "global_avg_pool3d": lambda x: x.mean((2, 3, 4)),
    "global_max_pool3d": lambda x: x.amax((2, 3, 4)),
    "adaptive_avg_pool3d_232": lambda x: F.adaptive_avg_pool3d(x, (2, 3, 2)),
    "adaptive_avg_pool3d_3": lambda x: F.adaptive_avg_pool3d(x, 3),
    "adaptive_avg_pool3d_up_665": lambda x: F.adaptive_avg_pool3d(x, (6, 6, 5)),
    "adaptive_max_pool3d_232": lambda x: F.adaptive_max_pool3d(x, (2, 3, 2)),
    "adaptive_max_pool3d_152": lambda x: F.adaptive_max_pool3d(x, (1, 5, 2)),
    "upsample3d_2": lambda x: F.interpolate(x, scale_factor=2),
    "upsample3d_trilinear_2": lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"),
}


class UShaped(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv3d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm3d(4)
        self.bottom = nn.Conv3d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose3d(8, 4, 2, stride=2)
        self.head = nn.Conv3d(8, 1, 1)

    def forward(self, x):
        skip = F.relu(self.norm(self.down(x)))
        x = F.relu(self.bottom(F.max_pool3d(skip, 2)))
        return self.head(torch.cat([F.relu(self.up(x)), skip], dim=1))


def convolution(golden, case, function, weight, filters, **arguments):
    golden.begin(case, arguments)
    inputs = dict(input=random(BATCH, *VOLUME), weight=random(*weight), bias=random(filters))
    golden.put_gradients(case, function(*inputs.values(), **arguments), inputs)


def squeeze_excitation(golden, case):
    golden.begin(case, "3 channels in between")
    inputs = {
        "input": random(BATCH, *VOLUME),
        "fc1.weight": random(3, 2, 1, 1, 1),
        "fc1.bias": random(3),
        "fc2.weight": random(2, 3, 1, 1, 1),
        "fc2.bias": random(2),
    }
    x, *fc = inputs.values()
    y = F.relu(F.conv3d(F.adaptive_avg_pool3d(x, 1), fc[0], fc[1]))
    golden.put_gradients(case, torch.sigmoid(F.conv3d(y, fc[2], fc[3])) * x, inputs)


def conv_lstm(golden, case, filters, kernel, stride, padding):
    """Keras' ConvLSTM2D of (channels, time, height, width); the states of all steps."""
    golden.begin(case, dict(filters=filters, kernel=kernel, stride=stride, padding=padding))
    inputs = dict(
        input=random(BATCH, 2, 4, 5, 6),
        weight_ih=random(4 * filters, 2, *kernel),
        weight_hh=random(4 * filters, filters, *kernel),
        bias=random(4 * filters),
    )
    h = c = None
    states = []
    for x in inputs["input"].unbind(2):
        gates = F.conv2d(x, inputs["weight_ih"], inputs["bias"], stride, padding)
        if h is not None:
            gates = gates + F.conv2d(h, inputs["weight_hh"], padding="same")
        i, f, g, o = gates.chunk(4, 1)
        c = i.sigmoid() * g.tanh() + (0 if c is None else f.sigmoid() * c)
        h = o.sigmoid() * c.tanh()
        states.append(h)
    golden.put_gradients(case, torch.stack(states, 2), inputs)


def generate():
    golden = GoldenFile()
    for case, arguments in CONVOLUTIONS.items():
        kernel, filters = arguments.pop("kernel"), arguments["filters"]
        channels = VOLUME[0] // arguments.get("groups", 1)
        convolution(golden, case, F.conv3d, (filters, channels, *kernel), **arguments)
    for case, arguments in TRANSPOSED.items():
        kernel = arguments.pop("kernel")
        each = arguments["filters"] // arguments.get("groups", 1)
        convolution(golden, case, F.conv_transpose3d, (VOLUME[0], each, *kernel), **arguments)
    for case, function in POOLINGS.items():
        golden.begin(case)
        x = random(BATCH, *VOLUME)
        golden.put_gradients(case, function(x), dict(input=x))
    squeeze_excitation(golden, "squeeze_excitation")
    record(
        golden,
        "u_shaped",
        UShaped,
        F.binary_cross_entropy_with_logits,
        lambda: dict(input=torch.randn(4, 1, 4, 6, 4)),
        lambda: torch.randint(0, 2, (4, 1, 4, 6, 4)).double(),
        weight=[1.0, 0.0, 2.0, 0.5],
    )
    conv_lstm(golden, "conv_lstm", filters=3, kernel=(3, 3), stride=1, padding="same")
    conv_lstm(golden, "conv_lstm_stride2", filters=2, kernel=(3, 2), stride=2, padding=(1, 0))
    return golden
