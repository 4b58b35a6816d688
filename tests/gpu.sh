#!/usr/bin/env bash
# gpu.sh [--dry-run] [tests] [sanitizers] [benchmarks]
#
# Everything that needs a GPU, in one go (all three unless told): builds, runs ctest -L gpu, runs the
# same tests under compute-sanitizer, and measures training steps beside PyTorch. Ends with what
# failed; goes on after a failure. --dry-run builds, and shows what it would run.
#
# Needs nvcc, cuDNN, CMake and Ninja. In the environment:
#   CASTNET_HEADERS   folder with doctest/doctest.h, where the package is not installed
#   CASTNET_PYTHON    the Python that has PyTorch (python3 unless told)
#   CASTNET_RESULTS   folder for results (bench/results unless told)
#   CASTNET_COMMIT    what results name as the commit (git's unless told)
#   BENCH             further arguments of bench/gpu/compare.py, such as "--filter convnet"
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

run=("$@") dry=
if [[ ${1:-} == --dry-run ]]; then
    dry=1 run=("${@:2}")
fi
((${#run[@]})) || run=(tests sanitizers benchmarks)
wanted() { [[ " ${run[*]} " == *" $1 "* ]]; }

python=${CASTNET_PYTHON:-python3}
results=${CASTNET_RESULTS:-bench/results}
build=build/gpu
tests=$build/tests/gpu/test_gpu
failed=()

# step <name> <command>…
step() {
    local name=$1
    shift
    echo "== $name: $*"
    if [[ -z $dry ]] && ! "$@"; then
        failed+=("$name")
    fi
}

if gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null); then
    gpu=${gpu%%$'\n'*}
    architectures=native
elif [[ -n $dry ]]; then
    gpu=none
    architectures=90
else
    echo "castnet: nvidia-smi finds no GPU; --dry-run builds without one" >&2
    exit 1
fi

mkdir -p "$results"

echo "== build for $gpu"
targets=(gpu_tests)
! wanted benchmarks || targets+=(bench_gpu)
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CUDA_ARCHITECTURES=$architectures ${CASTNET_HEADERS:+-D CASTNET_HEADERS="$CASTNET_HEADERS"} &&
    cmake --build $build --target "${targets[@]}" || exit 1

if wanted tests; then
    step "tests" ctest --test-dir $build -L gpu --output-on-failure
    # The description that tests without a GPU can plan for (tests/data).
    name=gpu_$(tr -cs 'A-Za-z0-9\n' _ <<<"$gpu").json
    step "description" cp $build/tests/gpu/gpu_description.json "$results/$name"
fi

if wanted sanitizers; then
    # Shared memory and uninitialized reads are looked at in castnet's kernels; the libraries' are
    # not ours, and slow to watch.
    own=()
    ! compute-sanitizer --help 2>/dev/null | grep -q -e --kernel-regex || own=(--kernel-regex kns=castnet)
    for tool in memcheck racecheck initcheck synccheck; do
        filter=()
        [[ $tool == memcheck ]] || filter=("${own[@]}")
        step $tool compute-sanitizer --tool $tool --error-exitcode 9 "${filter[@]}" $tests
    done
fi

if wanted benchmarks; then
    read -ra more <<<"${BENCH:-}"
    arguments=("$build/bench/gpu/bench_gpu" "$results/gpu_training" --python "$python" "${more[@]}")
    step "benchmarks" "$python" bench/gpu/compare.py "${arguments[@]}"
    # Everything of the comparison but the execution.
    [[ -z $dry ]] || "$python" bench/gpu/compare.py "${arguments[@]}" --dry-run ||
        failed+=("dry run of the benchmarks")
fi

if ((${#failed[@]})); then
    printf 'castnet: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "castnet: all done"
