#!/usr/bin/env bash
# create.sh <source> <folder> <compiler>
# Makes castnet's Conan package in the folder and uses it there, with a Conan 2 of the folder's own from
# PyPI. Ends with 77, skipped, where there is none to be had.
set -euo pipefail
source=$1 folder=$2 compiler=$3
here=$(dirname "${BASH_SOURCE[0]}")

conan=$folder/venv/bin/conan
install_conan() {
    python3 -m venv --clear "$folder/venv" &&
        "$folder/venv/bin/pip" install -q --retries 1 --timeout 10 'conan>=2,<3'
}
if ! "$conan" --version && ! install_conan; then
    echo "skipped: Conan could not be installed from PyPI"
    exit 77
fi

rm -rf "${folder:?}/home"
export CONAN_HOME=$folder/home CXX=$compiler
"$conan" profile detect --force
has_header() { echo "#include <$1>" | "$compiler" "${@:2}" -x c++ -fsyntax-only - 2>/dev/null; }
openmp=True
has_header omp.h -fopenmp || openmp=False # clang's own is another package
create() {
    "$conan" create --no-remote --settings compiler.cppstd=20 \
        --options "castnet/*:with_openmp=$openmp" \
        --conf tools.cmake.cmake_layout:test_folder="$folder/test" "$@"
}
create "$source"
if has_header zlib.h; then
    create "$here/zlib.py"
    create "$source" --options '&:with_zlib=True'
fi

echo "an older C++ must be refused"
if said=$(create "$source" --settings compiler.cppstd=17 2>&1); then
    exit 1
fi
[[ $said == *"lower than the required C++ standard (20)"* ]]

echo "pkg-config must know the components"
version=$("$conan" inspect "$source" | sed -n 's/^version: //p')
"$conan" install --no-remote --settings compiler.cppstd=20 --requires "castnet/$version" \
    --options "castnet/*:with_openmp=$openmp" --generator PkgConfigDeps --output-folder "$folder/pkg_config"
test -e "$folder/pkg_config/castnet.pc"
[[ $openmp == False || -e "$folder/pkg_config/castnet-openmp.pc" ]]
