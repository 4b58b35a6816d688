"""Losses: per sample, mean over the batch of 4, and the mean's gradient by the prediction, float64.

A sample's loss is the mean over its features; with sample weights w the batch's loss is
sum(w * per_sample) / sum(w).
"""

import torch
import torch.nn.functional as F

from .golden_file import GoldenFile

BATCH, CLASSES, FEATURES = 4, 10, 6


def unreduced(function, **arguments):
    return lambda prediction, target: function(prediction, target, reduction="none", **arguments)


def logits():
    return 2 * torch.randn(BATCH, CLASSES)


def labels():
    return torch.randint(0, CLASSES, (BATCH,))


def values():
    return torch.randn(BATCH, FEATURES)


def bits():
    return torch.randint(0, 2, (BATCH, FEATURES)).double()


def extreme(columns):
    """Logits of +-80 and what lies between."""
    return torch.tensor([-80.0, 80.0, 0.5, -20.0, 20.0])[torch.randint(0, 5, (BATCH, columns))]


def probabilities():
    return 0.02 + 0.96 * torch.rand(BATCH, FEATURES)


def distributions():
    return torch.rand(BATCH, CLASSES).softmax(dim=1)


# name: (loss, prediction, target)
LOSSES = {
    "cross_entropy": (unreduced(F.cross_entropy), logits, labels),
    "cross_entropy_label_smoothing": (
        unreduced(F.cross_entropy, label_smoothing=0.1),
        logits,
        labels,
    ),
    "cross_entropy_probabilities": (unreduced(F.cross_entropy), logits, distributions),
    "cross_entropy_one_hot": (
        unreduced(F.cross_entropy),
        logits,
        lambda: F.one_hot(labels(), CLASSES).double(),
    ),
    "cross_entropy_extreme": (unreduced(F.cross_entropy), lambda: extreme(CLASSES), labels),
    "binary_cross_entropy_with_logits": (
        unreduced(F.binary_cross_entropy_with_logits),
        lambda: 2 * values(),
        bits,
    ),
    "binary_cross_entropy_with_logits_probabilities": (
        unreduced(F.binary_cross_entropy_with_logits),
        lambda: 2 * values(),
        probabilities,
    ),
    "binary_cross_entropy_with_logits_extreme": (
        unreduced(F.binary_cross_entropy_with_logits),
        lambda: extreme(FEATURES),
        bits,
    ),
    "binary_cross_entropy": (unreduced(F.binary_cross_entropy), probabilities, bits),
    "mse": (unreduced(F.mse_loss), values, values),
    "l1": (unreduced(F.l1_loss), values, values),
    "huber_delta1": (unreduced(F.huber_loss, delta=1.0), values, values),
    "huber_delta0.5": (unreduced(F.huber_loss, delta=0.5), values, values),
}

WEIGHTED = ["cross_entropy", "binary_cross_entropy_with_logits", "mse"]


def record(golden, case, loss, prediction, target, weight=None):
    prediction = prediction.requires_grad_()
    per_sample = loss(prediction, target).reshape(BATCH, -1).mean(dim=1)
    if weight is None:
        mean = per_sample.mean()
    else:
        mean = (weight * per_sample).sum() / weight.sum()
        golden.put(case, weight=weight)
    (gradient,) = torch.autograd.grad(mean, prediction)
    golden.put(
        case, prediction=prediction, target=target, per_sample=per_sample, loss=mean, grad=gradient
    )


def generate():
    golden = GoldenFile()
    for case, (loss, prediction, target) in LOSSES.items():
        golden.begin(case)
        record(golden, case, loss, prediction(), target())
    for base in WEIGHTED:
        loss, prediction, target = LOSSES[base]
        case = f"{base}_weighted"
        golden.begin(case, "one of the weights is 0")
        weight = torch.tensor([1.0, 2.0, 0.0, 0.5])
        record(golden, case, loss, prediction(), target(), weight)
    return golden
