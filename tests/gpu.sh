#!/usr/bin/env bash
# gpu.sh [build] [smoke] [tests] [kernels] [benchmarks] [sanitizers]
#
# Everything that needs a GPU, or the parts that are named: builds the programs, measures a few training
# steps for a moment, runs every test in a process of its own, lists the kernels of a step with their
# times, measures training steps beside PyTorch, and runs tests again under compute-sanitizer's tools.
# So what tells most comes first. Goes on after a failure and ends with what failed.
#
# 'build' needs nvcc, CMake, cuDNN and doctest, and no GPU. The other parts need only the programs,
# which another machine may have built: copy the folder, and name it here. It also has doctest's
# header, for a machine that has to build again.
#
# In the environment:
#   CASTNET_PROGRAMS       folder of the programs (build/gpu/programs unless told)
#   CASTNET_RESULTS        folder for results and logs (build/gpu/results unless told)
#   CASTNET_MINUTES        that all of it may take, with the build; what has not begun by then is
#                          left out, and what has not ended is killed (600 unless told)
#   CASTNET_ARCHITECTURES  GPUs to build for (this machine's; 90 where it has none)
#   CASTNET_HEADERS        folder with doctest/doctest.h, where the package is not installed
#   CASTNET_PYTHON         the Python that has PyTorch (python3 unless told)
#   CASTNET_COMMIT         what results name as the commit (git's unless told)
#   CASTNET_STEPS          steps whose kernels are listed, each network/batch:policy
#                          ("convnet/512:bf16 resnet50/128:bf16" unless told)
#   CASTNET_JOBS           tests at the same time (4 unless told; each takes up to 2 GB of the GPU's memory)
#   CASTNET_TESTS          regular expression for the names of tests, also under sanitizers (all)
#   CASTNET_TOOLS          compute-sanitizer's tools ("memcheck racecheck synccheck" unless told)
#   BENCH                  further arguments of bench/gpu/compare.py, such as
#                          "--filter convnet --policies bf16"
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

all_parts=(build smoke tests kernels benchmarks sanitizers)
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
end=$((EPOCHSECONDS + 60 * ${CASTNET_MINUTES:-600}))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CASTNET_TEST_DATA=$PWD/tests/data PATH=$PATH:/usr/local/cuda/bin scratch programs end
mkdir -p "$results"

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -m 1 -x '[0-9]*\.[0-9]' | tr -d .)
if [[ -z $gpu && ${parts[*]} != build ]]; then
    echo "castnet: nvidia-smi finds no GPU; without one, tests/gpu.sh can only build" >&2
    exit 1
fi

# Whether there is time left, and within <seconds> <command>…: a command that ends by then, too.
in_time() { ((EPOCHSECONDS < end)); }
within() {
    local left=$((end - EPOCHSECONDS))
    in_time && timeout -k 10 $((left < $1 ? left : $1)) "${@:2}"
}
export -f in_time within

# step <name> <function>, with a log of this name
failed=()
step() {
    echo "== $1"
    if ! in_time; then
        echo "-- left out: no time is left"
        failed+=("$1")
        return
    fi
    "$2" 2>&1 | tee "$results/$1.log" || failed+=("$1")
}

build_programs() {
    local generator="Unix Makefiles" keep_going=-k status=0 program targets=bench_gpu
    local headers=${CASTNET_HEADERS:-$([[ ! -d $programs/headers ]] || echo "$programs/headers")}
    ! command -v ninja >/dev/null || generator=Ninja keep_going=-k0
    # Another compiler may warn of something new.
    cmake -S . -B $build -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCASTNET_WERROR=OFF -DCASTNET_ALL_GPU_TESTS=ON \
        -DCMAKE_CUDA_ARCHITECTURES="${CASTNET_ARCHITECTURES:-${capability:-90}}" \
        ${headers:+-DCASTNET_HEADERS="$(realpath "$headers")"} || return
    if [[ $(cmake --build $build --target help) == *gpu_tests* ]]; then
        targets="bench_gpu gpu_tests"
    else
        echo "castnet: without doctest no tests are built; CASTNET_HEADERS can name the folder that has doctest/doctest.h"
        status=1
    fi
    # shellcheck disable=SC2086
    within 36000 cmake --build $build --parallel "$(nproc)" --target $targets -- $keep_going || status=1
    mkdir -p "$programs"
    for program in "$build"/tests/gpu/test_gpu* "$build"/bench/gpu/bench_gpu; do
        [[ ! -x $program || -d $program ]] || strip -o "$programs/${program##*/}" "$program"
    done
    for headers in "$headers" /usr/include /usr/local/include; do
        if [[ -f $headers/doctest/doctest.h && ! $headers -ef $programs/headers ]]; then
            mkdir -p "$programs/headers/doctest"
            cp "$headers/doctest/doctest.h" "$programs/headers/doctest"
            break
        fi
    done
    return $status
}

# Where programs that were built elsewhere find NVIDIA's libraries: in the wheels of this Python, which
# PyTorch uses, too, and in the toolkit.
find_libraries() {
    local folders
    [[ $(ldd "$programs"/* 2>/dev/null) == *"not found"* ]] || return
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

# one_test <program> <number>: prints what failed, or one line; nothing if no time is left.
one_test() {
    local name log=$scratch/${1##*/}.$2
    in_time || return 0
    name="${1##*/}: $(sed -n "$2p" "$scratch/${1##*/}.names")"
    if (cd "$scratch" && within 300 "$1" --first="$2" --last="$2") >"$log" 2>&1; then
        echo "-- passed: $name$(sed -n 's/^skipped/, skipped/p' "$log")"
    else
        echo "-- FAILED ($?): $name"
        cat "$log"
        return 1
    fi
}
export -f one_test

# What every other part needs: each kind of network and precision takes steps at all. In a process each,
# since after some errors of CUDA a process can do nothing more.
run_smoke() {
    local step status=0
    starts "$programs/bench_gpu" || return
    for step in "tiny_mlp/128 float" "convnet/512 tf32" "convnet/512 bf16" "resnet50/128 bf16"; do
        echo "-- $step"
        within 300 "$programs/bench_gpu" <<<"$step 0.3" | tee "$scratch/smoke"
        grep -q '^{"step_us"' "$scratch/smoke" || status=1
    done
    return $status
}

# A line for each test whose name is asked for, <program> <number>.
list_tests() {
    local program names
    for program in "$programs"/test_gpu*; do
        names=$scratch/${program##*/}.names
        if starts "$program" >&2; then
            "$program" --list-test-cases | grep -v "^\[doctest\]\|^===" >"$names"
            grep -nE "${CASTNET_TESTS:-}" "$names" | sed "s|^\([0-9]*\):.*|$program \1|"
        fi
    done
}

# in_parallel <function> <file of arguments>: fails unless there are some, and all pass.
in_parallel() {
    local passed
    xargs -r -P "${CASTNET_JOBS:-4}" -L 1 bash -c "$1"' "$@"' "$1" <"$2" | tee "$2.log"
    passed=$(grep -c "^-- passed" "$2.log")
    echo "== $passed of $(wc -l <"$2") passed"
    grep "^-- FAILED" "$2.log"
    in_time || echo "-- left out: what had not begun when the time was over"
    [[ $passed == $(wc -l <"$2") && -s $2 ]]
}

# Errors of CUDA stay with their process.
run_tests() {
    list_tests >"$scratch/tests"
    in_parallel one_test "$scratch/tests"
}

# one_step <network/batch> <policy>: its kernels with their times, from Nsight Compute or, where
# that may not count, from Nsight Systems.
one_step() {
    local name=kernels_${1//\//_}_$2
    if within 300 ncu --clock-control none --profile-from-start off --csv --print-units base --metrics \
        gpu__time_duration.sum,dram__bytes.sum,smsp__inst_executed.sum \
        "$programs/bench_gpu" --step "$1" "$2" >"$results/$name.csv" &&
        "$python" bench/gpu/kernels.py <"$results/$name.csv" >"$results/$name.md"; then
        cat "$results/$name.md"
    else
        tail -n 3 "$results/$name.csv"
        within 300 nsys profile --capture-range=cudaProfilerApi --trace=cuda --force-overwrite=true \
            --output "$scratch/$name" "$programs/bench_gpu" --step "$1" "$2" >/dev/null &&
            nsys stats --report cuda_gpu_kern_sum "$scratch/$name.nsys-rep" | tee "$results/$name.txt"
    fi
}

# Without graphs, since a first step is none.
list_kernels() {
    local step status=0
    starts "$programs/bench_gpu" || return
    for step in ${CASTNET_STEPS:-convnet/512:bf16 resnet50/128:bf16}; do
        echo "== kernels of $step"
        one_step "${step%:*}" "${step#*:}" || status=1
    done
    return $status
}

# Tests of products by tensor cores, which racecheck ends: it cannot handle libraries' kernels that
# copy tiles asynchronously, not even where it looks at others only.
asynchronous='TF32|bfloat16|tensor cores|biases and activations behind convolutions'

# one_sanitized <tool> <program> <number>: as one_test, with the seconds that it took.
one_sanitized() {
    local log=$scratch/$1.${2##*/}.$3 only=(--kernel-name kns=castnet) name begin=$EPOCHSECONDS
    in_time || return 0
    name="$1 of ${2##*/}: $(sed -n "$3p" "$scratch/${2##*/}.names")"
    # The libraries' kernels are given our pointers, so memcheck looks at some of them, too; to look
    # at more is slow, and they are not ours.
    [[ $1 != memcheck || ${2##*/} != test_gpu ]] || only=()
    if (cd "$scratch" && within 600 stdbuf -oL compute-sanitizer --tool "$1" \
        --report-api-errors no --error-exitcode 9 "${only[@]}" "$2" --first="$3" --last="$3") \
        >"$log" 2>&1; then
        echo "-- passed: $name ($((EPOCHSECONDS - begin)) s)"
    else
        echo "-- FAILED: $name ($((EPOCHSECONDS - begin)) s)"
        cat "$log"
    fi
}
export -f one_sanitized

# Test by test, so that a summary is there whenever it ends. initcheck would report nothing, since all
# memory is cleared when it is allocated.
run_sanitizers() {
    local tool program number
    list_tests >"$scratch/listed"
    for tool in ${CASTNET_TOOLS:-memcheck racecheck synccheck}; do
        while read -r program number; do
            [[ $tool == racecheck && $(sed -n "${number}p" "$scratch/${program##*/}.names") =~ $asynchronous ]] ||
                echo "$tool $program $number"
        done <"$scratch/listed"
    done >"$scratch/sanitized"
    in_parallel one_sanitized "$scratch/sanitized"
}

run_benchmarks() {
    local more
    read -ra more <<<"${BENCH:-}"
    "$python" bench/gpu/compare.py "$programs/bench_gpu" "$results/gpu_training" \
        --python "$python" --seconds-left $((end - EPOCHSECONDS)) "${more[@]}"
}

! wanted build || step build build_programs
find_libraries
! wanted smoke || step smoke run_smoke
if wanted tests; then
    step tests run_tests
    # The description that tests without a GPU can plan for (tests/data).
    [[ ! -f $scratch/gpu_description.json ]] ||
        cp "$scratch/gpu_description.json" "$results/gpu_$(tr -cs 'A-Za-z0-9\n' _ <<<"$gpu").json"
fi
! wanted kernels || step kernels list_kernels
! wanted benchmarks || step benchmarks run_benchmarks
! wanted sanitizers || step sanitizers run_sanitizers

if ((${#failed[@]})); then
    printf 'castnet: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "castnet: all done"
