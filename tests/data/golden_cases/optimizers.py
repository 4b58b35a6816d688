"""Optimizers over 6 steps, float64: a vector of 20 parameters with given gradients, linear layers of
those that see a whole parameter, and an embedding of which each step uses some rows."""

from unittest import mock

import torch
from torch import optim

from .golden_file import GoldenFile

PARAMETERS, STEPS = 20, 6

# name: (optimizer, every hyperparameter that matters, torch's names)
OPTIMIZERS = {
    "sgd": (optim.SGD, dict(lr=0.1)),
    "sgd_momentum": (optim.SGD, dict(lr=0.1, momentum=0.9)),
    "sgd_nesterov": (optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True)),
    "sgd_weight_decay": (optim.SGD, dict(lr=0.1, weight_decay=0.01)),
    "sgd_momentum_weight_decay": (
        optim.SGD,
        dict(lr=0.1, momentum=0.9, dampening=0.0, weight_decay=0.01),
    ),
    "rmsprop": (optim.RMSprop, dict(lr=0.01, alpha=0.99, eps=1e-8)),
    "rmsprop_momentum": (optim.RMSprop, dict(lr=0.01, alpha=0.99, eps=1e-8, momentum=0.9)),
    "rmsprop_centered": (optim.RMSprop, dict(lr=0.01, alpha=0.99, eps=1e-8, centered=True)),
    "adam": (optim.Adam, dict(lr=0.001, betas=(0.9, 0.999), eps=1e-8)),
    "adam_weight_decay": (
        optim.Adam,
        dict(lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01),
    ),
    "adamw": (optim.AdamW, dict(lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)),
    "adamax": (optim.Adamax, dict(lr=0.002, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)),
    "radam": (optim.RAdam, dict(lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)),
    "radam_short": (optim.RAdam, dict(lr=0.001, betas=(0.9, 0.9), eps=1e-8)),
    "adagrad": (optim.Adagrad, dict(lr=0.01, eps=1e-10, initial_accumulator_value=0.0)),
    "adadelta": (optim.Adadelta, dict(lr=1.0, rho=0.9, eps=1e-6)),
}


class Lamb(optim.Optimizer):
    """You et al. 2020, algorithm 2, with the identity as phi."""

    def __init__(self, parameters, lr, betas, eps, weight_decay):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for x in group["params"]:
                state = self.state[x]
                if not state:
                    state.update(t=0, m=torch.zeros_like(x), v=torch.zeros_like(x))
                state["t"] += 1
                state["m"] = beta1 * state["m"] + (1 - beta1) * x.grad
                state["v"] = beta2 * state["v"] + (1 - beta2) * x.grad ** 2
                m = state["m"] / (1 - beta1 ** state["t"])
                v = state["v"] / (1 - beta2 ** state["t"])
                r = m / (v.sqrt() + group["eps"]) + group["weight_decay"] * x
                ratio = x.norm() / r.norm() if x.norm() > 0 and r.norm() > 0 else 1
                x -= group["lr"] * ratio * r


class MuonAndAdamW:
    """Muon for the weight, whose matrices are products in float64 and not in bfloat16, and AdamW."""

    def __init__(self, parameters, muon, adamw):
        weight, bias = parameters
        self.muon, self.adamw = optim.Muon([weight], **muon), optim.AdamW([bias], **adamw)

    def step(self):
        with mock.patch.object(torch, "bfloat16", torch.float64):
            self.muon.step()
        self.adamw.step()


# name: (optimizer, features, units, hyperparameters)
LAYERS = {
    "lamb": (Lamb, 4, 6, dict(lr=0.01, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01)),
    "muon": (
        MuonAndAdamW,
        4,
        6,
        dict(
            muon=dict(lr=0.02, momentum=0.95, nesterov=True, eps=1e-7, ns_steps=5, weight_decay=0.1),
            adamw=dict(lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1),
        ),
    ),
    "muon_wide": (
        MuonAndAdamW,
        6,
        4,
        dict(
            muon=dict(
                lr=0.02,
                momentum=0.9,
                nesterov=False,
                eps=1e-7,
                ns_steps=3,
                weight_decay=0.0,
                adjust_lr_fn="match_rms_adamw",
            ),
            adamw=dict(lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.0),
        ),
    ),
}
SAMPLES = 3


def add_layers(golden):
    for case, (optimizer, features, units, hyperparameters) in LAYERS.items():
        golden.begin(case, hyperparameters)
        layer = torch.nn.Linear(features, units)
        torch.nn.init.normal_(layer.bias)
        inputs = torch.randn(STEPS * SAMPLES, features)
        targets = torch.randn(STEPS * SAMPLES, units)
        golden.put(
            case, weight0=layer.weight, bias0=layer.bias, inputs=inputs, targets=targets
        )
        updates = optimizer([layer.weight, layer.bias], **hyperparameters)
        weights, biases = [], []
        for step in range(STEPS):
            batch = slice(step * SAMPLES, (step + 1) * SAMPLES)
            layer.zero_grad()
            (layer(inputs[batch]) * targets[batch]).sum(1).mean().backward()
            updates.step()
            weights.append(layer.weight.detach().clone())
            biases.append(layer.bias.detach().clone())
        golden.put(case, weights=torch.stack(weights), biases=torch.stack(biases))


def add_embedding(golden):
    hyperparameters = dict(lr=0.05, betas=(0.9, 0.999), eps=1e-16)  # which Adam adds elsewhere
    golden.begin("sparse_adam", hyperparameters)
    table = torch.nn.Embedding(9, 3, padding_idx=2, sparse=True)
    ids = torch.randint(9, (STEPS * SAMPLES, 2))
    targets = torch.randn(STEPS * SAMPLES, 2, 3)
    golden.put("sparse_adam", weight0=table.weight, ids=ids, targets=targets)
    updates = optim.SparseAdam(table.parameters(), **hyperparameters)
    weights = []
    for step in range(STEPS):
        batch = slice(step * SAMPLES, (step + 1) * SAMPLES)
        table.zero_grad()
        (table(ids[batch]) * targets[batch]).sum((1, 2)).mean().backward()
        updates.step()
        weights.append(table.weight.detach().clone())
    golden.put("sparse_adam", weights=torch.stack(weights))


def generate():
    golden = GoldenFile()
    add_layers(golden)
    add_embedding(golden)
    for case, (optimizer, hyperparameters) in OPTIMIZERS.items():
        golden.begin(case, hyperparameters)
        parameter = torch.nn.Parameter(torch.randn(PARAMETERS))
        gradients = torch.randn(STEPS, PARAMETERS)
        gradients[:, -1] = 0  # a parameter that no loss depends on
        golden.put(case, parameter0=parameter, gradients=gradients)

        updates = optimizer([parameter], **hyperparameters)
        steps = []
        for gradient in gradients:
            parameter.grad = gradient.clone()
            updates.step()
            steps.append(parameter.detach().clone())
        golden.put(case, parameters=torch.stack(steps))
    return golden
