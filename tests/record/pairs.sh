#!/bin/sh
# pairs.sh OUT [PART...] - PyTorch programs before and after one change (programs/pairs.py), run at
# the root of the repository: the walls of both sides as they are, then both recorded. The parts
# are host and device (default) or more_host and more_device, each two within 280 s on one GPU
# (LIMIT= seconds), and ranks and more_ranks (two GPUs). OUT gets walls.tsv, log.txt, and the spools
# with recorded.tsv in an archive in pieces of 15 MB: cat OUT/spools.tar.gz.* | tar xz.
# STREAMLAB names the program, beside which libstreamlab_record.so is.
set -u
here=$(dirname "$0")
out=${1:?usage: tests/record/pairs.sh OUT [PART...]}
shift
[ $# -gt 0 ] || set -- host device
streamlab=${STREAMLAB:-build/streamlab}
program=$here/programs/pairs.py
work=$(mktemp -d)
until=$(($(date +%s) + ${LIMIT:-265})) # the archive takes the rest
mkdir -p "$out" "$work/spools"
export TORCHINDUCTOR_CACHE_DIR="$work/inductor" TRITON_CACHE_DIR="$work/triton"
export NCCL_NVLS_ENABLE=0 PYTHONUNBUFFERED=1

run() { # TITLE COMMAND...
    title=$1 begin=$(date +%s)
    shift
    left=$((until - begin))
    [ "$left" -gt 5 ] || { echo "$title is left out: the time is over" | tee -a "$out/log.txt"; return; }
    timeout "$left" "$@" >"$work/said" 2>"$work/errors"
    {
        echo "$title: status $?, $(($(date +%s) - begin)) s"
        sed 's/^/    /' "$work/said" | cut -c1-200
        tail -n 20 "$work/errors" | sed 's/^/    ! /'
    } | tee -a "$out/log.txt"
}

for what in walls recorded; do
    for part in "$@"; do
        names=$(sed -n '/^@pair/{n;s/def \([a-z0-9_]*\).*/\1/p;}' "${program%.py}_$part.py")
        if [ $what = walls ]; then
            # shellcheck disable=SC2086 # several words
            run "$part $what" python3 "$program" $what "$out" $names
        else
            # shellcheck disable=SC2086
            run "$part $what" "$streamlab" record --python --quiet \
                --spools "$work/spools/$part" -- python3 "$program" $what "$out" $names
        fi
    done
done
nvidia-smi --query-gpu=name,driver_version --format=csv >>"$out/log.txt" 2>&1
mv "$out/steps.tsv" "$out/recorded.tsv" "$work/spools"
tar cz -C "$work" spools | split -b 15m - "$out/spools.tar.gz."
rm -rf "$work"
ls -l "$out"
