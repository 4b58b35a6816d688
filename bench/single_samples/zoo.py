#!/usr/bin/env python3
"""Predictions of single samples by the networks of the zoo, beside ONNX Runtime and OpenVINO.

    pip install torch==2.15.0 torchvision timm onnx onnxscript onnxruntime openvino
    python3 bench/single_samples/zoo.py                    # all networks
    python3 bench/single_samples/zoo.py resnet50 vgg16

The peers run torchvision's and timm's networks (those of tests/zoo/golden.py where these have none),
exported to ONNX, called from Python. All take turns, in rounds. Writes a Markdown table of the time
of the processor for one sample in microseconds (with --clock, of the time on the clock), the
smallest of all rounds.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import timm
import torch
import torchvision.models as vision
from libraries import add_options, build, smallest_times

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/zoo"))
import golden


def resnet18_cifar():
    net = vision.resnet18(num_classes=10)
    net.conv1, net.maxpool = torch.nn.Conv2d(3, 64, 3, padding=1, bias=False), torch.nn.Identity()
    return net


# name: (header, PyTorch's network, shape of a sample, network of the zoo if its name is another)
NETWORKS = {
    "resnet18": ("resnet", vision.resnet18, (3, 224, 224)),
    "resnet34": ("resnet", vision.resnet34, (3, 224, 224)),
    "resnet50": ("resnet", vision.resnet50, (3, 224, 224)),
    "resnet101": ("resnet", vision.resnet101, (3, 224, 224)),
    "resnet152": ("resnet", vision.resnet152, (3, 224, 224)),
    "resnet18_cifar": ("resnet", resnet18_cifar, (3, 32, 32)),
    "vgg16": ("vgg", vision.vgg16, (3, 224, 224)),
    "vgg19": ("vgg", vision.vgg19, (3, 224, 224)),
    "mobilenet_v2": ("mobilenet_v2", vision.mobilenet_v2, (3, 224, 224)),
    "efficientnet_b0": ("efficientnet", vision.efficientnet_b0, (3, 224, 224)),
    "densenet121": ("densenet", vision.densenet121, (3, 224, 224)),
    "inception_v3": ("inception_v3",
                     lambda: vision.inception_v3(aux_logits=False, init_weights=False),
                     (3, 299, 299)),
    "xception": ("xception", lambda: timm.create_model("legacy_xception"), (3, 299, 299)),
    "unet": ("unet", lambda: golden.UNet(3, 1), (3, 128, 128),
             "unet<castnet::input<3, 128, 128>, 1>"),
    "autoencoder": ("autoencoder", golden.Autoencoder, (1, 28, 28)),
    "mixer_s16": ("mixer", lambda: timm.create_model("mixer_s16_224"), (3, 224, 224)),
    "mixer_b16": ("mixer", lambda: timm.create_model("mixer_b16_224"), (3, 224, 224)),
}


def built(name, folder):
    """The program of castnet's network."""
    header, _, _, *other = NETWORKS[name]
    program = folder / name
    if not program.exists():
        build(program, f"<castnet/zoo/{header}.hpp>", f"cn::zoo::{other[0] if other else name}")
    return program


def exported(name, folder):
    """The network as a file, and a sample."""
    _, make, shape, *_ = NETWORKS[name]
    torch.manual_seed(42)
    x = torch.rand(1, *shape)
    path = folder / f"{name}.onnx"
    if not path.exists():
        torch.onnx.export(make().eval(), (x,), path, dynamo=False, input_names=["x"])
    return path, x.numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="network")
    add_options(parser)
    parser.add_argument("--folder", type=Path, help="keeps programs and exported networks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        print("| network | castnet | ONNX Runtime | OpenVINO | better peer / castnet |")
        print("|---|---|---|---|---|")
        for name in options.networks:
            times = smallest_times(built(name, folder), *exported(name, folder), options)
            numbers = [f"{1e6 * time:,.{0 if time > 1e-4 else 1}f}" for time in times]
            print("|", " | ".join([name, *numbers, f"{min(times[1:]) / times[0]:.2f}"]), "|",
                  flush=True)


if __name__ == "__main__":
    main()
