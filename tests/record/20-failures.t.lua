-- 20-failures.t.lua - calls of a recorded program that fail (played_failures.c): they stay calls,
-- what they were to do is not missed, and they are reported once.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played = require "played" "played_program"
local out, err, code = shell.sh(('cd %s; STREAMLAB_CUDA_LIB=%s "$P" record --quiet --spools s '
    .. "-- %s/played_program failures"):format(folder, played, played))
tap.is(out .. err .. code, "0", "the program runs, and nothing is said meanwhile")

local tl = lab.load(folder .. "/s")
tap.is(tl.span_count, 1, "the one kernel is the only operation")

-- "AT KIND NAME" of each call.
local list, others = {}, {}
for _, call in ipairs(tl:calls()) do
    local at = math.tointeger(call.host_start_us)
    list[#list + 1] = at .. " " .. call.name
    if call.kind ~= "plain" then others[#others + 1] = at .. " " .. call.kind end
end
tap.is(table.concat(list, "\n"), [[
10 cudaLaunchKernel
12 cudaLaunchKernelExC
14 cudaLaunchCooperativeKernel
16 cuLaunchKernel
18 cuLaunchKernelEx
20 cudaGraphLaunch
22 cudaLaunchHostFunc
24 cudaMemcpyAsync
26 cudaMemsetAsync
30 cudaEventRecord
32 cudaStreamWaitEvent
34 cudaEventSynchronize
36 cudaStreamSynchronize
40 cudaMalloc
42 cudaMallocAsync
50 cudaEventQuery
52 cudaStreamQuery
54 cudaHostRegister
56 cudaFree
60 cudaStreamBeginCapture
62 cudaLaunchKernel]], "calls that fail are calls of the host, as long as they took")
tap.is(table.concat(others, ", "), "", "and neither record, nor wait for anything that is known")

local doubts = {}
for i, doubt in ipairs(tl.doubts) do
    doubts[i] = doubt.kind .. " " .. doubt.count .. ": " .. doubt.sentence
end
-- Of the launches at 0 and 62 one has an operation. 9 launches, 4 waits, 2 allocations and the
-- beginning of a capture fail.
tap.is(table.concat(doubts, "\n"), "failed_calls 16: 16 calls failed, and what they were to do is "
    .. "not here. The first: cudaLaunchKernel, with error 9 (an invalid configuration).\n"
    .. "no_operation 1: Of 2 launches of kernels, one has no operation in the trace: the GPU may "
    .. "have worked where it seems idle.",
    "launches that fail are not missed, and calls that fail are reported in one sentence")
tap.is(#tl:memory(), 0, "what could not be allocated does not count")

shell.remove(folder)
tap.done()
