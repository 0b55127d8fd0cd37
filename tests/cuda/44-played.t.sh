#!/bin/sh
# 44-played.t.sh - the program with GPUs that tests play (fake_plugin.c): which one is taken
# when nobody asks for one.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
program=${STREAMLAB:-build/streamlab}
STREAMLAB_CUDA_PLUGIN=$(dirname "$program")/tests/cuda/played_plugin.so
export STREAMLAB_CUDA_PLUGIN
[ -f "$STREAMLAB_CUDA_PLUGIN" ] || skip_all "this build has no CUDA backend"

# What the program prints on both outputs, and its status.
with() { # ARGUMENT...
    "$program" "$@" 2>&1
    echo "status $?"
}

which='print(lab.device().backend) print(lab.open().backend)'
no_code="GPU 0 (Fake GPU, compute capability 8.0) cannot run this build's kernels: they are for sm_*"

is "$(with -e "$which")" "cuda
cuda
status 0" "a GPU is taken where one is"

# NCCL is played too; without it a sentence says so.
comm='lab.open{index = 1} lab.open{index = 0} local c = lab.comm{devices = {0, 1}} print(c)'
is "$(STREAMLAB_NCCL=/nowhere/libnccl.so.2 with -e "$comm")" \
    "*comm: STREAMLAB_NCCL names a file that is no NCCL: /nowhere/libnccl.so.2*" \
    "a file that is no NCCL is named"
STREAMLAB_NCCL=$(dirname "$program")/tests/cuda/fake_nccl.so
export STREAMLAB_NCCL
is "$(with -e "$comm")" "comm (2 ranks: rank 0 on cuda 0, rank 1 on cuda 1)
status 0" "two GPUs make a communicator"
is "$(with -e "$comm c:all_reduce(lab.ones(4))")" \
    "*all_reduce: rank 1 has no part in it: give a tensor for each of the 2 ranks*" \
    "one rank alone would wait for ever, and is refused"
is "$(with -e "$comm
    local t = {lab.ones(4), lab.ones(4, {device = 'cuda:1'})}
    c:all_reduce(t, {async = true}):wait()
    c:group(function() c:send(t[1], {dst = 1}) c:recv(t[2], {src = 0}) end)
    print(#c:all_gather(t), c:reduce_scatter(t)[2]:numel())
    lab.synchronize()")" "*
2	2*" "its collectives run"
unset STREAMLAB_NCCL

# What a recording shows of the host is kept, and nothing of a simulated one.
kept=$(mktemp -d)
export STREAMLAB_HOSTS="$kept/hosts"
# Times come from events here, so that nobody knows what the recorder takes of a call: copies of
# pageable memory alone show what the host takes. The played ones take next to nothing.
calls='local host, a = lab.ones(1 << 20, {device = "cpu"}), lab.zeros(1 << 20)
    for _ = 1, 10 do
        lab.profile(function()
            for _ = 1, 20 do a:copy_(host) lab.pow(a, 2, {out = a}) end
        end)
    end'
with --backend sim -e "$calls" > "$kept/out"
is "$("$program" hosts)" "nothing is kept in $kept/hosts" "a simulated recording keeps nothing"
with --backend cuda -e "$calls" > "$kept/out"
is "$("$program" hosts)" "\* *Fake GPU, * recording* relative to h200: uploads *" \
    "a recording on a GPU keeps what its host took"
STREAMLAB_HOSTS=

# Makespans are compared without a recorder, where a script can be timed so.
cat > "$kept/profiled.lua" <<'EOF'
local tl, ms = lab.profile(function(ms) lab.spin(ms) return ms end, 0.01)
assert(#tl:spans() == 1 and ms == 0.01)
EOF
echo 'local tl = lab.record() lab.spin(0.01) tl:stop()' > "$kept/recorded.lua"
for rounds in --runs=2 "--rounds --runs=2"; do
    # shellcheck disable=SC2086
    is "$(with compare --quiet --profile h200 --json $rounds "$kept/profiled.lua" "$kept/recorded.lua")" \
        '{*profiled.lua*"recorded": false*}
{*recorded.lua*"recorded": true*}
status 0' "compare times what lab.profile records, and records the rest: $rounds"
done
is "$(with compare --quiet --profile h200 --runs 2 "$kept/profiled.lua" "$kept/recorded.lua")" \
    "*1 of 2 by their recordings, and recording takes part of the time*" "which the summary says"
is "$(with compare --quiet --profile h200 --runs 2 "$kept/recorded.lua")" \
    "*these are times of recordings*cannot be timed without recording it: use lab.profile*" \
    "and of one script why"
is "$(with compare --quiet --profile h200 --runs 2 "$kept/profiled.lua")" \
    "*timed without a recorder; with one, as below, * simulated, * measured*" \
    "or what the recordings say"
rm -r "$kept"

# Threads of the host run at the same time there.
threads='local function work(n, s)
    for i = 1, n do lab.spin(0.001, {stream = s}) if i % 20 == 0 then s:synchronize() end end
    s:launch_host_func(function() lab.host_work(0.01) end)
    return s.name
end
local t = {}
for i = 1, 4 do t[i] = lab.thread(work, 100, lab.stream{name = "s" .. i}) end
for i = 1, 4 do io.write(t[i]:join(), " ") end
local th = lab.thread(function() lab.host_work(1) error("failed", 0) end)
while not th:done() do end
print(select(2, pcall(th.join, th)))'
is "$(with --backend cuda -e "$threads")" "s1 s2 s3 s4 failed
status 0" "threads launch, wait, run host functions and fail"

PLAYED_NO_CODE=1
export PLAYED_NO_CODE
is "$(with -e "$which")" "streamlab: simulating * (profile *): $no_code
sim
sim
status 0" "the simulator is where the build has no kernels for the GPU, with a sentence, once"
is "$(with -i -e "$which" </dev/null)" "*simulating * (profile *): $no_code" "also at the prompt"
is "$(with --backend cuda -e "$which")" "*$no_code
status 2" "who asks for the GPU gets the sentence and no simulator"
is "$(STREAMLAB_BACKEND=cuda with -e "$which")" "*$no_code" "in whichever way"
is "$(with --device 1 -e "$which")" "*GPU 1 (Fake GPU*cannot run this build's kernels*" \
    "and who asks for another GPU"
is "$(with -e 'print(pcall(lab.open, {backend = "cuda"}))')" "false*$no_code*" "and a script too"
echo "1..$run"
