#!/usr/bin/env bash
# The single header: castnet.hpp and all headers of castnet that it includes, each once, in one file.
#
#   cmake/single_header.sh [<header>…] >castnet.hpp
#
# Headers that castnet.hpp does not include are named, such as castnet/zoo/resnet.hpp. What belongs to
# the system or to other libraries stays included.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

awk -v include="$source/include/" -v license="$source/LICENSE" '
# The header of castnet that a line includes, or nothing.
function included(line) {
    return line ~ /^#include <castnet\// ? substr(line, 11, index(line, ">") - 11) : ""
}

# What a header includes under a condition stands under that condition. But what that includes in turn
# comes before, since other headers need it, too, whatever the condition says.
function add_needs_of_conditional(header, in_condition,    line, inner, depth) {
    while ((getline line <(include header)) > 0) {
        depth += (line ~ /^# *if/) - (line ~ /^# *endif/)
        inner = included(line)
        if (inner != "" && in_condition) add(inner)
        else if (inner != "" && depth > 0) add_needs_of_conditional(inner, 1)
    }
    close(include header)
}

function add(header,    line, inner, status) {
    if (header in added) return
    added[header] = 1
    add_needs_of_conditional(header, 0)
    while ((status = (getline line <(include header))) > 0) {
        inner = included(line)
        if (inner != "") add(inner)
        else if (line != "#pragma once") print line
    }
    if (status < 0) {
        print "single_header.sh: there is no header " header >"/dev/stderr"
        exit 1
    }
    close(include header)
}

BEGIN {
    print "// castnet in a single header, which cmake/single_header.sh has made from the sources.\n//"
    while ((getline line <license) > 0) print line == "" ? "//" : "// " line
    print "#pragma once"
    add("castnet/castnet.hpp")
    for (i = 1; i < ARGC; ++i) add(ARGV[i])
}' "$@"
