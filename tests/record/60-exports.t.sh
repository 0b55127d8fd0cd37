#!/bin/sh
# 60-exports.t.sh - what streamlab whatif --export writes of recordings of an H200 compiles, where a
# compiler is there; running it needs a GPU (exports.sh).
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
program=${STREAMLAB:-build/streamlab}
data=tests/timeline/data/planted
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
said="$folder/said"

"$program" whatif "$data/copies_in_compute_stream.json.gz" --prefetch 'Memcpy HtoD*' 1 \
    --export "$folder/copies.py" --export "$folder/copies.cu" >"$said" 2>&1
is "$?" 0 "a program with a change is exported to two files"
"$program" whatif "$data/graph.json.gz" --export "$folder/graph.py" \
    --export "$folder/graph.cu" >"$said" 2>&1
is "$?" 0 "and one with a graph"
"$program" whatif "$data/graph.json.gz" --export "$folder/graph.txt" >"$said" 2>&1
is "$?$(cat "$said")" '2*--export needs a file that ends in .lua, .py or .cu*' "a file of another kind is refused"
"$program" whatif "$data/graph.json.gz" --export "$folder/none/graph.py" >"$said" 2>&1
is "$?$(cat "$said")" "1*$folder/none/graph.py*" "and one that cannot be written"

for name in copies graph; do
    if command -v python3 >/dev/null; then
        python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$folder/$name.py"
        is "$?" 0 "$name: Python can read it"
    fi
    if command -v nvcc >/dev/null; then
        nvcc -std=c++17 -arch=sm_90 -c -o "$folder/$name.o" "$folder/$name.cu" >"$said" 2>&1
        is "$?$(cat "$said")" 0 "$name: nvcc compiles it, without a warning"
    fi
done
echo "1..$run"
exit "$failed"
