-- random_calls.lua - a script that nobody wrote, of small operations: the host's calls take longer
-- than what they enqueue. The same one for a seed on every machine.
--
--   streamlab scripts/experiments/random_calls.lua [--seed N] [--list]
--   streamlab compare scripts/experiments/random_calls.lua --seeds 1-20
--
-- It is random.lua's sister: kernels of 256 to 65,536 elements, products of 32 to 256, kernels of
-- one's own, copies of 16 bytes to 64 KiB, fills, events, questions to streams, waits and new
-- tensors, in 1 to 4 streams, 40 to 200 steps. No two operations that nothing orders write the same
-- memory. --list prints the streams and each step.

local lab = require "streamlab"

-- From the folder of this file, also in a script that runs this one.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local program = dofile(folder .. "../lib/random_program.lua")("random_calls", arg or {}, {
    usage = "usage: streamlab scripts/experiments/random_calls.lua [--seed N] [--list]",
    flags = { list = true }, numbers = { seed = { 0, 0 } },
})
local steps = dofile(folder .. "../lib/random_steps.lua")(program)
local options, add, wait_for = program.options, program.add, program.wait_for
local chance, pick, log_even, random = program.chance, program.pick, program.log_even, math.random

local streams = {}

local function make_streams()
    local exempt = pick{ "all", 4, "none", 3, "some", 2 }
    for i = 1, pick{ 1, 3, 2, 4, 3, 2, 4, 2 } do
        local flags = { name = "s" .. i,
                        non_blocking = exempt == "all" or exempt == "some" and chance(0.5) }
        streams[i] = { name = flags.name, flags = flags, stream = lab.stream(flags) }
    end
end

-- The steps -----------------------------------------------------------------------------------

local kernels = {}

function kernels.elementwise(s)
    steps.elementwise(s, pick{ "add", 3, "mul", 2, "pow", 2, "relu", 2, "softmax", 1 },
        1 << random(0, 6), 1 << random(8, 10))
end

function kernels.matmul(s)
    steps.matmul(s, pick{ 32, 1, 64, 3, 128, 3, 256, 2 },
        pick{ "float32", 3, "tf32", 1, "bfloat16", 1 })
end

function kernels.axpy(s) steps.axpy(s, 1 << random(8, 16), pick{ 64, 1, 256, 3, 1024, 1 }) end

function kernels.recur(s)
    steps.recur(s, pick{ 1, 3, 8, 3, 132, 1 }, pick{ 32, 1, 128, 2, 256, 2 },
        pick{ 20, 2, 100, 2, 500, 1 })
end

local function kernel(s)
    kernels[pick{ "elementwise", 6, "matmul", 3, "axpy", 3, "recur", 1 }](s)
end

local pinned_share      -- drawn once: a script's author pins or does not

local function copy(s, direction)
    local bytes, pinned = 4 * math.floor(log_even(4, 16384)), chance(pinned_share)
    steps.copy(s, direction, bytes, pinned, chance(0.7))
end

-- The phrases ---------------------------------------------------------------------------------

local function any_stream() return streams[random(#streams)] end

local phrases = {}

function phrases.chain()
    local s = any_stream()
    for _ = 1, random(1, 12) do kernel(s) end
end

-- Kernels in turns over the streams.
function phrases.spread()
    for _ = 1, random(1, 4) do
        for _, s in ipairs(streams) do kernel(s) end
    end
end

-- What a step of inference does: a small input, kernels, a small output that the host waits for.
function phrases.request()
    local s = any_stream()
    copy(s, "h2d")
    for _ = 1, random(1, 6) do kernel(s) end
    copy(s, "d2h")
    if chance(0.5) then
        add("host: waits for %s", s.name, function() s.stream:synchronize() end)
    end
end

function phrases.copies()
    local s, direction = any_stream(), pick{ "h2d", 3, "d2h", 2 }
    for _ = 1, random(1, 4) do copy(s, direction) end
end

function phrases.join()
    local s = any_stream()
    for _, other in ipairs(streams) do
        if other ~= s then wait_for(s, other) end
    end
    kernel(s)
end

phrases["within"] = function() steps.within(any_stream(), 4 << random(2, 14)) end

function phrases.zero() steps.zero(any_stream(), 4 << random(2, 14)) end

phrases["null stream"] = function() kernel{ name = "NULL", stream = lab.default_stream() } end

function phrases.ask()
    local s = any_stream()
    add("host: asks whether %s is done", s.name, function() s.stream:query() end)
end

function phrases.allocate() steps.new_tensor(any_stream(), 1 << random(8, 16)) end

function phrases.host() steps.host_works(log_even(0.002, 0.05)) end

function phrases.wait() program.host_waits(any_stream(), lab.synchronize) end

local weights <const> = {
    "chain", 6, "spread", 4, "request", 4, "copies", 2, "join", 2, "within", 1, "zero", 1,
    "null stream", 0.5, "ask", 1, "allocate", 0.7, "host", 2, "wait", 1,
}

local function draw()
    make_streams()
    pinned_share = pick{ 1, 7, 0.5, 2, 0, 1 }
    local wanted = log_even(40, 200)
    while #program.steps < wanted do phrases[pick(weights)]() end
end

-- The run -------------------------------------------------------------------------------------

local function list()
    for _, s in ipairs(streams) do
        print(("     %s: priority 0%s"):format(s.name,
            s.flags.non_blocking and ", does not wait for the NULL stream" or ""))
    end
    program.list()
end

draw()
if options.list then list() end
lab.synchronize()               -- the tensors are filled on the NULL stream
program.run()                   -- warm-up
lab.synchronize()
collectgarbage()
program.show(lab.profile(program.run), streams)
