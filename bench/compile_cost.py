#!/usr/bin/env python3
"""What it costs to compile the examples and the corpus in bench/compile, per compiler.

Prints a Markdown table: time on the clock, processor time of the compiler (seconds), the peak memory
of its largest process (MiB), and the size of the object file (KiB); each the median of a few runs.

    bench/compile_cost.py                         all sources, all compilers of this machine
    bench/compile_cost.py -n 5 --csv cost.csv examples/quickstart.cpp
"""

import argparse
import csv
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = {"g++": [], "clang++-19": [], "nvcc": ["-x", "cu"]}
COLUMNS = ["wall s", "user s", "peak MiB", "object KiB"]


def compile_once(command, obj):
    """The four costs of one run; the peak and the times include the compiler's own children."""
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit("failed: " + " ".join(command))
    return wall, usage.ru_utime, usage.ru_maxrss / 1024, obj.stat().st_size / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path,
                        help="default: examples/*.cpp and bench/compile/*.cpp")
    parser.add_argument("-n", "--runs", type=int, default=3, help="runs per cell (default 3)")
    parser.add_argument("--compilers", nargs="+", default=[c for c in COMPILERS if shutil.which(c)],
                        help="default: those of g++, clang++-19 and nvcc that are found")
    parser.add_argument("--flags", default="-O2 -DNDEBUG",
                        help="for every compiler, as --flags='…' (default: %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to FILE")
    options = parser.parse_args()

    sources = options.sources or sorted([*ROOT.glob("examples/*.cpp"),
                                         *ROOT.glob("bench/compile/*.cpp")])
    rows = []
    print("| source | compiler |", " | ".join(COLUMNS), "|")
    print("|---|---|" + "---:|" * len(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        obj = Path(folder) / "out.o"
        for source in sources:
            for compiler in options.compilers:
                language = COMPILERS.get(Path(compiler).name, [])
                command = [compiler, "-std=c++20", *options.flags.split(), "-I",
                           str(ROOT / "include"), *language, "-c", str(source), "-o", str(obj)]
                runs = [compile_once(command, obj) for _ in range(options.runs)]
                wall, user, peak, size = map(statistics.median, zip(*runs))
                cells = [source.name, compiler, f"{wall:.2f}", f"{user:.2f}", f"{peak:.0f}",
                         f"{size:.0f}"]
                print("|", " | ".join(cells), "|", flush=True)
                rows.append(cells)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([["source", "compiler", *COLUMNS], *rows])


if __name__ == "__main__":
    main()
