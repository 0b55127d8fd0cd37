-- 66-facts-gpus.t.lua - facts that hold for every GPU hold on each one that can be simulated.
-- (Those that were measured on one GPU are not asked: other profiles are from data sheets.)

require "lua.quiet" ()

local T = require "tap"
local observed = require "both.observed"
local import = dofile("docs/generate/source.lua").environment("").import

local facts <const> = {}
for _, topic in ipairs(import "docs/facts/all.lua") do
    for _, fact in ipairs(topic) do
        if observed[fact.id] and not fact.h200 then facts[#facts + 1] = fact end
    end
end

local function profiles()
    local names = {}
    for path in io.popen("ls scripts/profiles/*.lua"):lines() do
        names[#names + 1] = path:match("([^/]+)%.lua$")
    end
    return names
end

local function check(gpu, wanted)
    lab.spin(0.01)
    lab.synchronize()
    for _, fact in ipairs(facts) do
        if not wanted or wanted[fact.id] then
            local seen, said = observed[fact.id]()
            lab.synchronize()
            T.is(seen, said, ("%s: %s"):format(gpu, fact.id))
            collectgarbage()
        end
    end
end

for _, profile in ipairs(profiles()) do
    lab.open{ backend = "sim", profile = profile }
    check(profile)
end
for engines = 0, 4 do
    lab.open{ backend = "sim", overrides = { async_engine_count = engines } }
    check(engines .. " copy engines",
          { ["both-directions"] = true, ["copies-beside-kernels"] = true })
end
T.done()
