#!/usr/bin/env bash
# single_header.sh <source> <compiler>
# Compiles and runs the program with the single header and nothing else of castnet; also with a header
# that castnet.hpp does not include, and with zlib where the machine has it.
set -euo pipefail
source=$1 compiler=$2
program=$source/tests/consumer/train_mlp.cpp

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir castnet
"$source/cmake/single_header.sh" castnet/zoo/resnet.hpp >castnet/castnet.hpp

"$compiler" -std=c++20 -I . "$program" -o program
./program | tail -n 1

if echo '#include <zlib.h>' | "$compiler" -x c++ -fsyntax-only - 2>/dev/null; then
    echo 'using network = castnet::zoo::resnet50;' | cat "$program" - >with_zlib.cpp
    "$compiler" -std=c++20 -DCASTNET_HAS_ZLIB=1 -fsyntax-only -I . with_zlib.cpp
fi

if "$source/cmake/single_header.sh" castnet/no_such.hpp >/dev/null 2>said; then
    exit 1
fi
grep -q "there is no header castnet/no_such.hpp" said
