#!/usr/bin/env bash
# What cmake/packages.sh says and does about packages that are missing, with a stand-in for apt-get.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../cmake/packages.sh"

_has_package() { [[ $1 == present ]]; }
_apt_get() { echo "apt-get $*"; }

# expect <what is said, in order> <command>…
expect() {
    local expected=$1 said
    shift
    said=$( ("$@") 2>&1) || said+=" status $?"
    # shellcheck disable=SC2053 # a pattern
    [[ $said == $expected ]] || {
        printf '%s\nsays:\n%s\nand not:\n%s\n' "$*" "$said" "$expected" >&2
        exit 1
    }
}

expect "" need_packages present
expect "" want_packages present

export CASTNET_INSTALL_PACKAGES=no
expect "castnet: please install*    one two status 1" need_packages one present two
expect "castnet: going on without one:*castnet: going on without two:*" want_packages one present two

if CASTNET_INSTALL_PACKAGES=yes _can_install; then # as root, or sudo asks for no password
    export CASTNET_INSTALL_PACKAGES=yes
    expect "castnet: installing*: one two*apt-get install*one two" need_packages one present two
    expect "castnet: installing*: one two*apt-get install*one*apt-get install*two" \
        want_packages one present two
fi
