#!/bin/sh
# 45-runner.t.sh - tests/run itself: a test's status, and what a test leaves behind.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# Waits up to 5 s for the process to end; a killed one may still be a zombie.
is_gone() { # PID
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        case $(ps -o stat= -p "$1" 2>/dev/null) in
        '' | Z*) return 0 ;;
        esac
        sleep 0.5
    done
    return 1
}

cat >"$folder/leaves.t.sh" <<'END'
sleep 60 &
echo $! >"$(dirname "$0")/pid"
echo "ok 1 - left a process"
exit 3
END
before=$(date +%s)
said=$(sh "$root/tests/run" "$folder/leaves.t.sh")
status=$?
after=$(date +%s)
[ $status = 3 ]
check $? "a test's exit status is passed on"
[ "$said" = "ok 1 - left a process" ]
check $? "and what it printed"
is_gone "$(cat "$folder/pid")"
check $? "a process that a finished test has left running is ended"
[ $((after - before)) -lt 30 ]
check $? "so that nobody waits for it"

echo 'kill -9 $$' >"$folder/dies.t.sh"
said=$(sh "$root/tests/run" "$folder/dies.t.sh")
status=$?
[ $status = 1 ]
check $? "a test that a signal ends has failed"
case $said in
"not ok"*"ended by signal 9") check 0 "and says which" ;;
*) check 1 "and says which" ;;
esac
said=$(sh "$root/tests/run" "$folder/dies.t.sh" 2>&1 >/dev/null)
case $said in
"# "*"dies.t.sh was ended by signal 9") check 0 "on stderr, too, which prove shows" ;;
*) check 1 "on stderr, too, which prove shows" ;;
esac

# The limits are the runner's own lines with smaller numbers.
sed -e 's/limit=.*/limit=1/' -e 's/10 \* $limit/300/' "$root/tests/run" >"$folder/run"
sed -e 's/limit=.*/limit=1/' -e 's/10 \* $limit/1/' "$root/tests/run" >"$folder/waits"
echo 'while :; do :; done' >"$folder/works.t.sh"
said=$(sh "$folder/run" "$folder/works.t.sh" 2>&1 >/dev/null)
[ "$said" = "# $folder/works.t.sh used more than its 1 s of processor time; \
STREAMLAB_TEST_TIMEOUT=4 allows four times as much" ]
check $? "a test that works without end is ended by its processor time, and says so"
echo 'sleep 1.2; echo "ok 1 - slept"' >"$folder/sleeps.t.sh"
said=$(sh "$folder/run" "$folder/sleeps.t.sh" 2>&1)
[ "$said" = "ok 1 - slept" ]
check $? "one that waits for others uses none of it"
echo 'sleep 60' >"$folder/waits.t.sh"
said=$(sh "$folder/waits" "$folder/waits.t.sh" 2>/dev/null)
[ "$said" = "not ok - $folder/waits.t.sh did not end within 1 s; \
STREAMLAB_TEST_TIMEOUT=4 allows four times as much" ]
check $? "but does not wait without end"

# tests/README.md names the program as build/streamlab, and tests run it in other folders.
mkdir "$folder/build" && ln -s /bin/echo "$folder/build/streamlab"
echo 'cd / && "$STREAMLAB" "ok 1 - ran"' >"$folder/elsewhere.t.sh"
said=$(cd "$folder" && STREAMLAB=build/streamlab sh "$root/tests/run" elsewhere.t.sh 2>&1)
[ "$said" = "ok 1 - ran" ]
check $? "a program's path that is relative holds in other folders"
echo "1..$run"
