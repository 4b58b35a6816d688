#!/usr/bin/env bash
# pkg_config.sh <prefix> <program> <version> <compiler>
# Compiles with the flags of the installed castnet.pc, after the installation has been moved.
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
