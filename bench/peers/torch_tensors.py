#!/usr/bin/env python3
"""Expressions of bench_tensors in PyTorch, on one thread, as compare.py calls it: prints names and
repetitions per second."""

import argparse
import re
import time

import torch


def numbers(*shape, phase=0.0):
    count = torch.Size(shape).numel()
    return (1 + 0.5 * torch.sin(phase + torch.arange(count, dtype=torch.float32))).reshape(shape)


def expressions(n):
    a, b, c = (numbers(n, n, phase=p) for p in (0.0, 1.0, 2.0))
    row, column = numbers(n, phase=3.0), numbers(n, 1, phase=4.0)
    return {
        "multiply_add": lambda: a * b + c,
        "broadcast": lambda: (a - row) * column,
        "exp": lambda: torch.exp(a) * b,
        "sigmoid": lambda: 1 / (1 + torch.exp(-(a * b + c))),
        "tanh": lambda: torch.tanh(a),
        "transpose_add": lambda: a.T + b,
        "clip": lambda: torch.clamp(a, 0.75, 1.25),
        "sum": lambda: a.sum(),
        "sum_rows": lambda: a.sum(1),
        "sum_columns": lambda: a.sum(0),
        "max": lambda: a.max(),
        "max_rows": lambda: a.amax(1),
        "max_columns": lambda: a.amax(0),
        "argmax": lambda: a.argmax(),
        "squared_distance": lambda: (a - b).square().sum(),
    }


def benchmarks():
    for n in (1000, 100):
        for name, f in expressions(n).items():
            yield f"{name}/{n}", f
    for m, k, n in [(3, 3, 3), (4, 4, 4), (16, 16, 16), (64, 64, 64), (512, 512, 512),
                    (128, 784, 64)]:
        a, b = numbers(m, k), numbers(k, n, phase=1.0)
        yield f"matmul/{m}x{k}x{n}", lambda a=a, b=b: a @ b
    a, x = numbers(512, 512), numbers(512, phase=1.0)
    yield "matvec/512", lambda: a @ x


def rate(f, seconds):
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            f()
        passed = time.perf_counter() - start
        if passed >= seconds:
            return count / passed
        count = max(2 * count, int(count * seconds / max(passed, 1e-9)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default=".")
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name, f in benchmarks():
        if re.search(options.filter, name):
            print(name, rate(f, options.seconds))


if __name__ == "__main__":
    main()
