-- 20-calls.t.lua - the calls of a recorded program, which callbacks note: those of threads that
-- end, calls that give no records, and more of them than there is room for. The times are those of
-- played_program.c; 10-record.t.lua has calls within calls.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played = require "played" "played_program"

-- The timeline, and how the program ended.
local function record(spools, what)
    local out, err, code = shell.sh(('cd %s; STREAMLAB_CUDA_LIB=%s "$P" record --quiet --spools %s '
        .. "-- %s/played_program %s"):format(folder, played, spools, played, what))
    return lab.load(folder .. "/" .. spools), out .. err .. code
end

local function doubts(tl)
    local list = {}
    for i, doubt in ipairs(tl.doubts) do
        list[i] = doubt.sentence
    end
    return table.concat(list, "\n")
end

-- ---- threads ------------------------------------------------------------------------------------

-- Kernel i is launched at 2 us times i, in a call of 1 us: no more than what recording takes. A
-- block of a thread has fewer than 300 calls.
local tl, ended = record("threads", "threads 16")
local wrong = 0
for i, span in ipairs(tl:spans()) do
    if span.host_start_us ~= 2 * (i - 1) or span.host_end_us ~= span.host_start_us then
        wrong = wrong + 1
    end
end
tap.is(("%d %d %s"):format(tl.span_count, wrong, ended), "4800 0 0",
    "each kernel of 16 threads that have ended has its call")
tap.is(doubts(tl), "", "and nothing is in doubt")
local named = {}
for i, span in ipairs(tl:spans()) do
    local worker = (i - 1) // 300
    local name = worker > 0 and "worker " .. worker or nil
    if span.thread_name ~= name then named[#named + 1] = ("%d %s"):format(i, span.thread_name) end
end
tap.is(table.concat(named, ", "), "", "threads have the names that the program has given them")
tl, ended = record("keys", "keys kernels 50")
tap.is(tl.span_count .. " " .. ended, "50 0", "a program that has all keys of threads keeps them")

-- ---- calls without records ----------------------------------------------------------------------

tl = record("failing", "kernels 100 failing 3 wait")
tap.is(doubts(tl), "3 calls failed, and what they were to do is not here. The first: "
    .. "cudaLaunchKernel, with error 9 (an invalid configuration).",
    "nobody is said to have taken the records of launches that fail")
tl = record("captured", "kernels 100 captured 3 wait")
tap.is(#tl:calls() .. doubts(tl), "6", "nor those of launches that are captured")
tl = record("unfinished", "kernels 100 wait unfinished")
tap.is(doubts(tl), "Of 101 launches of kernels, one has no operation in the trace: the GPU may "
    .. "have worked where it seems idle.", "nor those of a kernel that runs when the program ends")
tl = record("captured-later", "kernels 100 captured 3 profiler kernels 1 wait")
tap.like(doubts(tl), "another profiler in the program", "what is launched behind a capture counts")
tl = record("captured-badly", "kernels 100 invalid profiler kernels 1 wait")
tap.like(doubts(tl), "another profiler in the program", "also behind one that failed")

for _, call in ipairs { "reset", "release" } do
    tl, ended = record(call, "kernels 50 " .. call .. " kill 9")
    tap.is(tl.span_count .. " " .. ended, "50 137",
        call .. ": a call that ends a context has its records written before")
end

-- ---- many calls ---------------------------------------------------------------------------------

tl = record("queries", "kernels 100 queries 100000")
tap.is(#tl:calls() .. doubts(tl), "100000", "calls that fill many blocks are all there")

-- The recorder asks CUPTI for its buffers each second, and waits. 4096 blocks of 170 calls have
-- room, of which 100 are those of the kernels.
if tap.sized(false, true) then
    tl = record("held", "kernels 100 hold sleep 1200 queries 1100000 let_go")
    local kept = 4096 * 170 - 100
    tap.is(#tl:calls(), kept, "calls that cannot be written take 32 MiB at most")
    tap.like(doubts(tl), ("%d records are missing, since there was no room for them"):format(
        1100000 - kept), "and how many had no room is said")
end

shell.remove(folder)
tap.done()
