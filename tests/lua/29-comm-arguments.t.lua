-- 29-comm-arguments.t.lua - lab.comm: what it is given. Collectives themselves are tested by
-- tests/both/collectives.t.lua and tests/core/t-42-comm.c.

local T = require "tap"
local ideal = require "lua.ideal"

local device = lab.open{backend = "sim"}

local function refuses(opts, code, pattern, name)
    ideal.refuses(T, function() lab.comm(opts) end, code, pattern, name)
end

refuses(nil, "SL_EINVAL", "it needs a table: lab%.comm{devices = {0, 1}}", "nothing")
refuses({}, "SL_EINVAL", "devices = is missing", "no devices and no id")
refuses({devices = {}}, "SL_EINVAL", "option 'devices' must be a list of GPUs", "no device")
refuses({devices = 2}, "SL_EINVAL", "option 'devices' must be a list of GPUs", "a number of them")
refuses({devices = {0, false}}, "SL_EINVAL", "a device is the number of a GPU.*got boolean",
        "what is no device")
refuses({devices = {"cpu"}}, "SL_EINVAL", "a device is the number of a GPU.*got \"cpu\"", "the host")
refuses({devices = {0, 999}}, "SL_ENOTFOUND", "999", "a GPU that is not there")
refuses({devices = {device, device}}, "SL_EINVAL", "ranks 0 and 1 are one GPU", "a GPU twice")
refuses({devices = {0}, rank = 0}, "SL_EINVAL", "devices = and rank =", "both ways at once")
refuses({id = "x", rank = 0}, "SL_EINVAL", "size = is missing", "a rank without a size")
refuses({id = "x", size = 2}, "SL_EINVAL", "rank = is missing", "and a size without a rank")
refuses({id = "x", rank = 0, size = 2}, "SL_EUNSUPPORTED", ".", "simulated GPUs of two processes")
refuses({devices = {0}, channels = 0}, "SL_EINVAL", "option 'channels'", "no channels")
refuses({devices = {0}, chanels = 1}, "SL_EINVAL", "unknown option 'chanels'", "a typo")
T.done()
