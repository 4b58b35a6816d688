#!/usr/bin/env python3
"""Training steps of PyTorch on the CPU, with the networks and names of bench_training.

Prints one line for each benchmark: its name, samples per second, milliseconds of the processor's
time for a step, and the most memory that the process has had so far. A step gathers a batch of
shuffled samples in memory, computes loss and gradients, and updates with Adam, as castnet's does.
"""

import argparse
import re
import resource
import time

import torch
from torch import nn


def convnet():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(),
                         nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10))


def dropout_cnn():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
                         nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))


def vgg16_convolutions():
    layers, channels = [], 3
    for filters in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        layers += ([nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()] if filters
                   else [nn.MaxPool2d(2)])
        channels = filters or channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def mobilenetv2():
    import torchvision
    return torchvision.models.mobilenet_v2()


def efficientnet_b0():
    import torchvision
    return torchvision.models.efficientnet_b0()


def densenet121():
    import torchvision
    return torchvision.models.densenet121()


def wide_unet():
    sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/zoo"))
    import golden
    return golden.UNet(3, 1)


def wide_mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                         nn.Linear(512, 10))


class Recurrent(nn.Module):
    def __init__(self, kind, outputs=64, **how):
        super().__init__()
        self.recurrent = kind(256, 64, batch_first=True, **how)
        self.head = nn.Linear(outputs, 10)

    def forward(self, x):
        state = self.recurrent(x.flatten(0, -3))[1]  # several sequences of a sample as one batch
        state = state[0] if isinstance(state, tuple) else state
        return self.head(state.transpose(0, 1).reshape(len(x), -1))


def lstm():
    return Recurrent(nn.LSTM)


def gru():
    return Recurrent(nn.GRU)


def bidirectional_lstm():
    return Recurrent(nn.LSTM, 128, bidirectional=True)


def two_sequences():
    return Recurrent(nn.LSTM, 128)


class Block(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.qkv, self.out = nn.Linear(features, 3 * features), nn.Linear(features, features)
        self.up, self.down = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)

    def forward(self, x):
        batch, time, features = x.shape
        q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(features, dim=2))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, time, features))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary=65, time=256, features=384):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)
        self.positions = nn.Parameter(0.02 * torch.randn(time, features))
        self.blocks = nn.Sequential(*(Block(features, 6) for _ in range(6)))
        self.norm, self.head = nn.LayerNorm(features), nn.Linear(features, vocabulary)

    def forward(self, ids):
        x = self.blocks(self.embedding(ids) + self.positions)
        return self.head(self.norm(x)).transpose(1, 2)  # classes before time


def gpt():
    return GPT()


def tiny_mlp():
    return nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 32), nn.ReLU(),
                         nn.Linear(32, 1))


# network, shape of a sample, loss, batch sizes
NETWORKS = [(convnet, (1, 28, 28), nn.CrossEntropyLoss, (32, 128, 512)),
            (dropout_cnn, (1, 28, 28), nn.CrossEntropyLoss, (128,)),
            (vgg16_convolutions, (3, 224, 224), nn.CrossEntropyLoss, (8,)),
            (mobilenetv2, (3, 96, 96), nn.CrossEntropyLoss, (8,)),
            (efficientnet_b0, (3, 96, 96), nn.CrossEntropyLoss, (8,)),
            (densenet121, (3, 96, 96), nn.CrossEntropyLoss, (8,)),
            (wide_unet, (3, 128, 128), nn.BCEWithLogitsLoss, (4,)),
            (wide_mlp, (784,), nn.CrossEntropyLoss, (128,)),
            (lstm, (140, 256), nn.CrossEntropyLoss, (32,)),
            (gru, (140, 256), nn.CrossEntropyLoss, (32,)),
            (bidirectional_lstm, (140, 256), nn.CrossEntropyLoss, (32,)),
            (two_sequences, (2, 140, 256), nn.CrossEntropyLoss, (32,)),
            (gpt, (256,), nn.CrossEntropyLoss, (8,)),
            (tiny_mlp, (13,), nn.MSELoss, (128,))]
BATCHES = 8  # in memory


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(network, shape, loss, batch, options):
    torch.manual_seed(42)
    model = network()
    x = torch.rand(BATCHES * batch, *shape)
    if options.channels_last and x.dim() == 4:
        model = model.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    y = (torch.randint(10, (len(x),)) if loss is nn.CrossEntropyLoss
         else torch.rand(len(x), 1, *shape[1:]))
    if network is gpt:
        x, y = torch.randint(65, x.shape), torch.randint(65, x.shape)
    order = torch.randperm(len(x)).split(batch)
    optimizer = torch.optim.Adam(model.parameters(), fused=options.fused)
    run = torch.compile(model) if options.compile else model
    loss = loss()

    def step(i):
        which = order[i % BATCHES]
        optimizer.zero_grad()
        loss(run(x[which]), y[which]).backward()
        optimizer.step()

    warm_up = time.perf_counter() + options.seconds / 4
    step(0)
    step(1)
    while time.perf_counter() < warm_up:
        step(2)
    steps, start, processor = 0, time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - start) < options.seconds:
        step(steps)
        steps += 1
    return steps * batch / elapsed, 1000 * (time.process_time() - processor) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="regular expression for names")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=1, help="per benchmark (default 1)")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--fused", action="store_true", help="the fused Adam")
    parser.add_argument("--channels-last", action="store_true", help="images with channels last")
    options = parser.parse_args()
    for network, shape, loss, batches in NETWORKS:
        for batch in batches:
            for threads in options.threads:
                name = f"{network.__name__}/batch:{batch}/threads:{threads}"
                if re.search(options.filter, name):
                    torch.set_num_threads(threads)
                    rate, processor = measure(network, shape, loss, batch, options)
                    print(name, f"{rate:.1f} {processor:.1f} ms {peak_megabytes():.0f} MB", flush=True)


if __name__ == "__main__":
    main()
