#!/usr/bin/env python3
"""Compares random networks with PyTorch: a step of gradient descent, predictions, or the time of a step.

    tests/random_networks/compare.py 0 40          # seeds 0 to 39: right?
    tests/random_networks/compare.py 0 40 --wide   # wider than tiles of kernels, in double or float
    tests/random_networks/compare.py 0 40 --time   # larger ones, on one thread or --threads: how fast?
    tests/random_networks/compare.py 0 40 --gpu    # right on a GPU? (with --time: how fast, in bfloat16?)
    tests/random_networks/compare.py 0 40 --bf16   # with factors rounded to bfloat16: about right?

Each network is compiled in double and float (or, with --bf16, in bfloat16), and computes on 1, 2 and 3 threads, or twice on a GPU, with the same bits.
It prints a line for each, and what differs; it ends with 1 if something does. Needs g++ (for a GPU, nvcc and cuDNN),
PyTorch and safetensors, and half a minute for a network. A machine without a GPU can compile the programs for one that
has no compiler: with --build, and then there with --built.
"""

import argparse
import itertools
import math
import os
import random
import re
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import numpy
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

from products import products

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# How castnet and PyTorch spell a layer, and the shape of its result.
Layer = namedtuple("Layer", "castnet torch shape")

Sizes = namedtuple("Sizes", "channels side volume steps features inputs filters units batch most")
SMALL = Sizes(channels=[1, 2, 3, 4, 8, 16], side=range(5, 21), volume=range(2, 11), steps=range(1, 21),
              features=[1, 3, 8, 12, 16],
              inputs=[1, 3, 13, 64, 100, 300, 784], filters=[1, 2, 3, 5, 8, 12, 16, 17, 24, 32, 40, 64, 70],
              units=[1, 3, 5, 8, 16, 20, 33, 50, 64, 130], batch=[1, 2, 3, 4, 5, 8, 9, 13, 16, 24], most=2e4)
# Wider than the tiles of kernels, odd and prime.
WIDE = Sizes(channels=[1, 3, 16, 17, 24, 33, 40, 65, 96], side=[5, 7, 9, 13, 14, 17, 23, 29], volume=[2, 3, 5, 7, 9],
             steps=[2, 7, 17, 33, 65, 70], features=[17, 24, 33, 40, 65, 96, 130], inputs=[17, 33, 65, 100, 257, 784],
             filters=[17, 24, 33, 40, 64, 65, 96, 100, 130], units=[17, 24, 33, 40, 64, 65, 96, 100, 130, 257],
             batch=[1, 2, 3, 7, 9, 17, 33, 64], most=1e5)
COUNTS = [1, 2, 3, 7, 33, 64, 257]  # of rows that a wide network predicts at once
LARGE = Sizes(channels=[1, 3, 16, 32, 64], side=[16, 24, 28, 32, 48, 64], volume=[8, 12, 16, 24, 32],
              steps=[16, 32, 50, 64, 100, 128], features=[4, 16, 32, 64, 128], inputs=[13, 64, 300, 784, 1024, 2048],
              filters=[8, 16, 24, 32, 48, 64, 96, 128, 192], units=[10, 16, 32, 64, 100, 128, 256, 1000],
              batch=[1, 4, 8, 16, 32, 64, 128], most=3e5)

# (PyTorch's derivative of hardsigmoid is a float in double, too.)
ACTIVATIONS = [("relu", nn.ReLU), ("tanh", nn.Tanh), ("sigmoid", nn.Sigmoid), ("gelu", nn.GELU), ("silu", nn.SiLU),
               ("elu.alpha(0.5)", lambda: nn.ELU(0.5)), ("leaky_relu.slope(0.2)", lambda: nn.LeakyReLU(0.2)),
               ("softplus", nn.Softplus), ("selu", nn.SELU), ("relu6", nn.ReLU6), ("mish", nn.Mish),
               ("prelu", nn.PReLU), ("hard_silu", nn.Hardswish),
               ("hard_sigmoid", lambda: Function(lambda x: (x + 3).clamp(0, 6) / 6)),
               ("log_sigmoid", nn.LogSigmoid), ("softsign", nn.Softsign), ("gelu_tanh", lambda: nn.GELU("tanh"))]


class Function(nn.Module):
    """Of a module's result, or of x itself, as castnet's layer has it."""

    def __init__(self, function, inner=None):
        super().__init__()
        self.function, self.inner = function, inner

    def forward(self, x):
        return self.function(self.inner, x) if self.inner else self.function(x)


def turned(inner):
    """Of (time, features) what inner makes of (features, time)."""
    return Function(lambda f, x: f(x.transpose(1, 2)).transpose(1, 2), inner)


class NormalisedWeight(nn.Module):
    """A layer by a weight with rows of lengths g, or of which the largest singular value is about 1."""

    def __init__(self, layer, spectral):
        super().__init__()
        self.layer, self.weight = [layer], layer.weight  # (in a list, it is not a module of this one)
        transposed = isinstance(layer, nn.modules.conv._ConvTransposeNd)
        self.axis = 1 if spectral and transposed else 0  # that of the rows
        rows = self.rows().detach()
        if spectral:
            self.register_buffer("u", torch.zeros(rows.shape[0]))
            self.register_buffer("v", torch.zeros(rows.shape[1]))
        else:
            self.g = nn.Parameter(rows.norm(dim=1))
        self.bias = layer.bias

    def rows(self):
        return self.weight.movedim(self.axis, 0).flatten(1)

    def forward(self, x):
        rows = self.rows()
        if hasattr(self, "g"):
            rows = rows * (self.g / rows.norm(dim=1))[:, None]
        else:
            with torch.no_grad():
                if self.training:
                    self.u.copy_(F.normalize(rows @ self.v, dim=0))
                    self.v.copy_(F.normalize(self.u @ rows, dim=0))
                u, v = self.u.clone(), self.v.clone()
            rows = rows / (u @ rows @ v)
        shape = self.weight.movedim(self.axis, 0).shape
        used = {"weight": rows.reshape(shape).movedim(0, self.axis), **({} if self.bias is None else {"bias": self.bias})}
        return torch.func.functional_call(self.layer[0], used, x)


def perhaps_normalised(r, name, module):
    """The layer or, now and then, the same with a normalised weight."""
    kind = r.choice(["weight_norm", "spectral_norm"] + [""] * 6)
    return (f"{kind}<{name}>", NormalisedWeight(module, kind == "spectral_norm")) if kind else (name, module)


class RunningStandard(nn.Module):
    """Statistics of a layer that is no part of castnet."""

    castnet = """struct running_standard {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"running_standard"}};
        auto mean = cn::new_statistic<S>(*x.g, "running_mean");
        auto variance = cn::new_statistic<S>(*x.g, "running_var", cn::ones);
        if (x.g->trains()) {
            mean = cn::update(mean, cn::lerp(mean, cn::batch_mean(x), 0.1));
            variance = cn::update(variance, cn::lerp(variance, cn::batch_mean(cn::square(x - mean)), 0.1));
        }
        return (x - mean) * cn::rsqrt(variance + 1e-5);
    }
};
"""

    def __init__(self, shape):
        super().__init__()
        self.register_buffer("running_mean", torch.zeros(shape))
        self.register_buffer("running_var", torch.ones(shape))

    def forward(self, x):
        if self.training:
            self.running_mean.lerp_(x.detach().mean(0), 0.1)
            self.running_var.lerp_((x.detach() - self.running_mean).square().mean(0), 0.1)
        return (x - self.running_mean.clone()) * torch.rsqrt(self.running_var.clone() + 1e-5)


def running_standard(r, shape, sizes):
    return Layer("running_standard{}", RunningStandard(shape), shape)


def local_response_norm(r, shape, sizes):
    size, alpha, beta, k = r.choice([1, 2, 3, 5]), r.choice([1e-4, 0.5, 2]), r.choice([0.75, 0.5, 1]), r.choice([1, 2])
    inner, axes = nn.LocalResponseNorm(size, alpha, beta, k), len(shape)
    return Layer(f"local_response_norm<{size}>.with_alpha({alpha}).with_beta({beta}).with_k({k})",
                 inner if axes > 2 else turned(inner) if axes == 2
                 else Function(lambda f, x: f(x[..., None])[..., 0], inner), shape)


SHARED = itertools.count()  # their names; PyTorch's are of a module `shared`


class Shared(nn.Module):
    """A layer before another one and after it."""

    def __init__(self, shared, between):
        super().__init__()
        self.shared, self.between = shared, between

    def forward(self, x):
        return self.shared(self.between(self.shared(x)))


def shared(make, *make_between):
    """A layer that keeps the number of channels or features, twice."""
    def layers(r, shape, sizes):
        inner, name = make(r, shape, sizes), f"shared_{next(SHARED):05}"
        between = r.choice(make_between)(r, inner.shape, sizes)
        if not between or min(between.shape) < 1:
            return None
        return Layer(f'shared<"{name}", {inner.castnet}>, {between.castnet}, shared<"{name}", {inner.castnet}>',
                     Shared(inner.torch, between.torch), between.shape)
    return layers


def same_image(r, shape, sizes):
    channels, kernel = shape[0], r.choice([1, 3, 5])
    return r.choice([Layer(f"conv2d<{channels}, {kernel}, conv{{.padding = same}}>",
                           nn.Conv2d(channels, channels, kernel, padding=kernel // 2), shape),
                     Layer("batch_norm", nn.BatchNorm2d(channels), shape),
                     Layer("prelu.per_channel()", nn.PReLU(channels), shape),
                     Layer(f"weight_norm<conv2d<{channels}, 1>>",
                           NormalisedWeight(nn.Conv2d(channels, channels, 1), False), shape)])


def same_sequence(r, shape, sizes):
    features = shape[1]
    return r.choice([Layer(f"dense<{features}>", nn.Linear(features, features), shape),
                     Layer(f"gru<{features}>.return_sequences()",
                           Function(lambda f, x: f(x)[0], nn.GRU(features, features, batch_first=True)), shape),
                     Layer(f"conv1d<{features}, 3, conv{{.padding = same}}>",
                           turned(nn.Conv1d(features, features, 3, padding=1)), shape)])


def same_vector(r, shape, sizes):
    return r.choice([Layer(f"dense<{shape[0]}>", nn.Linear(shape[0], shape[0]), shape), batch_norm(r, shape, sizes),
                     Layer(f"spectral_norm<dense<{shape[0]}>>",
                           NormalisedWeight(nn.Linear(shape[0], shape[0]), True), shape)])


def same_volume(r, shape, sizes):
    return Layer(f"conv3d<{shape[0]}, 3, conv3{{.padding = same}}>", nn.Conv3d(shape[0], shape[0], 3, padding=1), shape)


class ConvLSTM(nn.Module):
    """Of (channels, time, height, width), with Keras' gates."""

    def __init__(self, channels, filters, kernel, stride, padding, dilation, sequence):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.empty(4 * filters, channels, *kernel))
        self.weight_hh = nn.Parameter(torch.empty(4 * filters, filters, *kernel))
        self.bias = nn.Parameter(torch.empty(4 * filters))
        self.options, self.dilation, self.sequence = (stride, padding, dilation), dilation, sequence

    def forward(self, x):
        states, h, c = [], None, 0
        for step in x.unbind(2):
            gates = F.conv2d(step, self.weight_ih, self.bias, *self.options)
            if h is not None:
                gates = gates + F.conv2d(h, self.weight_hh, None, 1, "same", self.dilation)
            i, f, g, o = gates.chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            states.append(h)
        return torch.stack(states, 2) if self.sequence else h


def conv_lstm2d(r, shape, sizes):
    channels, steps, *places_before = shape
    filters, kernel, dilation = r.choice([1, 3, 8]), r.choice([(3, 3), (1, 1), (3, 1), (2, 3)]), r.choice([1, 1, 2])
    stride, padding, sequence = r.choice([1, 1, 2]), min(r.choice([0, 1]), min(kernel) - 1), r.random() < 0.5
    size = tuple(places(size, k, stride, dilation, padding) for size, k in zip(places_before, kernel))
    options = f".stride = {stride}, .padding = {padding}, .dilation = {dilation}"
    return Layer(f"conv_lstm2d<{filters}, {size2(kernel)}, conv{{{options}}}>" +
                 (".return_sequences()" if sequence else ""),
                 ConvLSTM(channels, filters, kernel, stride, padding, dilation, sequence),
                 (filters, steps, *size) if sequence else (filters, *size))


def repeated(make):
    """A layer that keeps the shape, several times."""
    def layers(r, shape, sizes):
        state, found = r.getstate(), []
        for _ in range(r.choice([2, 3])):
            r.setstate(state)
            found.append(make(r, shape, sizes))
        return Layer(f"repeat<{len(found)}, {found[0].castnet}>", nn.Sequential(*(layer.torch for layer in found)),
                     shape)
    return layers


def by_parameters(r, shape, sizes):
    return Layer(*products(r, shape, sizes))


def by_parameters_of_same_shape(r, shape, sizes):
    while True:
        layer = by_parameters(r, shape, sizes)
        if layer.shape == shape:
            return layer


def activation(r, shape, sizes):
    name, module = r.choice(ACTIVATIONS)
    return Layer(name, module(), shape)


def size2(sizes):
    return f"size2{{{', '.join(map(str, sizes))}}}"


def places(size, kernel, stride, dilation, padding):
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def conv2d(r, shape, sizes):
    channels, height, width = shape
    kernel = r.choice([(1, 1), (3, 3), (3, 3), (5, 5), (2, 2), (3, 1), (1, 5), (7, 7), (4, 3)])
    stride, filters = r.choice([1, 1, 1, 2, 3]), r.choice(sizes.filters)
    dilation = r.choice([(1, 1), (1, 1), (1, 1), (2, 2), (1, 3), (2, 1)])
    padding = tuple(min(r.choice([0, 0, 1, 2]), d * (k - 1)) for d, k in zip(dilation, kernel))
    groups = r.choice([1, 1] + [g for g in (2, 3, 4, 8) if channels % g == filters % g == 0])
    bias, same = r.random() < 0.8, stride == 1 and r.random() < 0.2
    options = (f".stride = {stride}, .padding = {'same' if same else size2(padding)}, .dilation = {size2(dilation)}, "
               f".groups = {groups}")
    name, module = perhaps_normalised(
        r, f"conv2d<{filters}, {size2(kernel)}, conv{{{options}}}>" + ("" if bias else ".no_bias()"),
        nn.Conv2d(channels, filters, kernel, stride, "same" if same else padding, dilation, groups, bias))
    return Layer(name, module, (filters, height, width) if same else
                 (filters, places(height, kernel[0], stride, dilation[0], padding[0]),
                  places(width, kernel[1], stride, dilation[1], padding[1])))


def depthwise_conv2d(r, shape, sizes):
    channels, height, width = shape
    kernel, stride, padding, times = r.choice([2, 3, 5]), r.choice([1, 2]), r.choice([0, 1]), r.choice([1, 1, 2])
    name, module = perhaps_normalised(
        r, f"depthwise_conv2d<{kernel}, conv{{.stride = {stride}, .padding = {padding}}}, {times}>",
        nn.Conv2d(channels, channels * times, kernel, stride, padding, groups=channels))
    return Layer(name, module,
                 (channels * times, places(height, kernel, stride, 1, padding),
                  places(width, kernel, stride, 1, padding)))


def conv_transpose2d(r, shape, sizes):
    filters, kernel = r.choice(sizes.filters), r.choice([2, 3, 4])
    stride, padding, dilation = r.choice([1, 2, 3]), r.choice([0, 1]), r.choice([1, 1, 2])
    more = r.choice([0, 1]) if stride > 1 else 0
    groups = r.choice([1, 1] + [g for g in (2, 3, 4) if shape[0] % g == filters % g == 0])
    height, width = ((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + more for size in shape[1:])
    options = (f".stride = {stride}, .padding = {padding}, .output_padding = {more}, .dilation = {dilation}, "
               f".groups = {groups}")
    name, module = perhaps_normalised(
        r, f"conv_transpose2d<{filters}, {kernel}, conv_transpose{{{options}}}>",
        nn.ConvTranspose2d(shape[0], filters, kernel, stride, padding, more, groups, True, dilation))
    return Layer(name, module, (filters, height, width))


def pool2d(r, shape, sizes):
    kernel, stride, padding, most = r.choice([2, 3]), r.choice([1, 2, 3]), r.choice([0, 0, 1]), r.random() < 0.5
    return Layer(f"{'max' if most else 'avg'}_pool2d<{kernel}, pooling{{.stride = {stride}, .padding = {padding}}}>",
                 nn.MaxPool2d(kernel, stride, padding) if most
                 else nn.AvgPool2d(kernel, stride, padding, count_include_pad=False),
                 (shape[0], *(places(size, kernel, stride, 1, padding) for size in shape[1:])))


def adaptive_pool2d(r, shape, sizes):
    height, width, most = r.randint(1, shape[1]), r.randint(1, shape[2]), r.random() < 0.5
    return Layer(f"adaptive_{'max' if most else 'avg'}_pool2d<size2{{{height}, {width}}}>",
                 (nn.AdaptiveMaxPool2d if most else nn.AdaptiveAvgPool2d)((height, width)), (shape[0], height, width))


def upsample2d(r, shape, sizes):
    bilinear, factor = r.random() < 0.5, r.choice([2, 2, 3])
    return Layer(f"upsample2d<{factor}>" + (".bilinear()" if bilinear else ""),
                 nn.Upsample(scale_factor=factor, mode="bilinear" if bilinear else "nearest"),
                 (shape[0], factor * shape[1], factor * shape[2]))


def zero_pad2d(r, shape, sizes):
    top, bottom, left, right = (r.randint(0, 2) for _ in range(4))
    return Layer(f"zero_pad2d<sides{{{top}, {bottom}, {left}, {right}}}>", nn.ZeroPad2d((left, right, top, bottom)),
                 (shape[0], shape[1] + top + bottom, shape[2] + left + right))


def border_pad2d(r, shape, sizes):
    kind, (top, bottom, left, right) = r.choice(["reflection", "replication", "circular"]), r.choices(range(3), k=4)
    if max(top, bottom) >= shape[1] or max(left, right) >= shape[2]:
        return None
    mode = {"reflection": "reflect", "replication": "replicate", "circular": "circular"}[kind]
    return Layer(f"{kind}_pad2d<sides{{{top}, {bottom}, {left}, {right}}}>",
                 Function(lambda x: F.pad(x, (left, right, top, bottom), mode)),
                 (shape[0], shape[1] + top + bottom, shape[2] + left + right))


def pixel_shuffle(r, shape, sizes):
    if shape[0] % 4 == 0:
        return Layer("pixel_shuffle<2>", nn.PixelShuffle(2), (shape[0] // 4, 2 * shape[1], 2 * shape[2]))
    if shape[1] % 2 == shape[2] % 2 == 0:
        return Layer("pixel_unshuffle<2>", nn.PixelUnshuffle(2), (4 * shape[0], shape[1] // 2, shape[2] // 2))
    return None


def crop2d(r, shape, sizes):
    top, bottom, left, right = (r.randint(0, 2) for _ in range(4))
    return Layer(f"crop2d<sides{{{top}, {bottom}, {left}, {right}}}>",
                 Function(lambda x: x[:, :, top:x.shape[2] - bottom, left:x.shape[3] - right]),
                 (shape[0], shape[1] - top - bottom, shape[2] - left - right))


def of_channels(r, shape, sizes):
    """Of the channels of an image or volume, or the features of a vector or sequence."""
    dim = 1 if len(shape) > 2 else len(shape)
    channels = shape[0] if len(shape) > 2 else shape[-1]
    found = [Layer("softmax", nn.Softmax(dim), shape), Layer("log_softmax", nn.LogSoftmax(dim), shape)]
    if len(shape) != 2:
        found.append(Layer("prelu.per_channel()", nn.PReLU(channels), shape))
    if channels % 2 == 0 and len(shape) < 4:
        halved = (channels // 2, *shape[1:]) if len(shape) > 2 else (*shape[:-1], channels // 2)
        found.append(Layer("glu", nn.GLU(dim), halved))
    if channels % 2 == 0 and len(shape) == 3:
        found.append(Layer("channel_shuffle<2>", nn.ChannelShuffle(2), shape))
    return r.choice(found)


def unfolded(r, shape, sizes):
    """The places of a window, as an image of one channel."""
    kernel, stride, padding = r.choice([(2, 2), (3, 1), (2, 3)]), r.choice([1, 2]), r.choice([0, 1])
    rows, columns = (places(size, k, stride, 1, padding) for size, k in zip(shape[1:], kernel))
    values = shape[0] * kernel[0] * kernel[1]
    return Layer(f"unfold2d<{size2(kernel)}, conv{{.stride = {stride}, .padding = {padding}}}>, "
                 f"reshape<1, {values}, {rows * columns}>",
                 nn.Sequential(nn.Unfold(kernel, 1, padding, stride), nn.Unflatten(0, (-1, 1))),
                 (1, values, rows * columns))


class SqueezeExcitation(nn.Module):
    def __init__(self, convolution, channels, squeezed):
        super().__init__()
        self.fc1, self.fc2 = convolution(channels, squeezed, 1), convolution(squeezed, channels, 1)

    def forward(self, x):
        means = x.mean(tuple(range(2, x.dim())), keepdim=True)
        return x * torch.sigmoid(self.fc2(F.relu(self.fc1(means))))


def squeeze_excitation(r, shape, sizes):
    squeezed = r.choice([1, 4, 6, 16])
    convolution = nn.Conv2d if len(shape) == 3 else nn.Conv3d
    return Layer(f"squeeze_excitation<{squeezed}>", SqueezeExcitation(convolution, shape[0], squeezed), shape)


def normalised_image(r, shape, sizes):
    channels = shape[0]
    groups = r.choice([g for g in (1, 2, 3, 4, 5) if channels % g == 0])
    over_channels = Function(lambda f, x: f(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), nn.LayerNorm(channels))
    return r.choice([Layer("batch_norm", nn.BatchNorm2d(channels), shape), Layer("layer_norm", over_channels, shape),
                     Layer(f"group_norm<{groups}>", nn.GroupNorm(groups, channels), shape),
                     Layer("layer_norm.over_all_axes()", nn.LayerNorm(shape), shape)] +
                    ([Layer("instance_norm.affine()", nn.InstanceNorm2d(channels, affine=True), shape),
                      Layer("instance_norm", nn.InstanceNorm2d(channels), shape)] if shape[1] * shape[2] > 1 else []))


def size3(sizes):
    return f"size3{{{', '.join(map(str, sizes))}}}"


def conv3d(r, shape, sizes):
    channels, *places_before = shape
    kernel = r.choice([(1, 1, 1), (3, 3, 3), (3, 3, 3), (2, 2, 2), (1, 3, 3), (3, 1, 1), (2, 3, 5), (5, 1, 2)])
    stride = r.choice([(1, 1, 1), (1, 1, 1), (2, 2, 2), (1, 2, 2), (2, 1, 3)])
    dilation, filters = r.choice([(1, 1, 1), (1, 1, 1), (2, 2, 2), (1, 2, 3)]), r.choice(sizes.filters)
    padding = min([r.choice([0, 0, 1, 2])] + [d * (k - 1) for d, k in zip(dilation, kernel)])
    groups = r.choice([1, 1] + [g for g in (2, 3, 4, 8, channels) if channels % g == filters % g == 0])
    bias = r.random() < 0.8
    options = f".stride = {size3(stride)}, .padding = {padding}, .dilation = {size3(dilation)}, .groups = {groups}"
    name, module = perhaps_normalised(
        r, f"conv3d<{filters}, {size3(kernel)}, conv3{{{options}}}>" + ("" if bias else ".no_bias()"),
        nn.Conv3d(channels, filters, kernel, stride, padding, dilation, groups, bias))
    return Layer(name, module,
                 (filters, *(places(size, k, s, d, padding)
                             for size, k, s, d in zip(places_before, kernel, stride, dilation))))


def conv_transpose3d(r, shape, sizes):
    filters, kernel = r.choice(sizes.filters), r.choice([(2, 2, 2), (3, 3, 3), (1, 2, 2), (3, 2, 4)])
    stride, padding = r.choice([(1, 1, 1), (2, 2, 2), (1, 2, 2), (2, 1, 1)]), r.choice([0, 0, 1])
    padding = min([padding] + [k - 1 for k in kernel])
    dilation, more = r.choice([(1, 1, 1), (1, 1, 1), (2, 1, 2)]), tuple(r.randrange(s) for s in stride)
    groups = r.choice([1, 1] + [g for g in (2, 3, 4) if shape[0] % g == filters % g == 0])
    options = (f".stride = {size3(stride)}, .padding = {padding}, .output_padding = {size3(more)}, "
               f".dilation = {size3(dilation)}, .groups = {groups}")
    name, module = perhaps_normalised(
        r, f"conv_transpose3d<{filters}, {size3(kernel)}, conv_transpose3{{{options}}}>",
        nn.ConvTranspose3d(shape[0], filters, kernel, stride, padding, more, groups, True, dilation))
    return Layer(name, module,
                 (filters, *((size - 1) * s - 2 * padding + d * (k - 1) + 1 + m
                             for size, k, s, d, m in zip(shape[1:], kernel, stride, dilation, more))))


def pool3d(r, shape, sizes):
    kernel, most = r.choice([(2, 2, 2), (3, 3, 3), (1, 2, 2), (2, 1, 3)]), r.random() < 0.5
    stride = r.choice([kernel, (2, 2, 2), (1, 1, 1), (1, 2, 2)])
    padding = r.choice([0, 0, 1]) if min(kernel) > 1 else 0
    if any(size < k for size, k in zip(shape[1:], kernel)):  # which PyTorch refuses with padding, too
        return None
    return Layer(f"{'max' if most else 'avg'}_pool3d<{size3(kernel)}, "
                 f"pooling3{{.stride = {size3(stride)}, .padding = {padding}}}>",
                 nn.MaxPool3d(kernel, stride, padding) if most
                 else nn.AvgPool3d(kernel, stride, padding, count_include_pad=False),
                 (shape[0], *(places(size, k, s, 1, padding) for size, k, s in zip(shape[1:], kernel, stride))))


def adaptive_pool3d(r, shape, sizes):
    result, most = tuple(r.randint(1, size) for size in shape[1:]), r.random() < 0.5
    return Layer(f"adaptive_{'max' if most else 'avg'}_pool3d<{size3(result)}>",
                 (nn.AdaptiveMaxPool3d if most else nn.AdaptiveAvgPool3d)(result), (shape[0], *result))


def upsample3d(r, shape, sizes):
    trilinear = r.random() < 0.5
    return Layer("upsample3d<2>" + (".trilinear()" if trilinear else ""),
                 nn.Upsample(scale_factor=2, mode="trilinear" if trilinear else "nearest"),
                 (shape[0], *(2 * size for size in shape[1:])))


def normalised_volume(r, shape, sizes):
    channels = shape[0]
    groups = r.choice([g for g in (1, 2, 3, 4, 5) if channels % g == 0])
    return r.choice([Layer("batch_norm", nn.BatchNorm3d(channels), shape),
                     Layer(f"group_norm<{groups}>", nn.GroupNorm(groups, channels), shape)])


def residual_volume(r, shape, sizes):
    channels, filters = shape[0], r.choice(sizes.filters)
    inner = [Layer(f"conv3d<{filters}, 3, conv3{{.padding = same}}>", nn.Conv3d(channels, filters, 3, padding=1), None),
             activation(r, None, sizes),
             Layer(f"conv3d<{channels}, 1>", nn.Conv3d(filters, channels, 1), None)]
    return residual(inner, shape)


def residual_image(r, shape, sizes):
    channels, filters, kernel = shape[0], r.choice(sizes.filters), r.choice([1, 3, 5])
    inner = [Layer(f"conv2d<{filters}, {kernel}, conv{{.padding = same}}>",
                   nn.Conv2d(channels, filters, kernel, padding=kernel // 2), None), activation(r, None, sizes)]
    if r.random() < 0.5:
        inner.append(Layer("batch_norm", nn.BatchNorm2d(filters), None))
    inner.append(Layer(f"conv2d<{channels}, 3, conv{{.padding = same}}>.no_bias()",
                       nn.Conv2d(filters, channels, 3, padding=1, bias=False), None))
    return residual(inner, shape)


def residual(inner, shape):
    return Layer(f"residual<{', '.join(layer.castnet for layer in inner)}>",
                 Function(lambda f, x: x + f(x), nn.Sequential(*(layer.torch for layer in inner))), shape)


def conv1d(r, shape, sizes):
    steps, features = shape
    filters, kernel, dilation = r.choice(sizes.filters), r.choice([1, 2, 3, 5]), r.choice([1, 1, 2, 4])
    causal = r.random() < 0.4
    stride = 1 if causal else r.choice([1, 1, 2])
    padding = 0 if causal or kernel == 1 else r.choice([0, 1])
    groups = r.choice([1, 1] + [g for g in (2, 3, 4) if features % g == filters % g == 0])
    before = (kernel - 1) * dilation if causal else 0
    name, conv = perhaps_normalised(
        r, f"conv1d<{filters}, {kernel}, conv{{.stride = {stride}, .padding = {'causal' if causal else padding}, "
           f".dilation = {dilation}, .groups = {groups}}}>",
        nn.Conv1d(features, filters, kernel, stride, padding, dilation, groups))
    return Layer(name, turned(Function(lambda f, x: f(F.pad(x, (before, 0))), conv)),
                 (steps if causal else places(steps, kernel, stride, dilation, padding), filters))


def recurrent(r, shape, sizes, sequence=True):
    kind, units, layers = r.choice(["lstm", "gru", "rnn"]), r.choice(sizes.units[:8]), r.choice([1, 1, 2])
    both = sequence and kind != "rnn" and r.random() < 0.3
    layers = 1 if both else layers
    cell = f"{kind}<{units}>" + (f".layers<{layers}>(0.0F)" if layers > 1 else "")
    cell += ".return_sequences()" if sequence else ""
    inner = getattr(nn, kind.upper())(shape[1], units, layers, batch_first=True, bidirectional=both)
    return Layer(f"bidirectional<{cell}>" if both else cell,
                 Function((lambda f, x: f(x)[0]) if sequence else (lambda f, x: f(x)[0][:, -1]), inner),
                 (shape[0], 2 * units if both else units) if sequence else (units,))


def dense(r, shape, sizes):
    units, bias = r.choice(sizes.units), r.random() < 0.8
    name, module = perhaps_normalised(r, f"dense<{units}>" + ("" if bias else ".no_bias()"),
                                      nn.Linear(shape[-1], units, bias))
    return Layer(name, module, (*shape[:-1], units))


def layer_norm(r, shape, sizes):
    return r.choice([Layer("layer_norm", nn.LayerNorm(shape[-1]), shape),
                     Layer("rms_norm", nn.RMSNorm(shape[-1], 1.1920929e-7), shape)]) if shape[-1] > 1 else None


def conv_transpose1d(r, shape, sizes):
    steps, features = shape
    filters, kernel, stride = r.choice(sizes.filters), r.choice([2, 3, 4]), r.choice([1, 2, 3])
    padding, more = r.choice([0, 1]), r.randrange(stride)
    groups = r.choice([1, 1] + [g for g in (2, 3, 4) if features % g == filters % g == 0])
    options = f".stride = {stride}, .padding = {padding}, .output_padding = {more}, .groups = {groups}"
    name, module = perhaps_normalised(r, f"conv_transpose1d<{filters}, {kernel}, conv_transpose{{{options}}}>",
                                      nn.ConvTranspose1d(features, filters, kernel, stride, padding, more, groups))
    return Layer(name, turned(module),
                 ((steps - 1) * stride - 2 * padding + kernel + more, filters))


def upsample1d(r, shape, sizes):
    linear, factor = r.random() < 0.5, r.choice([2, 3])
    return Layer(f"upsample1d<{factor}>" + (".linear()" if linear else ""),
                 turned(nn.Upsample(scale_factor=factor, mode="linear" if linear else "nearest")),
                 (factor * shape[0], shape[1]))


def attention(r, shape, sizes):
    heads, causal = r.choice([h for h in (1, 2, 3, 4, 8) if shape[1] % h == 0]), r.random() < 0.5

    def attend(f, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], x.device, x.dtype) if causal else None
        return f(x, x, x, attn_mask=mask, need_weights=False)[0]
    return Layer(f"multi_head_attention<{heads}>" + (".causal()" if causal else ""),
                 Function(attend, nn.MultiheadAttention(shape[1], heads, batch_first=True)), shape)


def pool1d(r, shape, sizes):
    most, kernel, stride, padding = r.random() < 0.5, r.choice([2, 3]), r.choice([1, 2, 3]), r.choice([0, 0, 1])
    return Layer(f"{'max' if most else 'avg'}_pool1d<{kernel}, pooling{{.stride = {stride}, .padding = {padding}}}>",
                 turned(nn.MaxPool1d(kernel, stride, padding) if most
                        else nn.AvgPool1d(kernel, stride, padding, count_include_pad=False)),
                 (places(shape[0], kernel, stride, 1, padding), shape[1]))


def permute(r, shape, sizes):
    return Layer("permute<1, 0>", Function(lambda x: x.transpose(1, 2)), shape[::-1])


def batch_norm(r, shape, sizes):
    return Layer("batch_norm", nn.BatchNorm1d(shape[0]), shape)


def residual_vector(r, shape, sizes):
    units = r.choice(sizes.units)
    return residual([Layer(f"dense<{units}>", nn.Linear(shape[0], units), None), Layer("tanh", nn.Tanh(), None),
                     Layer(f"dense<{shape[0]}>", nn.Linear(units, shape[0]), None)], shape)


# By the number of axes.
LAYERS = {4: [conv3d] * 4 + [conv_transpose3d, normalised_volume, activation, pool3d, pool3d, adaptive_pool3d,
                             upsample3d, squeeze_excitation, residual_volume, of_channels, running_standard,
                             repeated(residual_volume), conv_lstm2d, local_response_norm,
                             shared(same_volume, activation, pool3d)],
          3: [conv2d] * 6 + [depthwise_conv2d, conv_transpose2d, normalised_image, activation, activation, pool2d,
                             pool2d, adaptive_pool2d, upsample2d, zero_pad2d, border_pad2d, pixel_shuffle,
                             squeeze_excitation, residual_image, crop2d, of_channels, unfolded, running_standard,
                             repeated(residual_image), local_response_norm,
                             shared(same_image, activation, pool2d, upsample2d)],
          2: [conv1d, conv1d, recurrent, recurrent, recurrent, dense, dense, layer_norm, activation, attention, pool1d,
              permute, conv_transpose1d, upsample1d, of_channels, running_standard, local_response_norm, by_parameters,
              repeated(by_parameters_of_same_shape), shared(same_sequence, activation, pool1d)],
          1: [dense, dense, activation, batch_norm, layer_norm, residual_vector, of_channels, running_standard,
              repeated(residual_vector), local_response_norm, by_parameters, repeated(by_parameters_of_same_shape),
              shared(same_vector, activation)]}


def ends(r, shape, sizes):
    """Layers that make a vector of what is none, mostly, and the last one."""
    layers, axes = [], len(shape)
    flatten = Layer("flatten", nn.Flatten(), (math.prod(shape),))
    if axes == 4:
        layers = r.choice([[], [flatten],
                           [Layer("global_avg_pool3d", Function(lambda x: x.mean((2, 3, 4))), shape[:1])],
                           [Layer("global_max_pool3d", Function(lambda x: x.amax((2, 3, 4))), shape[:1])]])
    elif axes == 3:
        layers = r.choice([[], [flatten], [Layer("global_avg_pool2d", Function(lambda x: x.mean((2, 3))), shape[:1])],
                           [Layer("global_max_pool2d", Function(lambda x: x.amax((2, 3))), shape[:1])]])
    elif axes == 2:
        layers = r.choice([[], [flatten], [recurrent(r, shape, sizes, sequence=False)],
                           [Layer("global_avg_pool1d", Function(lambda x: x.mean(1)), shape[1:])],
                           [Layer("global_max_pool1d", Function(lambda x: x.amax(1)), shape[1:])]])
    if axes == 1 or layers:
        units, features = r.choice([1, 2, 10, 30]), (layers[-1].shape if layers else shape)[0]
        layers = layers + [Layer(f"dense<{units}>", nn.Linear(features, units), (units,))]
    return layers


class Network:
    definitions = RunningStandard.castnet  # of what its layers name
    capacity = 0  # of a step, which may have fewer samples; 0: as many
    counts = []  # of samples that are also predicted at once
    policy = "{}"  # of the one that computes with a type of numbers

    def __init__(self, seed, sizes):
        r = random.Random(seed)
        torch.manual_seed(seed)
        axes = r.choice([4, 3, 3, 3, 2, 2, 1])
        self.input = {4: (r.choice(sizes.channels), *r.choices(sizes.volume, k=3)),
                      3: (r.choice(sizes.channels), r.choice(sizes.side), r.choice(sizes.side)),
                      2: (r.choice(sizes.steps), r.choice(sizes.features)), 1: (r.choice(sizes.inputs),)}[axes]
        shape, layers, wanted = self.input, [], r.randint(2, 7)
        while len(layers) < wanted:
            layer = r.choice(LAYERS[len(shape)])(r, shape, sizes)
            if layer and min(layer.shape) > 0 and self.work(layer) <= sizes.most:
                layers.append(layer)
                shape = layer.shape
        layers += ends(r, shape, sizes)
        self.output = layers[-1].shape
        self.layers = [layer.castnet for layer in layers]
        self.batch = r.choice(sizes.batch)
        if any("batch_norm" in layer for layer in self.layers):
            self.batch = max(self.batch, 4)
        self.capacity = self.batch + (r.choice([0, 0, 3]) if sizes is not LARGE else 0)
        self.counts = COUNTS if sizes is WIDE else []
        self.torch = nn.Sequential(*(layer.torch for layer in layers))
        self.x = torch.randn(max(self.batch, *self.counts, 0), *self.input)
        self.y = torch.randn(len(self.x), *self.output)

    @staticmethod
    def work(layer):
        """Numbers of its result, or how many take as long as a convolution."""
        count = math.prod(layer.shape)
        if isinstance(layer.torch, (nn.Conv2d, nn.Conv3d)):
            count = max(count, count * layer.torch.weight[0].numel() / 200)
        return count

    def __str__(self):
        return f"{self.input} -> {self.output}, batch {self.batch}: {', '.join(self.layers)}"

    def source(self, number, device):
        def shape(extents):
            return f"cn::shape<{', '.join(map(str, extents))}>"
        return (f"#include <castnet/{'cuda' if device == 'cuda' else 'castnet'}.hpp>\n"
                f"namespace cn = castnet;\n"
                f"using policy = {self.policy.format(policy(number, device))};\n"
                f"constexpr cn::size_t batch = {self.batch}, capacity = {self.capacity or self.batch};\n"
                f"constexpr std::initializer_list<cn::size_t> counts{{{', '.join(map(str, self.counts))}}};\n"
                f"using output = {shape(self.output)};\n"
                f"using dataset = cn::data::dataset<output, {shape(self.input)}>;\n"
                f"{self.definitions}"
                f"namespace castnet {{ // (elsewhere tanh is the C library's, too)\n"
                f"using random_network = sequential<input<{', '.join(map(str, self.input))}>, "
                f"{', '.join(self.layers)}>;\n"
                f"}}\n"
                f"using network = cn::random_network;\n{self.columns()}"
                f"auto by_steps(auto const&, auto const&) {{ return std::vector<double>{{}}; }}\n")

    def columns(self):
        return (f"auto columns(auto const& column) {{\n"
                f'    return dataset{{column("x.bin", {math.prod(self.input)}), '
                f'column("y.bin", {math.prod(self.output)})}};\n}}\n')

    def write(self, folder, number, device):
        """What its program includes and reads."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "network.hpp").write_text(self.source(number, device))
        self.x.numpy().tofile(folder / "x.bin")
        self.y.numpy().tofile(folder / "y.bin")

    def compile(self, folder, number, compiler, *flags):
        self.write(folder, number, "cpu")
        program, *own = compiler.split()
        compile_program(program, *flags, *own, HERE / "program.cpp", folder)

    def compile_for_gpu(self, folder, number):
        self.write(folder, number, "cuda")
        compile_program("nvcc", "-arch=sm_90", "-x", "cu", HERE / "program.cpp", "-lcublasLt", "-lcudnn", folder)


def policy(number, device):
    return f"cn::policy::bf16<cn::policy::{device}>" if number == "bfloat16" else f"cn::policy::basic_{device}<{number}>"


def compile_program(compiler, *arguments):
    *options, folder = arguments
    done = subprocess.run([compiler, "-std=c++20", f"-I{ROOT}/include", f"-I{folder}", *options, "-o",
                           folder / "program"], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise RuntimeError("\n".join([line for line in done.stderr.splitlines() if "error" in line][:4]))


def run(folder, what, threads):
    done = subprocess.run([folder / "program", what], cwd=folder, capture_output=True, text=True, errors="replace",
                          env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    if done.returncode != 0:
        raise RuntimeError(done.stderr or f"ends with {done.returncode}")
    return done.stdout


def parameters(file):
    """In PyTorch's order, which the names give."""
    kinds = ["in_proj_weight", "in_proj_bias", "weight", "g", "weight_ih", "weight_hh", "bias", "u", "v", "running_mean",
             "running_var"]

    def place(name):
        *path, last = name.split(".")
        recurrent = re.match(r"(weight|bias)_(ih|hh)_l(\d+)(_reverse)?", last)
        order = ([kinds.index(last)] if last in kinds else
                 [(int(m[3]), bool(m[4]), m[1] == "bias", m[2] == "hh") for m in [recurrent] if m] or [last])
        return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in path], order
    found = load_file(file)
    return {name: found[name].double() for name in sorted(found, key=place)}


def state_of(model):
    """PyTorch's, in the order of castnet's names."""
    state = {name: values for name, values in model.state_dict().items() if "num_batches" not in name}
    return dict(sorted(state.items(), key=lambda item: ".shared." in item[0]))


class Comparison:
    def __init__(self, number):
        self.number, self.differences = number, []

    def same(self, what, found, expected, tolerance, least):
        size = max(float(expected.abs().max()), least)
        error = float((found - expected).abs().max())
        if not error <= tolerance * size:
            self.differences.append(f"{self.number}: {what} differs by {error:.3g} of {size:.3g}")


def differences(net, folder, number, runs):
    """Between a step of castnet's and of PyTorch's in double; the program runs with each number of threads."""
    exact = number == "double"
    rough = 50 if number == "bfloat16" else 1
    c = Comparison(number)
    results = []
    for threads in runs:
        run(folder, "check", threads)
        results.append([(folder / file).read_bytes()
                        for file in ("before.safetensors", "after.safetensors", "numbers.bin")])
    for threads, found in zip(runs[1:], results[1:]):
        if found != results[0]:
            c.differences.append(f"{number}: other bits " +
                                 (f"on {threads} threads than on 1" if threads > 1 else "in a second run"))

    before, after = parameters(folder / "before.safetensors"), parameters(folder / "after.safetensors")
    torchs = net.torch.double()
    state = state_of(torchs)
    if set(state) == set(before):
        before, after = ({name: of[name] for name in state} for of in (before, after))
    if [values.shape for values in state.values()] != [values.shape for values in before.values()]:
        raise RuntimeError(f"parameters {list(before)}, PyTorch has {list(state)}")
    with torch.no_grad():
        for into, values in zip(state.values(), before.values()):
            into.copy_(values)
    x, y = net.x.double(), net.y.double()
    torchs.eval()
    of_all = torchs(x).detach()
    x, y, predicted = x[:net.batch], y[:net.batch], of_all[:net.batch]
    torchs.train()
    torchs.zero_grad()
    loss = F.mse_loss(torchs(x), y)
    trained = dict(torchs.named_parameters())
    largest = 0.0
    if trained:
        loss.backward()
        for p in trained.values():
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad  # of a single step, which may not count
        largest = max(float(p.grad.abs().max()) for p in trained.values())
    # (a gradient of 0, as that of a bias before a normalisation, is what rounding leaves of others)
    least = max(1e-5 if exact else 1e-3, 1e-2 * largest)
    for (name, into), (ours, old), new in zip(state.items(), before.items(), after.values()):
        expected, found = (trained[name].grad, old - new) if name in trained else (into, new)
        # (what a float loses where the gradient is subtracted from it is no difference)
        lost = 0 if exact else 3e-7 * float(old.abs().max() + 1) / max(float(expected.abs().max()), 1e-3)
        c.same(f"gradient of {ours}", found, expected, (1e-9 if exact else 2e-3 * rough) + lost, least)
    numbers = torch.from_numpy(numpy.fromfile(folder / "numbers.bin", numpy.float64))
    count = predicted.numel()
    tolerance = 1e-8 if exact else 1e-3 * rough
    c.same("prediction", numbers[:count], predicted.detach().flatten(), tolerance, 1e-3)
    c.same("loss", numbers[count], loss.detach(), tolerance, 1)
    if exact: # in float, what a rate of 1 makes of small differences is large
        with torch.no_grad():
            for p in trained.values():
                p -= p.grad
        torchs.eval()
        after = torchs(x).detach().flatten()
        if after.abs().max() < 1e4:
            c.same("prediction after the step", numbers[count + 1:2 * count + 1], after, tolerance, 1e-3)
    by_steps = numbers[2 * count + 1:] # of each sample all steps, and the last one once more
    for n in net.counts:
        some, by_steps = by_steps[:of_all[:n].numel()], by_steps[of_all[:n].numel():]
        c.same(f"prediction of {n}", some, of_all[:n].flatten(), tolerance, 1e-3)
    if len(by_steps) > 0:
        expected = torch.cat([predicted.flatten(1), predicted[:, -1]], 1)
        c.same("prediction step by step", by_steps, expected.detach().flatten(), tolerance, 1e-3)
    return c.differences


def is_ready(net, folder, number, given, *flags):
    """Compiles the program, if it is not built; False if it is not to run."""
    if not given.gpu:
        net.compile(folder, number, given.compiler, *flags)
    elif not given.built:
        net.compile_for_gpu(folder, number)
    return not given.build


def check(net, folder, number, given):
    """What differs; nothing if the program is only to be compiled."""
    if not is_ready(net, folder, number, given, "-O1"):
        return []
    return differences(net, folder, number, (1, 1) if given.gpu else (1, 2, 3))


class Training:
    """PyTorch's, on a CPU with the memory format that suits it; on a GPU in bfloat16, captured as one CUDA graph."""

    def __init__(self, net, gpu):
        self.gpu, device = gpu, "cuda" if gpu else "cpu"
        self.model, self.x, self.y = (what.to(device) for what in (net.torch, net.x, net.y))
        if len(net.input) == 3:
            self.model, self.x = (what.to(memory_format=torch.channels_last) for what in (self.model, self.x))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-5, fused=True, capturable=gpu)
        self.steps, self.count = (self.captured(), 64) if gpu else (self.step, 1)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.gpu):
            loss = F.mse_loss(self.model(self.x), self.y)
        loss.backward()
        self.optimizer.step()

    def captured(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()

        def steps():
            for _ in range(self.count):
                graph.replay()
            torch.cuda.synchronize()
        return steps

    def milliseconds(self):
        """Of a step; the first quartile."""
        times, begin = [], time.perf_counter()
        while time.perf_counter() < begin + 0.5 or len(times) < 4:
            start = time.perf_counter()
            self.steps()
            times.append((time.perf_counter() - start) / self.count)
        return 1e3 * sorted(times)[len(times) // 4]


def print_times(net, folder, seed, given):
    if not list(net.torch.parameters()):
        print(f"{seed}: nothing to train; {net}", flush=True)
        return
    if not is_ready(net, folder, "bfloat16" if given.gpu else "float", given, "-O3"):
        return
    ours, theirs = [], []
    try:
        pytorch = Training(net, given.gpu)
    except RuntimeError as e:  # after which a process can do nothing more on a GPU
        sys.exit(f"{seed}: {float(run(folder, 'time', given.threads)):.3f} ms, PyTorch fails: {str(e).splitlines()[0]}; {net}")
    for _ in range(2):
        ours.append(float(run(folder, "time", given.threads)))
        theirs.append(pytorch.milliseconds())
    print(f"{seed}: {min(ours):.3f} ms, PyTorch {min(theirs):.3f}: {min(theirs) / min(ours):.2f}; {net}", flush=True)


def options(documentation, folder):
    """A parser of the seeds and the folder of the programs."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--folder", type=lambda path: Path(path).resolve(), default=ROOT / "build" / folder)
    parser.add_argument("--compiler", default="g++ -march=native -fopenmp",
                        help="with flags; default: g++ -march=native -fopenmp")
    parser.add_argument("--wide", action="store_true", help="wider than tiles of kernels; one type of numbers for each")
    parser.set_defaults(time=False, bf16=False, threads=1, gpu=False, build=False, built=False)
    return parser


def sizes_of(given, small, wide, large):
    return large if given.time else wide if given.wide else small


def run_all(given, network, numbers):
    """Checks or times the network of each seed; the process ends with 1 if one differs."""
    torch.set_num_threads(given.threads)
    wrong = 0
    for seed in range(given.first, given.end):
        net, folder = network(seed), given.folder / str(seed)
        if given.time:
            print_times(net, folder, seed, given)
            continue
        found = []
        for number in [numbers[seed % len(numbers)]] if given.wide else numbers:
            try:
                found += check(net, folder / number, number, given)
            except RuntimeError as e:
                found.append(f"{number}: {e}")
        print(f"{seed}: {'different' if found else 'same'}; {net}", *found, sep="\n    ", flush=True)
        wrong += bool(found)
    sys.exit(wrong > 0)


def main():
    parser = options(__doc__, "random_networks")
    parser.add_argument("--time", action="store_true", help="milliseconds of a step instead of results")
    parser.add_argument("--threads", type=int, default=1, help="those of a timed step; default: 1")
    parser.add_argument("--gpu", action="store_true", help="compute with policy::cuda")
    parser.add_argument("--build", action="store_true", help="compile the programs for a GPU and run none")
    parser.add_argument("--built", action="store_true", help="run programs for a GPU that are compiled")
    parser.add_argument("--bf16", action="store_true", help="compute with policy::bf16")
    given = parser.parse_args()
    if (given.build or given.built) and not given.gpu:
        parser.error("--build and --built are for --gpu")
    torch.backends.cudnn.benchmark = torch.backends.cuda.matmul.allow_tf32 = True
    run_all(given, lambda seed: Network(seed, sizes_of(given, SMALL, WIDE, LARGE)),
            ["bfloat16"] if given.bf16 else ["double", "float"])


if __name__ == "__main__":
    main()
