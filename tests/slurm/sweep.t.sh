#!/bin/sh
# sweep.t.sh - POINTS=10000 points of a sweep on a Slurm of this machine alone, with eight workers that are
# killed with SIGKILL at random and submitted again for KILL_SECONDS=20: the table is the same, byte for byte,
# as that of the sweep in one process. And the same under GNU parallel.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/slurm/loopback.sh
. "$here/loopback.sh"
: "${STREAMLAB:=build/streamlab}" "${POINTS:=10000}" "${KILL_SECONDS:=20}"
export POINTS
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# What the command took of processors, in ms, with what it has started.
processor_ms() { # COMMAND...
    perl -e 'system(@ARGV) == 0 or exit 1; my @t = times; printf STDERR "%.0f\n", 1000 * ($t[2] + $t[3])' \
        "$@" 3>&1 2>&1 >/dev/null | tail -n 1
}

work=$(mktemp -d) || exit 1
why=$(slurm_missing)
# shellcheck disable=SC2317 # the trap calls it
stop() {
    slurm_stop "$work"
    rm -rf "$work"
}
trap stop EXIT
slurm_guard "$work" "$here/loopback.sh"
trap 'exit 1' INT TERM HUP

cp "$here/sweep.lua" "$here/killer.pl" "$work" && cd "$work" || exit 1

alone_ms=$(processor_ms sh -c "'$STREAMLAB' sweep.lua >alone.csv")
"$STREAMLAB" sweep.lua one.jsonl >/dev/null
one_ms=$(processor_ms "$STREAMLAB" work --quiet "$work/one.jsonl")
"$STREAMLAB" merge one.jsonl -o one.csv
cmp -s alone.csv one.csv
check $? "one worker gives the table that the sweep gives in one process"
echo "# a point: $alone_ms ms / $POINTS in one process, $one_ms ms / $POINTS by a worker (processor time)"
[ $((one_ms - alone_ms)) -le $((12 * POINTS)) ]
check $? "a worker adds at most 12 ms of processor time to a point"

# ---- Slurm -------------------------------------------------------------------------------------------

slurm_sweep() {
    "$STREAMLAB" sweep.lua many.jsonl >/dev/null
    "$STREAMLAB" sbatch "$work/many.jsonl" --per-point 8s --per-task "${POINTS}s" -o many.sh
    tasks=$(sed -n 's/^#SBATCH --array=0-//p' many.sh)
    check $((tasks != 7)) "streamlab sbatch writes an array of eight tasks"
    sbatch --quiet many.sh
    kills=$(perl killer.pl "$KILL_SECONDS" "$work/many.jsonl" many.sh 8)
    for _ in $(seq 6); do
        while squeue -h | grep -q .; do
            sleep 0.5
        done
        "$STREAMLAB" merge many.jsonl -o many.csv 2>missing.txt && break
        sbatch --quiet many.sh
    done
    cmp -s one.csv many.csv
    check $? "the table of the workers that were killed is the same, byte for byte"
    echo "# $kills workers were killed"
    [ "${kills:-0}" -gt 0 ]
    check $? "some were killed"
}

if [ -n "$why" ]; then
    check 0 "workers under Slurm # SKIP $why"
elif ! slurm_start "$work"; then
    sed 's/^/# /' "$work"/start.log "$work"/*.log
    check 0 "workers under Slurm # SKIP it does not start here"
else
    slurm_sweep
fi

# ---- GNU parallel ------------------------------------------------------------------------------------

if parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
    "$STREAMLAB" sweep.lua side.jsonl >/dev/null
    echo '4/:' >nodes.txt
    for again in '' --resume-failed --resume-failed --resume-failed; do
        # shellcheck disable=SC2086 # no word, or one
        parallel --sshloginfile nodes.txt --workdir . --joblog side.log $again \
            "$STREAMLAB" work "$work/side.jsonl" --quiet --shard {}/8 ::: 1 2 3 4 5 6 7 8 2>/dev/null &
        pid=$!
        [ "$again" ] || for _ in 1 2 3; do
            sleep 1
            victim=$(pgrep -f "^[^ ]*streamlab work $work/side.jsonl" | head -n 1)
            [ -n "$victim" ] && kill -9 "$victim"
        done
        wait $pid && break
    done
    "$STREAMLAB" merge side.jsonl -o side.csv
    cmp -s one.csv side.csv
    check $? "and so is that of GNU parallel, with --resume-failed after three were killed"
else
    check 0 "workers under GNU parallel # SKIP it is not here: apt-get install parallel"
fi

echo "1..$run"
exit "$failed"
