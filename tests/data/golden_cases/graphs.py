"""Small networks with branches: loss and all gradients of one weighted step, float64.

A sample of weight 0 is absent, from batch statistics too, so the networks run on the rest.
"""

import torch
import torch.nn.functional as F
from torch import nn

from .golden_file import GoldenFile


def conv3x3(inputs, outputs, stride=1):
    return nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1)


class ResidualBlock(nn.Module):
    """relu(shortcut(x) + body(x)); the shortcut is x itself where the shapes agree."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = conv3x3(inputs, outputs, stride)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = conv3x3(outputs, outputs)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        body = F.relu(self.bn1(self.conv1(x)))
        body = self.bn2(self.conv2(body))
        return F.relu(self.shortcut(x) + body)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv3x3(4, 8)
        self.identity = ResidualBlock(8, 8, stride=1)
        self.projection = ResidualBlock(8, 12, stride=2)
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        x = self.projection(self.identity(F.relu(self.stem(x))))
        return self.head(x.mean(dim=(2, 3)))


class UShaped(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = conv3x3(2, 4)
        self.down2 = conv3x3(4, 8)
        self.bottom = conv3x3(8, 8)
        self.up2 = conv3x3(16, 8)
        self.up1 = conv3x3(12, 4)
        self.head = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        skip1 = F.relu(self.down1(x))
        skip2 = F.relu(self.down2(F.max_pool2d(skip1, 2)))
        x = F.relu(self.bottom(F.max_pool2d(skip2, 2)))
        x = F.relu(self.up2(torch.cat([F.interpolate(x, scale_factor=2), skip2], dim=1)))
        x = F.relu(self.up1(torch.cat([F.interpolate(x, scale_factor=2), skip1], dim=1)))
        return self.head(x)


class TwoInputs(nn.Module):
    """Both inputs pass the same encoder, so its gradients are sums over both."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 8))
        self.head = nn.Linear(16, 3)

    def forward(self, a, b):
        return self.head(torch.cat([self.encoder(a), self.encoder(b)], dim=1))


def randomize_batch_norms(model):
    """Scales of 1 and shifts of 0 would hide mistakes."""
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm3d)):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)


def statistics(model):
    return {name: buffer for name, buffer in model.named_buffers() if "running" in name}


def record(golden, case, network, per_element_loss, inputs, target, weight):
    """inputs and target are functions, so that the numbers drawn follow the case's seed."""
    golden.begin(case)
    model = network()
    randomize_batch_norms(model)
    inputs = inputs()
    target, weight = target(), torch.tensor(weight)
    golden.put(case, **inputs, target=target, sample_weight=weight)
    for name, parameter in model.named_parameters():
        golden.put(f"{case}/param", **{name: parameter})
    for name, buffer in statistics(model).items():
        golden.put(f"{case}/running_before", **{name: buffer})

    present = weight != 0
    output = model(*(x[present] for x in inputs.values()))
    elements = per_element_loss(output, target[present], reduction="none")
    per_sample = elements.reshape(len(output), -1).mean(dim=1)
    loss = (weight[present] * per_sample).sum() / weight.sum()
    loss.backward()

    golden.put(case, output_of_present=output, loss=loss)
    for name, parameter in model.named_parameters():
        golden.put(f"{case}/grad", **{name: parameter.grad})
    for name, buffer in statistics(model).items():
        golden.put(f"{case}/running_after", **{name: buffer})


def generate():
    golden = GoldenFile()
    record(
        golden,
        "residual",
        Residual,
        F.cross_entropy,
        lambda: dict(input=torch.randn(4, 4, 8, 8)),
        lambda: torch.randint(0, 5, (4,)),
        weight=[1.0, 2.0, 0.5, 0.0],
    )
    record(
        golden,
        "u_shaped",
        UShaped,
        F.binary_cross_entropy_with_logits,
        lambda: dict(input=torch.randn(4, 2, 16, 16)),
        lambda: torch.randint(0, 2, (4, 1, 16, 16)).double(),
        weight=[1.0, 0.0, 2.0, 0.5],
    )
    record(
        golden,
        "two_input",
        TwoInputs,
        F.cross_entropy,
        lambda: dict(input0=torch.randn(4, 12), input1=torch.randn(4, 12)),
        lambda: torch.randint(0, 3, (4,)),
        weight=[0.5, 1.0, 0.0, 2.0],
    )
    return golden
