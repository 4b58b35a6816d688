#!/usr/bin/env python3
"""Compares fits of random networks with PyTorch: losses, metrics, weights of samples and classes, optimizers, schedules.

    tests/random_networks/training.py 0 40          # seeds 0 to 39
    tests/random_networks/training.py 0 40 --wide   # wider than tiles of kernels

Each network is one of compare.py's and another layer, or two, of two outputs; some of sequences begin with an embedding.
A fit has a few epochs of batches, of which the last one may not be full. It is compiled in double, and must have the
same bits on 1, 2 and 3 threads, and after a stop and a restart with data that are read ahead. Needs what compare.py
needs.
"""

import fnmatch
import math
import random
import re
import sys
from collections import namedtuple
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.nn import functional as F

import compare
from compare import Layer

sys.path.append(str(Path(__file__).resolve().parents[1] / "data"))
from golden_cases.optimizers import Lamb

SIZES = compare.SMALL._replace(side=range(4, 9), volume=range(2, 5), steps=range(1, 9), features=[1, 3, 8],
                               filters=[1, 3, 8, 16, 32], units=[1, 3, 8, 33], inputs=[1, 3, 13, 64],
                               batch=[4, 5, 6, 7, 8, 9], most=2e3)
WIDE = compare.WIDE._replace(side=[5, 7, 9, 13], volume=[2, 3, 5], steps=[2, 7, 17, 33], channels=[3, 17, 33],
                             batch=[4, 7, 17, 24, 33], most=2e4)

# As castnet spells it, the losses of samples of a prediction and a target, and what makes a target of a prediction.
Loss = namedtuple("Loss", "castnet torch target")


def of_each(function):
    """The mean over a sample's elements."""
    return lambda y, t: function(y, t).flatten(1).mean(1)


def entropy(smoothing=0.0, focal=False):
    """Of class numbers, the mean over the steps or pixels that count."""
    def loss(y, t):
        each = F.cross_entropy(y, t, reduction="none", ignore_index=-100, label_smoothing=smoothing)
        if focal:
            each = 0.25 * (1 - (-each).exp()).clamp(min=1e-7) ** 2 * each
        each = each.reshape(len(y), -1)
        return each.sum(1) / (t.reshape(len(y), -1) >= 0).sum(1).clamp(min=1)
    return loss


def numbers(y):
    return torch.randn_like(y)


def bits(y):
    return (torch.rand_like(y) > 0.5).to(y)


def signs(y):
    return 2 * bits(y) - 1


def counts(y):
    return torch.poisson(torch.full_like(y, 2))


def probabilities(y):
    return torch.softmax(torch.randn_like(y), 1)


def labels(y):
    t = torch.randint(y.shape[1], (len(y), *y.shape[2:]))
    if t.dim() > 1:
        t[torch.rand(t.shape) < 0.2] = -100
    return t


def few_labels(y):
    """Up to three, from 1 on."""
    t = torch.randint(1, max(y.shape[1], 2), (len(y), 3))
    t[torch.arange(3) >= torch.randint(4, (len(y), 1))] = -100
    return t


def ctc(y, t):
    counts = (t >= 0).sum(1)
    steps = torch.full((len(y),), y.shape[2])
    return F.ctc_loss(torch.log_softmax(y.permute(2, 0, 1), 2), t.clamp(min=0), steps, counts, reduction="none",
                      zero_infinity=True)


def binary_focal(y, t):
    each = F.binary_cross_entropy_with_logits(y, t, reduction="none")
    return (0.75 - 0.5 * t) * (1 - (-each).exp()) ** 2 * each


def overlap(y, t, alpha, beta):
    y, t = y.sigmoid().flatten(1), t.flatten(1)
    both = (y * t).sum(1)
    return 1 - (both + 1e-7) / (both + alpha * (y.sum(1) - both) + beta * (t.sum(1) - both) + 1e-7)


def cross(y, t):
    return -(t * torch.log_softmax(y, 1)).sum(1).reshape(len(y), -1).mean(1)


CLASS_WEIGHTED = Loss("cn::class_weighted<cn::cross_entropy, {classes}>", None, labels)
CTC = Loss("cn::ctc<{classes}, 3>.zero_infinity()", ctc, few_labels)

# PyTorch's channels are those of axis 1, for sequences, too.
LOSSES = [CLASS_WEIGHTED, CTC, Loss("cn::cross_entropy", entropy(), labels),
          Loss("cn::cross_entropy", entropy(), labels),
          Loss("cn::smoothed_cross_entropy<0.25>", entropy(0.25), labels),
          Loss("cn::focal_cross_entropy", entropy(focal=True), labels),
          Loss("cn::categorical_cross_entropy", cross, probabilities),
          Loss("cn::kl_divergence", lambda y, t: cross(y, t) + (t * t.log()).sum(1).reshape(len(y), -1).mean(1),
               probabilities),
          Loss("cn::binary_cross_entropy",
               of_each(lambda y, t: F.binary_cross_entropy_with_logits(y, t, reduction="none")), bits),
          Loss("cn::mse", of_each(lambda y, t: (y - t) ** 2), numbers),
          Loss("cn::mae", of_each(lambda y, t: (y - t).abs()), numbers),
          Loss("cn::huber<0.5>", of_each(lambda y, t: F.huber_loss(y, t, reduction="none", delta=0.5)), numbers),
          Loss("cn::log_cosh", of_each(lambda y, t: (y - t).cosh().log()), numbers),
          Loss("cn::binary_focal_cross_entropy", of_each(binary_focal), bits),
          Loss("cn::dice", lambda y, t: overlap(y, t, 0.5, 0.5), bits),
          Loss("cn::tversky_loss{.alpha = 0.25, .beta = 0.75}", lambda y, t: overlap(y, t, 0.25, 0.75), bits),
          Loss("cn::msle", of_each(lambda y, t: (y.clamp(min=1e-7).log1p() - t.clamp(min=1e-7).log1p()) ** 2), counts),
          Loss("cn::hinge", of_each(lambda y, t: (1 - t * y).clamp(min=0)), signs),
          Loss("cn::poisson_nll", of_each(lambda y, t: y.exp() - t * y), counts),
          Loss("cn::squared_hinge", of_each(lambda y, t: (1 - t * y).clamp(min=0) ** 2), signs)]


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state.setdefault(p, {"mean": torch.zeros_like(p)})["mean"]
                p.data -= group["lr"] * torch.lerp(mean, p.grad, 0.1).sign()
                mean.lerp_(p.grad, 0.01)


def of_counted(hit):
    """The weighted mean of hits over all labels that count."""
    def metric(y, t, w):
        counts = (t >= 0) * w.reshape(-1, *[1] * (t.dim() - 1))
        return (hit(y, t) * counts).sum() / counts.sum()
    return metric


def of_classes(score):
    """The mean over the classes that there are, of what is right, decided, and in the labels, or in either."""
    def metric(y, t, w):
        w, chosen, scores = w.reshape(-1, *[1] * (t.dim() - 1)) * (t >= 0), y.argmax(1), []
        for k in range(y.shape[1]):
            made, due = chosen == k, t == k
            if ((made | due) * w).sum() > 0:
                scores.append(score(*((each * w).sum() for each in (made & due, made, due, made | due))))
        return sum(scores) / max(len(scores), 1)
    return metric


def of_decisions(score):
    def metric(y, t, w):
        made, due, w = y > 0, t > 0.5, w.reshape(-1, *[1] * (t.dim() - 1))
        return score(*(float((each * w).sum()) for each in (made & due, made, due)))
    return metric


def r2(y, t, w):
    w = w[:, None]
    mean = (w * t).sum(0) / w.sum()
    return (1 - (w * (y - t) ** 2).sum(0) / (w * (t - mean) ** 2).sum(0)).mean()


def rmse(y, t, w):
    return ((w * ((y - t) ** 2).flatten(1).mean(1)).sum() / w.sum()).sqrt()


# As castnet spells and names them, and of a prediction, a target and weights of samples.
ACCURACY = ("cn::accuracy", "accuracy", of_counted(lambda y, t: y.argmax(1) == t))
METRICS = {labels: [ACCURACY, ("cn::top_k<2>", "top_2", of_counted(
               lambda y, t: (y > y.gather(1, t.clamp(min=0)[:, None])).sum(1) < 2))],
           bits: [("cn::f1", "f1", of_decisions(lambda right, made, due: 2 * right / max(made + due, 1e-9))),
                  ("cn::precision", "precision", of_decisions(lambda right, made, due: right / max(made, 1e-9)))],
           numbers: [("cn::rmse", "rmse", rmse)]}
OF_VECTORS = {labels: [("cn::macro_f1", "macro_f1", of_classes(lambda right, made, due, _: 2 * right / (made + due)))],
              numbers: [("cn::r2", "r2", r2)]}
OF_PLACES = {labels: [("cn::mean_iou", "mean_iou", of_classes(lambda right, made, due, either: right / either))]}


def orthogonal(x, steps):
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
    return x


class Muon(torch.optim.Optimizer):
    """Of the matrices `weights`, of convolutions, too; AdamW of all others."""

    def __init__(self, parameters, lr, momentum, steps, of_adamw):
        super().__init__(parameters, {"lr": lr, "weight_decay": 0.1, "orthogonal": True})
        self.momentum, self.steps, self.of_adamw, self.weights = momentum, steps, of_adamw, []

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state.setdefault(p, {"t": 0, "mean": torch.zeros_like(p), "squares": torch.zeros_like(p)})
                state["t"] += 1
                p *= 1 - group["lr"] * group["weight_decay"]
                if group["orthogonal"] and any(p is weight for weight in self.weights):
                    mean = state["mean"].lerp_(p.grad, 1 - self.momentum)
                    rows, columns = len(p), p.numel() // len(p)
                    factor = 0.2 * max(rows, columns) ** 0.5 if self.of_adamw else max(1, rows / columns) ** 0.5
                    moved = orthogonal(torch.lerp(p.grad, mean, self.momentum).flatten(1), self.steps)
                    p -= group["lr"] * factor * moved.reshape(p.shape)
                else:
                    mean, squares = state["mean"].lerp_(p.grad, 0.1), state["squares"].lerp_(p.grad ** 2, 0.001)
                    root = (squares / (1 - 0.999 ** state["t"])).sqrt() + 1e-8
                    p -= group["lr"] * mean / (1 - 0.9 ** state["t"]) / root


def step_lazily(optimizer, table):
    """A step that leaves the rows of a table without a gradient as they are, and their state."""
    unused, old = (table.grad == 0).all(1), table.detach().clone()
    state = {name: values.clone() for name, values in optimizer.state[table].items() if values.shape == table.shape}
    optimizer.step()
    table.data[unused] = old[unused]
    for name, values in optimizer.state[table].items():
        if torch.is_tensor(values) and values.shape == table.shape:
            values[unused] = state[name][unused] if state else 0


# As castnet spells them with members after the rate, and PyTorch's of parameters and a rate.
OPTIMIZERS = [
    ("sgd", "", lambda p, lr: torch.optim.SGD(p, lr)),
    ("sgd", ".weight_decay = 0.1", lambda p, lr: torch.optim.SGD(p, lr, weight_decay=0.1)),
    ("momentum", ".nesterov = true", lambda p, lr: torch.optim.SGD(p, lr, 0.9, nesterov=True)),
    ("momentum", ".momentum = 0.8, .weight_decay = 0.1", lambda p, lr: torch.optim.SGD(p, lr, 0.8, weight_decay=0.1)),
    ("rmsprop", "", lambda p, lr: torch.optim.RMSprop(p, lr)),
    ("rmsprop_momentum", ".centered = true", lambda p, lr: torch.optim.RMSprop(p, lr, momentum=0.9, centered=True)),
    ("adam", "", lambda p, lr: torch.optim.Adam(p, lr)),
    ("adam", ".beta_1 = 0.7, .weight_decay = 0.1",
     lambda p, lr: torch.optim.Adam(p, lr, (0.7, 0.999), weight_decay=0.1)),
    ("adamw", ".weight_decay = 0.1", lambda p, lr: torch.optim.AdamW(p, lr, weight_decay=0.1)),
    ("amsgrad", "", lambda p, lr: torch.optim.Adam(p, lr, amsgrad=True)),
    ("nadam", "", lambda p, lr: torch.optim.NAdam(p, lr)), ("radam", "", lambda p, lr: torch.optim.RAdam(p, lr)),
    ("adamax", "", lambda p, lr: torch.optim.Adamax(p, lr)), ("lion", "", Lion),
    ("lamb", "", lambda p, lr: Lamb(p, lr, (0.9, 0.999), 1e-6, 0.01)),
    ("muon", "", lambda p, lr: Muon(p, lr, 0.95, 5, False)),
    ("muon", ".momentum = 0.8, .steps = 3, .rate_of_adamw = true", lambda p, lr: Muon(p, lr, 0.8, 3, True)),
    ("adagrad", "", lambda p, lr: torch.optim.Adagrad(p, lr)),
    ("adadelta", "", lambda p, lr: torch.optim.Adadelta(p, lr))]
OF_WHOLE_PARAMETERS = ["lamb", "muon"]
WEIGHTS_OF = (nn.Linear, nn.modules.conv._ConvNd, nn.RNNBase, nn.MultiheadAttention)


def cosine(a, b, t):
    return b + (a - b) * 0.5 * (1 + math.cos(math.pi * t))


SCHEDULES = [("cn::cosine_decay({})", lambda lr, step, steps: cosine(lr, 0, step / steps)),
             ("cn::step_decay({}, 0.5, 2)", lambda lr, step, steps: lr * 0.5 ** (step // 2)),
             ("cn::multi_step_decay({}, 0.1, {{2, 5}})",
              lambda lr, step, steps: lr * 0.1 ** ((step >= 2) + (step >= 5))),
             ("cn::warm_up(3, cn::polynomial_decay({}, 0, 2))",
              lambda lr, step, steps: lr * (1 - step / steps) ** 2 * min(1, (step + 1) / 3)),
             ("cn::cosine_restarts({}, 3)", lambda lr, step, steps: cosine(lr, 0, step % 3 / 3)),
             ("[](std::uint64_t step, std::uint64_t) {{ return {} / (1 + double(step)); }}",
              lambda lr, step, steps: lr / (1 + step))]


# Of castnet's own random numbers: such a fit is compared with itself alone.
NOISE = ["dropout<0.5>", "gaussian_noise<0.25>", "gaussian_dropout<0.25>", "alpha_dropout<0.25>",
         "stochastic_depth<0.5>"]


# Of data, as a fit reads them; what prefetch keeps are floats, so they compute no numbers in double.
PIPELINES = ["data", "cn::data::repeat(data, 2)", "cn::data::cache(data)", "cn::data::epochs_of(data, samples + 1)",
             "cn::data::weighted_sample(data, std::vector<double>(samples, 0.5), samples + 2)"]
OF_IMAGES = ["cn::data::augment(data, cn::data::random_flip{})",
             "cn::data::augment(cn::data::cache(data), cn::data::random_shift{.padding = 1})"]
STRATEGIES = ["", ", cn::strategy::parameter_server", ", cn::strategy::sharded_optimizer"]


class Heads(nn.Module):
    """Two last layers, of a function's two outputs."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first.torch, second.torch
        self.castnet = (f"struct heads {{\n    constexpr auto operator()(auto x) const {{\n"
                        f"        using namespace cn;\n"
                        f'        auto const first = named<"first", {first.castnet}>(x);\n'
                        f'        return outputs(first, named<"second", {second.castnet}>(x));\n    }}\n}};\n')

    def forward(self, x):
        return self.first(x), self.second(x)


def last_layer(r, shape):
    if len(shape) == 4:
        return [Layer("global_avg_pool3d", compare.Function(lambda x: x.mean((2, 3, 4))), shape[:1]),
                *last_layer(r, shape[:1])]
    units = r.choice([2, 3, 5])
    if len(shape) == 3:
        return [Layer(f"conv2d<{units}, 1>", nn.Conv2d(shape[0], units, 1), (units, *shape[1:]))]
    return [Layer(f"dense<{units}>", nn.Linear(shape[-1], units), (*shape[:-1], units))]


def more_positions(layer):
    """How many more than one castnet numbers where PyTorch has one module."""
    repetitions = re.match(r"repeat<(\d)", layer)
    return int(repetitions[1]) - 1 if repetitions else layer.count("unfold2d") + layer.count("shared<")


class Head:
    """An output's loss and its targets."""

    def __init__(self, r, shape, samples):
        self.shape, self.channels = shape, shape[-1] if len(shape) < 3 else shape[0]
        self.loss = r.choice(LOSSES)
        while self.loss is CTC and len(shape) != 2:
            self.loss = r.choice(LOSSES)
        self.of_labels = self.loss.target in (labels, few_labels)
        self.text = self.loss.castnet.replace("{classes}", str(self.channels))
        y = torch.zeros(samples, *shape)
        self.y = self.loss.target(y.transpose(1, 2) if len(shape) == 2 else y)
        kind = self.loss.target
        self.metrics = METRICS.get(kind, []) + (OF_VECTORS if len(shape) == 1 else OF_PLACES).get(kind, [])

    def target(self):
        if not self.of_labels:
            return f"cn::shape<{', '.join(map(str, self.shape))}>"
        return f"cn::data::label<{', '.join(map(str, (self.channels, *self.y.shape[1:])))}>"

    def numbers(self):
        """As castnet's data set has them."""
        if self.of_labels:
            return self.y.int()
        return self.y.transpose(1, 2) if self.y.dim() == 3 else self.y

    def losses(self, prediction, samples, of_classes):
        """Of these samples, and the factors of their weights."""
        y = self.y[samples] if self.of_labels else self.y[samples].double()
        if len(self.shape) == 2:
            prediction = prediction.transpose(1, 2)
        weights = torch.ones(len(y), dtype=torch.double)
        if self.loss is CLASS_WEIGHTED:
            of_classes = torch.ones(self.channels).double() if of_classes is None else of_classes
            each = F.cross_entropy(prediction, y, reduction="none", ignore_index=-100).reshape(len(y), -1)
            y = y.reshape(len(y), -1)
            of_each = of_classes[y.clamp(min=0)] * (y >= 0)
            total = of_each.sum(1)
            return (of_each * each).sum(1) / torch.where(total > 0, total, 1), total / (y >= 0).sum(1).clamp(min=1)
        return self.loss.torch(prediction, y), weights if of_classes is None else of_classes[y]


class Fit(compare.Network):
    def __init__(self, seed, sizes):
        super().__init__(seed, sizes)
        r = random.Random(seed + 1)
        self.words = r.choice([3, 7, 40]) if len(self.input) == 2 and r.random() < 0.5 else 0
        first = []
        if self.words:
            first = [Layer(f"embedding<{self.words}, {self.input[1]}>", nn.Embedding(self.words, self.input[1]), None)]
        self.noise = r.choice(NOISE) if r.random() < 0.3 else None
        *last, head = last_layer(r, self.output)
        if self.noise:
            last.insert(0, Layer(self.noise, nn.Identity(), self.output))
        penalty = r.choice([None, None, "l1", "l2"])
        self.penalised = (head.torch.weight, penalty)
        if penalty:
            head = head._replace(castnet=f"{head.castnet}.{penalty}(0.0625)")
        self.accumulated, self.capacity = r.choice([1, 1, 2, 3]), r.choice(sizes.batch)
        if any(name in layer for layer in self.layers for name in ("batch_norm", "running", "spectral")):
            self.accumulated = 1
        of_step = self.accumulated * self.capacity
        self.samples, self.epochs = r.choice([1, 2, 3]) * of_step + r.choice([0, 2, 3]), r.choice([2, 3])
        self.steps = math.ceil(self.samples / of_step)
        self.stop_after = r.randint(1, self.steps * self.epochs - 1)
        self.heads = [Head(r, head.shape, self.samples)]
        if len(head.shape) < 3 and r.random() < 0.25:
            second = last_layer(r, self.output)[-1]
            self.heads.append(Head(r, second.shape, self.samples))
            both = Heads(head, second)
            self.definitions += both.castnet
            head = Layer("heads{}", both, head.shape)
        self.layers = [layer.castnet for layer in first] + self.layers + [layer.castnet for layer in [*last, head]]
        self.torch = nn.Sequential(*(layer.torch for layer in first), *self.torch,
                                   *(layer.torch for layer in [*last, head]))
        self.output = head.shape
        self.x = (torch.randint(self.words, (self.samples, self.input[0])) if self.words
                  else torch.randn(self.samples, *self.input))
        self.weights = torch.tensor(r.choices([1, 1, 0.5, 2, 3], k=self.samples)) if r.random() < 0.5 else None
        if self.weights is not None and r.random() < 0.5:  # some are not there, of batches that are full
            self.weights[1:self.samples // of_step * of_step:4] = 0
        self.class_weight = None
        head = self.heads[0]
        one_label = head.loss.target is labels and len(head.shape) == 1
        if len(self.heads) == 1 and (one_label or head.loss is CLASS_WEIGHTED) and r.random() < 0.7:
            self.class_weight = torch.tensor(r.choices([1, 0.5, 3], k=head.channels)).double()
        self.kept = 0
        self.choose_kept(random.Random(seed + 2))
        self.choose_optimizer(r)
        self.pipeline = r.choice(PIPELINES + (OF_IMAGES if len(self.input) == 3 else []))

    def choose_kept(self, r):
        """How many of the first layers are frozen in the network."""
        count = min(len(self.layers), len(self.torch)) - len(self.heads) - bool(self.noise)
        if count > 0 and r.random() < 0.25 and not any("shared" in layer for layer in self.layers):
            self.kept = r.randint(1, count)
            self.torch[:self.kept].requires_grad_(False)

    def choose_optimizer(self, r):
        # (What a normalisation leaves of the gradient of a bias before it is rounding, which Adam and others enlarge.)
        normalises = any("norm" in layer for layer in self.layers)
        name, options, self.optimizer = r.choice(OPTIMIZERS[:4] if normalises else OPTIMIZERS)
        self.rate = r.choice([0.5, 1]) if name == "adadelta" else 2 ** -r.randint(6, 9)
        text = f"cn::{name}{{.learning_rate = {self.rate}{', ' if options else ''}{options}}}"
        whole = name in OF_WHOLE_PARAMETERS
        self.clip = r.choice(["", "", "", "clip_norm", "clip_value", "clip_each_norm"])
        self.averages = r.random() < 0.25
        self.lazy = not whole and not self.averages and self.clip != "clip_each_norm" and r.random() < 0.5
        if self.lazy:
            text = f"cn::lazy({text})"
        if self.clip:
            text = f"cn::{self.clip}({text}, 0.125)"
        if self.averages:
            text = f"cn::ema({text}, 0.75)"
        if self.accumulated > 1:
            text = f"cn::accumulate<{self.accumulated}>({text})"
        others = [name for name, p in self.torch[:-1].named_parameters()
                  if name.endswith(".weight") and p.requires_grad]
        self.groups = bool(others) and r.random() < 0.25
        if self.groups:
            last = f"{len(self.torch) - 1 + sum(map(more_positions, self.layers))}.*"
            of_last = ", .orthogonal = false" if name == "muon" else ""
            text = (f'cn::groups({text}, cn::parameter_group{{.names = "{last}", .rate = 0.5{of_last}}}, '
                    f'cn::parameter_group{{.names = "*.weight", .decay = 0}})')
            self.groups = [(last, 0.5, 1), ("*.weight", 1, 0)]
        self.optimizer_text = text
        self.schedule = r.choice([None, None, *SCHEDULES])
        kinds = {f"*.{name.split('.')[-1]}" for name, p in self.torch.named_parameters() if p.requires_grad}
        self.frozen = r.choice(sorted(kinds)) if len(kinds) > 1 and r.random() < 0.25 else ""
        replicas = next((n for n in (2, 3) if self.capacity % n == 0), 1)
        strategy = r.choice(STRATEGIES[:2] if whole or self.lazy or self.clip == "clip_each_norm" else STRATEGIES)
        self.replicas = (replicas, f"cn::policy::mirrored<policy, {replicas}{strategy}>")

    def __str__(self):
        weights = [name for name in ("weights", "class_weight") if getattr(self, name) is not None]
        return (f"{self.words or ''}{self.input} -> {[head.shape for head in self.heads]}, {self.samples} samples by "
                f"{self.capacity}: {self.chain()}; " +
                ", ".join([self.loss(), self.optimizer_text, *(self.schedule or [])[:1], *weights,
                           *([f"without {self.frozen}"] if self.frozen else []), self.pipeline, self.replicas[1]]))

    def loss(self):
        texts = [head.text for head in self.heads]
        return f"cn::losses<{texts[0]}, cn::loss_weight<0.5, {texts[1]}>>" if texts[1:] else texts[0]

    def chain(self):
        """The layers, of which the first ones may be frozen."""
        kept = [f"frozen<{', '.join(self.layers[:self.kept])}>"] if self.kept else []
        return ", ".join([*kept, *self.layers[self.kept:]])

    def source(self, number, device):
        schedule = f"    options.schedule = {self.schedule[0].format(self.rate)};\n" if self.schedule else ""
        classes = f"    options.class_weight = {{{', '.join(map(str, self.class_weight.tolist()))}}};\n" \
            if self.class_weight is not None else ""
        weighted = f'.with_weights(numbers<float>("weights.bin", samples))' if self.weights is not None else ""
        kind, ids = ("ids", "_ids") if self.words else ("shape", "")
        inputs = ", ".join(map(str, (self.words, self.input[0]) if self.words else self.input))
        targets = ", ".join(head.target() for head in self.heads)
        columns = [f'numbers<{"std::int32_t" if self.words else "float"}>("x.bin", {self.x.numel()})',
                   *(f'numbers<{"std::int32_t" if head.of_labels else "float"}>("y{i}.bin", {head.y.numel()})'
                     for i, head in enumerate(self.heads))]
        return (f"using policy = {compare.policy(number, device)};\n"
                f"constexpr cn::size_t capacity = {self.capacity}, samples = {self.samples};\n"
                f"constexpr int stop_after = {self.stop_after};\n"
                f"constexpr bool averages = {str(self.averages).lower()};\n"
                f"constexpr cn::size_t replicas = {self.replicas[0]};\n"
                f"using replicated = {self.replicas[1]};\n"
                f"using dataset = cn::data::dataset<{f'cn::data::targets<{targets}>' if self.heads[1:] else targets}, "
                f"cn::{kind}<{inputs}>>;\n"
                f"constexpr auto loss = {self.loss()};\n"
                f"auto compiled(auto& model) {{\n    return cn::compile(model, loss, {self.optimizer_text}"
                f"{''.join(f', {text}' for text, *_ in self.heads[0].metrics)});\n}}\n"
                f"auto metrics(auto const& scores) {{\n    return std::vector<double>{{"
                f"""{', '.join(f'scores["{name}"]' for _, name, _ in self.heads[0].metrics)}}};\n}}\n"""
                f'constexpr char const* frozen = "{self.frozen}";\n'
                f"dataset read_data() {{\n    return dataset{{{', '.join(columns)}}}{weighted};\n}}\n"
                f"auto pipeline(dataset const& data) {{ return {self.pipeline}; }}\n"
                f"template <class Training>\nauto fit_options(Training const&) {{\n"
                f"    cn::fit_options<Training> options;\n"
                f"    options.epochs = {self.epochs};\n    options.shuffle = false;\n"
                f"    options.verbose = cn::verbosity::silent;\n{schedule}{classes}    return options;\n}}\n"
                f"{self.definitions}namespace castnet {{\n"
                f"using random_network = sequential<input{ids}<{inputs}>, {self.chain()}>;\n"
                f"}}\nusing network = cn::random_network;\n")

    def write(self, folder, number, device):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "network.hpp").write_text(self.source(number, device))
        (self.x.int() if self.words else self.x).numpy().tofile(folder / "x.bin")
        for i, head in enumerate(self.heads):
            head.numbers().contiguous().numpy().tofile(folder / f"y{i}.bin")
        if self.weights is not None:
            self.weights.float().numpy().tofile(folder / "weights.bin")

    def predictions(self, samples):
        """Those that count, and each head's prediction."""
        if self.weights is not None:
            samples = [i for i in samples if self.weights[i] > 0]
        predictions = self.torch(self.x[samples] if self.words else self.x[samples].double())
        return samples, predictions if self.heads[1:] else [predictions]

    def scores(self):
        """The metrics over all samples."""
        samples, (prediction, *_) = self.predictions(list(range(self.samples)))
        weights = torch.ones(self.samples) if self.weights is None else self.weights
        head = self.heads[0]
        prediction = prediction.transpose(1, 2) if len(head.shape) == 2 else prediction
        return [float(metric(prediction, head.y[samples], weights[samples].double())) for *_, metric in head.metrics]

    def losses_of(self, samples, factors=True):
        """Of these samples, and their weights."""
        samples, predictions = self.predictions(samples)
        of_classes = self.class_weight if factors else None
        losses, weights = self.heads[0].losses(predictions[0], samples, of_classes)
        for head, prediction in zip(self.heads[1:], predictions[1:]):
            losses = losses + 0.5 * head.losses(prediction, samples, None)[0]
        return losses, weights if self.weights is None else weights * self.weights[samples].double()

    def clip_gradients(self, trained):
        if self.clip == "clip_norm":
            nn.utils.clip_grad_norm_(trained, 0.125)
        elif self.clip == "clip_value":
            nn.utils.clip_grad_value_(trained, 0.125)
        elif self.clip:
            for p in trained:  # as Keras' clipnorm
                p.grad *= 0.125 / max(0.125, float(p.grad.norm()))

    def optimizer_of(self, trained, names):
        """PyTorch's, and the factors of the rates of its groups."""
        group_of = {name: next((i for i, (pattern, *_) in enumerate(self.groups or [])
                                if fnmatch.fnmatchcase(names[name], pattern)), None) for name in trained}
        found = {}
        for name, p in trained.items():
            found.setdefault(group_of[name], []).append(p)
        optimizer = self.optimizer([{"params": ps} for ps in found.values()], self.rate)
        optimizer.weights = [p for module in self.torch.modules() if isinstance(module, WEIGHTS_OF)
                             for p in module.parameters(recurse=False) if p.dim() > 1]
        factors = []
        for i, group in zip(found, optimizer.param_groups):
            _, rate, decay = (None, 1, 1) if i is None else self.groups[i]
            factors.append(rate)
            group["orthogonal"] = i != 0
            if "weight_decay" in group:
                group["weight_decay"] *= decay
        return optimizer, factors

    def fit(self, names):
        """The mean losses of the epochs, and the averages of the parameters; names are castnet's."""
        trained = {name: p for name, p in self.torch.named_parameters()
                   if p.requires_grad and not fnmatch.fnmatchcase(names[name], self.frozen)}
        optimizer, factors = self.optimizer_of(trained, names)
        table = trained.get("0.weight") if self.words and self.lazy else None
        averages, means, step = {}, [], 0
        self.torch.train()
        self.torch[:self.kept].eval()
        for _ in range(self.epochs):
            sums = torch.zeros(2, dtype=torch.double)
            for batch in range(self.steps):
                of_step = self.accumulated * self.capacity
                samples = list(range(batch * of_step, min((batch + 1) * of_step, self.samples)))
                optimizer.zero_grad()
                losses, weights = self.losses_of(samples)
                sums += torch.stack([(losses * weights).sum(), weights.sum()]).detach()
                weight, penalty = self.penalised
                cost = 0 if not penalty else 0.0625 * (weight.abs() if penalty == "l1" else weight ** 2).sum()
                ((losses * weights).sum() / weights.sum() + cost).backward()
                self.clip_gradients(trained.values())
                for group, factor in zip(optimizer.param_groups, factors):
                    group["lr"] = factor * (self.schedule[1](self.rate, step, self.steps * self.epochs)
                                            if self.schedule else self.rate)
                optimizer.step() if table is None else step_lazily(optimizer, table)
                step += 1
                for name, p in self.torch.named_parameters():
                    averages[name] = p.detach().clone() if step == 1 else torch.lerp(averages[name], p.detach(), 0.25)
            means.append(float(sums[0] / sums[1]))
        self.torch.eval()
        with torch.no_grad():
            losses, weights = self.losses_of(list(range(self.samples)), False)
            means.append(float((losses * weights).sum() / weights.sum()))
            means += self.scores()
        return means, averages


def check(net, folder, number, given):
    net.write(folder, number, "cpu")
    program, *flags = given.compiler.split()
    compare.compile_program(program, "-O1", *flags, compare.HERE / "training.cpp", folder)
    found, results = [], []
    for threads in (1, 2, 3):
        found += [line for line in compare.run(folder, "", threads).splitlines() if line not in found]
        results.append([(folder / file).read_bytes() for file in ("after.safetensors", "losses.bin")])
    if any(result != results[0] for result in results):
        found.append("other bits on several threads")
    if net.noise:
        return found
    before, after = (compare.parameters(folder / f"{when}.safetensors") for when in ("before", "after"))
    model = net.torch.double()
    state = compare.state_of(model)
    names = dict(zip(state, before))
    with torch.no_grad():
        for name, values in state.items():
            values.copy_(before[names[name]])
    means, averages = net.fit(names)
    c = compare.Comparison(number)
    for name, values in state.items():
        c.same(f"{names[name]}", after[names[name]], values, 1e-6, 1e-2)
    if net.averages:
        kept = compare.parameters(folder / "averages.safetensors")
        for name, values in averages.items():
            c.same(f"the average of {names[name]}", kept[names[name]], values, 1e-6, 1e-2)
    losses = torch.from_numpy(numpy.fromfile(folder / "losses.bin", numpy.float64))
    c.same("losses and metrics", losses, torch.tensor(means, dtype=torch.double), 1e-6, 1e-2)
    return found + c.differences


def main():
    compare.check = check
    given = compare.options(__doc__, "random_fits").parse_args()
    compare.run_all(given, lambda seed: Fit(seed, WIDE if given.wide else SIZES), ["double"])


if __name__ == "__main__":
    main()
