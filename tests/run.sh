#!/usr/bin/env bash
# Builds everything and runs all tests, from any folder, after installing what is missing (Debian).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/packages.sh

need_packages g++ cmake ninja-build doctest-dev libbenchmark-dev zlib1g-dev dataset-fashion-mnist
want_packages clang-19 g++-aarch64-linux-gnu qemu-user libopenmpi-dev openmpi-bin \
    mpich libmpich-dev libjpeg-dev libpng-dev libdlpack-dev libeigen3-dev
jobs=$(nproc)

cmake --preset release
cmake --build --preset release -j "$jobs"
ctest --preset release -j "$jobs"
