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
# their indentation. Every block of C++ needs such a line before it.
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
