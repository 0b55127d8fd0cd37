#!/bin/sh
# 85-version.t.sh - the version is written down in one place, the file VERSION, and what the program
# says, the first page and the changelog agree with it.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root" || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh
program=${STREAMLAB:-build/streamlab}

version=$(cat VERSION)
echo "$version" | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+'
check $? "VERSION is three numbers"
[ "$("$program" --version | sed 's/ (.*//')" = "streamlab $version" ]
check $? "--version says it"
[ "$("$program" --backend sim -e 'print(lab.version)')" = "$version" ]
check $? "lab.version says it"
[ "$(grep -m 1 '^## ' CHANGELOG.md)" = "## $version" ]
check $? "the changelog's first heading is it"
grep -q "^Version $version:" README.md
check $? "the first page says it"

# Where it stood as well, it would be forgotten. The picture of the prompt has a test of its own.
pattern=$(echo "$version" | sed 's/\./\\./g')
found=$(git ls-files -co --exclude-standard 2>/dev/null |
    grep -vE '^(VERSION|CHANGELOG\.md|README\.md|docs/pictures/|tests/fuzz/)' |
    xargs grep -lIE "streamlab[^ ]? ?[\"(]?$pattern|streamlab[-_]$pattern|VERSION *:?= *\"?$pattern" 2>/dev/null)
[ -z "$found" ]
check $? "it stands nowhere else"
[ -z "$found" ] || echo "# $found"
echo "1..$run"
exit "$failed"
