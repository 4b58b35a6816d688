"""Layers and losses of sequences (time, features): outputs and gradients, batch of 4, float64."""

import torch
import torch.nn.functional as F

from .golden_file import GoldenFile
from .layers import BATCH, random

SEQUENCE = (9, 3)  # time, features

# What is left out is stride 1, padding 0, dilation 1, groups 1.
CONVOLUTIONS = {
    "conv1d_3": dict(filters=8, kernel=3),
    "conv1d_stride2_pad1": dict(filters=5, kernel=3, stride=2, padding=1),
    "conv1d_same_kernel4": dict(filters=5, kernel=4, padding="same"),
    "conv1d_dilation2": dict(filters=5, kernel=3, dilation=2),
    "conv1d_groups3": dict(filters=6, kernel=3, groups=3),
    "conv1d_1": dict(filters=4, kernel=1),
}

# What is left out is stride 1, padding 0, output_padding 0, dilation 1, groups 1.
TRANSPOSED = {
    "conv_transpose1d_3": dict(filters=8, kernel=3),
    "conv_transpose1d_stride2_pad1_more1": dict(
        filters=5, kernel=3, stride=2, padding=1, output_padding=1
    ),
    "conv_transpose1d_stride4_dilation2": dict(filters=5, kernel=3, stride=4, dilation=2),
    "conv_transpose1d_groups3": dict(filters=6, kernel=4, stride=3, groups=3),
}

POOLINGS = {
    "max_pool1d_2": lambda x: F.max_pool1d(x, 2),
    "max_pool1d_kernel3_stride2_pad1": lambda x: F.max_pool1d(x, 3, 2, 1),
    "avg_pool1d_2": lambda x: F.avg_pool1d(x, 2),
    "avg_pool1d_kernel3_stride2_pad1": lambda x: F.avg_pool1d(
        x, 3, 2, 1, count_include_pad=False
    ),
    "reflection_pad1d_8_3": lambda x: F.pad(x, (8, 3), mode="reflect"),
    "replication_pad1d_0_2": lambda x: F.pad(x, (0, 2), mode="replicate"),
    "circular_pad1d_9_0": lambda x: F.pad(x, (9, 0), mode="circular"),
    "upsample1d_4": lambda x: F.interpolate(x, scale_factor=4),
    "upsample1d_linear_3": lambda x: F.interpolate(x, scale_factor=3, mode="linear"),
}


def channels_first(x):
    return x.transpose(1, 2)


def convolution(golden, case, filters, kernel, causal=False, **arguments):
    golden.begin(case, dict(filters=filters, kernel=kernel, causal=causal, **arguments))
    channels = SEQUENCE[1] // arguments.get("groups", 1)
    inputs = dict(
        input=random(BATCH, *SEQUENCE),
        weight=random(filters, channels, kernel),
        bias=random(filters),
    )
    x = channels_first(inputs["input"])
    if causal:
        x = F.pad(x, ((kernel - 1) * arguments.get("dilation", 1), 0))
    output = channels_first(F.conv1d(x, inputs["weight"], inputs["bias"], **arguments))
    golden.put_gradients(case, output, inputs)


def transposed(golden, case, filters, kernel, **arguments):
    golden.begin(case, dict(filters=filters, kernel=kernel, **arguments))
    inputs = dict(
        input=random(BATCH, *SEQUENCE),
        weight=random(SEQUENCE[1], filters // arguments.get("groups", 1), kernel),
        bias=random(filters),
    )
    x = channels_first(inputs["input"])
    output = F.conv_transpose1d(x, inputs["weight"], inputs["bias"], **arguments)
    golden.put_gradients(case, channels_first(output), inputs)


def embedding(golden, case, **arguments):
    golden.begin(case, arguments)
    ids = torch.randint(0, 7, (BATCH, 5))
    weight = random(7, 3)
    golden.put(case, ids=ids)
    golden.put_gradients(case, F.embedding(ids, weight, **arguments), dict(weight=weight))


def cross_entropy(golden, case, logits, labels, **arguments):
    """The classes of logits are their axis 1; labels of -100 are ignored."""
    golden.begin(case, arguments)
    logits = (2 * logits).requires_grad_()
    each = F.cross_entropy(logits, labels, reduction="none", **arguments).flatten(1)
    counted = (labels != -100).flatten(1).sum(dim=1)
    mean = F.cross_entropy(logits, labels, **arguments)
    (gradient,) = torch.autograd.grad(mean, logits)
    golden.put(
        case,
        prediction=logits if logits.dim() > 3 else channels_first(logits),
        target=labels,
        counted=counted,
        per_sample=each.sum(dim=1) / counted.clamp(min=1),
        loss=mean,
        grad=gradient if logits.dim() > 3 else channels_first(gradient),
    )


def class_weighted(golden, case, inputs, labels):
    """Of a layer that makes logits of 3 classes of each step or pixel, axis 1 of the inputs."""
    golden.begin(case)
    class_weight = torch.tensor([1.0, 0.25, 3.0])
    weight, bias = random(3, inputs.shape[1]), random(3)
    logits = torch.einsum("nc...,kc->nk...", inputs, weight) + bias.view(3, *[1] * (inputs.dim() - 2))
    loss = F.cross_entropy(logits, labels, weight=class_weight)
    grad_weight, grad_bias = torch.autograd.grad(loss, (weight, bias))
    golden.put(
        case,
        input=inputs if inputs.dim() > 3 else channels_first(inputs),
        target=labels,
        counted=(labels != -100).flatten(1).sum(dim=1),
        class_weight=class_weight,
        weight=weight,
        bias=bias,
        loss=loss,
        grad_weight=grad_weight,
        grad_bias=grad_bias,
    )


def ctc(golden, case, logits, labels, lengths, **arguments):
    golden.begin(case, dict(lengths=lengths, **arguments))
    logits = (2 * logits).requires_grad_()
    lengths, counted = torch.tensor(lengths), (labels != -100).sum(dim=1)
    each = F.ctc_loss(
        logits.log_softmax(2).transpose(0, 1),
        labels.clamp(min=0),
        lengths,
        counted,
        reduction="none",
        **arguments,
    )
    (gradient,) = torch.autograd.grad(each.sum(), logits)
    golden.put(
        case,
        prediction=logits,
        target=labels,
        lengths=lengths,
        per_sample=each,
        grad=gradient,
    )


def some_ignored(labels):
    labels[torch.rand(labels.shape) < 0.4] = -100
    labels[2] = -100
    return labels


def generate():
    golden = GoldenFile()
    for case, arguments in CONVOLUTIONS.items():
        convolution(golden, case, **arguments)
    convolution(golden, "conv1d_causal", filters=5, kernel=3, causal=True)
    convolution(golden, "conv1d_causal_dilation3", filters=5, kernel=3, causal=True, dilation=3)
    for case, arguments in TRANSPOSED.items():
        transposed(golden, case, **arguments)
    for case, function in POOLINGS.items():
        golden.begin(case)
        x = random(BATCH, *SEQUENCE)
        golden.put_gradients(case, channels_first(function(channels_first(x))), dict(input=x))
    embedding(golden, "embedding")
    embedding(golden, "embedding_padding_idx2", padding_idx=2)
    golden.begin("tied")
    inputs = dict(input=random(BATCH, 5, 3), weight=random(7, 3))
    golden.put_gradients("tied", F.linear(**inputs), inputs)
    for name, shape in dict(steps=(6,), pixels=(4, 5)).items():
        torch.manual_seed(1)
        logits, labels = torch.randn(BATCH, 7, *shape), torch.randint(0, 7, (BATCH, *shape))
        cross_entropy(golden, f"cross_entropy_{name}", logits, labels.clone())
        cross_entropy(golden, f"cross_entropy_{name}_ignored", logits, some_ignored(labels.clone()))
        cross_entropy(
            golden,
            f"cross_entropy_{name}_smoothed",
            logits,
            some_ignored(labels.clone()),
            label_smoothing=0.1,
        )
        torch.manual_seed(2)
        inputs, labels = torch.randn(BATCH, 5, *shape), torch.randint(0, 3, (BATCH, *shape))
        class_weighted(golden, f"class_weighted_{name}", inputs, labels.clone())
        class_weighted(golden, f"class_weighted_{name}_ignored", inputs, some_ignored(labels))
    logits = torch.randn(BATCH, 6, 5)
    labels = torch.tensor([[1, 2, 4], [3, 3, -100], [-100, -100, -100], [2, 2, 1]])
    ctc(golden, "ctc", logits, labels, (6, 6, 6, 6))
    ctc(golden, "ctc_lengths", logits, labels, (5, 3, 0, 3), zero_infinity=True)
    return golden
