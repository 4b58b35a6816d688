#!/usr/bin/env python3
"""Speed of castnet and of other libraries, interleaved, as Markdown tables.

    bench/compare.py
    bench/compare.py build/release/bench --rounds 9 --filter convnet --python …/bin/python
    bench/compare.py --filter /batch: --peers 'PyTorch tuned'
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
speeds, round by round, and is above 1 where castnet is faster. Training steps are compared twice:
by the processor's time of all threads, which depends least on what else the machine does, and by
the time that passed, which shows what a second thread brings. MB are the most memory that a process
has had, which ran the step on 1 thread and then on 2. Expressions of tensors run on one thread and
are measured in its processor time; PyTorch's C library keeps memory there, too. GFLOP/s count the
operations of castnet's plan for all. Peers that are not found are named at the end.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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


# What Google Benchmark appends to names.
CLOCKS = "(/process_time)?(/real_time)?"


def plain(name):
    return re.sub(CLOCKS + "$", "", name)


def output_of(command, environment):
    done = subprocess.run(command, text=True, capture_output=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


class Step(NamedTuple):
    """What a training step costs besides the time that passes."""
    processor: float  # ms of all threads
    memory: float  # MB


class Comparison:
    """What is measured, by benchmark and library, each round: samples per second, and training steps."""

    def __init__(self, options):
        self.options = options
        self.rates = {}
        self.steps = {}
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

    def add(self, library, benchmark, rate, step=None):
        self.rates.setdefault(benchmark, {}).setdefault(library, []).append(rate)
        if step:
            self.steps.setdefault(benchmark, {}).setdefault(library, []).append(step)

    def groups(self):
        """Regular expressions for the benchmarks chosen that differ in threads only."""
        groups = {}
        for program in self.own_programs():
            listed = output_of([self.options.folder / program, "--benchmark_list_tests",
                                f"--benchmark_filter={self.options.filter}"], {})
            for name in listed.split():
                name = plain(name)
                # PyTorch takes longer to start than an expression to be timed: those of a size together.
                key = name.rpartition("/")[2] if self.options.tensors else name.split("/threads:")[0]
                groups.setdefault(key, []).append(name)
        return {group: f"^({'|'.join(names)}){CLOCKS}$" for group, names in groups.items()}

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
            name = plain(b["name"])
            second = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1}[b["time_unit"]]
            step = Step(b["cpu_time"] / second * 1e3, b["peak_MB"]) if "peak_MB" in b else None
            passed = b["cpu_time" if self.options.tensors else "real_time"]
            rate = b.get("items_per_second", second / passed)
            if "FLOP/s" in b and not self.options.tensors:
                self.flops[name] = b["FLOP/s"] / rate
            self.add(library, name, rate, step)

    def run_python(self, chosen, library, script, arguments, environment):
        text = output_of([self.options.python, script, "--filter", chosen,
                          "--seconds", str(self.options.seconds), *arguments], environment)
        for name, rate, *step in map(str.split, text.splitlines()):  # … 12.3 ms 456 MB
            self.add(library, name, float(rate),
                     Step(float(step[0]), float(step[2])) if step else None)

    def has_modules(self, modules, missing):
        """Whether Python has these modules; notes the version of the first, or that one is missing."""
        name = modules.split(",")[0]
        found = subprocess.run([self.options.python, "-c",
                                f"import {modules}; print({name}.__version__)"],
                               text=True, capture_output=True)
        if found.returncode == 0:
            self.versions.add(f"{name} " + found.stdout.strip().split("+")[0])
        else:
            missing.append(f"{modules} (Python's modules, in {self.options.python}; see --python)")
        return found.returncode == 0

    def scripts(self, tuned):
        """Peers in Python: name of the library, modules that it needs, script, arguments, environment."""
        if self.options.tensors:
            return [("PyTorch", "torch", "torch_tensors.py", [], tuned)]
        if self.options.operations:
            return []
        training, fused = "torch_training.py", ["--fused", "--channels-last"]
        scripts = [("ONNX Runtime", "onnxruntime, onnx", "onnxruntime_inference.py", [], {}),
                   ("PyTorch", "torch", training, [], {}),
                   ("PyTorch tuned", "torch", training, fused, tuned)]
        if self.options.compile:
            scripts.append(("PyTorch compiled", "torch", training, [*fused, "--compile"], tuned))
        return scripts

    def runs(self):
        """Calls that run castnet and those of its peers that this machine has and the options choose,
        given the benchmarks chosen; and the names of what is missing."""
        def is_chosen(library):
            return re.search(self.options.peers, library)

        tuned, missing = tuned_environment()
        programs = [("castnet", self.options.folder / name, {}) for name in self.own_programs()]
        for name, library, package, can_be_tuned in self.peers():
            program = self.options.folder / "peers" / name
            of_peer = [(library, program, {})]
            if can_be_tuned:
                of_peer.append((library + " tuned", program, tuned))
            if self.options.operations:
                of_peer.append((library + ", castnet's layouts", program,
                                {"BENCH_LAYOUTS": "castnet"}))
            of_peer = [one for one in of_peer if is_chosen(one[0])]
            if of_peer and not program.exists():
                missing.append(f"{library} (Debian: {package}; then configure and build again)")
            else:
                programs += of_peer
        runs = [lambda chosen, n=library, p=program, e=environment:
                self.run_program(chosen, n, p, e)
                for library, program, environment in programs]

        has = {}
        for library, modules, script, arguments, environment in self.scripts(tuned):
            if is_chosen(library):
                if modules not in has:
                    has[modules] = self.has_modules(modules, missing)
                if has[modules]:
                    runs.append(lambda chosen, n=library, p=HERE / "peers" / script, a=arguments,
                                e=environment: self.run_python(chosen, n, p, a, e))
        return runs, missing


def print_head(columns, texts=2):
    """The head of a table whose first columns are texts and the others numbers."""
    print("\n|", " | ".join(columns), "|")
    print("|" + "---|" * texts + "---:|" * (len(columns) - texts))


def quotients(dividends, divisors):
    return [a / b for a, b in zip(dividends, divisors)]


def with_digits(figure, digits):
    """So many of them where it is large."""
    return f"{figure:,.{digits if figure >= 100 else 2 if figure >= 0.1 else 4}f}"


def middle(figures, digits=2):
    return with_digits(statistics.median(figures), digits) if figures else "–"


def spread(figures):
    return f"{min(figures):.2f} … {max(figures):.2f}" if figures else "–"


def print_training(steps, rates, flops):
    """One row for each training step and peer; and all steps of a peer on so many threads."""
    if not steps:
        return
    print_head(["training step", "peer", "castnet ms", "peer ms", "castnet / peer", "min … max",
                "by time passed", "castnet GFLOP/s", "castnet MB", "peer MB", "castnet / peer"])
    of_peers = {}
    for benchmark, by_library in steps.items():
        own, own_rates = by_library["castnet"], rates[benchmark]["castnet"]
        speed = statistics.median(own_rates) * flops[benchmark] / 1e9
        for peer in [library for library in by_library if library != "castnet"] or ["–"]:
            theirs, their_rates = by_library.get(peer, []), rates[benchmark].get(peer, [])
            faster = quotients([s.processor for s in theirs], [s.processor for s in own])
            sooner = quotients(own_rates, their_rates)
            smaller = quotients([s.memory for s in own], [s.memory for s in theirs])
            print("|", " | ".join([
                benchmark, peer, middle([s.processor for s in own], 0),
                middle([s.processor for s in theirs], 0), middle(faster), spread(faster),
                middle(sooner), f"{speed:.1f}", middle([s.memory for s in own], 0),
                middle([s.memory for s in theirs], 0), middle(smaller)]), "|")
            if theirs:
                key = (peer, benchmark.rpartition("/")[2])
                of_peers.setdefault(key, []).append(
                    [statistics.median(r) for r in (faster, sooner, smaller)])

    print_head(["all steps", "peer", "", "least", "median", "most"], texts=3)
    for (peer, threads), of_steps in sorted(of_peers.items()):
        for what, figures in zip(("speed, by processor's time", "speed, by time passed", "memory"),
                                 zip(*of_steps)):
            least, most = min(figures), max(figures)
            print("|", " | ".join([threads, peer, what, f"{least:.2f}",
                                   f"{statistics.median(figures):.2f}", f"{most:.2f}"]), "|")


def print_table(title, unit, rates, convert, digits, flops=None):
    """One row for each benchmark and library; convert makes a figure of the unit from a rate."""
    if not rates:
        return
    columns = [title, "library", unit, "min … max", "castnet / peer"]
    columns += ["GFLOP/s"] if flops else []
    print_head(columns)
    for benchmark, by_library in rates.items():
        for library, of_library in by_library.items():
            figures = sorted(map(convert, of_library))
            median, low, high = (with_digits(figure, digits) for figure in
                                 (statistics.median(figures), figures[0], figures[-1]))
            peer = [] if library == "castnet" else of_library
            cells = [benchmark, library, median, f"{low} … {high}",
                     middle(quotients(by_library.get("castnet", []), peer))]
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
    parser.add_argument("--peers", default=".", help="regular expression for the peers' names")
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
                         "cmake --build --preset release --target benchmarks")
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
        prediction = {n: r for n, r in comparison.rates.items() if n not in comparison.steps}
        print_training(comparison.steps, comparison.rates, comparison.flops)
        print_table("single sample", "µs", prediction, lambda rate: 1e6 / rate, 2)
    for peer in missing:
        print(f"\nNot found: {peer}")


if __name__ == "__main__":
    main()
