#!/usr/bin/env bash
# check.sh <folder> <program>
# Has the program write an event file, which the TensorBoard of a virtual environment in the folder
# reads. Ends with 77, skipped, where there is none to be had from PyPI.
set -euo pipefail
folder=$1 program=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

python=$folder/venv/bin/python
install_tensorboard() {
    python3 -m venv --clear "$folder/venv" &&
        "$folder/venv/bin/pip" install -q --retries 1 --timeout 10 'tensorboard>=2.14,<3'
}
if ! "$python" -c 'import tensorboard' 2>/dev/null && ! install_tensorboard; then
    echo "skipped: TensorBoard could not be installed from PyPI"
    exit 77
fi
rm -rf "${folder:?}/run"
"$program" "$folder/run"
"$python" "$here/read.py" "$folder/run"
