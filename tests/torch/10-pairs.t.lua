-- 10-pairs.t.lua - what streamlab shows on the simulator beside what PyTorch showed on a GPU
-- (recorded.txt): they differ in the lines that the pairs state, and in no others.

require("lua.quiet")()      -- a priority out of range is told of

local T = require "tap"
local list = require "torch.pairs"
local ours = require "torch.ours"
local results = require "torch.results"

local recorded, head = results.read("tests/torch/recorded.txt")
local names = {}

local function check(pair, torch)
    local theirs, shown = recorded[pair.name], ours.run(pair, "sim", torch)
    local name = pair.name .. (torch and ", after torch_defaults" or "")
    T.is(results.differing(shown, theirs), results.stated(pair, torch), name
        .. ": it shows what PyTorch does, but for the lines that are stated")
    T.is(#results.counted(shown), #results.counted(theirs), name .. ": as many lines as PyTorch's")
end

T.like(table.concat(head, "\n"), "# PyTorch %d[^\n]*, CUDA [^\n]*, NVIDIA",
       "the record says of what it is")
for _, pair in ipairs(list) do
    local theirs = recorded[pair.name]
    T.ok(not names[pair.name], pair.name .. ": one pair has the name")
    names[pair.name] = true
    if T.ok(theirs and not theirs[#theirs]:find("^ended by"),
            pair.name .. ": PyTorch's is recorded") then
        check(pair, false)
        check(pair, true)
    end
end
for name in pairs(recorded) do T.ok(names[name], name .. ": what is recorded is a pair's") end
T.done()
