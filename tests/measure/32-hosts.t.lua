-- 32-hosts.t.lua - tests/bench/fidelity/hosts.lua, with a simulated GPU in the real one's place:
-- from the second group of programs on they are predicted with the host that the first has shown.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh, quote = shell.sh, shell.quote

local folder = shell.folder()

local function run(rest)
    return sh(("STREAMLAB_HOSTS=%s \"$P\" --backend sim tests/bench/fidelity/hosts.lua %s"):format(
        quote(folder .. "/hosts"), rest))
end

-- Launches one behind the other: as long as the host takes for them.
local script <const> = shell.write(folder .. "/calls.lua", [[
local a = lab.rand(64, 64)
local function work() for _ = 1, 30 + arg[2] do lab.pow(a, 2, { out = a }) end end
work()
lab.synchronize()
lab.profile(work)
error("what a script does behind that is left out")
]])
local host <const> = shell.write(folder .. "/host.lua",
    ('return {base = "h200", ["host.launch_us"] = %g}'):format(
        1.5 * dofile("scripts/profiles/h200.lua").host.launch_us))

local out_file <const> = folder .. "/out.jsonl"
local out, err, code = run(("%s 60 --host %s %s 1-27"):format(quote(out_file), quote(host),
    quote(script)))
tap.is(code, 0, "programs are predicted and run: " .. err)
local lines = {}
for line in shell.read(out_file):gmatch("[^\n]+") do
    lines[#lines + 1] = json.read(line)
end
tap.is(#lines, 27, "each has a line")
local first, later = lines[1], lines[26]
tap.is(first.host, "", "before the first group nothing is known")
tap.is(first.measured.us, first.h200.us, "so the profile alone predicts")
tap.like(later.host, "^calls 1%.50 x %(%d+%)$", "then the host is known: calls cost 1.5 times")
tap.ok(later.h200.us < 0.8 * later.us, "the profile's own is off")
tap.ok(later.measured.us > 1.15 * later.h200.us and later.measured.us < 0.95 * later.us,
    "what recordings showed beyond 1.2 is nearer")
tap.ok(later.measured.low_us < later.us and later.us < later.measured.high_us,
    "the range has what it took")

out, err, code = run("--score " .. quote(out_file))
tap.is(code .. err, "0", "--score reads it")
tap.like(out, "calls%.lua, pinned only +27 +h200 .* inside .*calls%.lua, pinned only +27 "
    .. "+measured ", "and prints errors and ranges of both")
for _, wrong in ipairs { "", "--score", "x.jsonl nothing s.lua 1-2", "x.jsonl 5 s.lua 1" } do
    _, err, code = run(wrong)
    tap.is(code, 2, ("'%s' is wrong usage"):format(wrong))
    tap.like(err, "usage: streamlab hosts.lua", "and it says how")
end

shell.remove(folder)
tap.done()
