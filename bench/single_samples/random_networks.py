#!/usr/bin/env python3
"""Predictions of single samples by random networks, beside ONNX Runtime and OpenVINO.

    pip install torch==2.15.0 onnx onnxscript onnxruntime openvino
    python3 bench/single_samples/random_networks.py 1000 1040    # of these seeds

The networks are the larger ones of tests/random_networks/compare.py, which may show what is slow in networks that no
benchmark has. A line for each has the better peer's time over castnet's, and the microseconds of castnet, ONNX Runtime
and OpenVINO, which are called from Python: below a hundred they say little of the peers. It leaves out what PyTorch
cannot export.
"""

import argparse
import io
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import torch
from libraries import add_options, build, smallest_times

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/random_networks"))
from compare import LARGE, Network


def exported(network, folder):
    """The network as a file, and a sample; no file if PyTorch cannot."""
    x, path = network.x[:1].contiguous(), folder / "network.onnx"
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            torch.onnx.export(network.torch.eval(), (x,), path, dynamo=False, input_names=["x"])
    except Exception:  # of one of many types
        path = None
    return path, x.numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    add_options(parser)
    options = parser.parse_args()
    for seed in range(options.first, options.end):
        network = Network(seed, LARGE)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            path, x = exported(network, folder)
            if path is None:
                continue
            network.write(folder, "float", "cpu")
            build(folder / "program", "<network.hpp>", "cn::random_network", "-I", folder)
            times = smallest_times(folder / "program", path, x, options)
        print(f"{seed}: {min(times[1:]) / times[0]:.2f};", *(f"{1e6 * time:.1f}" for time in times), f"us; {network}",
              flush=True)


if __name__ == "__main__":
    main()
