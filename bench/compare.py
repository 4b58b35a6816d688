#!/usr/bin/env python3
"""Training steps of castnet and of other libraries, interleaved, as a Markdown table.

    bench/compare.py build/release/bench/bench_training
    bench/compare.py build/release/bench/bench_training --rounds 9 --filter convnet --python …/bin/python

Every round runs everybody once, one after another, so that whatever else the machine does meets all
of them. Threads sleep at OpenMP's barriers (OMP_WAIT_POLICY=passive) unless the environment says
otherwise: those that spin take the processor from whatever else runs. PyTorch runs as it comes, and
tuned: with its fused Adam, and channels last for images.

A cell is the median of samples per second over the rounds, with half the distance from smallest to
largest; a ratio is castnet's median to the peer's. Peers that are not found are named at the end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent / "peers"
TUNED = ["--fused", "--channels-last"]


def output_of(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def castnet(program, options):
    """Samples per second by name, from Google Benchmark's report."""
    report = json.loads(output_of([program, f"--benchmark_filter={options.filter}",
                                   f"--benchmark_min_time={options.seconds}",
                                   "--benchmark_format=json"]))
    return {b["name"].removesuffix("/real_time"): b["items_per_second"]
            for b in report["benchmarks"]}


def torch(options, *arguments):
    text = output_of([options.python, PEERS / "torch_training.py", "--filter", options.filter,
                      "--seconds", str(options.seconds), *arguments])
    return {name: float(rate) for name, rate in map(str.split, text.splitlines())}


def peers(options):
    """The peers of this machine: name and how to run it; and the names of those not found."""
    found = subprocess.run([options.python, "-c", "import torch; print(torch.__version__)"],
                           text=True, capture_output=True)
    if found.returncode != 0:
        return {}, [f"PyTorch (no module torch in {options.python}; see --python)"]
    name = "PyTorch " + found.stdout.strip().split("+")[0]
    runs = {name: lambda: torch(options),
            name + " tuned": lambda: torch(options, *TUNED)}
    if options.compile:
        runs[name + " compiled"] = lambda: torch(options, *TUNED, "--compile")
    return runs, []


def figure(rates):
    middle = statistics.median(rates)
    spread = (max(rates) - min(rates)) / 2 / middle
    return f"{middle:,.0f} ± {spread:.0%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="bench_training, as built")
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--seconds", type=float, default=1, help="per benchmark (default 1)")
    parser.add_argument("--filter", default=".", help="regular expression for names")
    parser.add_argument("--python", default=sys.executable,
                        help="the Python that has PyTorch (default: this one)")
    parser.add_argument("--compile", action="store_true", help="PyTorch also through torch.compile")
    options = parser.parse_args()

    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    runs, missing = peers(options)
    runs = {"castnet": lambda: castnet(options.program.resolve(), options), **runs}
    rates = {}  # by benchmark, then by library: one figure each round
    for number in range(options.rounds):
        for library, run in runs.items():
            print(f"round {number + 1}/{options.rounds}: {library}", file=sys.stderr)
            for benchmark, rate in run().items():
                rates.setdefault(benchmark, {}).setdefault(library, []).append(rate)

    print("Samples per second, medians of", options.rounds, "rounds:\n")
    columns = list(runs) + [f"castnet / {library}" for library in list(runs)[1:]]
    print("| training step |", " | ".join(columns), "|")
    print("|---|" + "---:|" * len(columns))
    for benchmark, by_library in rates.items():
        own = by_library.get("castnet")
        cells = [figure(by_library[library]) if library in by_library else "–" for library in runs]
        for library in list(runs)[1:]:
            both = own and library in by_library
            cells.append(f"{statistics.median(own) / statistics.median(by_library[library]):.2f}"
                         if both else "–")
        print("|", benchmark, "|", " | ".join(cells), "|")
    for peer in missing:
        print(f"\nNot found: {peer}")


if __name__ == "__main__":
    main()
