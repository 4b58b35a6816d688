#!/usr/bin/env bash
# check_nvcc.sh <scratch folder> <source>… -- <nvcc> <flag>…
#
# Compiles sources that must not compile with nvcc, those with the same #include lines in one go and
# each in a namespace of its own. The first error of each must be a sentence of castnet's, and its
# errors must have the sentences that the source expects (// expect: castnet: …, see check.sh).
set -u
scratch=$1
shift
sources=()
while [[ $1 != -- ]]; do
    sources+=("$(realpath "$1")")
    shift
done
shift
nvcc=("$@")
mkdir -p "$scratch"

declare -A groups
for source in "${sources[@]}"; do
    groups[$(grep '^#include' "$source" | sort)]+="$source "
done

# compile <source>…: those that have the same #include lines, each in a namespace. (After a hundred
# errors nvcc would stop, within those of a source.)
compile() {
    {
        grep '^#include' "$1"
        for source in "$@"; do
            printf 'namespace %s {\n#line 1 "%s"\n' "$(basename "$source" .cpp)" "$source"
            sed 's/^#include.*//' "$source"
            echo '}'
        done
    } >"$scratch/together.cu"
    output=$("${nvcc[@]}" -Xcudafe --error_limit=100000 -ptx "$scratch/together.cu" \
        -o "$scratch/together.ptx" 2>&1)
}

# An error belongs to the source that it names, at the latest where templates were asked for.
errors_of() {
    awk -v source="$1" '
        function flush() { if (error && index(block, source)) printf "%s", block; block = "" }
        /^[^ ].*\([0-9]+\): (error|warning)/ { flush(); error = / error/ }
        /^$/ { flush() }
        { block = block $0 "\n" }
        END { flush() }' <<<"$output"
}

status=0
check() { # <source> <its errors>
    local first
    first=$(head -n 2 <<<"$2")
    if [[ $first != *castnet:\ * ]]; then
        echo "$1: the first error is no sentence of castnet's: $first"
        status=1
    fi
    while read -r regex; do
        if ! grep -Eq -e "$regex" <<<"$2"; then
            printf '%s: no line matches: %s\nThe compiler says:\n%s\n' "$1" "$regex" "$2"
            status=1
        fi
    done < <(sed -nE 's,^// expect: (castnet: .*),\1,p' "$1")
}

# A check that has failed for one source says nothing about the next one: sources without an error
# are compiled together again.
for includes in "${!groups[@]}"; do
    read -ra left <<<"${groups[$includes]}"
    while ((${#left[@]})); do
        compile "${left[@]}"
        silent=()
        for source in "${left[@]}"; do
            errors=$(errors_of "$source")
            if [[ -z $errors ]]; then
                silent+=("$source")
            else
                check "$source" "$errors"
            fi
        done
        if ((${#silent[@]} == ${#left[@]})); then # of what only the host instantiates
            for source in "${silent[@]}"; do
                output=$("${nvcc[@]}" -c "$source" -o "$scratch/alone.o" 2>&1)
                check "$source" "$(grep 'error: ' <<<"$output")"
            done
            break
        fi
        left=("${silent[@]}")
    done
done
exit "$status"
