-- 29-comm-arguments.t.lua - lab.comm: what it is given. Collectives themselves are tested by
-- tests/both/collectives.t.lua and tests/core/t-42-comm.c.

local T = require "tap"
local ideal = require "lua.ideal"

local device = lab.open{ backend = "sim" }

local function refuses(opts, code, pattern, name)
    ideal.refuses(T, function() lab.comm(opts) end, code, pattern, name)
end

refuses(nil, "SL_EINVAL", "it needs a table: lab%.comm{ devices = { 0, 1 } }", "nothing")
refuses({}, "SL_EINVAL", "devices = is missing", "no devices and no id")
refuses({ devices = {} }, "SL_EINVAL", "option 'devices' must be a list of GPUs", "no device")
refuses({ devices = 2 }, "SL_EINVAL", "option 'devices' must be a list of GPUs", "a number of them")
refuses({ devices = { 0, false } }, "SL_EINVAL", "a device is the number of a GPU.*got boolean",
        "what is no device")
refuses({ devices = { "cpu" } }, "SL_EINVAL",
        "a device is the number of a GPU.*got \"cpu\"", "the host")
refuses({ devices = { 0, 999 } }, "SL_ENOTFOUND", "999", "a GPU that is not there")
refuses({ devices = { device, device } }, "SL_EINVAL", "ranks 0 and 1 are one GPU", "a GPU twice")
refuses({ devices = { 0 }, rank = 0 }, "SL_EINVAL", "devices = and rank =", "both ways at once")
refuses({ id = "x", rank = 0 }, "SL_EINVAL", "size = is missing", "a rank without a size")
refuses({ id = "x", size = 2 }, "SL_EINVAL", "rank = is missing", "and a size without a rank")
refuses({ id = "x", rank = 0, size = 2 }, "SL_EUNSUPPORTED", ".", "simulated GPUs of two processes")
refuses({ id = "x", rank = 1, size = 2 }, "SL_EUNSUPPORTED", "all in one process",
        "at once, also for a rank that would wait for the file")
refuses({ devices = { 0 }, channels = 0 }, "SL_EINVAL", "option 'channels'", "no channels")
refuses({ devices = { 0 }, chanels = 1 }, "SL_EINVAL", "unknown option 'chanels'", "a typo")

-- ---- what collectives are given ------------------------------------------------------------

lab.open{ backend = "sim", index = 1 }
local comm, one = lab.comm{ devices = { 0, 1 } }, lab.comm{ devices = { 0 } }
local a, b = lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" })
local freed = { lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" }) }
for _, t in ipairs(freed) do t:free() end
local closed = lab.stream{}
closed:close()

local function is_refused(name, f, op, pattern)
    local ok, err = pcall(f)
    T.ok(not ok and err.code == "SL_ECLOSED" and err.op == op and err.message:find(pattern), name)
end

is_refused("a tensor that was freed", function() comm:all_reduce(freed[1]) end, "all_reduce",
           "^argument 2 %(t%): the tensor was freed$")
is_refused("one of a list", function() comm:all_reduce{ a, freed[2] } end, "all_reduce",
           "^argument 2 %(t%), element 2: the tensor was freed$")
is_refused("the first of a list", function() comm:broadcast{ freed[1], b } end, "broadcast",
           "^argument 2 %(t%), element 1: the tensor was freed$")
is_refused("with one rank", function() one:all_reduce(freed[1]) end, "all_reduce",
           "^argument 2 %(t%): the tensor was freed$")
is_refused("one to send", function() comm:send(freed[1], { dst = 1 }) end, "send",
           "^argument 2 %(t%): the tensor was freed$")
is_refused("a result that was freed", function() one:all_gather(a, { out = freed[1] }) end,
           "all_gather", "^option 'out': the tensor was freed$")
is_refused("one of two results",
           function() comm:all_gather({ a, b }, { out = { a, freed[2] } }) end, "all_gather",
           "^option 'out', element 2: the tensor was freed$")
is_refused("a stream that was closed", function() one:all_reduce(a, { stream = closed }) end,
           "all_reduce", "^option 'stream': the stream was closed$")
one:free()
is_refused("a communicator that was freed", function() one:all_reduce(a) end, "all_reduce",
           "^the communicator has been freed$")
comm:free()
comm, one, a, b, freed, closed = nil, nil, nil, nil, nil, nil
T.done()
