#!/usr/bin/env python3
"""Counts the instructions of castnet's CUDA kernels, which no GPU is needed for.

    sass.py <nvcc> <folder of castnet's headers> [<cuobjdump>]

No kernel of sass.cu may have local memory, where spilled registers lie and arrays that are not
registers, or call a division of 64 bits. With cuobjdump, the kernels below are disassembled, too, and
may execute so many instructions for each element."""

import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77

# By kernel: how many elements, in what, and the most instructions for each. A thread goes the
# longest way through the kernel that stores no single numbers, and the times that are named through
# its inner loops; a reduction is its inner loop alone.
BUDGETS = {
    "normalize_float": ("thread", 4, 16),
    "normalize_bf16": ("thread", 8, 13),
    "normalize_gradient_float": ("thread", 4, 20),
    "normalize_gradient_bf16": ("thread", 8, 17),
    "max_pool_2x2": ("thread", 8, 28),
    "max_pool_2x2_gradient": ("thread", 32, 9),
    "max_pool_3x3_gradient": ("thread", 8, 36),
    "sum_of_channels": ("loop", 16, 3),
    "sum_of_rows": ("loop", 16, 4),
    "sum_of_all": ("loop", 16, 3),
    "two_sums_float": ("loop", 16, 5),
    "two_sums_bf16": ("loop", 32, 6),
    "stored_two_sums_bf16": ("loop", 16, 13),
    "tensor_chain": ("thread", 4, 7),
    "tensor_with_row": ("thread", 4, 10),
    "tensor_sum_of_all": ("loop", 16, 3),
    "tensor_sum_of_columns": ("loop", 16, 4),
    "tensor_sum_of_rows": ("loop", 16, 4),
}
# How often the threads of a kernel go through its inner loops, where that is not once: all pixels
# of a window; the windows that a pixel lies in, 2.25 of them for stride 2.
TIMES = {"max_pool_2x2_gradient": 4, "max_pool_3x3_gradient": 2.25}


def compiled(nvcc, headers, cubin):
    """Compiles sass.cu, and returns what ptxas says."""
    source = pathlib.Path(__file__).with_suffix(".cu")
    run = subprocess.run(
        [nvcc, "-std=c++20", "-O3", "-arch=sm_90", "-cubin", "-Xptxas", "-v", "-I", headers, source,
         "-o", cubin], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout)
    return run.stdout


def with_local_memory(said):
    """The kernels that have some."""
    found, kernel = [], ""
    for line in said.splitlines():
        if name := re.search(r"Function properties for (\S+)", line):
            kernel = name[1]
        elif re.search(r"\b[1-9]\d* bytes (stack frame|spill)", line):
            found.append(kernel)
    return found


def kernels(disassembled):
    """The instructions of each kernel, as pairs of an address and a text."""
    found, kernel = {}, None
    for line in disassembled.splitlines():
        if name := re.search(r"Function : (\S+)", line):
            kernel = found.setdefault(name[1], [])
        elif code := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line):
            kernel.append((int(code[1], 16), code[2]))
    return found


def target_of(text):
    branch = re.match(r"(?:@!?U?P\w+ )?BRA\b.*?(0x[0-9a-f]+)", text)
    return int(branch[1], 16) if branch else None


def inner_loops(code):
    """The first and last addresses of the loops that contain no other."""
    loops = [(to, at) for at, text in code if (to := target_of(text)) is not None and to < at]
    return [l for l in loops
            if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]


def longest_way(code, times):
    """Instructions of the longest way through a kernel that goes back nowhere and stores nothing
    narrower than 8 bytes; those of inner loops count so many times."""
    loops = inner_loops(code)
    longest = {}
    for place in range(len(code) - 1, -1, -1):
        at, text = code[place]
        narrow = "STG" in text and not re.search(r"STG\.\S*(64|128)", text)
        weight = times if any(first <= at <= last for first, last in loops) else 1
        ends = re.match(r"(@!?U?P\w+ )?(EXIT|BRA)", text)
        ways = [] if ends and not ends[1] else [longest.get(place + 1)]
        if ends and ends[2] == "EXIT":
            ways.append(0)
        if (to := target_of(text)) is not None:
            if to > at:
                ways.append(longest[next(i for i, c in enumerate(code) if c[0] >= to)])
            else:
                ways.append(0)  # a loop, which ends there
        ways = [way for way in ways if way is not None]
        longest[place] = None if narrow or not ways else weight + max(ways)
    return longest[0]


def wide_loop(code):
    """Instructions of the first inner loop that loads 16 bytes at once."""
    for first, last in sorted(inner_loops(code)):
        body = [text for at, text in code if first <= at <= last]
        if any(re.search(r"LDG\.\S*128", text) for text in body):
            return len(body)
    return None


def main():
    nvcc, headers, *rest = sys.argv[1:]
    cuobjdump = rest[0] if rest else ""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "sass.cubin"
        said = compiled(nvcc, headers, cubin)
        problems += [f"{kernel} has local memory" for kernel in with_local_memory(said)]
        if re.search(rb"__cuda_sm\d+_(div|rem)_[su]64", cubin.read_bytes()):
            problems.append("a kernel divides numbers of 64 bits")
        code = {}
        if cuobjdump:
            code = kernels(subprocess.run([cuobjdump, "-sass", cubin], check=True,
                                          stdout=subprocess.PIPE, text=True).stdout)
    for name, (what, elements, most) in BUDGETS.items() if cuobjdump else ():
        body = [(at, text) for at, text in code[name] if not text.startswith("NOP")]
        count = wide_loop(body) if what == "loop" else longest_way(body, TIMES.get(name, 1))
        if count is None:
            problems.append(f"{name}: nothing is read or written in groups")
            continue
        print(f"{name:28} {count / elements:6.1f} instructions per element of at most {most}")
        if count > most * elements:
            problems.append(f"{name}: more than {most} instructions per element")
    if problems:
        print(*problems, sep="\n")
        return 1
    return 0 if cuobjdump else SKIPPED


sys.exit(main())
