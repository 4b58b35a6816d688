"""Layers: outputs and gradients, batch of 4, float64."""

import torch
import torch.nn.functional as F

from .golden_file import GoldenFile

BATCH = 4

# input is (channels, height, width); what is left out is stride 1, padding 0, dilation 1, groups 1.
CONVOLUTIONS = {
    "conv2d_3x3": dict(input=(3, 8, 9), filters=8, kernel=(3, 3)),
    "conv2d_one_channel": dict(input=(1, 8, 9), filters=16, kernel=(3, 3)),
    "conv2d_stride2": dict(input=(3, 9, 8), filters=10, kernel=(3, 3), stride=2),
    "conv2d_pad1": dict(input=(3, 7, 8), filters=8, kernel=(3, 3), padding=1),
    "conv2d_stride2_pad1": dict(input=(3, 8, 9), filters=8, kernel=(3, 3), stride=2, padding=1),
    "conv2d_same_kernel3x5": dict(input=(3, 7, 8), filters=8, kernel=(3, 5), padding="same"),
    "conv2d_same_kernel2": dict(input=(3, 6, 7), filters=8, kernel=(2, 2), padding="same"),
    "conv2d_same_kernel4": dict(input=(3, 7, 8), filters=10, kernel=(4, 4), padding="same"),
    "conv2d_pad1x2": dict(input=(3, 7, 6), filters=8, kernel=(3, 3), padding=(1, 2)),
    "conv2d_kernel3x5": dict(input=(3, 8, 9), filters=8, kernel=(3, 5)),
    "conv2d_dilation2": dict(input=(3, 9, 8), filters=8, kernel=(3, 3), dilation=2),
    "conv2d_dilation3x1": dict(input=(3, 9, 8), filters=8, kernel=(3, 3), dilation=(3, 1)),
    "conv2d_groups2": dict(input=(4, 7, 8), filters=10, kernel=(3, 3), padding=1, groups=2),
    "conv2d_depthwise": dict(input=(8, 7, 6), filters=8, kernel=(3, 3), padding=1, groups=8),
    "conv2d_depthwise_multiplier2": dict(input=(3, 7, 6), filters=6, kernel=(3, 3), groups=3),
    "conv2d_1x1": dict(input=(3, 6, 7), filters=16, kernel=(1, 1)),
    "conv2d_1x1_stride2": dict(input=(3, 7, 6), filters=8, kernel=(1, 1), stride=2),
    "conv2d_kernel7_stride2_pad3": dict(
        input=(3, 11, 12), filters=16, kernel=(7, 7), stride=2, padding=3
    ),
    "conv2d_no_bias": dict(input=(3, 7, 8), filters=8, kernel=(3, 3), bias=False),
}

IMAGE = (3, 7, 8)

# name: (shape of a sample, function)
WITHOUT_PARAMETERS = {
    "max_pool2d_2": (IMAGE, lambda x: F.max_pool2d(x, 2)),
    "max_pool2d_kernel3_stride2": (IMAGE, lambda x: F.max_pool2d(x, 3, 2)),
    "max_pool2d_kernel3_stride2_pad1": (IMAGE, lambda x: F.max_pool2d(x, 3, 2, 1)),
    "avg_pool2d_2": (IMAGE, lambda x: F.avg_pool2d(x, 2)),
    "avg_pool2d_kernel3_stride2": (IMAGE, lambda x: F.avg_pool2d(x, 3, 2)),
    "avg_pool2d_kernel3_stride2_pad1_exclude_pad": (
        IMAGE,
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    ),
    "avg_pool2d_kernel3_stride2_pad1_include_pad": (
        IMAGE,
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=True),
    ),
    "global_avg_pool2d": (IMAGE, lambda x: x.mean(dim=(2, 3))),
    "global_max_pool2d": (IMAGE, lambda x: x.amax(dim=(2, 3))),
    "adaptive_avg_pool2d_3x3": (IMAGE, lambda x: F.adaptive_avg_pool2d(x, (3, 3))),
    "upsample_nearest_2": ((3, 4, 5), lambda x: F.interpolate(x, scale_factor=2, mode="nearest")),
    "softmax": ((10,), lambda x: F.softmax(x, dim=-1)),
    "softmax_last_axis": ((6, 5), lambda x: F.softmax(x, dim=-1)),
    "softmax_channels": (IMAGE, lambda x: F.softmax(x, dim=1)),
    "log_softmax": ((10,), lambda x: F.log_softmax(x, dim=-1)),
}


def random(*shape):
    return torch.randn(*shape, requires_grad=True)


def convolution(golden, case, input, filters, kernel, bias=True, **arguments):
    golden.begin(case, dict(input=input, filters=filters, kernel=kernel, bias=bias, **arguments))
    inputs = dict(
        input=random(BATCH, *input),
        weight=random(filters, input[0] // arguments.get("groups", 1), *kernel),
    )
    if bias:
        inputs["bias"] = random(filters)
    output = F.conv2d(inputs["input"], inputs["weight"], inputs.get("bias"), **arguments)
    golden.put_gradients(case, output, inputs)


def linear(golden, case, sample, features):
    golden.begin(case, "weight is (outputs, inputs), applied to the last axis")
    inputs = dict(
        input=random(BATCH, *sample), weight=random(features, sample[-1]), bias=random(features)
    )
    golden.put_gradients(case, F.linear(**inputs), inputs)


def batch_norm(golden, case, sample, training=True, present=BATCH):
    """Of BATCH samples, the first `present` take part; the rest is padding that nothing reads."""
    golden.begin(
        case,
        dict(training=training, eps=1e-5, momentum=0.1, present_samples=present),
    )
    channels = sample[0]
    inputs = dict(
        input=random(BATCH, *sample),
        weight=(torch.rand(channels) + 0.5).requires_grad_(),
        bias=random(channels),
    )
    mean, variance = torch.randn(channels), torch.rand(channels) + 0.5
    golden.put(case, running_mean_before=mean, running_var_before=variance)
    output = F.batch_norm(
        inputs["input"][:present],
        mean,
        variance,
        inputs["weight"],
        inputs["bias"],
        training=training,
        momentum=0.1,
        eps=1e-5,
    )
    golden.put_gradients(case, output, inputs)
    if training:
        golden.put(case, running_mean_after=mean, running_var_after=variance)


def generate():
    golden = GoldenFile()
    for case, arguments in CONVOLUTIONS.items():
        convolution(golden, case, **arguments)
    for case, (sample, function) in WITHOUT_PARAMETERS.items():
        golden.begin(case)
        x = random(BATCH, *sample)
        golden.put_gradients(case, function(x), dict(input=x))
    linear(golden, "linear", (6,), 5)
    linear(golden, "linear_time_features", (3, 6), 5)
    batch_norm(golden, "batch_norm", (3, 5, 6))
    batch_norm(golden, "batch_norm_evaluation", (3, 5, 6), training=False)
    batch_norm(golden, "batch_norm_features", (7,))
    batch_norm(golden, "batch_norm_features_evaluation", (7,), training=False)
    batch_norm(golden, "batch_norm_partial", (3, 5, 6), present=3)
    batch_norm(golden, "batch_norm_partial_features", (7,), present=3)
    return golden
