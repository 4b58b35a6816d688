#!/usr/bin/env bash
# check_snippets.sh <page.md>…
#
# Looks whether the C++ of a page is that of a file that the tests compile. In the page:
#
#   <!-- snippet: <file in this folder> <name> -->
#   ```cpp
#   …
#   ```
#
# must equal what stands in the file between the lines "// [<name>]" and "// [/<name>]", without
# their indentation. Every block of C++ needs such a line before it. And in tables between
#
#   <!-- spellings: <file in this folder> -->
#
# and the next heading of the second level, the code of the last column must occur in that file, up
# to white space; "…" stands for anything.
set -euo pipefail
awk -v folder="$(dirname "${BASH_SOURCE[0]}")" '
function complain(text) { print FILENAME ":" FNR ": " text; failed = 1 }

function part_of(file, name,    line, text, inside, found, indent) {
    while ((getline line < file) > 0) {
        if (inside && line ~ ("^ *// \\[/" name "\\]$")) {
            inside = 0
        } else if (inside) {
            text = text (substr(line, 1, indent) ~ /^ *$/ ? substr(line, indent + 1) : line) "\n"
        } else if (line ~ ("^ *// \\[" name "\\]$")) {
            inside = found = 1
            indent = index(line, "/") - 1
        }
    }
    close(file)
    if (!found || inside) {
        complain(file " has no part [" name "] … [/" name "]")
    }
    return text
}

# Without white space, except between two words.
function without_spaces(text,    words, n, i, all) {
    n = split(text, words, /[ \t]+/)
    for (i = 1; i <= n; ++i) {
        if (all ~ /[A-Za-z0-9_]$/ && words[i] ~ /^[A-Za-z0-9_]/) all = all " "
        all = all words[i]
    }
    return all
}

function text_of(file,    line, text) {
    while ((getline line < file) > 0) text = text " " line
    close(file)
    return without_spaces(text)
}

# Whether a name or an expression occurs in the text, and not as a part of a longer name.
function occurs(code, text,    at, before, after) {
    while ((at = index(text, code)) > 0) {
        before = substr(text, at - 1, at > 1) substr(code, 1, 1)
        after = substr(code, length(code)) substr(text, at + length(code), 1)
        if (before !~ /^[A-Za-z0-9_][A-Za-z0-9_]/ && after !~ /^[A-Za-z0-9_][A-Za-z0-9_]/) return 1
        text = substr(text, at + 1)
    }
    return 0
}

# The code of the last column of a row.
function check_row(row,    columns, n, code, spans, i, k, parts, count) {
    gsub(/\\\|/, "\001", row)
    sub(/ *\| *$/, "", row)
    n = split(row, columns, /\|/)
    count = split(columns[n], spans, "`")
    for (i = 2; i <= count; i += 2) {
        code = spans[i]
        gsub("\001", "|", code)
        n = split(without_spaces(code), parts, "…")
        for (k = 1; k <= n; ++k) {
            if (parts[k] != "" && !occurs(parts[k], spelled)) {
                complain("`" code "` is not in " spelled_in)
            }
        }
        ++compared
    }
}

/^<!-- spellings: / { spelled_in = folder "/" $3; spelled = text_of(spelled_in); next }
/^## / { spelled = "" }
/^\|/ && spelled != "" && !collecting { check_row($0) }

/^<!-- snippet: / { file = folder "/" $3; name = $4; next }
/^```cpp$/ {
    if (name == "") {
        complain("this block of C++ names no snippet")
    }
    block = ""; collecting = 1; next
}
/^```$/ && collecting {
    collecting = 0
    if (name != "" && block != part_of(file, name)) {
        complain("the block above differs from [" name "] of " file)
    }
    if (name != "") ++compared
    name = ""; next
}
collecting { block = block $0 "\n" }
END {
    if (compared == 0) { print "no snippet was compared"; failed = 1 }
    exit failed
}' "$@"
