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

local all, failed = {}, {}
local last <const> = T.sized(12, 30)
for seed = 0, last do
    local status, text = run("--list --seed " .. seed)
    if status ~= 0 then failed[#failed + 1] = ("%d: %s"):format(seed, text:match("[^\n]*")) end
    all[#all + 1] = text
end
T.is_deeply(failed, {}, ("of %d seeds each runs without a race"):format(last + 1))
T.is(select(2, run("--list --seed 4")), all[5], "a seed gives the same program again")
T.isnt(all[5], all[6], "and not another's")
local text = table.concat(all)
for _, kind in ipairs(kinds) do T.ok(text:find(kind[2]) ~= nil, "there are " .. kind[1]) end

local status, why = run("--seed -1")
T.is(status, 2, "a seed below 0 is wrong usage")
T.like(why, "random_kernels: %-%-seed needs a whole number", "which it says")
T.is(run("--what"), 2, "and so is an unknown argument")
T.done()
