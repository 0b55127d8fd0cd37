#!/bin/sh
# run_autograder - grades one submission, for Gradescope, which copies this file to /autograder
# and runs it there.
#
# Whatever happens, results/results.json is whole and says what happened: one without points is
# written first, and the grader's own takes its place when that is finished. AUTOGRADER names
# another folder than /autograder, for trying it out.
root=${AUTOGRADER:-/autograder}
submission=$root/submission
results=$root/results

no_points() { # WORD...: a text without quotes and backslashes
    printf '{\n  "score": 0,\n  "output": "%s",\n  "output_format": "text",\n%s\n}\n' "$*" \
        '  "stdout_visibility": "hidden"' >"$results/unfinished.json" &&
        mv "$results/unfinished.json" "$results/results.json"
}

lua_files() { # ACTION...: what find does with each
    (cd "$submission" &&
        find . -type f -name '*.[lL][uU][aA]' ! -path '*/.*' ! -path '*/__MACOSX/*' "$@")
}

mkdir -p "$results"
no_points "The grader was stopped before it was done. Submit once more; if this comes again," \
    "tell your teacher."

n=$(lua_files -exec printf 'x' ';' 2>/dev/null | wc -c | tr -d ' ')
case $n in
0)
    no_points "There is no .lua file in this submission. Submit one: your submission.lua."
    exit 0
    ;;
1) file=$(lua_files -print); file=$submission/${file#./} ;;
'' | *[!0-9]*)
    no_points "This container could not look for your file. This is not the fault of your" \
        "submission: tell your teacher."
    exit 0
    ;;
*)
    no_points "There are $n .lua files in this submission, and it must be one:" \
        "submit your submission.lua alone."
    exit 0
    ;;
esac

graded=$results/graded.json
rm -f "$graded"
cd "$root/source" && ./streamlab lab grade lab "$file" -o "$graded"
status=$?
if [ "$status" -le 1 ] && [ -s "$graded" ]; then
    mv "$graded" "$results/results.json"
else
    rm -f "$graded"
    no_points "The grader failed (exit status $status). This is not the fault of your submission:" \
        "tell your teacher."
fi
exit 0
