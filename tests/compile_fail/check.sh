#!/usr/bin/env bash
# check.sh <g++|clang> <source> <compiler> <flag>…
#
# Compiles a source that must not compile. The first error must be a sentence of castnet's, g++ must
# say no more than 80 lines, and the output must have what the comments of the source expect, each
# an extended regular expression that some line must match:
#   // expect: …          of every compiler
#   // expect-g++: …      of g++ only
#   // expect-clang: …    of clang only
set -u
kind=$1 source=$2
shift 2

if output=$(LC_ALL=C "$@" -fsyntax-only "$source" 2>&1); then
    echo "$source compiles, but must not"
    exit 1
fi

status=0
complain() {
    printf '%s: %s\n' "$source" "$1"
    status=1
}

if grep -q 'internal compiler error\|PLEASE submit a bug report' <<<"$output"; then
    complain "crashes the compiler"
fi
first=$(grep -m 1 -A 1 'error: ' <<<"$output") # with the line of source below it
if [[ $first != *castnet:\ * ]]; then
    complain "the first error is no sentence of castnet's: $first"
fi
lines=$(wc -l <<<"$output")
if [[ $kind == g++ ]] && ((lines > 80)); then
    complain "g++ says $lines lines"
fi

mapfile -t expected < <(
    sed -nE "s,^[[:space:]]*// expect(-${kind//+/\\+})?:[[:space:]]*(.*[^[:space:]])[[:space:]]*\$,\2,p" \
        "$source")
if ((${#expected[@]} == 0)); then
    complain "expects no text of $kind: it needs a line // expect: …"
fi
for regex in "${expected[@]}"; do
    if ! grep -Eq -e "$regex" <<<"$output"; then
        complain "no line matches: $regex"
    fi
done
((status == 0)) || printf '%s\n' "The compiler says:" "$output"
exit "$status"
