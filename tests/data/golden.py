#!/usr/bin/env python3
"""Writes the golden values that the C++ tests are compared with, or checks them; see README.md."""

import argparse
from functools import partial
from pathlib import Path

import torch

from golden_cases import (attention, convnet, functions, graphs, images, layers, losses,
                          normalization, normalized_weights, optimizers, recurrent, sequences,
                          volumes)

FOLDER = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the files, write none")
    parser.add_argument(
        "--fashion-mnist",
        metavar="FOLDER",
        help="where train-*-ubyte.gz lie; without it convnet.safetensors is left as it is",
    )
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.set_default_dtype(torch.float64)

    files = {
        "attention": attention.generate,
        "layers": layers.generate,
        "images": images.generate,
        "functions": functions.generate,
        "losses": losses.generate,
        "normalization": normalization.generate,
        "normalized_weights": normalized_weights.generate,
        "optimizers": optimizers.generate,
        "graphs": graphs.generate,
        "sequences": sequences.generate,
        "recurrent": recurrent.generate,
        "volumes": volumes.generate,
    }
    if options.fashion_mnist:
        files["convnet"] = partial(convnet.generate, options.fashion_mnist)

    failed = False
    for name, generate in files.items():
        path = FOLDER / f"{name}.safetensors"
        golden = generate()
        if options.check:
            differences = golden.differences(path)
            failed = failed or bool(differences)
            for line in differences or ["as regenerated"]:
                print(f"{path.name}: {line}")
        else:
            golden.save(path)
            print(f"{path.name}: {len(golden.tensors)} tensors, {path.stat().st_size} bytes")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
