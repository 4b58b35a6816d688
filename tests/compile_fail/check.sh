#!/usr/bin/env bash
# check.sh <g++|clang|nvcc> <scratch folder> <source>… -- <compiler> <flag>…
#
# Compiles sources that must not compile. The first error of each must be a sentence of castnet's, g++
# must say no more than 80 lines, and the errors must have what the comments of the source expect,
# each an extended regular expression that some line must match:
#   // expect: …          of every compiler (of nvcc what begins such a line with castnet: only)
#   // expect-g++: …      of g++ only
#   // expect-clang: …    of clang only
# Sources with the same #include lines are compiled as one, since most of the time goes to what is the
# same for all. What is wrong with a source is what the compiler says of it alone.
set -u
kind=$1 scratch=$2
shift 2
sources=()
while [[ $1 != -- ]]; do
    sources+=("$(realpath "$1")")
    shift
done
shift
compiler=("$@")
unit_script=$(dirname "$(realpath "$0")")/../unit.cmake
mkdir -p "$scratch"

compile() { # <source>
    if [[ $kind != nvcc ]]; then
        LC_ALL=C "${compiler[@]}" "$1" 2>&1
    elif "${compiler[@]}" -ptx "$1" 2>&1; then # for a GPU; where nothing is wrong there, for the host
        "${compiler[@]}" -c "$1" 2>&1
    fi
}

said_of() { echo "$scratch/$(basename "$1").txt"; } # <source>: the file with what the compiler says of it

# Compiles sources together. What the compiler says belongs to the source that it names, at the latest
# where templates were asked for; g++ does not repeat that for the next error there. (A diagnostic may
# begin with lines that say where it is, and ends with indented lines and notes.)
compile_together() { # <source>…
    cmake -P "$unit_script" "$scratch/together.cpp" "$@"
    for source in "$@"; do
        : >"$(said_of "$source")"
    done
    compile "$scratch/together.cpp" | awk -v kind="$kind" -v scratch="$scratch" -v all="$*" '
        function flush(    i, at, first) {
            if (!goes_on) owner = ""
            for (i in sources)
                if ((at = index(diagnostic, sources[i])) && (!first || at < first)) {
                    first = at
                    owner = sources[i]
                }
            sub(".*/", "", owner)
            if (owner) printf "%s", diagnostic >>(scratch "/" owner ".txt")
        }
        BEGIN { split(all, sources, " ") }
        /: (fatal |internal compiler )?(error|warning)[: ]/ {
            flush()
            goes_on = kind == "g++" && where == ""
            diagnostic = where $0 "\n"
            where = ""
            next
        }
        /: note: / || /^( |$)/ && !/^ +from / {
            diagnostic = diagnostic where $0 "\n"
            where = ""
            next
        }
        { where = where $0 "\n" }
        END { flush() }'
}

expected_of() { # <source>
    if [[ $kind == nvcc ]]; then
        sed -nE 's,^// expect: (castnet: .*),\1,p' "$1"
    else
        sed -nE "s,^[[:space:]]*// expect(-${kind//+/\\+})?:[[:space:]]*(.*[^[:space:]])[[:space:]]*\$,\2,p" "$1"
    fi
}

# complaints <source> <what the compiler says of it>
complaints() {
    local first lines expected regex
    first=$(grep -m 1 -A 1 'error: \|error #' <<<"$2") # with the line of source below it
    if [[ -z $first ]]; then
        echo "compiles, but must not"
        return
    fi
    if grep -q 'internal compiler error\|PLEASE submit a bug report' <<<"$2"; then
        echo "crashes the compiler"
    fi
    if [[ $first != *castnet:\ * ]]; then
        echo "the first error is no sentence of castnet's: $first"
    fi
    lines=$(wc -l <<<"$2")
    if [[ $kind == g++ ]] && ((lines > 80)); then
        echo "g++ says $lines lines"
    fi
    mapfile -t expected < <(expected_of "$1")
    if [[ $kind != nvcc ]] && ((${#expected[@]} == 0)); then
        echo "expects no text of $kind: it needs a line // expect: …"
    fi
    for regex in "${expected[@]}"; do
        grep -Eq -e "$regex" <<<"$2" || echo "no line matches: $regex"
    done
}

declare -A groups
for source in "${sources[@]}"; do
    groups[$(grep '^#include' "$source" | sort)]+="$source "
done

status=0
for includes in "${!groups[@]}"; do
    # Where the same template fails for several sources, compilers may tell the first one only.
    read -ra left <<<"${groups[$includes]}"
    while ((${#left[@]} > 1)); do
        compile_together "${left[@]}"
        again=()
        for source in "${left[@]}"; do
            [[ -z $(complaints "$source" "$(<"$(said_of "$source")")") ]] || again+=("$source")
        done
        ((${#again[@]} < ${#left[@]})) || break
        left=("${again[@]}")
    done
    for source in "${left[@]}"; do
        output=$(compile "$source")
        complaint=$(complaints "$source" "$output")
        if [[ -n $complaint ]]; then
            printf '%s: %s\n' "$source" "$complaint" "The compiler says" "$output"
            status=1
        fi
    done
done
exit "$status"
