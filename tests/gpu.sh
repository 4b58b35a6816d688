#!/usr/bin/env bash
# gpu.sh [build] [tests] [sanitizers] [benchmarks]
#
# Everything that needs a GPU, or the parts that are named: builds the programs, runs every test in a
# process of its own, runs tests again under compute-sanitizer's tools, and measures training steps
# beside PyTorch. Goes on after a failure and ends with what failed.
#
# 'build' needs nvcc, CMake, cuDNN and doctest, and no GPU. The other parts need only the programs,
# which another machine may have built: copy the folder, and name it here.
#
# In the environment:
#   CASTNET_PROGRAMS       folder of the programs (build/gpu/programs unless told)
#   CASTNET_RESULTS        folder for results and logs (build/gpu/results unless told)
#   CASTNET_MINUTES        that each part may take, but the build (60 unless told)
#   CASTNET_ARCHITECTURES  GPUs to build for (this machine's; 90 where it has none)
#   CASTNET_HEADERS        folder with doctest/doctest.h, where the package is not installed
#   CASTNET_PYTHON         the Python that has PyTorch (python3 unless told)
#   CASTNET_COMMIT         what results name as the commit (git's unless told)
#   BENCH                  further arguments of bench/gpu/compare.py, such as "--filter convnet"
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

all_parts=(build tests sanitizers benchmarks)
parts=("${@:-${all_parts[@]}}")
for part in "${parts[@]}"; do
    if [[ " ${all_parts[*]} " != *" $part "* ]]; then
        echo "castnet: tests/gpu.sh does no $part, but: ${all_parts[*]}" >&2
        exit 1
    fi
done
wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }

build=build/gpu
python=${CASTNET_PYTHON:-python3}
programs=$(realpath -m "${CASTNET_PROGRAMS:-$build/programs}")
results=$(realpath -m "${CASTNET_RESULTS:-$build/results}")
minutes=${CASTNET_MINUTES:-60}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CASTNET_TEST_DATA=$PWD/tests/data PATH=$PATH:/usr/local/cuda/bin scratch
mkdir -p "$results"

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
if [[ -z $gpu && ${parts[*]} != build ]]; then
    echo "castnet: nvidia-smi finds no GPU; without one, tests/gpu.sh can only build" >&2
    exit 1
fi

# step <name> <function>, with a log of this name
failed=()
step() {
    echo "== $1"
    "$2" 2>&1 | tee "$results/$1.log" || failed+=("$1")
}

build_programs() {
    local generator="Unix Makefiles" keep_going=-k status=0 program
    ! command -v ninja >/dev/null || generator=Ninja keep_going=-k0
    # Another compiler may warn of something new.
    cmake -S . -B $build -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCASTNET_WERROR=OFF -DCASTNET_ALL_GPU_TESTS=ON \
        -DCMAKE_CUDA_ARCHITECTURES="${CASTNET_ARCHITECTURES:-$([[ $gpu ]] && echo native || echo 90)}" \
        ${CASTNET_HEADERS:+-DCASTNET_HEADERS="$(realpath "$CASTNET_HEADERS")"} || return
    cmake --build $build --parallel "$(nproc)" --target gpu_tests bench_gpu -- $keep_going || status=1
    mkdir -p "$programs"
    for program in "$build"/tests/gpu/test_gpu* "$build"/bench/gpu/bench_gpu; do
        [[ ! -x $program || -d $program ]] || strip -o "$programs/${program##*/}" "$program"
    done
    return $status
}

# Where programs that were built elsewhere find NVIDIA's libraries: in the wheels of this Python, which
# PyTorch uses, too, and in the toolkit.
find_libraries() {
    local folders
    ldd "$programs"/* 2>/dev/null | grep -q "not found" || return
    folders=$(
        "$python" -c "import glob, importlib.util as u
for place in u.find_spec('nvidia').submodule_search_locations:
    print('\n'.join(glob.glob(place + '/*/lib')))" 2>/dev/null
        echo /usr/local/cuda/lib64
    )
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${folders//$'\n'/:}
}

# Whether a program can start.
starts() {
    if [[ ! -x $1 ]] || ldd "$1" | grep "not found"; then
        echo "-- left out: ${1##*/} was not built, or libraries are missing"
        return 1
    fi
}

# one_test <program> <number>: prints what failed, or one line.
one_test() {
    local name log=$scratch/${1##*/}.$2
    name="${1##*/}: $(sed -n "$2p" "$scratch/${1##*/}.names")"
    if (cd "$scratch" && timeout 300 "$1" --first="$2" --last="$2") >"$log" 2>&1; then
        echo "-- passed: $name$(sed -n 's/^skipped/, skipped/p' "$log")"
    else
        echo "-- FAILED ($?): $name"
        cat "$log"
        return 1
    fi
}
export -f one_test

# Errors of CUDA stay with their process.
run_tests() {
    local program names
    for program in "$programs"/test_gpu*; do
        names=$scratch/${program##*/}.names
        if starts "$program" >&2; then
            "$program" --list-test-cases | grep -v "^\[doctest\]\|^===" >"$names"
            seq -f "$program %g" "$(wc -l <"$names")"
        fi
    done >"$scratch/all_tests"
    timeout "${minutes}m" xargs -r -P 6 -L 1 bash -c 'one_test "$@"' one_test \
        <"$scratch/all_tests" | tee "$scratch/tests.log"
    echo "== $(grep -c "^-- passed" "$scratch/tests.log") of $(wc -l <"$scratch/all_tests") tests passed"
    grep "^-- FAILED" "$scratch/tests.log"
    [[ $(grep -c "^-- passed" "$scratch/tests.log") == $(grep -c . "$scratch/all_tests") ]] &&
        [[ -s $scratch/all_tests ]]
}

# sanitize <tool> <program> <option>…
sanitize() {
    local tool=$1 program=$2
    shift 2
    echo "== $tool of $program"
    timeout -k 10 "${minutes}m" compute-sanitizer --tool "$tool" --report-api-errors no \
        --error-exitcode 9 "$@" "$programs/$program" --duration=true 2>&1
    case $? in
    0) echo "-- passed: $tool of $program" ;;
    124 | 137) echo "-- FAILED: $tool of $program did not end in time" ;;
    *) echo "-- FAILED: $tool of $program" ;;
    esac
}

# All at the same time. The libraries' kernels are given our pointers, so memcheck looks at them, too; to look at more of
# them is slow, and they are not ours. initcheck would report nothing, since all memory is cleared when it is allocated.
run_sanitizers() {
    local own=(--kernel-regex kns=castnet) tool
    (
        cd "$scratch" || exit
        sanitize memcheck test_gpu >sanitized.1 &
        sanitize memcheck test_gpu_networks "${own[@]}" >sanitized.2 &
        for tool in racecheck synccheck; do
            sanitize $tool test_gpu "${own[@]}" >sanitized.3.$tool &
            sanitize $tool test_gpu_networks "${own[@]}" >sanitized.4.$tool &
        done
        wait
        cat sanitized.*
        echo "== all tools"
        grep -h "^-- \|ERROR SUMMARY\|RACECHECK SUMMARY" sanitized.*
        ! grep -q "^-- FAILED" sanitized.*
    )
}

run_benchmarks() {
    local more
    read -ra more <<<"${BENCH:-}"
    "$python" bench/gpu/compare.py "$programs/bench_gpu" "$results/gpu_training" \
        --python "$python" --minutes "$minutes" "${more[@]}"
}

! wanted build || step build build_programs
find_libraries
if wanted tests; then
    step tests run_tests
    # The description that tests without a GPU can plan for (tests/data).
    [[ ! -f $scratch/gpu_description.json ]] ||
        cp "$scratch/gpu_description.json" "$results/gpu_$(tr -cs 'A-Za-z0-9\n' _ <<<"$gpu").json"
fi
! wanted sanitizers || step sanitizers run_sanitizers
! wanted benchmarks || step benchmarks run_benchmarks

if ((${#failed[@]})); then
    printf 'castnet: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "castnet: all done"
