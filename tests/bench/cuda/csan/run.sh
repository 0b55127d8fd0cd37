#!/bin/sh
# run.sh BUILDDIR OUTDIR [PYTHON] - the race checker beside PyTorch's stream sanitizer: runs
# the pairs in programs/ with both and writes tables to OUTDIR (main.lua says which).
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: $0 BUILDDIR OUTDIR [PYTHON]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" || exit 2
out=$(cd "$2" && pwd)
exec "$build/streamlab" --backend sim "$here/main.lua" "$out" "$build/streamlab" ${3:+"$3"}
