#!/bin/sh
# classes.sh STUDENTS [LAB...] - what it takes to grade a class of each lab, by default the first eight: its
# solution, starter and wrong solutions by turns, from a plan, by two workers of which one is killed after
# two seconds and started again. Prints a line for each lab: the processor time of all processes in s, and
# the wall-clock time.
students=${1:?usage: classes.sh STUDENTS [LAB...]}
shift
[ $# -gt 0 ] || set -- scripts/labs/0[1-8]*
: "${STREAMLAB:=build/streamlab}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP

hand_in() { # LAB
    mkdir "$folder/class"
    i=0
    while :; do
        for file in "$1"/solution.lua "$1"/starter.lua "$1"/wrong/*; do
            i=$((i + 1))
            [ "$i" -gt "$students" ] && return
            "$STREAMLAB" lab print "$file" >"$folder/class/$(printf 's%05d.lua' "$i")"
        done
    done
}

work() { # SHARD
    exec "$STREAMLAB" work "$folder/plan.jsonl" --quiet --shard "$1/2"
}

grade() {
    work 1 &
    first=$!
    work 2 &
    second=$!
    sleep 2
    kill -9 $first 2>/dev/null
    wait $first 2>/dev/null
    work 1 &
    wait $! $second
}

for lab; do
    rm -rf "${folder:?}"/*
    hand_in "$lab"
    "$STREAMLAB" lab grade "$lab" "$folder/class" --plan "$folder/plan.jsonl" >/dev/null || exit 1
    before=$(date +%s)
    (
        grade
        times >"$folder/times"
    )
    after=$(date +%s)
    "$STREAMLAB" merge "$folder/plan.jsonl" -o "$folder/all.csv" >/dev/null || exit 1
    sed -n '2s/^\([0-9]*\)m\([0-9.]*\)s \([0-9]*\)m\([0-9.]*\)s$/\1 \2 \3 \4/p' "$folder/times" |
        awk -v lab="$(basename "$lab")" -v wall=$((after - before)) \
            '{ printf "%-28s %7.1f s of processors, %4d s\n", lab, 60 * ($1 + $3) + $2 + $4, wall }'
done
