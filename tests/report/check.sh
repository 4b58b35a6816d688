#!/usr/bin/env bash
# check.sh <folder> <program>
# Has the program write a report, which Python's parsers of XML and HTML read, and a browser where
# there is one.
set -euo pipefail
folder=$1 program=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

command -v python3 >/dev/null || { echo "skipped: there is no python3" && exit 77; }
"$program" "$folder/report.html"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
    echo "no browser is there: only parsers read the report"
    python3 "$here/read.py" "$folder/report.html"
    exit
fi
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/browser" \
    --dump-dom "file://$folder/report.html" >"$folder/report.dom" 2>"$folder/browser.log"
python3 "$here/read.py" "$folder/report.html" "$folder/report.dom"
