#!/usr/bin/env python3
"""Writes golden.hpp: what torchvision's and timm's networks are, and what small ones of the same kinds compute.

    pip install torch==2.15.0 torchvision timm
    python3 tests/zoo/golden.py >tests/zoo/golden.hpp && clang-format -i tests/zoo/golden.hpp
"""

import numpy
import timm
import torch
import torchvision.models as vision
from timm.models import mlp_mixer
from timm.models.xception import Block, SeparableConv2d, Xception
from torch import nn
from torchvision.models import densenet, efficientnet, inception, mobilenetv2, resnet

BATCH = 4


# U-Net as github.com/milesial/Pytorch-UNet has it with bilinear=False, for multiples of 16 pixels.
class DoubleConv(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(channels, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters),
            nn.ReLU(),
            nn.Conv2d(filters, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters),
            nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(filters // 2, filters))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.up = nn.ConvTranspose2d(2 * filters, filters, 2, stride=2)
        self.conv = DoubleConv(2 * filters, filters)

    def forward(self, coarse, fine):
        return self.conv(torch.cat([fine, self.up(coarse)], 1))


class OutConv(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.conv = nn.Conv2d(channels, classes, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, channels, classes, width=64):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        self.down1, self.down2, self.down3, self.down4 = (Down(width << i) for i in range(1, 5))
        self.up1, self.up2, self.up3, self.up4 = (Up(width << i) for i in (3, 2, 1, 0))
        self.outc = OutConv(width, classes)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        y = self.up1(self.down4(x4), x4)
        return self.outc(self.up4(self.up3(self.up2(y, x3), x2), x1))


class Autoencoder(nn.Module):
    """The convolutional autoencoder of Keras' blog, without its last sigmoid."""

    def __init__(self):
        super().__init__()
        layers = []
        for channels, filters in ((1, 16), (16, 8), (8, 8)):
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU(),
                       nn.MaxPool2d(2, ceil_mode=True)]
        self.encoder = nn.Sequential(*layers)
        layers = []
        for filters, padding in ((8, 1), (8, 1), (16, 0)):
            layers += [nn.Conv2d(8, filters, 3, padding=padding), nn.ReLU(),
                       nn.Upsample(scale_factor=2)]
        self.decoder = nn.Sequential(*layers, nn.Conv2d(16, 1, 3, padding=1))

    def forward(self, x):
        return self.decoder(self.encoder(x))


FULL = {
    "resnet18": vision.resnet18,
    "resnet50": vision.resnet50,
    "vgg19": vision.vgg19,
    "mobilenet_v2": vision.mobilenet_v2,
    "efficientnet_b0": vision.efficientnet_b0,
    "densenet121": vision.densenet121,
    "inception_v3": lambda: vision.inception_v3(aux_logits=False, init_weights=False),
    "xception": lambda: timm.create_model("legacy_xception"),
    "mixer_b16": lambda: timm.create_model("mixer_b16_224"),
    "unet": lambda: UNet(3, 1),
    "autoencoder": Autoencoder,
}


def small_resnet(block, small):
    net = resnet.ResNet(block, [1, 1, 1, 1], num_classes=3)
    net.inplanes = 4
    net.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False) if small else nn.Conv2d(
        3, 4, 7, 2, 3, bias=False)
    net.bn1 = nn.BatchNorm2d(4)
    if small:
        net.maxpool = nn.Identity()
    net.layer1 = net._make_layer(block, 4, 2)
    net.layer2 = net._make_layer(block, 8, 1, stride=2)
    net.layer3 = net._make_layer(block, 16, 1, stride=2)
    net.layer4 = net._make_layer(block, 32, 1, stride=2)
    net.fc = nn.Linear(32 * block.expansion, 3)
    return net


def small_mobilenet():
    # (factor, filters, count, stride); the convolutions around them have 8 and 1280 filters
    settings = [[1, 32, 1, 1], [6, 64, 2, 2]]
    return mobilenetv2.MobileNetV2(num_classes=3, width_mult=0.25, dropout=0,
                                   inverted_residual_setting=settings)


def small_efficientnet():
    settings = [efficientnet.MBConvConfig(1, 3, 1, 8, 8, 1, 1, 1),
                efficientnet.MBConvConfig(6, 5, 2, 8, 16, 2, 1, 1)]
    return efficientnet.EfficientNet(settings, 0.0, stochastic_depth_prob=0, num_classes=3,
                                     last_channel=24)


def small_densenet():
    return densenet.DenseNet(growth_rate=4, block_config=(2, 1, 1, 2), num_init_features=8,
                             num_classes=3)


def small_inception():
    class Thin(inception.BasicConv2d):
        def __init__(self, channels, filters, **arguments):
            super().__init__(3 if channels == 3 else channels // 16, filters // 16, **arguments)

    blocks = [Thin] + [
        lambda *a, block=block, **k: block(*a, conv_block=Thin, **k)
        for block in (inception.InceptionA, inception.InceptionB, inception.InceptionC,
                      inception.InceptionD, inception.InceptionE, inception.InceptionAux)
    ]
    net = inception.Inception3(num_classes=3, aux_logits=False, inception_blocks=blocks,
                               init_weights=False, dropout=0)
    net.fc = nn.Linear(2048 // 16, 3)
    return net


def small_xception():
    net = Xception(num_classes=3)
    net.conv1, net.bn1 = nn.Conv2d(3, 2, 3, 2, bias=False), nn.BatchNorm2d(2)
    net.conv2, net.bn2 = nn.Conv2d(2, 4, 3, bias=False), nn.BatchNorm2d(4)
    net.block1 = Block(4, 8, 2, 2, start_with_relu=False)
    net.block2 = Block(8, 16, 2, 2)
    net.block3 = Block(16, 12, 2, 2)
    for i in range(4, 12):
        setattr(net, f"block{i}", Block(12, 12, 3, 1))
    net.block12 = Block(12, 16, 2, 2, grow_first=False)
    net.conv3, net.bn3 = SeparableConv2d(16, 24, 3, 1, 1), nn.BatchNorm2d(24)
    net.conv4, net.bn4 = SeparableConv2d(24, 32, 3, 1, 1), nn.BatchNorm2d(32)
    net.fc = nn.Linear(32, 3)
    return net


def small_mixer():
    return mlp_mixer.MlpMixer(num_classes=3, img_size=8, patch_size=2, num_blocks=2, embed_dim=6,
                              mlp_ratio=(0.5, 4 / 3))


# name: (network, shape of a sample)
SMALL = {
    "resnet_basic": (lambda: small_resnet(resnet.BasicBlock, False), (3, 48, 48)),
    "resnet_bottleneck": (lambda: small_resnet(resnet.Bottleneck, True), (3, 16, 16)),
    "mobilenet_v2": (small_mobilenet, (3, 16, 16)),
    "efficientnet": (small_efficientnet, (3, 16, 16)),
    "densenet": (small_densenet, (3, 64, 64)),
    "inception_v3": (small_inception, (3, 107, 107)),
    "xception": (small_xception, (3, 71, 71)),
    "mixer": (small_mixer, (3, 8, 8)),
    "unet": (lambda: UNet(2, 3, width=2), (2, 32, 32)),
    "autoencoder": (Autoencoder, (1, 28, 28)),
}


def fnv(text):
    """The 64-bit FNV-1a hash of a text."""
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def tensors_of(net):
    """Names and shapes of all parameters and statistics."""
    return {name: tuple(t.shape) for name, t in net.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def digest(net):
    return fnv("".join(f"{name} {' '.join(map(str, shape))}\n"
                       for name, shape in sorted(tensors_of(net).items())))


def numbers(name, count):
    """Numbers in [-1, 1) that depend on the name; the same as of numbers() in networks.cpp."""
    x = numpy.arange(count, dtype=numpy.uint32) + numpy.uint32(fnv(name) % 2**32)
    for factor, shift in ((0x85EBCA6B, 16), (0xC2B2AE35, 13), (1, 16)):
        x = (x ^ (x >> numpy.uint32(shift))) * numpy.uint32(factor)
    return x.astype(numpy.float64) / 2.0**31 - 1


def tensor(name, shape):
    count = int(numpy.prod(shape))
    return torch.from_numpy(numbers(name, count).reshape(tuple(shape)))


def initial(name, shape):
    x = tensor(name, shape)
    if len(shape) > 1:
        return x * (6 / (x.numel() // shape[0])) ** 0.5
    return 1 + 0.25 * x if name.endswith(("weight", "running_var")) else 0.25 * x


def projections(net, sample):
    """Sums of outputs, gradients and statistics, each element times a number of its own."""
    net = net.double().train()
    with torch.no_grad():
        for name, t in net.state_dict().items():
            if not name.endswith("num_batches_tracked"):
                t.copy_(initial(name, t.shape))
    x = tensor("input", (BATCH, *sample)).requires_grad_()
    y = net(x)
    y.backward(tensor("grad_output", y.shape))
    sums = [(y * tensor("output", y.shape)).sum(), (x.grad * tensor("grad_input", x.shape)).sum(), 0, 0]
    for name, p in net.named_parameters():
        sums[2] += (p.grad * tensor("by " + name, p.shape)).sum()
    for name, b in net.named_buffers():
        if not name.endswith("num_batches_tracked"):
            sums[3] += (b * tensor("after " + name, b.shape)).sum()
    return [float(s.detach()) for s in map(torch.as_tensor, sums)]


def main():
    torch.set_num_threads(1)
    print("// What golden.py wrote; see there.\n#pragma once\n\n#include <cstdint>\n")
    print("namespace zoo_golden {\n")
    print("// Number of tensors, and the hash of their names and shapes.")
    print("struct network {\nchar const* name;\nint tensors;\nstd::uint64_t digest;\n};")
    print("inline constexpr network networks[] = {")
    for name, make in FULL.items():
        net = make()
        print(f'{{"{name}", {len(tensors_of(net))}, 0x{digest(net):016x}}},')
    print("};\n")
    print("// Sums of output, gradient by the input, gradients by the parameters, statistics.")
    print("struct small {\nchar const* name;\ndouble sums[4];\n};")
    print("inline constexpr small small_networks[] = {")
    for name, (make, sample) in SMALL.items():
        print(f'{{"{name}", {{{", ".join(f"{s:.17g}" for s in projections(make(), sample))}}}}},')
    print("};\n\n} // namespace zoo_golden")


if __name__ == "__main__":
    main()
