#!/usr/bin/env python3
"""Attention of PyTorch on the CPU, with the shapes and names of bench_attention.

Prints one line for each benchmark: its name, milliseconds, those of the processor's time, and the
memory in MB by which the process grew. The heads are views of (time, features), as in a model.
"""

import argparse
import re
import resource
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

BATCH, HEADS, FEATURES = 2, 6, 384


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def milliseconds(steps, gradients, seconds):
    q, k, v = (torch.rand(BATCH, steps, FEATURES, requires_grad=gradients) for _ in range(3))
    dy = torch.rand(BATCH, steps, FEATURES)

    def heads(x):
        return x.view(BATCH, steps, HEADS, FEATURES // HEADS).transpose(1, 2)

    def run():
        y = scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
        y = y.transpose(1, 2).reshape(BATCH, steps, FEATURES)
        if gradients:
            torch.autograd.grad(y, (q, k, v), dy)

    run()
    rounds, start, processor = 0, time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - start) < seconds:
        run()
        rounds += 1
    return 1000 * elapsed / rounds, 1000 * (time.process_time() - processor) / rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="regular expression for names")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=1, help="per benchmark (default 1)")
    options = parser.parse_args()
    for steps in (128, 256, 512, 1024, 2048, 4096):
        for gradients in (False, True):
            for threads in options.threads:
                name = f"torch{'_gradients' if gradients else ''}/time:{steps}/threads:{threads}"
                if re.search(options.filter, name):
                    torch.set_num_threads(threads)
                    before = peak_megabytes()
                    taken, processor = milliseconds(steps, gradients, options.seconds)
                    print(name, f"{taken:.3f} {processor:.3f} {peak_megabytes() - before:.1f}",
                          flush=True)


if __name__ == "__main__":
    main()
