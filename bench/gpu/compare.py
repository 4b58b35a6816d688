#!/usr/bin/env python3
"""Training steps of castnet and PyTorch on a GPU, in turns, as JSON and a table.

    bench/gpu/compare.py build/gpu/bench/gpu/bench_gpu results/name [--rounds 5] [--filter convnet]
        [--policies 'bf16|tf32']

Both programs stay alive; in every round each benchmark runs in castnet with each of its policies, and
in PyTorch in each of its ways, one after another. Figures are medians over the rounds, beside the
smallest and the largest; ratios are taken round by round, with the policy that has the precision of
PyTorch's way, and are above 1 where castnet is faster. The files are written anew after every
benchmark, and the last round may be incomplete (--seconds-left). Without PyTorch, castnet is measured
alone. Both keep their models between figures. What fails is tried once more with both programs started
anew, since their models may fill the GPU, and after some errors a program can do nothing more; what
fails again is left out of further rounds. The policy autotuned comes last, since it takes long to begin.
"""

import argparse
import json
import os
import re
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# PyTorch's ways, each with the policy of castnet that it is compared with.
WAYS = {"eager": "float", "tuned": "autotuned", "compile": "autotuned", "graph": "autotuned"}
PATIENCE = 300  # seconds for a figure, with all that comes before the first


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
        self.command = command
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def restart(self):
        """With nothing left on the GPU."""
        self.process.kill()
        self.process.wait()
        self.start()

    def ask(self, patience, *words):
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"error": "the program ended"}
        if not select.select([self.process.stdout], [], [], patience)[0]:
            return {"error": f"no answer for {patience:.0f} seconds"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the program ended"}


def measure(options, names, found, save):
    """Adds figures round by round, and saves after every benchmark."""
    programs = [Program(options.bench)]
    if options.torch:
        programs.append(Program(options.python, str(HERE / "torch_training.py")))
    end = time.monotonic() + options.seconds_left

    def ask(which, library, name, way):
        label = f"{library} {way}"
        one = found[name]
        if which >= len(programs) or label in one["failed"]:
            return
        for _ in range(2):
            left = end - time.monotonic()
            if left <= 0:
                return
            answer = programs[which].ask(min(PATIENCE, left), name, way, options.seconds)
            if "error" not in answer:
                break
            print(f"{name}, {label}: {answer['error']}", file=sys.stderr)
            for program in programs:
                program.restart()
        else:
            one["failed"][label] = answer["error"]
            return
        one["us"].setdefault(label, []).append(answer["step_us"])
        one["facts"].setdefault(label, {k: v for k, v in answer.items() if k != "step_us"})

    for _ in range(options.rounds):
        for name, policies in names.items():
            for policy in policies:
                ask(0, "castnet", name, policy)
            for way in WAYS:
                if re.fullmatch(options.ways, way):
                    ask(1, "PyTorch", name, way)
            save()


def table(result):
    facts = result["machine"]
    rounds = max((len(times) for one in result["benchmarks"].values()
                  for times in one["us"].values()), default=0)  # fewer than asked for, if time ended
    torch = facts["pytorch"]
    lines = ["# Training steps on a GPU", "",
             f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
             f"cuDNN {facts['cudnn']}, "
             + (f"PyTorch {torch['torch']} (cuDNN {torch['cudnn']})" if torch else "no PyTorch")
             + f", commit {facts['commit']}, {rounds} round(s) in turns:", "",
             "```sh", result["command"], "```", "",
             "Medians over the rounds. The ratio is time of PyTorch / time of castnet, round by "
             "round: of eager with castnet's float, of the others with autotuned (or bf16, where that "
             "was not measured). castnet: float, tf32, bf16: policies; autotuned: bf16 with algorithms "
             "chosen by timing them. PyTorch: eager: float, fused Adam; tuned: channels last, AMP in "
             "bfloat16; compile, graph: tuned and compiled, or captured as one CUDA graph. Floor: the "
             "share that the least time of castnet's plan has (`cn::cuda_floor`, with the limits that "
             "this GPU was measured to have). Memory but for the data: as planned, and taken of the "
             "GPU's, with what the libraries and graphs take; PyTorch's is that of its allocator.", "",
             "| network/batch | | µs a step | min … max | ratio | TFLOP/s | floor | planned MiB | "
             "taken MiB |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name, one in result["benchmarks"].items():
        for label, times in one["us"].items():
            median = statistics.median(times)
            facts = one["facts"][label]
            ratio, flops, floor, planned = "–", "", "", ""
            library, way = label.split()
            ours = one["us"].get(f"castnet {WAYS.get(way)}")
            if not ours and WAYS.get(way) == "autotuned":
                ours = one["us"].get("castnet bf16")
            if library == "castnet":
                flops = f"{facts['flops'] / median / 1e6:.2f}"
                floor = f"{facts['floor_us'] / median:.0%}"
                planned = f"{facts['planned_bytes'] / 2**20:.1f}"
            elif ours:
                ratio = f"{statistics.median(t / o for t, o in zip(times, ours)):.2f}"
            lines.append(f"| {name} | {label} | {median:,.1f} | {min(times):,.1f} … "
                         f"{max(times):,.1f} | {ratio} | {flops} | {floor} | {planned} | "
                         f"{facts['taken_bytes'] / 2**20:.1f} |")
        lines += [f"| {name} | {label} | failed | | | | | | |" for label in one["failed"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="the program bench_gpu")
    parser.add_argument("result", help="file to write, without .json and .md")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="per figure (default 0.5)")
    parser.add_argument("--filter", default="", help="regular expression for names")
    parser.add_argument("--policies", default=".*", help="regular expression for castnet's policies")
    parser.add_argument("--ways", default=".*", help="regular expression for PyTorch's ways")
    parser.add_argument("--seconds-left", type=float, default=3600, help="measure nothing later")
    parser.add_argument("--python", default="python3", help="the Python that has PyTorch")
    options = parser.parse_args()

    machine = describe(options.bench, options.python)
    options.torch = bool(machine["pytorch"] and machine["pytorch"]["gpu"])
    names = {}
    for line in output_of(options.bench, "--list").splitlines():
        name, policy = line.split()
        if re.search(options.filter, name) and re.fullmatch(options.policies, policy):
            names.setdefault(name, []).append(policy)
    if not names:
        sys.exit(f"{options.bench} has no benchmarks of this name and policy")
    for policies in names.values():
        policies.sort(key=lambda policy: policy == "autotuned")
    found = {n: {"us": {}, "facts": {}, "failed": {}} for n in names}
    result = {"machine": machine, "command": " ".join(sys.argv), "rounds": options.rounds,
              "seconds": options.seconds, "benchmarks": found}
    file = Path(options.result)
    file.parent.mkdir(parents=True, exist_ok=True)

    def save():
        file.with_name(file.name + ".json").write_text(json.dumps(result, indent=1) + "\n")
        file.with_name(file.name + ".md").write_text(table(result))

    measure(options, names, found, save)
    print(table(result))


if __name__ == "__main__":
    main()
