#!/usr/bin/env python3
"""Compares fits of random networks with PyTorch: losses, weights of samples and classes, optimizers, schedules.

    tests/random_networks/training.py 0 40          # seeds 0 to 39

Each network is one of compare.py's and another layer. A fit has a few epochs of batches, of which the last one may not
be full. It is compiled in double, and must have the same bits on 1, 2 and 3 threads, after a stop and a restart, and
for a sample that is predicted alone. Needs what compare.py needs.
"""

import fnmatch
import math
import random
from collections import namedtuple

import numpy
import torch
from torch import nn
from torch.nn import functional as F

import compare
from compare import Layer

SIZES = compare.SMALL._replace(side=range(4, 9), volume=range(2, 5), steps=range(1, 9), features=[1, 3, 8],
                               filters=[1, 3, 8, 16, 32], units=[1, 3, 8, 33], inputs=[1, 3, 13, 64], most=2e3)

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


def cross(y, t):
    return -(t * torch.log_softmax(y, 1)).sum(1).reshape(len(y), -1).mean(1)


# PyTorch's channels are those of axis 1, for sequences, too.
LOSSES = [Loss("cn::cross_entropy", entropy(), labels), Loss("cn::cross_entropy", entropy(), labels),
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
    ("adagrad", "", lambda p, lr: torch.optim.Adagrad(p, lr)),
    ("adadelta", "", lambda p, lr: torch.optim.Adadelta(p, lr))]


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


def last_layer(r, shape):
    if len(shape) == 4:
        return [Layer("global_avg_pool3d", compare.Function(lambda x: x.mean((2, 3, 4))), shape[:1]),
                *last_layer(r, shape[:1])]
    units = r.choice([2, 3, 5])
    if len(shape) == 3:
        return [Layer(f"conv2d<{units}, 1>", nn.Conv2d(shape[0], units, 1), (units, *shape[1:]))]
    return [Layer(f"dense<{units}>", nn.Linear(shape[-1], units), (*shape[:-1], units))]


class Fit(compare.Network):
    def __init__(self, seed):
        super().__init__(seed, SIZES)
        r = random.Random(seed + 1)
        self.noise = r.choice(NOISE) if r.random() < 0.3 else None
        last = last_layer(r, self.output)
        if self.noise:
            last.insert(0, Layer(self.noise, nn.Identity(), self.output))
        penalty = r.choice([None, None, "l1", "l2"])
        self.penalised = (last[-1].torch.weight, penalty)
        self.layers += [layer.castnet for layer in last]
        if penalty:
            self.layers[-1] += f".{penalty}(0.0625)"
        self.torch = nn.Sequential(*self.torch, *(layer.torch for layer in last))
        self.output = last[-1].shape
        self.loss = r.choice(LOSSES)
        statistics = any(name in layer for layer in self.layers for name in ("batch_norm", "running", "spectral"))
        self.capacity = r.choice([4, 5, 5, 7, 8])
        self.accumulated = 1 if statistics else r.choice([1, 1, 2, 3])
        of_step = self.accumulated * self.capacity
        self.samples, self.epochs = r.choice([1, 2, 3]) * of_step + r.choice([0, 2, 3]), r.choice([2, 3])
        self.steps = math.ceil(self.samples / of_step)
        self.stop_after = r.randint(1, self.steps * self.epochs - 1)
        self.x = torch.randn(self.samples, *self.input)
        y = torch.zeros(self.samples, *self.output)
        self.y = self.loss.target(y.transpose(1, 2) if len(self.output) == 2 else y)
        self.weights = torch.tensor(r.choices([1, 1, 0.5, 2, 3], k=self.samples)) if r.random() < 0.5 else None
        if self.weights is not None and r.random() < 0.5:  # some are not there, of batches that are full
            self.weights[1:self.samples // of_step * of_step:4] = 0
        self.class_weight = None
        if self.loss.target is labels and len(self.output) == 1 and r.random() < 0.5:
            self.class_weight = torch.tensor(r.choices([1, 0.5, 3], k=self.output[0])).double()
        self.choose_optimizer(r)

    def choose_optimizer(self, r):
        # (What a normalisation leaves of the gradient of a bias before it is rounding, which Adam and others enlarge.)
        normalises = any("norm" in layer for layer in self.layers)
        name, options, self.optimizer = r.choice(OPTIMIZERS[:4] if normalises else OPTIMIZERS)
        self.rate = r.choice([0.5, 1]) if name == "adadelta" else 2 ** -r.randint(6, 9)
        text = f"cn::{name}{{.learning_rate = {self.rate}{', ' if options else ''}{options}}}"
        self.clip = r.choice(["", "", "", "clip_norm", "clip_each_norm", "clip_value"])
        if self.clip:
            text = f"cn::{self.clip}({text}, 0.125)"
        self.averages = r.random() < 0.25
        if self.averages:
            text = f"cn::ema({text}, 0.75)"
        if self.accumulated > 1:
            text = f"cn::accumulate<{self.accumulated}>({text})"
        others = [name for name, _ in self.torch[:-1].named_parameters() if name.endswith(".weight")]
        self.groups = bool(others) and r.random() < 0.25
        if self.groups:
            text = (f'cn::groups({text}, cn::parameter_group{{.names = "{len(self.torch) - 1}.*", .rate = 0.5}}, '
                    f'cn::parameter_group{{.names = "*.weight", .decay = 0}})')
            self.groups = [(f"{len(self.torch) - 1}.*", 0.5, 1), ("*.weight", 1, 0)]
        self.optimizer_text = text
        self.schedule = r.choice([None, None, *SCHEDULES])

    def __str__(self):
        weights = [name for name in ("weights", "class_weight") if getattr(self, name) is not None]
        return (f"{self.input} -> {self.output}, {self.samples} samples by {self.capacity}: {', '.join(self.layers)}; "
                + ", ".join([self.loss.castnet, self.optimizer_text, *(self.schedule or [])[:1], *weights]))

    def target(self):
        if self.loss.target is not labels:
            return f"cn::shape<{', '.join(map(str, self.output))}>"
        channels, *places = self.output if len(self.output) != 2 else self.output[::-1]
        return f"cn::data::label<{', '.join(map(str, (channels, *places)))}>"

    def source(self, number, device):
        schedule = f"    options.schedule = {self.schedule[0].format(self.rate)};\n" if self.schedule else ""
        classes = f"    options.class_weight = {{{', '.join(map(str, self.class_weight.tolist()))}}};\n" \
            if self.class_weight is not None else ""
        kind = "std::int32_t" if self.loss.target is labels else "float"
        weighted = f'.with_weights(numbers<float>("weights.bin", samples))' if self.weights is not None else ""
        return (f"using policy = {compare.policy(number, device)};\n"
                f"constexpr cn::size_t capacity = {self.capacity}, samples = {self.samples};\n"
                f"constexpr int stop_after = {self.stop_after};\n"
                f"constexpr bool averages = {str(self.averages).lower()};\n"
                f"using dataset = cn::data::dataset<{self.target()}, cn::shape<{', '.join(map(str, self.input))}>>;\n"
                f"constexpr auto loss = {self.loss.castnet};\n"
                f"auto optimizer() {{ return {self.optimizer_text}; }}\n"
                f"dataset read_data() {{\n"
                f'    return dataset{{numbers<float>("x.bin", {self.x.numel()}), '
                f'numbers<{kind}>("y.bin", {self.y.numel()})}}{weighted};\n}}\n'
                f"template <class Training>\nauto fit_options(Training const&) {{\n"
                f"    cn::fit_options<Training> options;\n"
                f"    options.epochs = {self.epochs};\n    options.shuffle = false;\n"
                f"    options.verbose = cn::verbosity::silent;\n{schedule}{classes}    return options;\n}}\n"
                f"{self.definitions}namespace castnet {{\n"
                f"using random_network = sequential<input<{', '.join(map(str, self.input))}>, "
                f"{', '.join(self.layers)}>;\n"
                f"}}\nusing network = cn::random_network;\n")

    def write(self, folder, number, device):
        super().write(folder, number, device)
        y = self.y.transpose(1, 2) if self.y.dim() == 3 and self.loss.target is not labels else self.y
        (y.int() if self.loss.target is labels else y).contiguous().numpy().tofile(folder / "y.bin")
        if self.weights is not None:
            self.weights.float().numpy().tofile(folder / "weights.bin")

    def losses_of(self, samples, factors=True):
        """Of these samples, and their weights."""
        if self.weights is not None:
            samples = [i for i in samples if self.weights[i] > 0]
        prediction = self.torch(self.x[samples].double())
        if len(self.output) == 2:
            prediction = prediction.transpose(1, 2)
        y = self.y[samples]
        losses = self.loss.torch(prediction, y if self.loss.target is labels else y.double())
        weights = torch.ones(len(samples), dtype=torch.double)
        if self.weights is not None:
            weights = self.weights[samples].double()
        if self.class_weight is not None and factors:
            weights = weights * self.class_weight[y]
        return losses, weights

    def fit(self, names):
        """The mean losses of the epochs, and the averages of the parameters; names are castnet's."""
        trained = dict(self.torch.named_parameters())
        group_of = {name: next((i for i, (pattern, *_) in enumerate(self.groups or [])
                                if fnmatch.fnmatchcase(names[name], pattern)), None) for name in trained}
        found = {}
        for name, p in trained.items():
            found.setdefault(group_of[name], []).append(p)
        optimizer = self.optimizer([{"params": ps} for ps in found.values()], self.rate)
        factors = []
        for i, group in zip(found, optimizer.param_groups):
            _, rate, decay = (None, 1, 1) if i is None else self.groups[i]
            factors.append(rate)
            if "weight_decay" in group:
                group["weight_decay"] *= decay
        averages, means, step = {}, [], 0
        self.torch.train()
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
                if self.clip == "clip_norm":
                    nn.utils.clip_grad_norm_(trained.values(), 0.125)
                elif self.clip == "clip_value":
                    nn.utils.clip_grad_value_(trained.values(), 0.125)
                elif self.clip:
                    for p in trained.values():  # as Keras' clipnorm
                        p.grad *= 0.125 / max(0.125, float(p.grad.norm()))
                for group, factor in zip(optimizer.param_groups, factors):
                    group["lr"] = factor * (self.schedule[1](self.rate, step, self.steps * self.epochs)
                                            if self.schedule else self.rate)
                optimizer.step()
                step += 1
                for name, p in trained.items():
                    averages[name] = p.detach().clone() if step == 1 else torch.lerp(averages[name], p.detach(), 0.25)
            means.append(float(sums[0] / sums[1]))
        self.torch.eval()
        with torch.no_grad():
            losses, weights = self.losses_of(list(range(self.samples)), False)
            means.append(float((losses * weights).sum() / weights.sum()))
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
    state = {name: values for name, values in model.state_dict().items() if "num_batches" not in name}
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
    c.same("losses", losses, torch.tensor(means, dtype=torch.double), 1e-6, 1e-2)
    return found + c.differences


def main():
    compare.check = check
    compare.run_all(compare.options(__doc__, "random_fits").parse_args(), Fit, ["double"])


if __name__ == "__main__":
    main()
