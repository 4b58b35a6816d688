#!/usr/bin/env python3
"""Training steps of PyTorch on a GPU, with the networks and names of bench_gpu.

Reads a name, a way and seconds, a line for each, and prints what it measured, or what went wrong,
as a line of JSON. Batches are gathered from shuffled samples in the GPU's memory, gradients are made and Adam updates,
as in castnet's. The ways:

eager     as it comes, with the fused Adam
tuned     channels last, AMP in bfloat16, TF32 allowed
compile   tuned, through torch.compile
graph     tuned, the whole step captured once as a CUDA graph
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

import torch
from torch import nn


def load_peers():
    """Networks that are benchmarked on CPUs, too."""
    file = Path(__file__).resolve().parents[1] / "peers/torch_training.py"
    spec = importlib.util.spec_from_file_location("peers", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


peers = load_peers()


def vgg16():
    layers, channels = [], 3
    for filters in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if filters == 0:
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
            channels = filters
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(25088, 4096), nn.ReLU(), nn.Dropout(0.5),
                         nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4096, 1000))


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.shortcut = nn.Identity() if channels == 4 * width else nn.Sequential(
            nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
              nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for width, stride, count in ((64, 1, 3), (128, 2, 4), (256, 2, 6), (512, 2, 3)):
        for i in range(count):
            layers.append(Bottleneck(channels, width, stride if i == 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


# network, shape of a sample (None: ids), classes (0: a number), batches in memory
NETWORKS = {"lstm": (peers.lstm, (140, 256), 10, 16),
            "gpt": (peers.gpt, None, 65, 4),
            "convnet": (peers.convnet, (1, 28, 28), 10, 64),
            "dropout_cnn": (peers.dropout_cnn, (1, 28, 28), 10, 64),
            "wide_mlp": (peers.wide_mlp, (784,), 10, 64),
            "tiny_mlp": (peers.tiny_mlp, (13,), 0, 256),
            "vgg16": (vgg16, (3, 224, 224), 1000, 4),
            "resnet50": (resnet50, (3, 224, 224), 1000, 4)}
WAYS = ("eager", "tuned", "compile", "graph")


class Training:
    """One network and batch size in one way, ready to do steps."""

    def __init__(self, name, way):
        network, batch = name.split("/")
        make, shape, classes, self.batches = NETWORKS[network]
        self.tuned = way != "eager"
        self.model = make().cuda()
        count = self.batches * int(batch)
        if shape:
            self.x = torch.rand(count, *shape, device="cuda")
        else:
            self.x = torch.randint(classes, (count, 256), device="cuda")
        if self.tuned and shape and len(shape) == 3:
            self.model = self.model.to(memory_format=torch.channels_last)
            self.x = self.x.to(memory_format=torch.channels_last)
        if classes:
            self.y = torch.randint(classes, (count,) if shape else self.x.shape, device="cuda")
            self.loss = nn.CrossEntropyLoss()
        else:
            self.y, self.loss = torch.rand(count, 1, device="cuda"), nn.MSELoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True,
                                          capturable=way == "graph")
        self.total = torch.zeros((), device="cuda")  # of the loss, as castnet sums it up
        self.run = torch.compile(self.model) if way == "compile" else self.model
        self.chosen = torch.arange(int(batch), device="cuda")
        self.batch = int(batch)
        self.graph = None
        if way == "graph":
            self.capture()

    def compute(self):
        with torch.autocast("cuda", torch.bfloat16, enabled=self.tuned):
            loss = self.loss(self.run(self.x[self.chosen]), self.y[self.chosen])
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach()

    def capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.optimizer.zero_grad(set_to_none=True)
                self.compute()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.compute()

    def epochs(self, count):
        """Seconds for each step."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            for chosen in torch.randperm(len(self.x), device="cuda").split(self.batch):
                self.chosen.copy_(chosen)
                if self.graph:
                    self.graph.replay()
                else:
                    self.optimizer.zero_grad(set_to_none=True)
                    self.compute()
            self.total.item()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count / self.batches


def measure(trainings, name, way, seconds):
    """Microseconds of a step, and the most memory that its allocator took, but for the data; trainings are kept."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = way != "eager"
    if (name, way) not in trainings:
        torch.manual_seed(42)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        training = trainings[name, way] = Training(name, way)
        training.epochs(2)  # compiles, tunes, fills caches
        data = training.x.nbytes + training.y.nbytes
        training.taken = torch.cuda.max_memory_allocated() - before - data
    training = trainings[name, way]
    once = training.epochs(1) * training.batches
    return training.epochs(max(1, int(seconds / once))) * 1e6, training.taken


def main():
    if sys.argv[1:] == ["--info"]:
        print(json.dumps({"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                          "cuda": torch.version.cuda, "gpu": torch.cuda.is_available()}))
        return
    torch.backends.cudnn.benchmark = True
    trainings = {}
    for line in sys.stdin:
        name, way, seconds = line.split()
        try:
            microseconds, taken = measure(trainings, name, way, float(seconds))
            answer = {"step_us": round(microseconds, 3), "taken_bytes": taken}
        except Exception as e:  # the others may be measured all the same
            trainings.pop((name, way), None)
            answer = {"error": f"{type(e).__name__}: {e}".splitlines()[0][:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
