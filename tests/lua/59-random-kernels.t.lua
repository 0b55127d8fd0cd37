-- 59-random-kernels.t.lua - the kernels of the random programs compile, and the programs are the
-- same ones as without a compiler (58-random-kernels.t.lua). Their times are not: how much shared
-- memory a kernel's source declares is known once it is compiled, and a launch's time depends on
-- it.

local T = require "tap"
local ideal = require "lua.ideal"

if not T.computes_kernels() then
    T.skip("there is no C++ compiler", 1)
    T.done()
    return
end

local function run(seed, through)
    return ideal.run("scripts/experiments/random_kernels.lua", "--list --seed " .. seed,
                     { through = through, options = "--backend sim --profile textbook "
                         .. "--check=error" })
end

local function steps(text) return text:match "^(.-)\nseed " end

for seed = 0, 30 do
    local status, text = run(seed)
    T.is(status, 0, ("seed %d runs"):format(seed))
    local _, without = run(seed, "env STREAMLAB_CXX=none")
    T.ok(steps(text), "its steps are listed")
    T.is(steps(text), steps(without), ("seed %d has the same without a compiler"):format(seed))
end
T.done()
