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
echo "1..$run"
