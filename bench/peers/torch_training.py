#!/usr/bin/env python3
"""Training steps of PyTorch on the CPU, with the networks and names of bench_training.

Prints one line for each benchmark: its name, samples per second, milliseconds of the processor's
time for a step, and the most memory that the process has had so far, without that of PyTorch itself
(so it is meaningful only for the first network of a run). A step gathers a batch of
shuffled samples in memory, computes loss and gradients, and updates with Adam, as castnet's does.
"""

import argparse
import re
import resource
import sys
import time
from pathlib import Path

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


def torchvisions(name, **how):
    """A network of torchvision, as a function of this file's kind, called name."""
    def network():
        import torchvision
        return getattr(torchvision.models, name)(**how)
    network.__name__ = name
    return network


def timms(name, timms_name, **how):
    """The same for timm."""
    def network():
        import timm
        return timm.create_model(timms_name, **how)
    network.__name__ = name
    return network


def mobilenetv2():
    return torchvisions("mobilenet_v2")()


def resnet18_cifar():
    net = torchvisions("resnet18", num_classes=10)()
    net.conv1, net.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    return net


def golden():
    """The networks that castnet's own tests define."""
    sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/zoo"))
    import golden
    return golden


def wide_unet():
    return golden().UNet(3, 1)


def autoencoder():
    return golden().Autoencoder()


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
CLASSES, PIXELS, NUMBERS = nn.CrossEntropyLoss, nn.BCEWithLogitsLoss, nn.MSELoss
NETWORKS = [(convnet, (1, 28, 28), CLASSES, (32, 128, 512)),
            (dropout_cnn, (1, 28, 28), CLASSES, (128,)),
            (vgg16_convolutions, (3, 224, 224), CLASSES, (8,)),
            (wide_mlp, (784,), CLASSES, (128,)),
            (lstm, (140, 256), CLASSES, (32,)),
            (gru, (140, 256), CLASSES, (32,)),
            (bidirectional_lstm, (140, 256), CLASSES, (32,)),
            (two_sequences, (2, 140, 256), CLASSES, (32,)),
            (gpt, (256,), CLASSES, (8,)),
            (tiny_mlp, (13,), NUMBERS, (128,)),
            (autoencoder, (1, 28, 28), PIXELS, (128,)),
            (torchvisions("densenet121"), (3, 96, 96), CLASSES, (8,)),
            (torchvisions("efficientnet_b0"), (3, 96, 96), CLASSES, (8,)),
            (torchvisions("inception_v3", aux_logits=False, init_weights=False), (3, 96, 96), CLASSES, (8,)),
            (timms("mixer_s16", "mixer_s16_224", img_size=96), (3, 96, 96), CLASSES, (8,)),
            (mobilenetv2, (3, 96, 96), CLASSES, (8,)),
            (torchvisions("resnet18"), (3, 96, 96), CLASSES, (8,)),
            (resnet18_cifar, (3, 32, 32), CLASSES, (8,)),
            (torchvisions("resnet34"), (3, 96, 96), CLASSES, (8,)),
            (torchvisions("resnet50"), (3, 96, 96), CLASSES, (8,)),
            (wide_unet, (3, 128, 128), PIXELS, (4,)),
            (torchvisions("vgg16"), (3, 224, 224), CLASSES, (2,)),
            (torchvisions("vgg19"), (3, 224, 224), CLASSES, (2,)),
            (timms("xception", "legacy_xception"), (3, 96, 96), CLASSES, (8,))]
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
    y = torch.randint(10, (len(x),)) if loss is CLASSES else torch.rand(len(x), 1, *shape[1:])
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
    chosen = [(f"{network.__name__}/batch:{batch}/threads:{threads}", threads,
               (network, shape, loss, batch)) for network, shape, loss, batches in NETWORKS
              for batch in batches for threads in options.threads]
    chosen = [one for one in chosen if re.search(options.filter, one[0])]
    with torch.device("meta"):
        for network in {what[0] for _, _, what in chosen}:
            network()  # imports what it needs, without memory for parameters
    before = peak_megabytes()
    for name, threads, what in chosen:
        torch.set_num_threads(threads)
        rate, processor = measure(*what, options)
        print(name, f"{rate:.6g} {processor:.4f} ms {peak_megabytes() - before:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
