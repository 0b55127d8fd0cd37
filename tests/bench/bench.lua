-- bench.lua BUILD - the simulated GPU's figures of docs/design, each measured in
-- whole processes of BUILD/streamlab: what, the figure to hold, the figure
-- measured, and the command that measures it. Run by `make bench`.
local build = arg[1] or "build"
local program = build .. "/streamlab"
local timeit = build .. "/tests/bench/timeit"
local ops = program .. " tests/bench/ops.lua "

local function output(command)
    local pipe = assert(io.popen(command))
    local text = pipe:read("a")
    if not pipe:close() then
        error("this failed: " .. command, 0)
    end
    return text
end

-- Median wall time in ms and largest resident size in MB of n runs.
local function timed(n, command)
    local median, _, _, kib = output(timeit .. " " .. n .. " " .. command):match(
        "(%S+) (%S+) (%S+) (%S+)")
    return tonumber(median), tonumber(kib) * 1024 / 1e6
end

-- Real seconds and virtual ms that ops.lua printed.
local function simulated(arguments)
    local seconds, ms = output(ops .. arguments):match("(%S+) (%S+)")
    return tonumber(seconds), ms
end

local layout = "%-46s %14s %14s  %-7s %s"

local function row(what, hold, measured, holds, command)
    print(layout:format(what, hold, measured,
        holds == nil and "" or holds and "holds" or "MISSES", command))
    io.stdout:flush()
end

local function start_up()
    local command = program .. " -e ''"
    local ms = timed(21, command)
    row("start-up, median of 21", "<= 2.5 ms", ("%.2f ms"):format(ms), ms <= 2.5, command)
    command = program .. " --backend sim -e 'lab.device()'"
    ms = timed(21, command)
    row("and the simulated GPU opened", "<= 2.5 ms", ("%.2f ms"):format(ms), ms <= 2.5, command)
end

local function puzzler()
    local command = program .. " --backend sim scripts/puzzler.lua"
    local ms, mb = timed(5, command)
    row("puzzler, wall time, median of 5", "<= 150 ms", ("%.1f ms"):format(ms), ms <= 150, command)
    row("puzzler, resident memory", "<= 100 MB", ("%.1f MB"):format(mb), mb <= 100, command)
end

local function speed()
    local million = 1000000
    local one, virtual = simulated(tostring(million))
    local rate = 1 / one
    row("operations enqueued and scheduled, 1 M mixed", ">= 1 M/s", ("%.2f M/s"):format(rate),
        rate >= 1, ops .. million)
    local ten = simulated(tostring(10 * million))
    row("time of 10 M operations over 10 x 1 M", "<= 1.15", ("%.3f"):format(ten / one / 10),
        ten / one / 10 <= 1.15, ops .. 10 * million)
    local _, recorded = simulated(million .. " record")
    row("virtual time of 1 M operations, recorded", virtual .. " ms", recorded .. " ms",
        virtual == recorded, ops .. million .. " record")
end

local function graphs()
    local command = program .. " tests/bench/graphs.lua 10000"
    local rate = tonumber(output(command))
    row("nodes of a graph of 10000, launched 100 times", ">= 2 M/s", ("%.2f M/s"):format(rate),
        rate >= 2, command)
end

local function memory()
    local _, less = timed(1, ops .. "1000000 record")
    local _, more = timed(1, ops .. "3000000 record")
    local bytes = (more - less) * 1e6 / 2e6
    row("memory an operation kept, (3 M - 1 M) / 2 M", "<= 50 B", ("%.0f B"):format(bytes),
        bytes <= 50, ops .. "3000000 record")
end

-- Of a million spans, each question by itself.
local function overlap()
    local command = program .. " tests/bench/overlap.lua 1000000"
    for what, seconds in output(command):gmatch("(%a[%a ]-) +(%d%S+)\n") do
        local limit = what:find("causes") and 5 or 1      -- these explain the timeline
        row(what .. ", 1 M spans", ("< %d s"):format(limit), ("%.3f s"):format(seconds),
            tonumber(seconds) < limit, command)
    end
end

-- The worst of 1, 8 and 64 streams, blocking and not; then a thousand, without a limit.
local function checked()
    local command = program .. " tests/bench/checked.lua"
    local names, worst = {}, {}
    for name, _, _, _, _, ratio in output(command):gmatch(
        "(%S[^\n]-) +(%d+) (%S+) +(%S+) +(%S+) +(%S+)\n") do
        if not worst[name] then table.insert(names, name) end
        worst[name] = math.max(worst[name] or 0, tonumber(ratio))
    end
    for _, name in ipairs(names) do
        row("checked, " .. name, "<= 2 x", ("%.2f x"):format(worst[name]), worst[name] <= 2,
            command .. (" '%s'"):format(name))
    end
    command = command .. " all 1000 blocking"
    for name, ratio in output(command):gmatch("(%S[^\n]-) +1000 [^\n]- (%S+)\n") do
        row(name .. ", 1000 streams", "", ratio .. " x", nil, command)
    end
end

local function checked_memory()
    local command = program .. " tests/bench/checked_memory.lua"
    local mb = output(command):match("%S+")
    row("checked, growth by 1 M operations", "<= 1 MB", mb .. " MB", tonumber(mb) <= 1, command)
end

-- The same loop in plain C is 100 %. Nothing where no C++ compiler is.
local function kernels()
    local command = build .. "/tests/bench/kernel_speed"
    local _, _, _, whole, blocks = output(command):match("(%S+) (%S+) (%S+) (%S+) (%S+)")
    if not whole then return row("kernels of one's own", "", "no compiler", nil, command) end
    row("a kernel over 16 M elements, its blocks", ">= 80 %", blocks .. " %",
        tonumber(blocks) >= 80, command)
    row("the same with all that a launch adds", ">= 80 %", whole .. " %",
        tonumber(whole) >= 80, command)
end

print(layout:format("what", "to hold", "measured", "", "command"))
start_up()
puzzler()
speed()
graphs()
memory()
overlap()
checked()
checked_memory()
kernels()
