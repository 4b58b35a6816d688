#!/usr/bin/env bash
# link.sh <include folder> <compiler>
# Links two parts of a program, one of which is compiled for the vectors of this machine, for OpenMP and
# with zlib, as far as the machine has them: each must do its own, whichever comes first. A function
# that both have must be the same function: one that calls the same functions.
set -euo pipefail
include=$1 compiler=$2
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
compile() { "$compiler" -std=c++20 -I "$include" "$@"; }

target=() libraries=() gzip=false
for flag in -march=native -fopenmp; do
    ! echo 'int main() {}' | "$compiler" "$flag" -x c++ - -o tried 2>/dev/null || target+=("$flag")
done
if echo '#include <zlib.h>' | "$compiler" -x c++ -fsyntax-only - 2>/dev/null; then
    target+=(-DCASTNET_HAS_ZLIB=1) libraries=(-lz) gzip=true
fi
echo "one part with: ${target[*]}"

cat >main.cpp <<'C'
bool plain(char const*);
bool special(char const*);
int main() { return (plain("data") ? 0 : 1) + (special("data") ? 0 : 2); }
C
compile -c "$here/part.cpp" -D PART=plain -D GZIP=false -o plain.o
compile -c "$here/part.cpp" -D PART=special -D GZIP=$gzip "${target[@]}" -o special.o

mkdir data # with an archive of nothing
for name in train-images-idx3 train-labels-idx1; do
    gzip </dev/null >data/$name-ubyte.gz
done
for parts in "plain.o special.o" "special.o plain.o"; do
    # shellcheck disable=SC2086
    compile "${target[@]}" main.cpp $parts "${libraries[@]}" -o program
    ./program
done

# calls <object>: the functions of castnet in it, each with what it refers to by name. Without constants of
# all targets: whether these are read from memory is the compiler's choice.
calls() {
    { objdump -t "$1" && objdump -r "$1"; } | awk '
        / O [.](rodata|data[.]rel[.]ro)/ && !/[0-9](baseline|sse4_2|avx[0-9a-z_]*|neon|one_thread|openmp)/ { constant[$NF] }
        /^RELOCATION RECORDS FOR/ { section = $4; next }
        section ~ /7castnet/ && $3 ~ /^_Z/ {
            sub(/[-+]0x.*/, "", $3)
            if (!($3 in constant)) { print section, $3 }
        }' | sort -u
}
calls plain.o >plain
calls special.o >special
awk 'NR == FNR { in_plain[$1]; next } $1 in in_plain { print $1 }' plain special | sort -u >both
if ! diff <(join both plain) <(join both special); then
    echo "functions of one name differ"
    exit 1
fi
echo "$(wc -l <both) functions are in both parts, of $(cut -d' ' -f1 plain | uniq | wc -l)"
