#!/usr/bin/env bash
# Checks the examples, and what they use of the headers, by clang-tidy. They are read as one source
# for each core, since most of what they instantiate is the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rm -rf build/tidy
mkdir -p build/tidy
# (without those that need MPI's headers)
mapfile -t examples < <(grep -L policy/distributed.hpp examples/*.cpp)
units=$(nproc)
for ((unit = 0; unit < units && unit < ${#examples[@]}; ++unit)); do
    share=()
    for ((i = unit; i < ${#examples[@]}; i += units)); do
        share+=("${examples[i]}")
    done
    # Their text, not an #include of it: the analyzer looks at what the main file defines.
    {
        grep -hE '^# *(include|if|else|elif|endif)' "${share[@]}"
        for example in "${share[@]}"; do
            printf 'namespace %s { // %s\n' "$(basename "$example" .cpp)" "$example"
            sed 's/^#include.*//' "$example"
            echo "}"
        done
    } >"build/tidy/examples_$unit.cpp"
done
printf '%s\0' build/tidy/*.cpp | xargs -0 -P "$units" -I{} \
    clang-tidy-19 --quiet {} -- -std=c++20 -Iinclude -Xclang -analyzer-config -Xclang mode=shallow
