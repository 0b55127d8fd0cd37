-- 13-wrong-kernels.t.lua - the wrong solutions of lab 10 fail the tests that they should, and are
-- told what is wrong.
package.path = "tests/labs/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local bundled = require "bundled"

local lab <const> = "10-kernels"
local why = bundled.why_no_kernels(lab)
if why then
    tap.skip(why, 1)
    tap.done()
    return
end

local texts = bundled.grade(lab, function(student) return student:find("^wrong") end)
for name, sentence in pairs{
    barrier_in_if = "barrier_in_if%.lua:16: in block %(3,0,0%) 32 threads wait at "
        .. "__syncthreads%(%)",
    no_barrier = "use shared memory `tile`, byte 32 without a barrier between them: the one reads "
        .. "in line 20, the other writes in line 14",
    no_bounds = "no_bounds%.lua:19: thread %(0,0,0%) of block %(3,0,0%) writes argument 2, element "
        .. "4160 of 4000",
    declared_in = "is y declared%s*#?%s*as out",
    grid_rounded_down = "y%[1%]%[33%] is 0: is there a thread that writes it",
    without_a_tile = "bytes of shared memory that a block of the kernel has",
    one_stream = "copies up run beside copies down%s+#%s+seen%s+0%.0 %%",
    forgets_the_copy = "forgets_the_copy%.lua:29%s+transpose reads",
    reuses_too_early = "transpose writes",
    own_stream = "own_stream%.lua:31%s+transpose%s+reads[%s#]+in stream",
    returns_early = "the host reads",
} do
    tap.like(texts["wrong-" .. name], sentence, "lab 10 says what is wrong with " .. name)
end

tap.done()
