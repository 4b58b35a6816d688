"""Optimizers: a vector of 20 parameters over 6 steps with given gradients, float64."""

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
    "adagrad": (optim.Adagrad, dict(lr=0.01, eps=1e-10, initial_accumulator_value=0.0)),
    "adadelta": (optim.Adadelta, dict(lr=1.0, rho=0.9, eps=1e-6)),
}


def generate():
    golden = GoldenFile()
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
