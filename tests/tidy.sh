#!/usr/bin/env bash
# Checks the examples, and what they use of the headers, by clang-tidy (.clang-tidy). They are read
# as one source for each core, since most of what they instantiate is the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp .clang-tidy "$folder"

# (without those that need MPI's headers)
mapfile -t examples < <(grep -L policy/distributed.hpp "$PWD"/examples/*.cpp)
units=$(nproc)
for ((unit = 0; unit < units && unit < ${#examples[@]}; ++unit)); do
    share=()
    for ((i = unit; i < ${#examples[@]}; i += units)); do
        share+=("${examples[i]}")
    done
    # Their text, not an #include of it: the analyzer looks at what the main file defines.
    {
        grep -h '^#include' "${share[@]}" | sort -u
        for example in "${share[@]}"; do
            printf 'namespace %s {\n#line 1 "%s"\n' "$(basename "$example" .cpp)" "$example"
            sed 's/^#include.*//' "$example"
            echo "}"
        done
    } >"$folder/examples_$unit.cpp"
done
printf '%s\0' "$folder"/*.cpp | xargs -0 -P "$units" -I{} \
    clang-tidy-19 --quiet {} -- -std=c++20 -Iinclude
