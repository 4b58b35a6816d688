#!/usr/bin/env bash
# pkg_config.sh <prefix> <program> <version> <compiler>
# Compiles with the flags of the installed castnet.pc, after the installation has been moved; and with
# those of its components where the machine has what they need.
set -euo pipefail
prefix=$1 program=$2 version=$3 compiler=$4

moved=$(mktemp -d "${TMPDIR:-/tmp}/castnet moved.XXXXXX")
trap 'rm -rf "$moved"' EXIT
cp -R "$prefix/." "$moved"
export PKG_CONFIG_PATH=$moved/share/pkgconfig

test "$(pkg-config --modversion castnet)" = "$version"
flags=$(pkg-config --cflags castnet)
echo "pkg-config --cflags castnet: $flags"
eval "$(printf %q "$compiler") $flags -fsyntax-only $(printf %q "$program")" # flags are quoted

# component <name> <its flag> <its library>
component() {
    test "$(pkg-config --modversion "castnet-$1")" = "$version"
    local all
    all=$(pkg-config --cflags --libs "castnet-$1")
    echo "pkg-config --cflags --libs castnet-$1: $all"
    [[ " $all " == *" -std=c++20 "* && " $all " == *" $2 "* && " $all " == *" $3 "* ]]
}
component openmp -fopenmp -fopenmp
! pkg-config --exists libjpeg libpng || component image -ljpeg -lpng16
! pkg-config --exists zlib || component zlib -DCASTNET_HAS_ZLIB=1 -lz
