-- facts.t.lua - the facts of docs/facts that can be run come out as stated. Those that were
-- measured on one GPU alone are run on the simulator, and on a GPU of that name.

require "lua.quiet" ()

local T = require "tap"
local observed = require "both.observed"
local second = require "both.second"
local import = dofile("docs/generate/source.lua").environment("").import

T.open()
local no_two            -- asked at the first fact of two GPUs
local applies <const> = lab.device().backend == "sim" or lab.device().name:find("H200", 1, true)

-- Loads the kernels that the facts use.
local function warm_up()
    local x = lab.ones(4)
    lab.add(x, lab.full(1, 4))
    lab.mul(x, x)
    lab.sum(x):item()
    lab.spin(0.01)
    lab.synchronize()
end

-- Why facts of two GPUs cannot be run; nil if they can.
local function why_no_two()
    local one = lab.device()
    local fine, why = pcall(function() lab.comm{ devices = { one, second() } }:free() end)
    one:make_current()
    return not fine and tostring(why) or nil
end

local function run(fact)
    if fact.gpus and no_two == nil then no_two = why_no_two() or false end
    if fact.gpus and no_two then
        T.skip(fact.id .. ": " .. no_two)
        return
    end
    if T.launches_block or fact.h200 and not applies then
        T.skip(fact.id .. ": not on this GPU, or not with CUDA_LAUNCH_BLOCKING")
        return
    end
    local seen, said = observed[fact.id]()
    lab.synchronize()
    T.is(seen, said, fact.id .. ": " .. fact.fact)
    collectgarbage()
end

warm_up()
for _, topic in ipairs(import "docs/facts/all.lua") do
    for _, fact in ipairs(topic) do
        if observed[fact.id] then run(fact) end
    end
end
T.done()
