#!/usr/bin/env bash
# install.sh <source> <folder> <compiler>
# Installs castnet's vcpkg port in the folder and uses it there. Ends with 77, skipped, without vcpkg.
set -euo pipefail
source=$1 folder=$2 compiler=$3
if ! command -v vcpkg; then
    echo "skipped: there is no vcpkg"
    exit 77
fi

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" # where no manifest is
export CXX=$compiler
vcpkg install castnet --overlay-ports="$source/packaging/vcpkg" --x-install-root=installed \
    --x-buildtrees-root=buildtrees --x-packages-root=packages
cmake -S "$source/tests/consumer/find_package" -B program \
    -DCMAKE_PREFIX_PATH="$(echo "$PWD"/installed/*/share/castnet)"
cmake --build program
program/train_mlp
