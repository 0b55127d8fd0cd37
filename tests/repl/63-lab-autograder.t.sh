#!/bin/sh
# 63-lab-autograder.t.sh - what runs in Gradescope's container: whatever the submission is and
# whatever becomes of the grader, a whole results.json is there in the end. The grader is played
# by a script.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
program=${STREAMLAB:-build/streamlab}
case $program in /*) ;; *) program=$root/$program ;; esac
AUTOGRADER=$(mktemp -d) || exit 1
export AUTOGRADER
trap 'rm -rf "$AUTOGRADER"' EXIT
source=$AUTOGRADER/source
submission=$AUTOGRADER/submission
results=$AUTOGRADER/results
mkdir -p "$source/lab"
cp "$root/repl/labs/autograder/setup.sh" "$source/setup.sh"
cp "$root/repl/labs/autograder/run_autograder.sh" "$AUTOGRADER/run_autograder"
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

grader() { # the script on stdin plays streamlab; $6 is the file to write
    { echo '#!/bin/sh'; cat; } >"$source/streamlab"
    chmod 755 "$source/streamlab"
}

submit() { # FILE...: becomes the submission
    rm -rf "$submission" "$results"
    mkdir -p "$submission"
    for file; do
        mkdir -p "$(dirname "$submission/$file")"
        echo "function step() end" >"$submission/$file"
    done
}

grade() {
    (cd / && sh "$AUTOGRADER/run_autograder" >"$AUTOGRADER/said" 2>&1)
}

# SCORE TEXT: results.json is whole, has that score, and the text in its output; and is alone.
has_results() {
    [ "$(ls "$results")" = results.json ] &&
        "$program" --backend sim - "$results/results.json" "$1" "$2" <<'END'
local results = require("both.json").read(assert(io.open(arg[1])):read("a"))
os.exit(results.score == tonumber(arg[2]) and results.output:find(arg[3], 1, true) ~= nil)
END
}

# ---- a grader that works -----------------------------------------------------

grader <<'END'
printf '%s\n' "$PWD" "$@" >"$AUTOGRADER/called"
echo '{"score": 85, "output": "fine"}' >"$6"
END
submit submission.lua
grade
check $? "the script ends with status 0"
has_results 85 fine
check $? "the grader's results are the results"
[ "$(cat "$AUTOGRADER/called")" = "$(printf '%s\n' "$source" lab grade lab \
    "$submission/submission.lua" -o "$results/graded.json")" ]
check $? "it is called where the lab is, with the submission"

for name in 'a b.lua' "it's \"mine\".lua" 'sub/deep.lua' 'SUBMISSION.LUA' '-rf.lua' 'new
line.lua'; do
    submit "$name" README.md __MACOSX/._x.lua __MACOSX/y.lua .hidden.lua
    ln -s "$source/lab/tests/hidden.lua" "$submission/link.lua"
    last=$(basename -- "$name" | tail -n 1)
    grade && has_results 85 fine && grep -qF -e "$last" "$AUTOGRADER/called"
    check $? "the one file may be called $(echo "$name" | tr '\n' ' ')"
done

grader <<'END'
echo '{"score": 10, "output": "some failed"}' >"$6"
exit 1
END
submit a.lua
grade && has_results 10 "some failed"
check $? "status 1, not all tests passed, has results too"

# ---- submissions that are none -------------------------------------------------

submit
grade && has_results 0 "There is no .lua file in this submission"
check $? "an empty submission is reported"
submit a.txt .lua/x __MACOSX/a.lua .git/a.lua
grade && has_results 0 "There is no .lua file in this submission"
check $? "so is one without a .lua file"
submit a.lua 'b"\.lua' tests/c.lua
grade && has_results 0 "There are 3 .lua files in this submission, and it must be one"
check $? "and one with several"
rm -rf "$submission"
grade && has_results 0 "There is no .lua file"
check $? "and none at all"

# ---- graders that do not work --------------------------------------------------

broken() { # TEXT NAME: the script on stdin as the grader
    grader
    submit a.lua
    echo 'of an earlier run' >"$AUTOGRADER/old"
    mkdir -p "$results" && cp "$AUTOGRADER/old" "$results/graded.json"
    grade && has_results 0 "$1"
    check $? "$2"
}
broken "exit status 137" "a grader that is killed" <<'END'
printf '{"score": 100, "tests": [' >"$6"
kill -9 $$
END
broken "exit status 2" "one that refuses" <<'END'
echo "usage: ..." >&2
exit 2
END
broken "exit status 0" "one that writes nothing" <<'END'
exit 0
END
broken "exit status 1" "one that writes an empty file" <<'END'
: >"$6"
exit 1
END
rm -f "$source/streamlab"
submit a.lua
grade && has_results 0 "The grader failed (exit status 127)"
check $? "one that is not there"

# The script itself is killed: what it wrote first stays.
grader <<'END'
echo $$ >"$AUTOGRADER/pid"
exec sleep 60
END
submit a.lua
rm -f "$AUTOGRADER/pid"
sh "$AUTOGRADER/run_autograder" >/dev/null 2>&1 &
script=$!
until [ -s "$AUTOGRADER/pid" ]; do sleep 0.05; done
kill -9 "$script"
wait "$script" 2>/dev/null
kill -9 "$(cat "$AUTOGRADER/pid")"
has_results 0 "The grader was stopped before it was done"
check $? "when the whole container is stopped, results are there already"

# ---- setup.sh --------------------------------------------------------------------

setup() { # STATUS TEXT NAME
    said=$(sh "$source/setup.sh" 2>&1)
    status=$?
    case $said in *"$2"*) [ "$status" = "$1" ] ;; *) false ;; esac
    check $? "$3"
    [ "$status" = "$1" ] || echo "# status $status: $said"
}
# No network is needed to try it: apt-get is a program that fails.
mkdir "$AUTOGRADER/bin"
printf '#!/bin/sh\nexit 100\n' >"$AUTOGRADER/bin/apt-get"
chmod 755 "$AUTOGRADER/bin/apt-get"
PATH=$AUTOGRADER/bin:$PATH
cp "$program" "$source/streamlab"
chmod 644 "$source/streamlab"
cp -r "$root/repl/labs/template/." "$source/lab"
setup 0 "has graded an empty submission; ready for grading" "setup.sh finds that the program grades"
rm "$source/lab/lab.lua"
setup 1 "an empty submission could not be graded in this container (exit status 1):" \
    "and that it does not"
grader <<'END'
for version in 2.34 2.38 2.9; do
    echo "./streamlab: /lib/libc.so.6: version \`GLIBC_$version' not found (required by x)" >&2
done
exit 1
END
setup 1 "newer Linux than this container has: it needs GLIBC_2.38." \
    "a C library that is too old is reported"
grader <<'END'
echo "./streamlab: error while loading shared libraries: libx.so.2: cannot open it" >&2
exit 127
END
setup 1 "needs a library that this container does not have" "so is a missing library"
printf '\177ELF\002\001\001' >"$source/streamlab"
head -c 100 /dev/zero >>"$source/streamlab"
setup 1 "is for another kind of machine" "and a program for another machine"
grader <<'END'
echo "no device" >&2
exit 1
END
setup 1 "streamlab does not run in this container (exit status 1)" "and whatever else it says"

echo "1..$run"
[ "$failed" = 0 ]
