#!/usr/bin/env python3
"""Training steps of castnet and PyTorch on a GPU, in turns, as JSON and a table.

    bench/gpu/compare.py build/gpu/bench/gpu/bench_gpu results/name [--rounds 5] [--filter convnet]

Both programs stay alive; in every round each benchmark runs in castnet and in PyTorch, in each of
its ways, one after another. Figures are medians over the rounds, beside the smallest and the
largest; the ratio is taken round by round and is above 1 where castnet is faster. Without PyTorch
or with --dry-run (which runs nothing) what cannot be measured is left out.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WAYS = ("eager", "tuned", "compile", "graph")


def output_of(*command):
    """What a command prints; empty where it cannot run or fails."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def describe(bench, python):
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    name, driver = (gpu.splitlines()[0].split(", ") if gpu else ("none", "none"))
    toolkit = re.search(r"release ([\d.]+)", output_of("nvcc", "--version"))
    torch = output_of(python, str(HERE / "torch_training.py"), "--info")
    return {"gpu": name, "driver": driver, "cuda": toolkit.group(1) if toolkit else "none",
            "cudnn": output_of(bench, "--cudnn") or "unknown",
            "pytorch": json.loads(torch) if torch else None,
            "commit": os.environ.get("CASTNET_COMMIT")
            or output_of("git", "-C", str(HERE), "describe", "--always", "--dirty") or "unknown"}


class Program:
    """A program that answers every line with a line of JSON."""

    def __init__(self, *command):
        self.name = command[-1]
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, *words):
        """None where the program has ended."""
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None


def measure(options, names):
    """Per benchmark: castnet's facts, and per library and way a figure for each round."""
    found = {name: {"us": {}} for name in names}
    command = [options.bench], [options.python, str(HERE / "torch_training.py")]
    programs = [Program(*command[0]), Program(*command[1]) if options.torch else None]

    def ask(which, label, name, *words):
        if programs[which] is None:
            return
        answer = programs[which].ask(name, *words)
        if answer is None:  # it said why; the next benchmark gets a new one
            programs[which] = Program(*command[which])
            return
        found[name].update({k: answer[k] for k in ("samples", "flops", "bytes") if k in answer})
        found[name]["us"].setdefault(label, []).append(answer["step_us"])

    for _ in range(options.rounds):
        for name in names:
            ask(0, "castnet", name, options.seconds)
            for way in WAYS:
                ask(1, f"PyTorch {way}", name, way, options.seconds)
    return found


def table(result):
    facts = result["machine"]
    torch = facts["pytorch"]
    lines = ["# Training steps on a GPU", "",
             f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
             f"cuDNN {facts['cudnn']}, "
             + (f"PyTorch {torch['torch']} (cuDNN {torch['cudnn']})" if torch else "no PyTorch")
             + f", commit {facts['commit']}, {result['rounds']} rounds in turns:", "",
             "```sh", result["command"], "```", "",
             "Medians over the rounds. The ratio is time of PyTorch / time of castnet, round by "
             "round. eager: float, fused Adam; tuned: channels last, AMP in bfloat16; compile, "
             "graph: tuned and compiled, or captured as one CUDA graph.", "",
             "| network/batch | | µs a step | min … max | ratio | TFLOP/s | planned MiB |",
             "|---|---|---:|---:|---:|---:|---:|"]
    for name, one in result["benchmarks"].items():
        ours = one["us"].get("castnet", [])
        for label, times in one["us"].items():
            median = statistics.median(times)
            ratio, flops, size = "–", "", ""
            if label == "castnet":
                flops = f"{one['flops'] / median / 1e6:.2f}"
                size = f"{one['bytes'] / 2**20:.1f}"
            elif ours:
                ratio = f"{statistics.median(t / o for t, o in zip(times, ours)):.2f}"
            lines.append(f"| {name} | {label} | {median:,.1f} | {min(times):,.1f} … "
                         f"{max(times):,.1f} | {ratio} | {flops} | {size} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="the program bench_gpu")
    parser.add_argument("result", help="file to write, without .json and .md")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="per figure (default 0.5)")
    parser.add_argument("--filter", default="", help="regular expression for names")
    parser.add_argument("--python", default="python3", help="the Python that has PyTorch")
    parser.add_argument("--dry-run", action="store_true", help="measure nothing")
    options = parser.parse_args()

    machine = describe(options.bench, options.python)
    options.torch = bool(machine["pytorch"] and machine["pytorch"]["gpu"])
    names = [n for n in output_of(options.bench, "--list").split() if re.search(options.filter, n)]
    if not names:
        sys.exit(f"{options.bench} has no benchmarks of this name")
    found = {n: {"us": {}} for n in names} if options.dry_run else measure(options, names)
    result = {"machine": machine, "command": " ".join(sys.argv), "rounds": options.rounds,
              "seconds": options.seconds, "benchmarks": found}
    file = Path(options.result)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.with_name(file.name + ".json").write_text(json.dumps(result, indent=1) + "\n")
    file.with_name(file.name + ".md").write_text(table(result))
    print(table(result))


if __name__ == "__main__":
    main()
