#!/usr/bin/env bash
# script.sh <tests/gpu.sh>
#
# What tests/gpu.sh does with its programs, which are simulated here, and so are NVIDIA's tools.
set -uo pipefail
script=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{tools,programs}
export CASTNET_PROGRAMS=$scratch/programs CASTNET_RESULTS=$scratch/results CASTNET_MINUTES=1 \
    PATH=$scratch/tools:$PATH BENCH="--rounds 1 --filter convnet --policies bf16|autotuned"

program() {
    cat >"$1"
    chmod +x "$1"
}
program "$scratch/tools/nvidia-smi" <<<'#!/bin/sh
echo "Simulated GPU, 1.0"'
# … --first=2 --last=2; the second test fails if the file says so.
program "$scratch/programs/test_gpu" <<<'#!/bin/bash
if [[ $1 == --list-test-cases ]]; then
    printf "[doctest] listing all test case names\n=====\nproducts\nsums: of rows\n=====\n"
else
    [[ $* == "--first=2 --last=2" && -e '"$scratch"'/fails ]] && echo "sums are wrong" && exit 1
fi
exit 0'
cp "$scratch/programs/test_gpu" "$scratch/programs/test_gpu_networks"
program "$scratch/programs/bench_gpu" <<<'#!/bin/bash
case ${1:-} in
--list) printf "%s\n" "convnet/512 autotuned" "convnet/512 bf16" "convnet/512 float" "tiny_mlp/128 bf16" ;;
--cudnn) echo 91900 ;;
--step) echo "step of $2 $3" >>'"$scratch"'/steps ;;
*) while read -r name policy seconds; do
    echo "$name $policy" >>'"$scratch"'/measured
    if [[ -e '"$scratch"'/full ]]; then
        rm '"$scratch"'/full
        echo "{\"error\": \"the GPU is full\"}"
        continue
    fi
    echo "{\"step_us\": 7.5, \"samples\": 512, \"flops\": 1e9, \"floor_us\": 5, \"planned_bytes\": 1048576, \"taken_bytes\": 2097152}"
done ;;
esac'
program "$scratch/tools/compute-sanitizer" <<<'#!/bin/bash
echo "$2 $*" >>'"$scratch"'/sanitized
while [[ $1 != */programs/* ]]; do shift; done
exec "$@"'
program "$scratch/tools/ncu" <<<'#!/bin/bash
[[ ! -e '"$scratch"'/forbidden ]] || { echo "==ERROR== ERR_NVGPUCTRPERM"; exit 1; }
while [[ $1 != */programs/* ]]; do shift; done
"$@"
echo "==PROF== Connected to process 1"
echo "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\""
kernel="void castnet::cuda::run_body<castnet::cuda::map_body<castnet::ir::program<2>>>(T1)"
for id in 0 1; do
    echo "\"$id\",\"$kernel\",\"dram__bytes.sum\",\"byte\",\"3,000\""
    echo "\"$id\",\"$kernel\",\"gpu__time_duration.sum\",\"nsecond\",\"1,500\""
done
echo "\"2\",\"sm90_gemm(int)\",\"gpu__time_duration.sum\",\"nsecond\",\"9,000\""'
program "$scratch/tools/nsys" <<<'#!/bin/bash
[[ $1 != stats ]] || echo "Time of run_body: 12 ns"'

failed=0
check() { # <what> <command>…
    local what=$1
    shift
    if ! "$@" >/dev/null; then
        echo "not so: $what"
        failed=1
    fi
}
run() { bash "$script" "$@" >"$scratch/log" 2>&1; }
said() { grep -qF -- "$1" "$scratch/log"; }

check "all parts pass" run smoke tests kernels sanitizers benchmarks
check "it says so" said "castnet: all done"
check "smoke comes first" test "$(head -n 4 "$scratch/measured" | cut -d ' ' -f 1 | tr '\n' ' ')" = \
    "tiny_mlp/128 convnet/512 convnet/512 resnet50/128 "
check "all tests run" said "== 4 of 4 passed"
check "each under each tool" said "== 12 of 12 passed"
check "memcheck looks at the libraries" grep -q "^memcheck.*error-exitcode 9 /.*test_gpu " "$scratch/sanitized"
check "the others do not" test "$(grep "^racecheck" "$scratch/sanitized" | grep -c kns=castnet)" = 4
check "a step has kernels" said "3 kernels, 12.0 µs one after another"
check "castnet's have the names of their bodies" said "| map_body | 2 | 3.0 | 25.0% | 2 | 0.00 |"
check "the longest is first" grep -A 1 -- "|---" "$scratch/results/kernels_convnet_512_bf16.md"
check "benchmarks come before what takes longest" test "$(grep -n "^== benchmarks" "$scratch/log" | cut -d : -f 1)" -lt \
    "$(grep -n "^== sanitizers" "$scratch/log" | cut -d : -f 1)"
check "both steps" test "$(wc -l <"$scratch/steps")" = 2
check "benchmarks are those of the names and policies, autotuned last" \
    test "$(tail -n 2 "$scratch/measured" | tr '\n' ' ')" = "convnet/512 bf16 convnet/512 autotuned "
check "there is a table" grep -q "| convnet/512 | castnet bf16 | 7.5 " "$scratch/results/gpu_training.md"

touch "$scratch/fails" "$scratch/forbidden"
check "a failure is one" bash -c '! bash "$0" tests >"$1" 2>&1' "$script" "$scratch/log"
check "with its output" said "sums are wrong"
check "the others run" said "== 2 of 4 passed"
check "it ends with what failed" said "castnet: failed: tests"
CASTNET_TESTS=products check "tests are chosen by name" run tests
check "a profiler that may not count is replaced" run kernels
check "by the other" said "Time of run_body: 12 ns"
touch "$scratch/full"
check "what fails is measured again" run benchmarks
check "after saying so" said "convnet/512, castnet bf16: the GPU is full"
check "and is in the table" grep -q "| convnet/512 | castnet bf16 | 7.5 " "$scratch/results/gpu_training.md"
check "what has no time is left out" bash -c '! CASTNET_MINUTES=0 bash "$0" smoke tests >"$1" 2>&1' "$script" "$scratch/log"
check "and said to be" test "$(grep -c "left out: no time is left" "$scratch/log")" = 2
check "no other part is known" bash -c '! bash "$0" test 2>/dev/null' "$script"

exit $failed
