#!/bin/sh
# 00-sizes.t - files that one can read at a sitting: no source has more than 600 lines, and no header fewer
# than 15, since one as short as that hides what its reader needs. Headers of core/emulate/device/ are
# CUDA's by their names, however short.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

sins() { # ROOT
    (
        cd "$1" || exit
        find core bindings repl \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.lua' \) \
            -exec wc -l {} + | awk '
            $2 == "total" { next }
            $1 > 600 { print $2 " has " $1 " lines" }
            $1 < 15 && $2 ~ /\.(cu)?h$/ && $2 !~ /^core\/emulate\/device\// { print $2 " has " $1 " lines" }'
    )
}

found=$(sins "$root")
[ -z "$found" ]
check $? "no source has more than 600 lines, and no header fewer than 15"
[ -z "$found" ] || echo "$found" | sed 's/^/#   /' >&2

# ---- the checker --------------------------------------------------------------

planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
plant() { # LINES FILE
    mkdir -p "$planted/${2%/*}"
    awk -v n="$1" 'BEGIN { while (n-- > 0) print "x" }' >"$planted/$2"
}
mkdir -p "$planted/bindings" "$planted/repl"
plant 601 core/long.c
plant 601 bindings/long.h
plant 601 repl/run/long.lua
plant 601 core/cuda/long.cu
plant 14 core/short.h
plant 14 core/cuda/short.cuh
plant 600 core/fits.c
plant 15 core/fits.h
plant 2 core/fits.lua
plant 3 core/cuda/fits.cu
plant 6 core/emulate/device/fits.h
said=$(sins "$planted")
for file in core/long.c bindings/long.h repl/run/long.lua core/cuda/long.cu core/short.h core/cuda/short.cuh; do
    case "$said" in *"$file has "*) found=0 ;; *) found=1 ;; esac
    check $found "the checker finds $file"
done
case "$said" in *fits*) fits=1 ;; *) fits=0 ;; esac
check $fits "the checker allows what is within the limits"

echo "1..$run"
[ "$failed" = 0 ]
