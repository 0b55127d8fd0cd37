#!/bin/sh
# gpu.sh OUT [PART...] - programs on a GPU by turns as they are and recorded (turns.lua), run at the
# root of the repository. Each part takes five minutes at most; without one all but the last four:
#   calls     loops of one call, which say what a record costs
#   native    CUDA C++, cuBLAS, CuPy, JAX          training  PyTorch: eager, compiled, a DataLoader
#   streams   PyTorch: a graph, two streams, a prefetcher, a server with two threads
#   planted   seven pairs of tests/timeline/data: what is said can be gained, and what mending gains
#   without   what each kind of record costs: the same without it
#   kinds     what each way to record makes calls of CUDA cost (programs/kinds.cu)
#   two       two GPUs with NCCL
#   ends      calls that fail, contexts that end, names of threads (programs/ends.cu)
# OUT gets the table, what the programs print and the spools of the first turns, in one archive.
# ONLY has the names of programs, as in 'eager loader'; without it all of a part run.
# STREAMLAB names the program, beside which libstreamlab_record.so is; NVCC the compiler. A program
# whose library is not there is left out.
set -u
here=$(dirname "$0")
out=${1:?usage: tests/record/gpu.sh OUT [PART...]}
shift
[ $# -gt 0 ] || set -- calls native training streams planted
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
mkdir -p "$out/bin"

case " $* " in
*' calls '* | *' native '* | *' without '*)
    "$nvcc" -O2 -o "$out/bin/sample" "$here/programs/sample.cu" || exit
    "$nvcc" -O2 -o "$out/bin/cublas" "$here/programs/cublas.cu" -lcublas || exit
    ;;
esac
if [ "$*" = kinds ]; then
    "$nvcc" -O2 -std=c++17 -o "$out/bin/kinds" "$here/programs/kinds.cu" -lcupti \
        -Xlinker "-rpath=$(dirname "$nvcc")/../lib64" || exit
    for steps in 'memory overhead copy memset kernel event sync runtime' 'event kernel' \
        'sync kernel' 'driver kernel' 'runtime kernel' \
        'rt:Launch rt:EventRecord dr:Launch dr:EventRecord kernel'; do
        echo "$steps"
        # shellcheck disable=SC2086 # several words
        "$out/bin/kinds" $steps
    done 2>&1 | tee "$out/table-kinds"
    rm -rf "${out:?}/bin"
    exit
fi
if [ "$*" = ends ]; then
    "$nvcc" -O2 -g -std=c++17 -o "$out/bin/ends" "$here/programs/ends.cu" -lcuda -lpthread || exit
    {
        "${STREAMLAB:-build/streamlab}" record --stacks --quiet --spools "$out/spools" -- "$out/bin/ends"
        "${STREAMLAB:-build/streamlab}" show --by line "$out/spools"
        LUA_PATH="$here/?.lua;;" "${STREAMLAB:-build/streamlab}" "$here/held.lua" "$out/spools"
    } 2>&1 | tee "$out/table-ends"
    rm -rf "${out:?}/bin"
    exit
fi
# Kept from one turn to the next.
export TORCHINDUCTOR_CACHE_DIR="$out/bin/inductor" TRITON_CACHE_DIR="$out/bin/triton"
"${STREAMLAB:-build/streamlab}" "$here/turns.lua" "$out" "$@" 2>&1 | tee "$out/table-$1"
rm -rf "${out:?}/bin"
archive=$(mktemp) # elsewhere: tar reads $out
tar czf "$archive" -C "$out" --exclude='*.tar.gz' --exclude='table-*' . &&
    find "$out" -mindepth 1 -maxdepth 1 ! -name '*.tar.gz' ! -name 'table-*' -exec rm -r {} +
mv "$archive" "$out/spools-$1.tar.gz"
ls -l "$out"
