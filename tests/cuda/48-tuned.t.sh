#!/bin/sh
# 48-tuned.t.sh - matmul that is tuned, in the program: GPUs and cublasLt are played (fake_plugin.c,
# fake_cublaslt.c), the cache is real. t-24-gemm-tune.c has which plan is found.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
program=${STREAMLAB:-build/streamlab}
played=$(cd "$(dirname "$program")/tests/cuda" 2>/dev/null && pwd)
[ -f "$played/played_plugin.so" ] || skip_all "this build has no CUDA backend"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for major in 12 13; do ln -s "$played/fake_cublaslt.so" "$folder/libcublasLt.so.$major"; done
export STREAMLAB_CUDA_PLUGIN="$played/played_plugin.so" STREAMLAB_CUDA_LIB="$folder" PLAYED_AT_ONCE=1
export STREAMLAB_CACHE="$folder/cache"

# What the program prints on both outputs, and its status.
with() { # ARGUMENT...
    "$program" "$@" 2>&1
    echo "status $?"
}

plans() { find "$folder/cache/plans" -type f 2>/dev/null | wc -l | tr -d ' '; }

multiply='local a = lab.zeros(8, 8) lab.matmul(a, a) lab.synchronize()'
tune='local a = lab.zeros(8, 8)
    local function tell(p) print(p.tuned, p.measured, p.candidates, p.split_k) end'

is "$(with -e "$multiply")" "status 0" "a product is not tuned"
is "$(plans)" 0 "unless it is asked for"
is "$(with -e "$tune tell(lab.tune(a, a)) tell(lab.tune(a, a)) tell(lab.tune(a, a, {again = true}))")" \
    "true	true	3	1
true	false	3	1
true	true	3	1
status 0" "lab.tune measures a shape once, and again if it is asked to"
is "$(plans)" 1 "and keeps what it has found"
is "$(with -e "$tune tell(lab.tune(a, a)) lab.matmul(a, a)")" "true	false	3	1
status 0" "so that the next run knows it"
is "$(with -e "$tune tell(lab.tune(a, a, {tf32 = true}))")" "true	true	3	1
status 0" "another mode is measured by itself"
is "$(plans)" 2 "and kept beside it"
is "$(with -e "$tune local bias = lab.zeros(8)
    tell(lab.tune(a, a, {bias = bias, activation = 'gelu'})) tell(lab.tune(a, a, {bias = bias}))")" \
    "true	true	3	1
true	true	3	1
status 0" "and so is what follows the product"
is "$(plans)" 4 "likewise"

is "$(with -e "$tune local g = lab.graph(function()
    local _, err = pcall(lab.tune, a, a, {again = true})
    print(err.code, err.message)
    lab.matmul(a, a)
    end) print(#g:nodes())")" \
    "SL_ESTATE	measuring needs the device to itself, and a stream of it is being captured
1
status 0" "a capture is not disturbed"

for file in "$folder"/cache/plans/*; do echo damage >>"$file"; done
is "$(with -e "$tune tell(lab.tune(a, a))")" \
    "streamlab: a plan of matmul in the cache is damaged or another's: it is measured again
true	true	3	1
status 0" "what is damaged is reported and measured again"
is "$(with -e "$tune tell(lab.tune(a, a))")" "true	false	3	1
status 0" "and written again"
is "$(STREAMLAB_CACHE=none with -e "$tune tell(lab.tune(a, a)) tell(lab.tune(a, a))")" \
    "true	true	3	1
true	false	3	1
status 0" "without a cache each run measures once"

rm -r "$folder/cache"
is "$(with --tune -e "$multiply")" "status 0" "--tune tunes the shapes that are multiplied"
is "$(plans)" 1 "and keeps what it has found"
is "$(with --tune -e "local tl = lab.profile(function() $multiply
    lab.matmul(lab.zeros(8, 9), lab.zeros(9, 8)) end) print(tl.span_count)")" "*
5
status 0" "what it measures is not in a timeline"
is "$(plans)" 2 "also of a shape that is new there"
is "$(with --tune -e "local b = lab.zeros(8, 7) local c = lab.zeros(7, 8)
    lab.graph(function() lab.matmul(b, c) end):launch()")" "status 0" \
    "a product that is captured is not tuned"
is "$(plans)" 2 "nor kept"
is "$(with -e "lab.open{backend = 'cuda', tune = true} local b = lab.zeros(6, 6) lab.matmul(b, b)
    lab.open{backend = 'cuda', tune = false} local c = lab.zeros(7, 7) lab.matmul(c, c)")" "status 0" \
    "lab.open{tune =} begins and ends it"
is "$(plans)" 3 "for the shapes between"
for file in "$folder"/cache/plans/*; do echo damage >>"$file"; done
is "$(with --tune -e "$multiply")" \
    "streamlab: a plan of matmul in the cache is damaged or another's: it is measured again
status 0" "what is damaged is reported there, too"
is "$(with --tune=yes)" "*--tune takes no value*" "--tune takes no value"

# Many at once, each of which measures and keeps a shape of its own and one of all.
rm -r "$folder/cache"
for i in 1 2 3 4; do
    with --tune -e "local a = lab.zeros($i, 20) lab.matmul(a, lab.zeros(20, 20)) $multiply" &
done >/dev/null
wait
is "$(plans)" 5 "processes at once lose nothing"
is "$(find "$folder/cache/plans" -name '*.tmp' | wc -l | tr -d ' ')" 0 "and leave nothing unfinished"
echo "1..$run"
