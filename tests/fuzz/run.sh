#!/usr/bin/env bash
# run.sh [<seconds> [<target>…]]
#
# Fuzzes the readers of files, each for that long (600 s unless given), from the seeds in seeds/ on,
# as many at a time as there are cores. Needs clang with libFuzzer and sanitizers; ends with 77 where there is none. What a run finds lies
# in build/fuzz/<target>; a finding ends the script.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
seconds=${1:-600}
targets=("${@:2}")
((${#targets[@]})) || targets=(idx gzip safetensors checkpoint csv npy npz packed image)

skip() {
    echo "fuzz: skipped: no clang with libFuzzer (Debian: clang-19 libclang-rt-19-dev)"
    exit 77
}
compiler=$(command -v clang++-19 || command -v clang++) || skip
flags=(-std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
    -I "$source/include" -DCASTNET_HAS_ZLIB=1)
images=()
if echo '#include <cstdio>
#include <jpeglib.h>
#include <png.h>' | "$compiler" -x c++ -fsyntax-only - 2>/dev/null; then
    images=(-ljpeg -lpng)
else
    echo "fuzz: without images: no libjpeg or libpng (Debian: libjpeg-dev libpng-dev)"
    mapfile -t targets < <(printf '%s\n' "${targets[@]}" | grep -vx image)
fi
echo 'extern "C" int LLVMFuzzerTestOneInput(char const*, unsigned long) { return 0; }' |
    "$compiler" "${flags[@]}" -x c++ - -o /dev/null 2>/dev/null || skip

if ((${#targets[@]} > 1)); then
    printf '%s\n' "${targets[@]}" |
        xargs -P "$(nproc)" -n 1 bash "${BASH_SOURCE[0]}" "$seconds"
    exit
fi
target=${targets[0]}
folder=$source/build/fuzz/$target
mkdir -p "$folder/corpus"
"$compiler" "${flags[@]}" -DCASTNET_FUZZ="$target" -DCASTNET_FUZZ_"${target^^}" \
    "$here/target.cpp" -lz "${images[@]}" -o "$folder/fuzz"
options=(-max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024
    -malloc_limit_mb=64 -artifact_prefix="$folder/" -print_final_stats=1)
if [[ -f $here/$target.dict ]]; then
    options+=(-dict="$here/$target.dict")
fi
(cd "$folder" && ./fuzz "${options[@]}" corpus "$here/seeds/$target") 2>"$folder/log" || {
    tail -n 50 "$folder/log"
    exit 1
}
echo "fuzz $target for $seconds s:" \
    "$(grep -E '^stat::(number_of_executed_units|peak_rss_mb)' "$folder/log" | xargs)"
