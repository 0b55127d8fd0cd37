-- 58-random-kernels.t.lua - random programs with kernels of one's own: a seed gives the same
-- program again, none has a race, and all kinds of steps occur. Nothing reads values, so nothing is
-- compiled here; that the kernels compile is tested by 59-random-kernels.t.lua, in make check-long.

local T = require "tap"
local ideal = require "lua.ideal"
local path <const> = "scripts/experiments/random_kernels.lua"

local function run(arguments)
    return ideal.run(path, arguments, { through = "env STREAMLAB_CXX=none",
                                        options = "--backend sim --profile textbook "
                                            .. "--check=error" })
end

local kinds <const> = {
    { "kernels bound by memory", ": axpy%(" }, { "kernels bound by arithmetic", ": rounds%(" },
    { "kernels bound by latency", ": chase%(" },
    { "kernels with barriers", ": transpose%(" },
    { "kernels with much shared memory", "KiB of shared memory" },
    { "kernels with many registers", ": outer%(" }, { "kernels with atomics", ": histogram%(" },
    { "uploads", ": upload" }, { "downloads", ": download" }, { "events", "waits for it" },
    { "waits of the host", "host: waits" }, { "work of the host", "host: works" },
}

ideal.random_programs(T, "random_kernels", run, T.sized(12, 30), kinds)
T.done()
