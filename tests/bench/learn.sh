#!/bin/sh
# learn.sh BUILD - runs what `make fast` counts: the simulator's work-loads, recorded and not, and the
# calls of the CUDA backend on a GPU that is played, where that is built.
set -e
build=$1
program=$build/streamlab
played=$build/tests/cuda/played_plugin.so

"$program" tests/bench/ops.lua 300000
"$program" tests/bench/ops.lua 300000 - h200
"$program" tests/bench/ops.lua 100000 record h200
"$program" tests/bench/ops.lua 300000 summary
"$program" tests/bench/events.lua 300000
"$program" --backend sim scripts/puzzler.lua
if [ -f "$played" ]; then
    PLAYED_AT_ONCE=1 STREAMLAB_CUDA_PLUGIN=$played STREAMLAB_CUDA_LIB=$build/tests/bench/played \
        "$program" --backend cuda tests/bench/dispatch.lua 20000
fi
