#!/bin/sh
# loop.sh OUT - a training loop and five changes of it (programs/training_loop.py), run at the root
# of the repository on a GPU, in 150 s (LIMIT= seconds). For each state: the loop is recorded, its
# changes are ranked, and the next one is predicted. OUT gets walls.tsv, the untraced times of all
# states by turns; log.txt, all that was printed; and the recordings: tar xzf OUT/spools.tar.gz
# -C OUT. `build/streamlab tests/record/loop.lua OUT` then prints predictions beside measurements.
# STREAMLAB names the program, beside which libstreamlab_record.so is.
set -u
here=$(dirname "$0")
out=${1:?usage: tests/record/loop.sh OUT}
streamlab=${STREAMLAB:-build/streamlab}
program=$here/programs/training_loop.py
steps=80..109 # of those that are recorded, behind the first 60
until=$(($(date +%s) + ${LIMIT:-145}))
work=$(mktemp -d)
mkdir -p "$out" "$work/spools"
export PYTHONUNBUFFERED=1

run() { # COMMAND...: within the time that is left, and says how it ended
    begin=$(date +%s)
    left=$((until - begin))
    [ "$left" -gt 2 ] || { echo "left out: $*" | tee -a "$out/log.txt"; return 1; }
    printf '$ %s\n' "$*" >>"$out/log.txt"
    timeout "$left" "$@" >>"$out/log.txt" 2>&1 </dev/null
    echo "status $?, $(($(date +%s) - begin)) s: $*" | tee -a "$out/log.txt"
}

run python3 "$program" --walls "$out/walls.tsv" 9
n=0 state=before changes=
while read -r next edits; do
    # shellcheck disable=SC2086 # several words
    run "$streamlab" record --python --quiet --spools "$work/$state" -- python3 "$program" $changes
    mv "$(find "$work/$state" -name '*.spool' -size +20k | head -n 1)" "$work/spools/$n-$state.spool"
    spool=$work/spools/$n-$state.spool
    run "$streamlab" whatif --step $steps "$spool"
    # The selections stand in quotes, and hold nothing that a shell expands within these.
    [ "$next" = end ] || eval run '"$streamlab"' whatif --step $steps "$edits" '"$spool"'
    n=$((n + 1)) state=$next changes="$changes $next"
done <"$here/programs/training_loop.txt"
nvidia-smi --query-gpu=name,driver_version --format=csv >>"$out/log.txt" 2>&1
tar czf "$out/spools.tar.gz" -C "$work" spools
rm -rf "$work"
ls -l "$out"
