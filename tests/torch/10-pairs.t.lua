-- 10-pairs.t.lua - the Lua side of the pairs of tests/torch/pairs, on the simulator.

require("lua.quiet")()      -- a priority out of range is told of

local T = require "tap"
local list = require "torch.pairs"
local ours = require "torch.ours"

local names = {}

local function check(pair)
    T.ok(not names[pair.name] and #pair.rows > 0, pair.name .. ": one name, and a row")
    names[pair.name] = true
    for _, torch in ipairs { false, true } do
        local shown = ours.run(pair, "sim", torch)
        T.ok(#shown > 0 and not shown[#shown]:find("^ended by"), pair.name .. (torch
            and ": it runs to its end, also with torch_defaults" or ": it runs to its end"))
    end
end

for _, pair in ipairs(list) do check(pair) end
T.done()
