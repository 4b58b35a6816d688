#!/usr/bin/env bash
# language.sh <include folder> <compiler>
# Whichever header of castnet comes first, the first error of a program in an older C++, or without
# exceptions, is that.
set -u
folder=$1 compiler=$2
cd "$folder" || exit 1

status=0
while read -r header; do
    first=$("$compiler" -std=c++17 -E -I . -include "$header" -x c++ /dev/null 2>&1 >/dev/null |
        grep -m 1 'error: ')
    if [[ $first != *"castnet: this library needs C++20; compile with -std=c++20" ]]; then
        printf '%s begins with: %s\n' "$header" "$first"
        status=1
    fi
    first=$("$compiler" -std=c++20 -fno-exceptions -E -I . -include "$header" -x c++ /dev/null \
        2>&1 >/dev/null | grep -m 1 'error: ')
    if [[ $first != *"castnet: this library reports by exceptions; compile without -fno-exceptions" ]]; then
        printf '%s begins, without exceptions, with: %s\n' "$header" "$first"
        status=1
    fi
done < <(find castnet -name '*.hpp')
exit "$status"
