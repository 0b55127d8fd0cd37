#!/bin/sh
# ddp.sh OUT - two GPUs that train together (programs/ddp.py), run at the root of the repository:
# under PyTorch's profiler, recorded, and as they are; in 140 s, each part ended by `timeout`.
# OUT gets the profiler's traces (ddp-kineto.tar.gz), what exposed.py computes of these
# (exposed.txt), the spools (ddp-spools.tar.gz) and what is printed (log.txt).
# STREAMLAB names the program, beside which libstreamlab_record.so is.
set -u
here=$(dirname "$0")
out=${1:?usage: tests/record/ddp.sh OUT}
streamlab=${STREAMLAB:-build/streamlab}
export NCCL_NVLS_ENABLE=0
work=$(mktemp -d)
mkdir -p "$out" "$work/kineto"

run() { # LIMIT NAME COMMAND...
    limit=$1 name=$2
    shift 2
    begin=$(date +%s)
    timeout "$limit" "$@" >"$work/said" 2>"$work/errors"
    {
        echo "$name: status $?, $(($(date +%s) - begin)) s"
        sed 's/^/    /' "$work/said"
        tail -n 20 "$work/errors" | sed 's/^/    ! /'
    } | tee -a "$out/log.txt"
}

run 40 kineto python3 "$here/programs/ddp.py" "$work/kineto" kineto
tar czf "$out/ddp-kineto.tar.gz" -C "$work" kineto
for first in "$work"/kineto/*.rank0.json.gz; do
    name=$(basename "$first" .rank0.json.gz)
    echo "$name $(python3 "$here/exposed.py" "$first" "$work/kineto/$name.rank1.json.gz")"
done >"$out/exposed.txt" 2>&1 &
arithmetic=$!
run 45 recorded "$streamlab" record --quiet --spools "$work/spools" -- \
    python3 "$here/programs/ddp.py" "$work"
tar czf "$out/ddp-spools.tar.gz" -C "$work" spools
run 40 plain python3 "$here/programs/ddp.py" "$work"
wait "$arithmetic"
cut -c1-300 "$out/exposed.txt"
ls -l "$out" "$work"/*
rm -rf "${work:?}"
