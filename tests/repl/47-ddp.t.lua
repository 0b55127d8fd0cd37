-- 47-ddp.t.lua - three steps of PyTorch's DDP on two H200s, as its profiler wrote them
-- (tests/timeline/data/README.md): what is said of the ranks agrees with arithmetic on the events
-- by an independent program.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh = shell.sh

local function files(setting)
    return (" tests/timeline/data/ddp-%s.rank0.json.gz tests/timeline/data/ddp-%s.rank1.json.gz")
        :format(setting, setting)
end
local function ranks(setting) return json.read((sh('"$P" show --json' .. files(setting)))) end

-- ---- what is known of the program ------------------------------------------------------

-- One bucket, and rank 1 runs a kernel of 2 ms before the backward pass.
local slow = ranks "400-spin"
tap.is(slow.collectives_in_common, 4, "a collective of the step before, and one in each step")
for i, step in ipairs(slow.steps) do
    tap.is(step.rank, 1, ("step %d waits for rank 1"):format(i))
end
tap.is(slow.collectives[1].bytes, 24 * (2048 * 2048 + 2048) * 4,
    "it is as large as 24 matrices of 2048 x 2048 and their biases")

-- Rank 1 was recorded five collectives earlier than rank 0.
local even = ranks "25-even"
tap.is(even.collectives_in_common, 36, "of a rank that began earlier what both have is matched")
tap.is(even.ranks[2].collectives - even.ranks[1].collectives, 5, "though it has more")
tap.ok(even.ranks[2].spread_us < 30, "so that the clocks of one host agree")

local printed = sh('COLUMNS=80 "$P" show' .. files "25-even")
for n = 0, 1 do
    tap.ok(printed:find(("  ddp-25-even.rank%d\n"):format(n), 1, true),
        ("the name of rank %d's file is cut so that it tells the rank"):format(n))
end

-- ---- by an independent program -----------------------------------------------------------

local function compare(setting, found)
    local text, _, code = sh("python3 tests/record/exposed.py" .. files(setting))
    if code ~= 0 then
        tap.skip("no python3")
        return
    end
    local raw = json.read(text)
    for n, r in ipairs(found.ranks) do
        local by_hand = raw.ranks[tostring(n - 1)]
        local name = (" of rank %d, %s"):format(n - 1, setting)
        tap.is(r.exposed_us, by_hand.exposed, "exposed communication" .. name)
        tap.is(r.compute_us, by_hand.compute, "computation" .. name)
        tap.is(("%.3f"):format(r.exposed_us + r.covered_us), ("%.3f"):format(by_hand.comm),
            "all communication" .. name)
    end
end
compare("400-spin", slow)
compare("25-even", even)

tap.done()
