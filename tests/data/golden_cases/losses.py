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


def one_hot_labels():
    return F.one_hot(labels(), CLASSES).double()


def counts():
    return torch.randint(0, 5, (BATCH, FEATURES)).double()


# What PyTorch does not have, as Keras 3 defines it.
def hinge(prediction, target):
    return (1 - (2 * target - 1) * prediction).clamp(min=0)


def categorical_hinge(prediction, target):
    others = ((1 - target) * prediction).amax(dim=1)
    return (others - (target * prediction).sum(dim=1) + 1).clamp(min=0)


def log_cosh(prediction, target):
    return (prediction - target).cosh().log()


def mape(prediction, target):
    return 100 * (prediction - target).abs() / target.abs().clamp(min=1e-7)


def msle(prediction, target):
    return (prediction.clamp(min=1e-7).log1p() - target.clamp(min=1e-7).log1p()).square()


def dice(logits, target):
    p = logits.sigmoid()
    both = p.sum(dim=1) + target.sum(dim=1)
    return 1 - (2 * (p * target).sum(dim=1) + 1e-7) / (both + 1e-7)


def tversky(logits, target):
    p = logits.sigmoid()
    both = (p * target).sum(dim=1)
    errors = 0.3 * (p.sum(dim=1) - both) + 0.7 * (target.sum(dim=1) - both)
    return 1 - (both + 1e-7) / (both + errors + 1e-7)


def signs():
    return 2 * bits() - 1


def kl_divergence(logits, target):
    return F.kl_div(logits.log_softmax(dim=1), target, reduction="none").sum(dim=1)


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
        one_hot_labels,
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
    "log_cosh": (log_cosh, values, values),
    "mape": (mape, values, values),
    "msle": (msle, values, values),
    "hinge": (hinge, lambda: 2 * values(), bits),
    "squared_hinge": (lambda x, t: hinge(x, t).square(), lambda: 2 * values(), bits),
    "categorical_hinge": (categorical_hinge, logits, one_hot_labels),
    "kl_divergence": (kl_divergence, logits, distributions),
    "kl_divergence_one_hot": (kl_divergence, logits, one_hot_labels),
    "poisson_nll": (unreduced(F.poisson_nll_loss), values, counts),
    "cosine_similarity": (lambda x, t: -F.cosine_similarity(x, t), values, values),
    "dice": (dice, lambda: 2 * values(), bits),
    "tversky": (tversky, lambda: 2 * values(), bits),
    "hinge_embedding": (unreduced(F.hinge_embedding_loss), lambda: values().abs(), signs),
}

# name: (loss of several predictions and a target, predictions, target)
OF_SEVERAL = {
    "gaussian_nll": (
        lambda m, v, t: F.gaussian_nll_loss(m, t, v, reduction="none"),
        [values, lambda: 0.1 + torch.rand(BATCH, FEATURES)],
        values,
    ),
    "triplet_margin": (
        lambda a, p, n, t: F.triplet_margin_loss(a, p, n, margin=1.5, reduction="none"),
        [values, values, values],
        lambda: torch.zeros(BATCH, 1),
    ),
    "contrastive": (
        lambda a, b, t: torch.where(
            t.squeeze(1) > 0.5,
            F.pairwise_distance(a, b).square(),
            (4 - F.pairwise_distance(a, b)).clamp(min=0).square(),
        ),
        [values, values],
        lambda: torch.tensor([[0.0], [1.0], [0.0], [1.0]]),
    ),
    "margin_ranking": (
        lambda a, b, t: F.margin_ranking_loss(a, b, t, margin=0.5, reduction="none"),
        [values, values],
        signs,
    ),
    "cosine_embedding": (
        lambda a, b, t: F.cosine_embedding_loss(a, b, t[:, 0], margin=0.2, reduction="none"),
        [lambda: values().abs(), lambda: values().abs()],
        lambda: torch.tensor([[-1.0], [1.0], [-1.0], [1.0]]),
    ),
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


def record_of_several(golden, case, loss, predictions, target):
    predictions = [p.requires_grad_() for p in predictions]
    per_sample = loss(*predictions, target).reshape(BATCH, -1).mean(dim=1)
    gradients = torch.autograd.grad(per_sample.mean(), predictions)
    golden.put(case, target=target, per_sample=per_sample)
    for number, (p, g) in enumerate(zip(predictions, gradients)):
        golden.put(case, **{f"prediction{number}": p, f"grad{number}": g})


def generate():
    golden = GoldenFile()
    for case, (loss, prediction, target) in LOSSES.items():
        golden.begin(case)
        record(golden, case, loss, prediction(), target())
    for case, (loss, predictions, target) in OF_SEVERAL.items():
        golden.begin(case)
        record_of_several(golden, case, loss, [p() for p in predictions], target())
    for base in WEIGHTED:
        loss, prediction, target = LOSSES[base]
        case = f"{base}_weighted"
        golden.begin(case, "one of the weights is 0")
        weight = torch.tensor([1.0, 2.0, 0.0, 0.5])
        record(golden, case, loss, prediction(), target(), weight)
    return golden
