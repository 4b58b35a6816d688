#!/usr/bin/env python3
"""Kernels of one training step, from a log that Nsight Compute wrote, as a table.

    ncu --csv --print-units base --metrics … bench_gpu --step convnet/512 bf16 | bench/gpu/kernels.py

A line for each kernel by name, the longest first: launches, time, its share, bytes from and to the
GPU's memory for each second, and instructions of warps. Fails if there is no kernel in the log.
"""

import csv
import re
import sys

TIME, BYTES, INSTRUCTIONS = ("gpu__time_duration.sum", "dram__bytes.sum", "smsp__inst_executed.sum")


def kernels(lines):
    """Per name: launches, nanoseconds, bytes, instructions."""
    rows = csv.DictReader(line for line in lines if line.startswith('"'))
    all_kernels, seen = {}, set()
    for row in rows:
        one = all_kernels.setdefault(short(row["Kernel Name"]), [0, 0.0, 0.0, 0.0])
        if row["ID"] not in seen:
            seen.add(row["ID"])
            one[0] += 1
        for i, metric in enumerate((TIME, BYTES, INSTRUCTIONS)):
            if row["Metric Name"] == metric:
                one[i + 1] += float(row["Metric Value"].replace(",", "") or 0)
    return all_kernels


def short(name):
    """The name of castnet's kernel body, or of a library's kernel, without arguments."""
    body = re.search(r"run_body<(?:\w+::)*(\w+)", name)
    return body.group(1) if body else re.split(r"[(<]", name.removeprefix("void "))[0][:60]


def table(all_kernels):
    total = sum(time for _, time, _, _ in all_kernels.values())
    launches = sum(count for count, _, _, _ in all_kernels.values())
    lines = [f"{launches} kernels, {total / 1e3:,.1f} µs one after another", "",
             "| kernel | launches | µs | share | GB/s | million instructions |",
             "|---|---:|---:|---:|---:|---:|"]
    for name, (count, time, moved, instructions) in sorted(all_kernels.items(),
                                                           key=lambda one: -one[1][1]):
        lines.append(f"| {name} | {count} | {time / 1e3:,.1f} | {time / (total or 1):.1%} | "
                     f"{moved / (time or 1):,.0f} | {instructions / 1e6:,.2f} |")
    return "\n".join(lines)


def main():
    found = kernels(sys.stdin)
    if not found:
        sys.exit("castnet: the log has no kernels")
    print(table(found))


if __name__ == "__main__":
    main()
