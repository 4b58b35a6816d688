#!/usr/bin/env bash
# check.sh <g++|clang> <source> <compiler> <flag>…
#
# Compiles a source that must not compile, and looks in the compiler's output for what the comments
# of the source expect, each an extended regular expression that some line must match:
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
if grep -q 'internal compiler error\|PLEASE submit a bug report' <<<"$output"; then
    echo "$source crashes the compiler"
    status=1
fi

mapfile -t expected < <(
    sed -nE "s,^[[:space:]]*// expect(-${kind//+/\\+})?:[[:space:]]*(.*[^[:space:]])[[:space:]]*\$,\2,p" \
        "$source")
if ((${#expected[@]} == 0)); then
    echo "$source expects no text of $kind: it needs a line // expect: …"
    status=1
fi
for regex in "${expected[@]}"; do
    if ! grep -Eq -e "$regex" <<<"$output"; then
        echo "$source: no line matches: $regex"
        status=1
    fi
done
((status == 0)) || printf '%s\n' "The compiler says:" "$output"
exit "$status"
