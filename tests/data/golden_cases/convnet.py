"""The ConvNet on Fashion-MNIST: initial weights and the losses of the first 50 steps."""

import copy
import gzip
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from .golden_file import GoldenFile

BATCH, STEPS = 128, 50

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.001, eps=1e-8),
}


def network():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def idx(path, header, count):
    """The first `count` bytes of data of a gzipped IDX file."""
    with gzip.open(path) as file:
        file.seek(header)
        return torch.frombuffer(bytearray(file.read(count)), dtype=torch.uint8)


def training_samples(folder):
    """The first STEPS * BATCH images, as pixels / 255, and labels, in file order."""
    count = STEPS * BATCH
    images = idx(Path(folder) / "train-images-idx3-ubyte.gz", 16, count * 28 * 28)
    labels = idx(Path(folder) / "train-labels-idx1-ubyte.gz", 8, count)
    return images.reshape(count, 1, 28, 28).float() / 255, labels.long()


def losses(model, optimizer, images, labels):
    """The mean cross-entropy of each step's batch, before the update."""
    curve = []
    for x, y in zip(images.split(BATCH), labels.split(BATCH)):
        loss = F.cross_entropy(model(x), y)
        curve.append(loss.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.stack(curve)


def generate(folder):
    golden = GoldenFile()
    golden.begin("losses", "SGD(lr 0.05, momentum 0.9) and Adam(lr 0.001, eps 1e-8) in float32")
    golden.notes["losses64"] = "the same from the same weights and pixels in float64"
    golden.notes["logits"] = "of the first batch, by the initial weights"
    images, labels = training_samples(folder)
    model = network().float()
    for name, tensor in model.state_dict().items():
        golden.put_named(name, tensor)
    with torch.no_grad():
        golden.put_named("logits", model(images[:BATCH]))
    for case, precision in {"losses": torch.float32, "losses64": torch.float64}.items():
        for name, optimizer in OPTIMIZERS.items():
            trained = copy.deepcopy(model).to(precision)
            curve = losses(trained, optimizer(trained.parameters()), images.to(precision), labels)
            golden.put(case, **{name: curve})
    return golden
