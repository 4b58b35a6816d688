#!/usr/bin/env python3
"""What it costs to compile the examples and the corpus in bench/compile, per compiler.

Prints a Markdown table: time on the clock, processor time of the compiler (seconds), the peak memory
of its largest process (MiB), and the size of the object file (KiB); each the median of a few runs.
Then counts, which are the same in every run (see COUNTS).

    bench/compile_cost.py                         all sources, all compilers of this machine
    bench/compile_cost.py -n 5 --csv cost.csv examples/quickstart.cpp
    bench/compile_cost.py --constexpr             also what constant evaluation needs (slow)
    bench/compile_cost.py --check                 compares counts with bench/compile/baseline.json:
                                                  1 where one grew, 77 where none is comparable
    bench/compile_cost.py --update                writes the counts of now to that file
    bench/compile_cost.py --functions 40 --flags='-O3 -march=native -DNDEBUG -fopenmp' \
        examples/quickstart.cpp                   those that g++ spends most of its time on
"""

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "bench/compile/baseline.json"
COMPILERS = {"g++": [], "clang++-19": [], "nvcc": ["-x", "cu"]}
# instantiations: of class and function templates, and those of them that are castnet's own;
# symbols: in the object file without optimization; evaluated MiB: what g++ allocates while it
# evaluates constant expressions, in all of them together, which its time follows; peak MiB at -O0: of its
# memory, which it frees less often than machines with less than 1 GiB let it; MiB for the GPU: of nvcc's
# compiler for the GPU, which keeps what it evaluates, for sources in CUDA.
COUNTS = {"clang++-19": ["instantiations", "castnet's"],
          "g++": ["symbols", "evaluated MiB", "peak MiB at -O0"],
          "nvcc": ["MiB for the GPU"]}
ROUNDING = {"evaluated MiB": 1, "peak MiB at -O0": 10}  # what --check lets pass besides
CUDA = ["-arch=sm_90", "--expt-relaxed-constexpr"]
# The option that limits constant evaluation of one constant, and the compiler's own limit.
LIMITS = {"clang++-19": ("-fconstexpr-steps=", 2**20), "g++": ("-fconstexpr-ops-limit=", 2**25)}
COSTS = ["wall s", "user s", "peak MiB", "object KiB"]
GROWTH = 1.05  # what --check lets pass
ONE, FIVE = "bench/compile/convnet.cpp", "bench/compile/five_networks.cpp"


def call(compiler, *arguments):
    return [compiler, "-std=c++20", "-I", str(ROOT / "include"), *map(str, arguments)]


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("failed: " + " ".join(command) + "\n" + done.stderr)
    return done


def output_of(command, text=None):
    return run(command, text).stdout


def run_measured(command, **options):
    """Time on the clock and use of resources, which include the compiler's own children."""
    start = time.perf_counter()
    child = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if child.returncode != 0:
        sys.exit("failed: " + " ".join(command))
    return wall, usage


def compile_once(command, obj):
    """The costs of one run."""
    wall, usage = run_measured(command)
    return wall, usage.ru_utime, usage.ru_maxrss / 1024, obj.stat().st_size / 1024


def costs(compiler, source, flags, runs, obj):
    own = CUDA if source.suffix == ".cu" else COMPILERS.get(Path(compiler).name, [])
    command = call(compiler, *flags, *own, "-c", source, "-o", obj)
    return map(statistics.median, zip(*(compile_once(command, obj) for _ in range(runs))))


def evaluated(report):
    """MiB of constant evaluation in g++'s -ftime-report, whose last column is memory."""
    number, unit = re.search(r"^ constant expression evaluation .* (\d+)([kMG]?) +\(", report,
                             re.MULTILINE).groups()
    return round(int(number) * 1024.0 ** (" kMG".index(unit or " ") - 2))


def counts(compiler, source, folder):
    """The figures that COUNTS names."""
    if compiler == "g++":
        obj = folder / "counted.o"
        report = folder / "report.txt"
        with report.open("w") as file:
            _, usage = run_measured(
                call(compiler, "-O0", "-ftime-report", "-c", source, "-o", obj), stderr=file)
        found = [len(output_of(["nm", str(obj)]).splitlines()), evaluated(report.read_text()),
                 round(usage.ru_maxrss / 1024)]
    elif compiler == "clang++-19":
        trace = folder / "trace.json"
        output_of(call(compiler, "-fsyntax-only", "-Xclang", f"-ftime-trace={trace}", "-Xclang",
                       "-ftime-trace-granularity=0", source))
        names = [e["args"]["detail"] for e in json.loads(trace.read_text())["traceEvents"]
                 if e["name"] in ("InstantiateClass", "InstantiateFunction")]
        found = [len(names), sum(name.startswith("castnet::") for name in names)]
    elif source.suffix == ".cu":
        _, usage = run_measured(call(compiler, "-O2", *CUDA, "-ptx", source, "-o",
                                     folder / "counted.ptx"))
        found = [round(usage.ru_maxrss / 1024)]
    else:
        found = []
    return dict(zip(COUNTS.get(compiler, []), found))


def are_counted(compiler, source):
    return (source.suffix == ".cu") == (compiler == "nvcc")


def constant_evaluation(compiler, source):
    """The steps that the largest constant needs, to within 10 %."""
    option, high = LIMITS[compiler]

    def enough(limit):
        command = call(compiler, "-fsyntax-only", f"{option}{limit}", source)
        return subprocess.run(command, capture_output=True).returncode == 0

    low = 2**10
    while not enough(high):
        low, high = high, 2 * high
    while high > 1.1 * low:
        middle = int((low * high) ** 0.5)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def print_functions(source, flags, most):
    """What g++ optimizes and writes out, function by function: -Q says where it is."""
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(call("g++", *flags, "-Q", "-S", source, "-o", f"{folder}/out.s"),
                                 stderr=subprocess.PIPE)
        heard = []  # when, and what
        while text := os.read(child.stderr.fileno(), 2**16):
            heard.append((time.perf_counter(), text.decode(errors="replace").strip()))
        if child.wait() != 0:
            sys.exit("failed: " + " ".join(child.args) + "\n"
                     + "".join(text for _, text in heard)[-2000:])
    first, last = ([i for i, (_, text) in enumerate(heard) if word in text][0]
                   for word in ("Assembling functions", "Time variable"))
    took = [(end - begin, text)
            for (begin, text), (end, _) in zip(heard[first:last], heard[first + 1:])]
    print(f"{sum(t for t, _ in took):.2f} s for {len(took)} functions, after"
          f" {heard[first][0] - heard[0][0]:.2f} s for parsing, templates and inlining; in ms:")
    for seconds, text in sorted(took, reverse=True)[:most]:
        print(f"{seconds * 1000:5.0f}  {text[:160]}")


def version(compiler):
    """The compiler and its standard library: counts of other ones are not comparable."""
    host = "g++" if compiler == "nvcc" else compiler
    macros = output_of([host, "-std=c++20", "-x", "c++", "-dM", "-E", "-"], "#include <cstddef>")
    library = re.findall(r"#define (_LIBCPP_VERSION|__GLIBCXX__) (\w+)", macros)
    lines = output_of([compiler, "--version"]).splitlines()
    number = next((line for line in lines if "release" in line), lines[0])  # (nvcc's is not first)
    return " ".join([number, *(" ".join(pair) for pair in library)])


def print_table(options):
    rows = []
    counted = [name for c in options.compilers for name in COUNTS.get(c, [])]
    columns = COSTS + counted + ["constexpr steps"] * options.constexpr
    print("| source | compiler |", " | ".join(columns), "|")
    print("|---|---|" + "---:|" * len(columns))
    with tempfile.TemporaryDirectory() as folder:
        for source in options.sources:
            for compiler in options.compilers:
                if source.suffix == ".cu" and compiler != "nvcc":
                    continue
                wall, user, peak, size = costs(compiler, source, options.flags.split(),
                                               options.runs, Path(folder) / "out.o")
                cells = [source.name, compiler, f"{wall:.2f}", f"{user:.2f}", f"{peak:.0f}",
                         f"{size:.0f}"]
                found = counts(compiler, source, Path(folder))
                cells += [str(found.get(name, "")) for name in counted]
                if options.constexpr:
                    known = compiler in LIMITS
                    cells.append(str(constant_evaluation(compiler, source)) if known else "")
                print("|", " | ".join(cells), "|", flush=True)
                rows.append(cells)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([["source", "compiler", *columns], *rows])


def count_all(compiler, sources):
    with tempfile.TemporaryDirectory() as folder:
        return {str(s.resolve().relative_to(ROOT)): counts(compiler, s, Path(folder))
                for s in sources if are_counted(compiler, s)}


def update(options):
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    for compiler in options.compilers:
        known = baseline.get(compiler, {})
        old = known.get("counts", {}) if known.get("version") == version(compiler) else {}
        new = old | count_all(compiler, options.sources)
        baseline[compiler] = {"version": version(compiler), "counts": dict(sorted(new.items()))}
    BASELINE.write_text(json.dumps(baseline, indent=1) + "\n")


def check(options):
    """The exit status: 0 where all is well, 1 where a count grew, 77 where none is comparable."""
    baseline = json.loads(BASELINE.read_text())
    failures, compared = [], 0
    for compiler in options.compilers:
        known = baseline.get(compiler)
        if known is None or known["version"] != version(compiler):
            print(f"skipped {compiler}: the baseline is of",
                  known["version"] if known else "other compilers")
            continue
        now = count_all(compiler, options.sources)
        for source, found in now.items():
            for name, new in found.items():
                old = known["counts"].get(source, {}).get(name)
                if old is None:
                    failures.append(f"{source}: {name} by {compiler}: not in the baseline")
                    continue
                compared += 1
                text = f"{source}: {name} by {compiler}: {old} -> {new} ({new / old - 1:+.1%})"
                print(text)
                if new > GROWTH * old + ROUNDING.get(name, 0):
                    failures.append(text)
        if ONE in now and FIVE in now:
            failures += [f"five networks need more than 5 times the {name} of one: {new}"
                         for name, new in now[FIVE].items() if new > 5 * now[ONE][name]]
    if failures:
        print(f"\nMore than {GROWTH - 1:.0%} above the baseline:", *failures, sep="\n  ")
        print("Where that is intended: bench/compile_cost.py --update, and commit",
              BASELINE.relative_to(ROOT))
        return 1
    return 0 if compared else 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path,
                        help="default: those in examples and bench/compile; of these only the latter "
                             "with --check and --update")
    parser.add_argument("-n", "--runs", type=int, default=3, help="runs per cell (default 3)")
    parser.add_argument("--compilers", nargs="+",
                        help="default: those of g++, clang++-19 and nvcc that are found")
    parser.add_argument("--flags", default="-O2 -DNDEBUG",
                        help="of the timed runs, as --flags='…' (default: %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to FILE")
    parser.add_argument("--constexpr", action="store_true",
                        help="also find the steps of constant evaluation by bisection (slow)")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="compare counts with the baseline")
    action.add_argument("--update", action="store_true", help="make the counts the baseline")
    action.add_argument("--functions", type=int, metavar="N",
                        help="of each source, the functions that g++ takes longest for")
    options = parser.parse_args()

    counting = options.check or options.update
    options.compilers = [c for c in options.compilers or (COUNTS if counting else COMPILERS)
                         if shutil.which(c)]
    folders = ["bench/compile"] if counting else ["examples", "bench/compile"]
    options.sources = options.sources or sorted(s for f in folders
                                                for pattern in ("*.cpp", "*.cu")
                                                for s in ROOT.glob(f"{f}/{pattern}"))
    if options.check:
        sys.exit(check(options))
    elif options.update:
        update(options)
    elif options.functions:
        for source in options.sources:
            print_functions(source, options.flags.split(), options.functions)
    else:
        print_table(options)


if __name__ == "__main__":
    main()
