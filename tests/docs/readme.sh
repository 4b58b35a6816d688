#!/usr/bin/env bash
# Does what README.md says, with its own words: compiles its program with its command and runs that
# on a small data set in the files' format, and configures its CMake project. Ends with 77, skipped,
# where the machine has no zlib.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$source" castnet

# block <language> <text that it holds>: the block of README.md
block() {
    awk -v language="$1" -v text="$2" '
        $0 ~ "^ *```" language "$" { collecting = 1; block = ""; next }
        /^ *```$/ { if (collecting && index(block, text)) { printf "%s", block; exit }
                    collecting = 0 }
        collecting { block = block $0 "\n" }' castnet/README.md
}
fail() {
    echo "$1" >&2
    exit 1
}

echo '#include <zlib.h>' | c++ -x c++ -fsyntax-only - 2>/dev/null || exit 77
block cpp 'int main' >program.cpp
eval "$(block sh program.cpp | grep 'c++')"

# As many bytes of each kind as the header says: 256 images to train with, 128 to test with.
mkdir data
numbers() { head -c "$1" <(while :; do printf '\0\1\2\3\4\5\6\7\10\11'; done); }
for part in train:1:256 t10k:0:128; do
    IFS=: read -r name high count <<<"$part"
    low=$((count % 256))
    extent=$(printf '\\0\\0\\%o\\%o' "$high" "$low")
    { printf "\\0\\0\\10\\3$extent\\0\\0\\0\\34\\0\\0\\0\\34" && numbers $((count * 784)); } |
        gzip >"data/$name-images-idx3-ubyte.gz"
    { printf "\\0\\0\\10\\1$extent" && numbers "$count"; } | gzip >"data/$name-labels-idx1-ubyte.gz"
done
OMP_NUM_THREADS=1 ./program data
test -s zalando.safetensors || fail "the program has saved nothing"

if said=$(./program nowhere 2>&1); then
    fail "the program must fail without its data"
fi
[[ $said == "castnet: nowhere/train-images-idx3-ubyte: found neither this file"* ]] ||
    fail "without its data the program says: $said"

mkdir project
{
    echo 'cmake_minimum_required(VERSION 3.22)'
    echo 'project(program LANGUAGES CXX)'
    echo 'add_executable(program ../program.cpp)'
    block cmake add_subdirectory | sed 's| *add_subdirectory(castnet)|add_subdirectory(../castnet castnet)|'
} >project/CMakeLists.txt
cmake -S project -B build >cmake.log 2>&1 || fail "$(cat cmake.log)"
