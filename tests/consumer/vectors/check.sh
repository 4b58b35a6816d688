#!/usr/bin/env bash
# check.sh <include folder> <compiler> <objdump>
# Expressions of tensors have instructions for vectors only: rows of any length, and operands that count for
# every row or column, as g++ compiles them for AVX2 (77 with another compiler).
set -euo pipefail
include=$1 compiler=$2 objdump=$3
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
[[ $("$compiler" -dM -E -x c++ /dev/null) != *__clang__* ]] || exit 77

object=$(mktemp)
trap 'rm -f "$object"' EXIT
arithmetic='v(add|sub|mul|div|fn?m[a-z]+[0-9]+)'
for level in -O2 -O3; do
    "$compiler" -std=c++20 $level -march=x86-64-v3 -I "$include" -c "$here/expressions.cpp" -o "$object"
    "$objdump" -dC --no-show-raw-insn "$object" | awk -v level=$level -v arithmetic="$arithmetic" '
        /^[0-9a-f]+ </ { of = $0 }
        $2 ~ "^" arithmetic "p[sd]$" { vectors++ }
        $2 ~ "^" arithmetic "s[sd]$" { singles[of]++; found = 1 }
        END {
            for (of in singles) print level ": " singles[of] " instructions for single numbers in " of
            exit found || vectors < 100
        }'
done
