#!/usr/bin/env python3
"""Expressions of bench_tensors in PyTorch, on one thread, as compare.py calls it: prints names and
repetitions per second of processor time."""

import argparse
import re
import time

import torch


def numbers(*shape, phase=0.0, dtype=torch.float32):
    count = torch.Size(shape).numel()
    return (1 + 0.5 * torch.sin(phase + torch.arange(count, dtype=dtype))).reshape(shape)


def expressions(m, n, dtype):
    a, b, c = (numbers(m, n, phase=p, dtype=dtype) for p in (0.0, 1.0, 2.0))
    turned = numbers(n, m, phase=5.0, dtype=dtype)
    row, column = numbers(n, phase=3.0, dtype=dtype), numbers(m, 1, phase=4.0, dtype=dtype)
    return {
        "multiply_add": lambda: a * b + c,
        "chain": lambda: (a * b + c) * (a - b) / c + 0.5 * a,
        "broadcast": lambda: (a - row) * column,
        "exp": lambda: torch.exp(a) * b,
        "sigmoid": lambda: 1 / (1 + torch.exp(-(a * b + c))),
        "tanh": lambda: torch.tanh(a),
        "tanh_chain": lambda: torch.tanh(a * b + c) * b,
        "erf": lambda: 0.5 * a * (1 + torch.erf(a * 0.70710678)),
        "softmax": lambda: torch.softmax(a, 1),
        "transpose": lambda: turned.T.contiguous(),
        "transpose_add": lambda: turned.T + b,
        "clip": lambda: torch.clamp(a, 0.75, 1.25),
        "sum": lambda: a.sum(),
        "sum_rows": lambda: a.sum(1),
        "sum_columns": lambda: a.sum(0),
        "mean_rows": lambda: (a * b).mean(1),
        "mean_columns": lambda: (a * b).mean(0),
        "max": lambda: a.max(),
        "max_rows": lambda: a.amax(1),
        "max_columns": lambda: a.amax(0),
        "argmax": lambda: a.argmax(),
        "squared_distance": lambda: (a - b).square().sum(),
    }


def benchmarks():
    for m, n in (1000, 1000), (100, 100), (33, 1001), (2003, 7):
        for name, f in expressions(m, n, torch.float32).items():
            yield f"{name}/{m}x{n}", f
    for name, f in expressions(100, 100, torch.float64).items():
        yield f"{name}/100x100/double", f
    for m, n in (3, 3), (4, 4), (1, 16), (16, 16):
        a, b = numbers(m, n), numbers(m, n, phase=1.0)
        yield f"small_chain/{m}x{n}", lambda a=a, b=b: a * b + a / b
        yield f"small_sum/{m}x{n}", lambda a=a: a.sum()
        if m == n:
            yield f"small_transpose/{m}x{n}", lambda a=a: a.T.contiguous()
    squares = [(n, n, n) for n in (3, 4, 16, 32, 64, 65, 128, 256, 512, 1024)]
    for m, k, n in squares + [(128, 784, 64)]:
        a, b = numbers(m, k), numbers(k, n, phase=1.0)
        yield f"matmul/{m}x{k}x{n}", lambda a=a, b=b: a @ b
    a, b = (numbers(128, 128, phase=p, dtype=torch.float64) for p in (0.0, 1.0))
    yield "matmul/128x128x128/double", lambda a=a, b=b: a @ b
    for batch, n in (1000, 4), (256, 8), (64, 32):
        a, b = numbers(batch, n, n), numbers(batch, n, n, phase=1.0)
        yield f"batched_matmul/{batch}x{n}x{n}", lambda a=a, b=b: torch.bmm(a, b)
    for n in 100, 512:
        a, x = numbers(n, n), numbers(n, phase=1.0)
        yield f"matvec/{n}", lambda a=a, x=x: a @ x


def rate(f, seconds):
    count = 1
    while True:
        start = time.thread_time()
        for _ in range(count):
            f()
        passed = time.thread_time() - start
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
