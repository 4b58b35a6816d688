# Sourced by the scripts that need tools: finds out what is missing and installs it on Debian.
#
#   need_packages <package>…    stops the script where one is missing and cannot be installed
#   want_packages <package>…    says so and goes on
#   want_cuda_disassembler      the same of cuobjdump where there is nvcc; from NVIDIA's packages for
#                               Python, into the folder build
#
# Packages have Debian's names. What is there already, however it came there, is left alone. What is
# going to be installed is said first; with CASTNET_INSTALL_PACKAGES=no in the environment, nothing is.
# shellcheck shell=bash

_has_header() { echo "#include <$1>" | "${CXX:-c++}" -x c++ -E - >/dev/null 2>&1; }

_has_package() {
    case $1 in
    g++) command -v c++ ;;
    cmake) command -v cmake ;;
    ninja-build) command -v ninja ;;
    clang-19) command -v clang++-19 ;;
    clang-format-19) command -v clang-format-19 ;;
    g++-aarch64-linux-gnu) command -v aarch64-linux-gnu-g++ ;;
    qemu-user) command -v qemu-aarch64 ;;
    doctest-dev) _has_header doctest/doctest.h ;;
    libbenchmark-dev) _has_header benchmark/benchmark.h ;;
    zlib1g-dev) _has_header zlib.h ;;
    libdlpack-dev) _has_header dlpack/dlpack.h ;;
    libpng-dev) _has_header png.h ;;
    libjpeg-dev) echo '#include <cstdio>
#include <jpeglib.h>' | "${CXX:-c++}" -x c++ -E - ;;
    dataset-fashion-mnist) test -d /usr/share/datasets/fashion-mnist ;;
    *) dpkg -s "$1" ;;
    esac >/dev/null 2>&1
}

_missing_packages() {
    local package
    for package in "$@"; do
        _has_package "$package" || echo "$package"
    done
}

# Runs apt-get as root, asking nothing.
_apt_get() {
    local become=()
    ((EUID == 0)) || become=(sudo -n)
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@" </dev/null
}

# Whether packages may be installed, which CASTNET_INSTALL_PACKAGES=no denies, and can be.
_can_install() {
    [[ ${CASTNET_INSTALL_PACKAGES:-yes} != no && -e /etc/debian_version ]] &&
        command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }
}

# The lists of packages are brought up to date only where the ones at hand do not suffice.
_install_packages() {
    _apt_get install --no-install-recommends "$@" ||
        { _apt_get update && _apt_get install --no-install-recommends "$@"; }
}

_announce() {
    echo "castnet: installing what is missing (CASTNET_INSTALL_PACKAGES=no prevents it): $*" >&2
}

need_packages() {
    local missing
    mapfile -t missing < <(_missing_packages "$@")
    ((${#missing[@]} == 0)) && return
    if _can_install; then
        _announce "${missing[@]}"
        _install_packages "${missing[@]}" && return
    fi
    {
        echo "castnet: please install what these Debian packages hold, then run this again:"
        echo "    ${missing[*]}"
    } >&2
    exit 1
}

# One by one, so that one that cannot be installed keeps no other away.
want_packages() {
    local missing package
    mapfile -t missing < <(_missing_packages "$@")
    ((${#missing[@]} == 0)) && return
    ! _can_install || _announce "${missing[@]}"
    for package in "${missing[@]}"; do
        { _can_install && _install_packages "$package"; } ||
            echo "castnet: going on without $package: the checks that use it are left out" >&2
    done
}

want_cuda_disassembler() {
    local folder=$PWD/build/cuda_disassembler
    command -v nvcc >/dev/null || return 0
    export PATH=$PATH:$folder/nvidia/cu13/bin
    command -v cuobjdump >/dev/null && command -v nvdisasm >/dev/null && return
    if [[ ${CASTNET_INSTALL_PACKAGES:-yes} != no ]]; then
        _announce nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm
        python3 -m pip install -q --no-deps --root-user-action=ignore --target "$folder" \
            nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm </dev/null && return
    fi
    echo "castnet: going on without cuobjdump: instructions of kernels are not counted" >&2
}
