#!/usr/bin/env bash
# From a fresh clone to a trained network: installs what is missing (Debian), builds the example
# quickstart for this machine's CPU and runs it with the arguments given here.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$source/cmake/packages.sh"

need_packages g++ cmake ninja-build zlib1g-dev dataset-fashion-mnist

build=$source/build/quickstart
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCASTNET_NATIVE=ON \
    -DCASTNET_BUILD_TESTS=OFF -DCASTNET_BUILD_BENCH=OFF
cmake --build "$build" --target quickstart
exec "$build/examples/quickstart" "$@"
