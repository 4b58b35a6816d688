#!/usr/bin/env python3
"""Speed of castnet and of other libraries, interleaved, as Markdown tables.

    bench/compare.py
    bench/compare.py build/release/bench --rounds 9 --filter convnet --python …/bin/python
    bench/compare.py --operations
    bench/compare.py --tensors

Every round takes the networks and batch sizes (or the single operations) one by one and runs each in
all libraries, one after another, so that whatever else the machine does meets all of them. Threads
sleep at OpenMP's barriers (OMP_WAIT_POLICY=passive) unless the environment says otherwise: those that
spin take the processor from whatever else runs. PyTorch and its C++ library,
libtorch, run as they come, and tuned: the C library keeps the memory that it got instead of
returning it to the system, BLAS is the OpenBLAS that shares OpenMP's threads, and PyTorch uses its
fused Adam, with channels last for images.

Figures are medians over the rounds, beside the smallest and the largest. castnet / peer compares
speeds, round by round, and is above 1 where castnet is faster. Expressions of tensors run on one
thread and are measured in its processor time; PyTorch's C library keeps memory there, too. GFLOP/s
count the operations of castnet's plan for all. Peers that are not found are named at the end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Programs of peers/, with the name of the library, the Debian package that it needs, and whether
# to run it in the tuned environment, too.
PROGRAMS = [("libtorch_training", "libtorch", "libtorch-dev", True),
            ("dlib_training", "dlib", "libdlib-dev", False),
            ("onednn_training", "oneDNN primitives alone", "libdnnl-dev", False)]
OPERATIONS = [("onednn_kernels", "oneDNN", "libdnnl-dev", False)]
TENSORS = [("eigen_tensors", "Eigen", "libeigen3-dev", False),
           ("xtensor_tensors", "xtensor", "libxtensor-dev", False)]


def tuned_environment():
    """Variables of the environment for peers tuned, and the names of what is missing for them."""
    # For glibc: no mapping of its own for each large block, no trimming, growth in large steps.
    environment = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
                   "MALLOC_TOP_PAD_": str(1 << 26)}
    folders = [str(f) for f in Path("/usr/lib").glob("*/openblas-openmp")]
    before = os.environ.get("LD_LIBRARY_PATH")
    if folders:
        environment["LD_LIBRARY_PATH"] = ":".join(folders + ([before] if before else []))
    return environment, [] if folders else ["OpenBLAS for OpenMP (Debian: libopenblas0-openmp)"]


def output_of(command, environment):
    done = subprocess.run(command, text=True, capture_output=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


class Comparison:
    """What is measured: samples per second by benchmark and library, one figure each round."""

    def __init__(self, options):
        self.options = options
        self.rates = {}
        self.flops = {}  # of a sample, by benchmark
        self.versions = set()

    def own_programs(self):
        if self.options.tensors:
            return ["bench_tensors"]
        return ["bench_kernels"] if self.options.operations else ["bench_training", "bench_inference"]

    def peers(self):
        if self.options.tensors:
            return TENSORS
        return OPERATIONS if self.options.operations else PROGRAMS

    def add(self, library, benchmark, rate):
        self.rates.setdefault(benchmark, {}).setdefault(library, []).append(rate)

    def groups(self):
        """Regular expressions for the benchmarks chosen that differ in threads only."""
        groups = {}
        for program in self.own_programs():
            listed = output_of([self.options.folder / program, "--benchmark_list_tests",
                                f"--benchmark_filter={self.options.filter}"], {})
            for name in listed.split():
                name = name.removesuffix("/real_time")
                # PyTorch takes longer to start than an expression to be timed: those of a size together.
                key = name.rpartition("/")[2] if self.options.tensors else name.split("/threads:")[0]
                groups.setdefault(key, []).append(name)
        return {group: f"^({'|'.join(names)})(/real_time)?$" for group, names in groups.items()}

    def run_program(self, chosen, library, program, environment):
        """Runs Google Benchmarks. Those that count no items predict a single sample."""
        text = output_of([program, f"--benchmark_filter={chosen}",
                          f"--benchmark_min_time={self.options.seconds}",
                          "--benchmark_format=json"], environment)
        report = json.loads(text or '{"context": {}, "benchmarks": []}')
        if "library" in report["context"]:
            self.versions.add(report["context"]["library"])
        for b in report["benchmarks"]:
            if b.get("error_occurred"):
                sys.exit(f"failed: {program}: {b['name']}: {b['error_message']}")
            name = b["name"].removesuffix("/real_time")
            second = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1}[b["time_unit"]]
            passed = b["cpu_time" if self.options.tensors else "real_time"]
            rate = b.get("items_per_second", second / passed)
            if "FLOP/s" in b and not self.options.tensors:
                self.flops[name] = b["FLOP/s"] / rate
            self.add(library, name, rate)

    def run_python(self, chosen, library, script, arguments, environment):
        text = output_of([self.options.python, script, "--filter", chosen,
                          "--seconds", str(self.options.seconds), *arguments], environment)
        for name, rate, *_ in map(str.split, text.splitlines()):
            self.add(library, name, float(rate))

    def has_module(self, module, library, missing, also="sys"):
        """Whether Python has these modules; notes the version of the first, or that it is missing."""
        found = subprocess.run([self.options.python, "-c",
                                f"import {module}, {also}; print({module}.__version__)"],
                               text=True, capture_output=True)
        if found.returncode == 0:
            self.versions.add(f"{library} " + found.stdout.strip().split("+")[0])
        else:
            missing.append(f"{library} (no module {module} in {self.options.python}; see --python)")
        return found.returncode == 0

    def runs(self):
        """Calls that run castnet and the peers of this machine, given the benchmarks chosen; and the
        names of what is missing."""
        tuned, missing = tuned_environment()
        programs = [("castnet", self.options.folder / name, {}) for name in self.own_programs()]
        for name, library, package, can_be_tuned in self.peers():
            program = self.options.folder / "peers" / name
            if not program.exists():
                missing.append(f"{library} (Debian: {package}; then configure and build again)")
                continue
            programs.append((library, program, {}))
            if can_be_tuned:
                programs.append((library + " tuned", program, tuned))
            if self.options.operations:
                programs.append((library + ", castnet's layouts", program,
                                 {"BENCH_LAYOUTS": "castnet"}))
        runs = [lambda chosen, n=library, p=program, e=environment:
                self.run_program(chosen, n, p, e)
                for library, program, environment in programs]
        if self.options.tensors:
            if self.has_module("torch", "PyTorch", missing):
                runs.append(lambda chosen: self.run_python(
                    chosen, "PyTorch", HERE / "peers" / "torch_tensors.py", [], tuned))
            return runs, missing
        if self.options.operations:
            return runs, missing

        if self.has_module("onnxruntime", "ONNX Runtime", missing, also="onnx"):
            runs.append(lambda chosen: self.run_python(
                chosen, "ONNX Runtime", HERE / "peers" / "onnxruntime_inference.py", [], {}))
        if not self.has_module("torch", "PyTorch", missing):
            return runs, missing
        fused = ["--fused", "--channels-last"]
        pythons = [("PyTorch", [], {}), ("PyTorch tuned", fused, tuned)]
        if self.options.compile:
            pythons.append(("PyTorch compiled", [*fused, "--compile"], tuned))
        script = HERE / "peers" / "torch_training.py"
        runs += [lambda chosen, n=library, a=arguments, e=environment:
                 self.run_python(chosen, n, script, a, e)
                 for library, arguments, environment in pythons]
        return runs, missing


def print_table(title, unit, rates, convert, digits, flops=None):
    """One row for each benchmark and library; convert makes a figure of the unit from a rate."""
    if not rates:
        return
    columns = [title, "library", unit, "min … max", "castnet / peer"]
    columns += ["GFLOP/s"] if flops else []
    print("\n|", " | ".join(columns), "|")
    print("|---|---|" + "---:|" * (len(columns) - 2))
    for benchmark, by_library in rates.items():
        for library, of_library in by_library.items():
            figures = sorted(map(convert, of_library))
            middle, low, high = (
                f"{figure:,.{digits if figure >= 100 else 2 if figure >= 0.1 else 4}f}" for figure in
                (statistics.median(figures), figures[0], figures[-1]))
            ratios = [own / peer for own, peer in zip(by_library.get("castnet", []), of_library)]
            compare = ratios and library != "castnet"
            cells = [benchmark, library, middle, f"{low} … {high}",
                     f"{statistics.median(ratios):.2f}" if compare else "–"]
            if flops:
                rate = statistics.median(of_library)
                count = flops.get(benchmark)
                cells.append(f"{rate * count / 1e9:.1f}" if count else "–")
            print("|", " | ".join(cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=HERE.parent / "build/release/bench",
                        help="the benchmarks, as built (default: build/release/bench)")
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--seconds", type=float, default=1, help="per benchmark (default 1)")
    parser.add_argument("--filter", default=".", help="regular expression for names")
    parser.add_argument("--python", default=sys.executable,
                        help="the Python that has PyTorch (default: this one)")
    parser.add_argument("--operations", action="store_true",
                        help="single operations instead of networks, on one thread")
    parser.add_argument("--tensors", action="store_true",
                        help="expressions of tensors instead of networks, on one thread")
    parser.add_argument("--compile", action="store_true", help="PyTorch also through torch.compile")
    options = parser.parse_args()
    options.folder = options.folder.resolve()

    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    comparison = Comparison(options)
    for program in comparison.own_programs():
        if not (options.folder / program).exists():
            parser.error(f"{options.folder} has no {program}: cmake --preset release && "
                         "cmake --build --preset release --target benchmarks all")
    runs, missing = comparison.runs()
    for number in range(options.rounds):
        for group, chosen in comparison.groups().items():
            print(f"round {number + 1}/{options.rounds}: {group}", file=sys.stderr)
            for run in runs:
                run(chosen)

    print(f"Medians of {options.rounds} rounds.", *sorted(comparison.versions), sep="\n- ")
    if options.operations or options.tensors:
        print_table("operation", "µs", comparison.rates, lambda rate: 1e6 / rate, 2, comparison.flops)
    else:
        training = {n: r for n, r in comparison.rates.items() if "/threads:" in n}
        prediction = {n: r for n, r in comparison.rates.items() if n not in training}
        print_table("training step", "samples/s", training, lambda rate: rate, 0, comparison.flops)
        print_table("single sample", "µs", prediction, lambda rate: 1e6 / rate, 2)
    for peer in missing:
        print(f"\nNot found: {peer}")


if __name__ == "__main__":
    main()
