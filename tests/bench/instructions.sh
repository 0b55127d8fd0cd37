#!/bin/sh
# instructions.sh [PROGRAM] - how many instructions an operation takes, of the whole program, from Lua to
# the end on the simulated GPU: the difference of 81,600 and 1,600 operations under valgrind. Unlike
# seconds it does not depend on what else the machine does.
program=${1:-build/streamlab}

# count N SCRIPT ARGS: instructions of the script with N operations.
count()
{
    n=$1 script=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$script" "$n" "$@" 2>&1 \
        | sed -n 's/.*Collected : //p'
}

each()
{
    name=$1
    shift
    less=$(count 1600 "$@")
    more=$(count 81600 "$@")
    printf '%-36s %6d\n' "$name" $(((more - less) / 80000))
}

each 'mixed, textbook' tests/bench/ops.lua
each 'mixed, h200' tests/bench/ops.lua - h200
each 'records and waits, eight streams' tests/bench/events.lua
each 'spins of 100 blocks, four streams' tests/bench/launches.lua shared
each "a kernel of one's own" tests/bench/launches.lua own
each "one's own, four streams" tests/bench/launches.lua own-shared
