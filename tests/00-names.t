#!/bin/sh
# 00-names.t - a name of a C file stands once, so that it says which file is meant. Headers of
# core/emulate/device/ are CUDA's by their names, or have those of what they are the kernel's side of. A file in
# Lua is named by its path (import "repl/run/text.lua"), and a name without one that `require` finds is
# the module's: for these the folder is part of the name.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

sins() { # ROOT
    (
        cd "$1" || exit
        find core bindings repl \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) | LC_ALL=C sort | awk -F/ '
            /^core\/emulate\/device\// { next }
            $NF in path { print $0 " has the name of " path[$NF] }
            { path[$NF] = $0 }'
    )
}

found=$(sins "$root")
[ -z "$found" ]
check $? "names of C files stand once"
[ -z "$found" ] || echo "$found" | sed 's/^/#   /' >&2

# ---- the checker --------------------------------------------------------------

planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted/core/cuda" "$planted/core/emulate/device" "$planted/bindings" "$planted/repl/run"
for file in core/a.c core/a.h core/cuda/b.cu core/emulate/device/a.h core/emulate/device/b.h \
    bindings/b.h bindings/c.lua repl/run/c.lua repl/run/a.cuh; do
    : >"$planted/$file"
done
[ -z "$(sins "$planted")" ]
check $? "the checker allows other endings, headers for kernels and files in Lua"
: >"$planted/repl/run/a.c"
: >"$planted/core/cuda/b.h"
is "$(sins "$planted")" "core/cuda/b.h has the name of bindings/b.h
repl/run/a.c has the name of core/a.c" "the checker finds names that stand twice"

echo "1..$run"
[ "$failed" = 0 ]
