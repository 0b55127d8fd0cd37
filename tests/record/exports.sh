#!/bin/sh
# exports.sh OUT [PAIR...] - programs and what streamlab whatif --export makes of their recordings,
# run at the root of the repository on a GPU: the sides of pairs of programs/pairs.py as they are,
# recorded, and exported to Lua, PyTorch and CUDA C++. They are timed as they are before and after
# they are recorded, in a process each: what the host does takes another time in each process. OUT
# gets a table (table.txt), its figures
# (walls.tsv, exported.tsv, times.tsv), log.txt and the scripts. It takes 240 s at most.
# STREAMLAB names the program, beside which libstreamlab_record.so is; where it has no CUDA backend
# (STREAMLAB_CUDA_PLUGIN), Lua is left out. NVCC names the compiler.
set -u
here=$(dirname "$0")
out=${1:?usage: tests/record/exports.sh OUT [PAIR...]}
shift
[ $# -gt 0 ] || set -- pin_inputs prefetch_stream pageable_results results_one_behind \
    item_each_step foreach_optimizer batched_products graph_inference bfloat16_model two_streams
streamlab=${STREAMLAB:-build/streamlab}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
until=$(($(date +%s) + ${LIMIT:-232}))
mkdir -p "$out/scripts" "$out/bin"
export PYTHONUNBUFFERED=1 TURNS="${TURNS:-3}"
export TORCHINDUCTOR_CACHE_DIR="$out/bin/inductor" TRITON_CACHE_DIR="$out/bin/triton"

run() { # TITLE COMMAND...
    title=$1 begin=$(date +%s)
    shift
    left=$((until - begin))
    [ "$left" -gt 3 ] || { echo "$title is left out: the time is over" | tee -a "$out/log.txt"; return; }
    timeout "$left" "$@" >"$out/bin/said" 2>&1
    {
        echo "$title: status $?, $(($(date +%s) - begin)) s"
        sed 's/^/    /' "$out/bin/said" | tail -n 60 | cut -c1-200
    } | tee -a "$out/log.txt"
}

compile_all() { # eight at a time
    for source in "$out"/scripts/*.cu; do echo "$source"; done |
        xargs -P 8 -I{} sh -c "'$nvcc' -O2 -std=c++17 -arch=native -o \"\${1%.cu}.bin\" \"\$1\"" - {}
}

run walls python3 "$here/programs/pairs.py" walls "$out" "$@"
run recorded "$streamlab" record --quiet --spools "$out/spools" -- \
    python3 "$here/programs/pairs.py" recorded "$out" "$@"
run walls python3 "$here/programs/pairs.py" walls "$out" "$@"
run write "$streamlab" "$here/exports.lua" write "$out" "$@"
compile_all >"$out/bin/compiled" 2>&1 &
run lua "$streamlab" "$here/exports.lua" run "$out"
wait
sed 's/^/    /' "$out/bin/compiled" | tee -a "$out/log.txt"
for program in "$out"/scripts/*.bin; do
    name=$(basename "$program" .bin)
    run "$name.cu" "$program" 5
    sed -n "s/^\\([0-9.]*\\) ms, .*/$name	cu	\\1/p" "$out/bin/said" >>"$out/times.tsv"
done
run pytorch python3 "$here/exports.py" "$out"
"$streamlab" "$here/exports.lua" table "$out" | tee "$out/table.txt"
nvidia-smi --query-gpu=name,driver_version --format=csv >>"$out/log.txt" 2>&1
rm -rf "${out:?}/bin" "$out"/scripts/*.bin
