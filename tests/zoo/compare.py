#!/usr/bin/env python3
"""Compares the networks of the zoo with torchvision's and timm's, from the same weights and samples.

    pip install torch==2.15.0 torchvision timm safetensors
    python3 tests/zoo/compare.py                    # all networks
    python3 tests/zoo/compare.py mobilenet_v2 unet

A prediction with running statistics, and the loss, gradients and statistics of one training step,
without dropout, of four samples. Errors are the largest difference of a tensor over its largest
value. In float32 both libraries round, each in its own way, so each is compared with PyTorch's
float64; castnet's float64 shows whether both compute the same. Exits with 1 where float64 differs
by more than 1e-6.

Some gradients are 0 but for rounding, since a batch normalisation that follows takes out what the
parameter adds or multiplies: the biases of MobileNetV2's last normalisation in a block that a
1 x 1 convolution and a normalisation follow, and in a DenseNet that begins with biases of 0 the
weight of norm0. So the errors of a tensor count from a thousandth of the largest value on.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import golden
import torch
import torchvision.models as vision
import timm
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[2]
ZOO = "castnet::zoo::"
SAMPLES = 4


def of(name, size, *more):
    return f"{ZOO}{name}_of<{', '.join([f'castnet::input<3, {size}, {size}>', *more])}>"


# name: (header, network, PyTorch's, shape of a sample)
NETWORKS = {
    "resnet18": ("resnet", of("resnet18", 64, "1000"), vision.resnet18, (3, 64, 64)),
    "resnet50": ("resnet", of("resnet50", 64, "1000"), vision.resnet50, (3, 64, 64)),
    "mobilenet_v2": ("mobilenet_v2", of("mobilenet_v2", 96, "1000", "0.0F"),
                     lambda: vision.mobilenet_v2(dropout=0), (3, 96, 96)),
    "efficientnet_b0": ("efficientnet", of("efficientnet_b0", 96, "1000", "0.0F", "0.0F"),
                        lambda: vision.efficientnet_b0(dropout=0, stochastic_depth_prob=0),
                        (3, 96, 96)),
    "densenet121": ("densenet", of("densenet121", 96, "1000"), vision.densenet121, (3, 96, 96)),
    "inception_v3": ("inception_v3", of("inception_v3", 139, "1000", "0.0F"),
                     lambda: vision.inception_v3(aux_logits=False, init_weights=False, dropout=0),
                     (3, 139, 139)),
    "xception": ("xception", of("xception", 96, "1000"),
                 lambda: timm.create_model("legacy_xception"), (3, 96, 96)),
    "mixer_b16": ("mixer", of("mixer_b16", 96, "1000"),
                  lambda: timm.create_model("mixer_b16_224", img_size=96), (3, 96, 96)),
    "vgg19_features": ("vgg", of("vgg19_features", 64), lambda: Features(vision.vgg19()),
                       (3, 64, 64)),
    "unet": ("unet", ZOO + "unet<castnet::input<3, 64, 64>, 1>", lambda: golden.UNet(3, 1),
             (3, 64, 64)),
    "autoencoder": ("autoencoder", ZOO + "autoencoder", golden.Autoencoder, (1, 28, 28)),
}


class Features(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.features = net.features

    def forward(self, x):
        return self.features(x)


def with_statistics(net):
    """Statistics and weights of normalisation that are not those of the start, and no weights of 0."""
    for module in net.modules():
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            module.weight.data.normal_(std=0.02)
        if isinstance(module, torch.nn.BatchNorm2d):
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.uniform_(-0.3, 0.3)
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.8, 1.2)
    return net


def of_torch(net, x, target):
    """What compare.cpp writes, by its names."""
    with torch.no_grad():
        predicted = {"output": net.eval()(x)}
    y = net.train()(x)
    if target.dtype == torch.int64:
        loss = F.cross_entropy(y, target)
    else:
        loss = F.binary_cross_entropy_with_logits(y, target.to(y.dtype))
    loss.backward()
    step = {"loss": loss.detach()}
    step |= {"grad/" + name: p.grad.clone() for name, p in net.named_parameters()}
    step |= {name: b.clone() for name, b in net.named_buffers() if ".running_" in name}
    return predicted, step


def of_castnet(folder, name, element, what):
    header, network, *_ = NETWORKS[name]
    program = folder / element
    if not program.exists():
        subprocess.run(["g++", "-std=c++20", "-O2", "-march=native", "-fopenmp", "-I",
                        str(ROOT / "include"), f"-DHEADER=<castnet/zoo/{header}.hpp>",
                        f"-DNETWORK={network}", f"-DTYPE={element}",
                        str(ROOT / "tests/zoo/compare.cpp"), "-o", str(program)], check=True)
    written = folder / "written"
    weights = folder / f"weights.{element}"
    subprocess.run([program, what, weights, folder / "samples", written], check=True)
    return load_file(written)


def errors(found, expected):
    """Largest error of a tensor, its name, and the error of all tensors as one vector."""
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    worst, where, difference, total = 0, "", 0, 0
    least = 1e-3 * max(value.abs().max() for name, value in expected.items() if "/" in name or
                       len(expected) == 1)
    for name, value in expected.items():
        value = value.double().flatten()
        off = (found[name].double().flatten() - value).abs().max() / value.abs().max().clamp(least.item())
        if not off <= worst:
            worst, where = off.item(), name
        difference += ((found[name].double().flatten() - value) ** 2).sum().item()
        total += (value ** 2).sum().item()
    return worst, where, (difference / total) ** 0.5


def compare(name, folder):
    torch.manual_seed(7)
    _, _, make, sample = NETWORKS[name]
    net = with_statistics(make())
    weights = {k: v.clone() for k, v in net.state_dict().items()}
    for element, dtype in (("double", torch.float64), ("float", torch.float32)):
        of_type = {k: v.to(dtype) if v.is_floating_point() else v for k, v in weights.items()}
        save_file(of_type, folder / f"weights.{element}")
    x = torch.rand(SAMPLES, *sample)
    output = net.eval()(x[:1])
    if output.dim() == 2:
        target = torch.randint(output.shape[1], (SAMPLES,))
    else:
        target = torch.rand(SAMPLES, *output.shape[1:])
    save_file({"input": x, "target": target.float()}, folder / "samples")

    exact = of_torch(make_as(net, weights, torch.float64), x.double(), target)
    rounded = of_torch(make_as(net, weights, torch.float32), x, target)
    fine = 0
    print(name)
    for kind, truth, other in zip(("predict", "train"), exact, rounded):
        print(f"  {kind}")
        for label, values in (("castnet, double", of_castnet(folder, name, "double", kind)),
                              ("castnet, float", of_castnet(folder, name, "float", kind)),
                              ("PyTorch, float", other)):
            worst, where, whole = errors(values, truth)
            print(f"    {label}: {worst:.1e} ({where}), all tensors as one {whole:.1e}")
            if "double" in label:
                fine = max(fine, worst)
    return fine <= 1e-6


def make_as(net, weights, dtype):
    net.load_state_dict(weights)
    net.zero_grad()
    return net.to(dtype)


def main():
    torch.set_num_threads(2)
    different = []
    for name in sys.argv[1:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            if not compare(name, Path(folder)):
                different.append(name)
    if different:
        sys.exit("different: " + ", ".join(different))


if __name__ == "__main__":
    main()
