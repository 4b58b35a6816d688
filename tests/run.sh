#!/usr/bin/env bash
# Builds castnet and runs its tests, from any folder, after installing what is missing (Debian):
#   tests/run.sh             what needs the default compiler and a CPU only (preset quick)
#   tests/run.sh release     other compilers, vectors and MPIs, sanitizers, CUDA and benchmarks, too
#   tests/run.sh full        also what takes long and repeats on other devices what those test anyway
# or another preset of CMakePresets.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/packages.sh

preset=${1:-quick}
need_packages g++ cmake ninja-build doctest-dev zlib1g-dev dataset-fashion-mnist
want_packages libopenmpi-dev openmpi-bin libjpeg-dev libpng-dev libdlpack-dev libeigen3-dev
if [[ $preset != quick ]]; then
    need_packages libbenchmark-dev
    want_packages clang-19 libc++-19-dev libc++abi-19-dev g++-aarch64-linux-gnu qemu-user mpich libmpich-dev
    want_cuda_disassembler
fi
jobs=$(nproc)

cmake --preset "$preset"
cmake --build --preset "$preset" -j "$jobs"
ctest --preset "$preset" -j "$((jobs + 1))" # some of the tests wait most of the time
