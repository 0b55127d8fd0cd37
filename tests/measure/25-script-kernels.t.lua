-- 25-script-kernels.t.lua - streamlab calibrate --kernels on simulated GPUs: it finds again what
-- the script says of its kernels, adds the kernels of another script, and refuses what it cannot
-- do.

package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()
local profile = folder .. "/own.lua"

local function write(name, text)
    shell.write(folder .. "/" .. name, text)
    return folder .. "/" .. name
end

local function calibrate(rest)
    return shell.sh(("\"$P\" calibrate --kernels --quiet -o %s %s"):format(profile, rest))
end

local script = write("script.lua", [[
local opts = {name = "work", args = {"in f32*", "inout f32*", "i32"}, cpu = function() end}
if arg[1] ~= "asks" then opts.cost = {us = function(_, _, x) return x:numel() / 100 end} end
local k = lab.kernel(opts)
local s = lab.stream()
for _, n in ipairs {1000, 3000} do
    local x = lab.ones(n)
    for _ = 1, 3 do k(n // 100, 64, {stream = s, shared = 512}, x, x, n) end
    if arg[1] == "frees" then x:free() end
end
if arg[1] == "asks" then
    lab.synchronize()
    local x = lab.ones(2000)
    local tl = lab.profile(function() k(20, 64, {shared = 512}, x, x, 2000) end)
    print(tl:spans()[1].end_us - tl:spans()[1].start_us)
end
]])

local other = write("other.lua", [[
lab.kernel {name = "fixed", args = {}, cpu = function() end, cost = {us = 7}} (1, 32)
]])

local out, err, code = calibrate("--profile textbook " .. other)
tap.is(out .. err, "", "it says nothing")
tap.is(code, 0, "a script's kernels are measured")
local t = dofile(profile)
tap.is(t.base, "textbook", "the base")
local hash, kernel = next(t.kernels)
tap.is(kernel.name, "fixed", "the kernel")
tap.near(kernel.launches[1].us, 7, 1e-3, "as long as the script says")
tap.near(kernel.launches[1].cold_us, 7, 1e-3, "also with other data in the L2")

out, err, code = calibrate("--profile textbook " .. script .. " frees")
tap.like(err, "^streamlab: calibrate: a launch of work could not be repeated: .*freed\n",
         "tensors that the script has freed")
tap.is(code, 1, "and then nothing could be measured")
out, err, code = calibrate("--profile textbook " .. script)
tap.is(out .. err, "", "a second script")
tap.is(code, 0, "is added")
t = dofile(profile)
tap.is(t.kernels[hash].launches[1].us, 7, "the first one's kernels stay")
local work
for _, k in pairs(t.kernels) do work = k.name == "work" and k or work end
tap.is(#work.launches, 2, "launches that are alike are measured once")
tap.near(work.launches[1].us, 10, 1e-3, "a time that depends on the arguments")
tap.near(work.launches[2].us, 30, 1e-3, "and another one")
tap.is(work.launches[2].grid, 30, "the grid")
tap.is(work.launches[2].shared, 512, "shared memory")
tap.is(work.launches[2].bytes, 24000, "bytes of the tensors")

out = shell.sh(("\"$P\" --profile %s %s asks"):format(profile, script))
tap.near(tonumber(out), 20, 1e-3, "with the profile the script needs no cost: between the two")

local seeded = write("seeded.lua", [[
local seed = tonumber(arg[#arg])
local k = lab.kernel {name = "seeded", args = {"i32"}, cpu = function() end, cost = {us = function(_, _, n) return n end}}
k(1, 32, seed)
k(1, 32, 100)
]])
out, err, code = calibrate("--profile textbook --seeds 5-7 " .. seeded)
tap.is(out .. err .. code, "0", "a script with three seeds")
local numbers = {}
for _, k in pairs(dofile(profile).kernels) do
    for _, launch in ipairs(k.name == "seeded" and k.launches or {}) do
        numbers[#numbers + 1] = launch.numbers[1]
        tap.near(launch.us, launch.numbers[1], 1e-3, "a launch's time")
    end
end
table.sort(numbers)
tap.is(table.concat(numbers, " "), "5 6 7 100",
       "it was run with each of them, and what they share was measured once")

local function fails(rest, status, text, name)
    local _, why, got = calibrate(rest)
    tap.like(why, text, name)
    tap.is(got, status, name .. ": its status")
end

fails("", 2, "%-%-kernels needs a script", "no script")
fails("--profile textbook /nonexistent.lua", 1, "there is no script /nonexistent.lua",
      "no such script")
tap.is(select(3, shell.sh(("\"$P\" calibrate --seeds 1-2 -o %s"):format(profile))), 2,
       "--seeds without --kernels is refused")
fails("--profile textbook --only host " .. script, 2,
      "%-%-kernels measures kernels of a script", "with --only")
fails("--profile h200 " .. script, 1, "is no file of %-%-kernels with the base h200",
      "another base")
fails("--profile textbook " .. write("none.lua", "lab.spin(1)"), 1,
      "launches no kernel of lab.kernel", "no kernel")
fails("--profile textbook " .. write("broken.lua", "error('no')"), 1, "broken.lua failed: .*no",
      "a script that fails")

tap.done()
