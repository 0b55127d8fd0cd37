#!/bin/sh
# 87-goals.t.sh - whatever pages, templates and continuous integration ask make for is there; make
# help names it, and make -n installs nothing.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root" || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

makefiles='Makefile tests/*.mk repl/playground/playground.mk'

is_goal() { # NAME
    # shellcheck disable=SC2086 # several files
    grep -qE "^([a-z0-9-]+ )*$1( [a-z0-9-]+)*:( |\$)" $makefiles
}

# What FILE asks for: `make NAME` in code and commands, and the lanes of a matrix.
asked() { # FILE
    grep -ohE '(^|`|run: |lane )make( -j[0-9]*)?( [A-Z_]+=[^ `]*)* [a-z][a-z0-9/-]*' "$1" | sed 's|.* ||; \|/|d'
    sed -n 's/^ *lane: \[\(.*\)\]$/\1/p' "$1" | tr -d ' ' | tr ',' '\n'
    sed -n 's/^for optional in \(.*\) \\$/\1/p; s/^    \(check.*\); do$/\1/p' "$1" | tr ' ' '\n'
}

for file in README.md CONTRIBUTING.md tests/README.md docs/install.md docs/notebook.md docs/playground.md \
    .github/pull_request_template.md .github/workflows/ci.yml .ci/run; do
    missing='' count=0
    for goal in $(asked "$file" | sort -u); do
        count=$((count + 1))
        is_goal "$goal" || missing="$missing $goal"
    done
    [ -z "$missing" ] && [ "$count" -gt 1 ]
    check $? "$file asks for $count goals, all of which are there"
    [ -z "$missing" ] || echo "# missing:$missing"
done
! is_goal no-such-goal
check $? "one that is missing would be found"

unset MAKEFLAGS MFLAGS MAKELEVEL
# shellcheck disable=SC2086 # several files
is "$(make help | grep -c '^make ')" "$(cat $makefiles | grep -c '^## make ')" \
    "make help has what is described in all makefiles"

# A shell that writes down that it was asked to install.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/sh" <<'END'
#!/bin/sh
case $1 in scripts/setup.sh) echo "$*" >>"${0%/*}/asked" && exit 1 ;; esac
exec /bin/sh "$@"
END
chmod +x "$folder/sh"
for goal in puzzler docs setup check check-browser check-notebook check-playground check-slurm check-aarch64; do
    PATH="$folder:$PATH" make -n NVCC= BUILD="$folder/build" "$goal" >/dev/null 2>&1
    [ ! -e "$folder/asked" ]
    check $? "make -n $goal installs nothing"
    rm -f "$folder/asked"
done
make -n NVCC= BUILD="$folder/build" "$folder/build/wasm/streamlab" >/dev/null 2>&1
check $? "make -n does not want what the playground would make first"
is "$(make -n NVCC= BUILD="$folder/build" wheel deb 2>/dev/null | grep -o 'rm -rf [^ ]*' | sort -u | grep -c .)" 2 \
    "a wheel and a .deb that are made at one time have no folder in common"
echo "1..$run"
exit "$failed"
