-- 59-random-kernels.t.lua - the kernels of the random programs compile, and the programs are the
-- same ones as without a compiler (58-random-kernels.t.lua).

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

for seed = 0, 30 do
    local status, text = run(seed)
    T.is(status, 0, ("seed %d runs"):format(seed))
    local _, without = run(seed, "env STREAMLAB_CXX=none")
    T.is(text, without, ("seed %d takes as long without a compiler"):format(seed))
end
T.done()
