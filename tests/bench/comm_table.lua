-- comm_table.lua FILE [PROFILE] - collectives simulated and measured. FILE is what
-- tests/bench/cuda/raw_comm.cu printed on two GPUs; each of its measurements is run on two
-- simulated ones (h200), in the same way. Prints each figure, and the errors' median, p90 and
-- worst.

local path <const> = assert(arg[1], "usage: streamlab tests/bench/comm_table.lua FILE [PROFILE]")
local profile <const> = arg[2] or "h200"

local gpus = {}
for i = 0, 1 do gpus[i + 1] = lab.open{ backend = "sim", profile = profile, index = i } end

local function on(i, f, ...)
    gpus[i]:make_current()
    return f(...)
end

local streams, homes = {}, { "cuda:0", "cuda:1" }
for i = 1, 2 do
    streams[i] = on(i, function()
        return { work = lab.stream{ non_blocking = true, name = "work" },
                 side = lab.stream{ non_blocking = true, name = "side" },
                 urgent = lab.stream{ non_blocking = true, name = "urgent", priority = -5 } }
    end)
end

-- ---- the file --------------------------------------------------------------------------

-- A line of JSON with no tables in it.
local function fields(line)
    local row = {}
    for key, text in line:gmatch('"([%w_]+)": "([^"]*)"') do row[key] = text end
    for key, word in line:gmatch('"([%w_]+)": ([%w.-]+)') do
        if word == "true" or word == "false" then row[key] = word == "true"
        else row[key] = tonumber(word) end
    end
    return row
end

local function read_rows()
    local rows = {}
    for line in io.lines(path) do
        if line:find('^{"section"') then rows[#rows + 1] = fields(line) end
    end
    return rows
end

-- ---- errors ----------------------------------------------------------------------------

local errors = {}

local function compare(what, measured, simulated, group)
    local off = (simulated / measured - 1) * 100
    errors[group] = errors[group] or {}
    table.insert(errors[group], math.abs(off))
    print(("%-44s measured %10.2f us, simulated %10.2f us, %+6.1f %%"):format(what, measured,
                                                                              simulated, off))
end

local function summary(group)
    local list = errors[group]
    if not list then return end
    table.sort(list)
    local function at(part) return list[math.max(1, math.ceil(part * #list))] end
    print(("%s: %d figures, median %.1f %%, p90 %.1f %%, worst %.1f %%"):format(
        group, #list, at(0.5), at(0.9), list[#list]))
end

-- ---- what is measured ------------------------------------------------------------------

local comms = {}
local function comm_with(channels)
    comms[channels] = comms[channels]
        or lab.comm{ devices = { 0, 1 }, channels = channels > 0 and channels or nil }
    return comms[channels]
end

local function floats(bytes, i) return lab.empty(bytes // 4, { device = homes[i] }) end

-- A function that calls the collective on both GPUs' streams of that name.
local function caller(comm, collective, bytes, name)
    local both = { streams[1][name], streams[2][name] }
    local large, small = { floats(bytes, 1), floats(bytes, 2) }, {}
    if collective == "all_gather" or collective == "reduce_scatter" then
        small = { floats(bytes // 2, 1), floats(bytes // 2, 2) }
    end
    return function()
        if collective == "all_gather" then
            comm:all_gather(small, { out = large, streams = both })
        elseif collective == "reduce_scatter" then
            comm:reduce_scatter(large, { out = small, streams = both })
        else
            comm[collective](comm, large, { streams = both })
        end
    end
end

local function hold(us)
    for i = 1, 2 do on(i, lab.spin, us / 1000, { stream = streams[i].work, blocks = 1 }) end
end

local function event(i) return on(i, lab.event, { timing = true }) end

local function synchronize()
    for i = 1, 2 do on(i, lab.synchronize) end
end

-- One after the other, behind a hold and one of them.
local function row_us(call, n)
    local from, to = event(1), event(1)
    hold(200 + 60 * n)
    call()
    streams[1].work:record_event(from)
    for _ = 1, n do call() end
    streams[1].work:record_event(to)
    synchronize()
    return from:elapsed_time(to) * 1000 / n
end

local function size(bytes)
    if bytes >= 1 << 30 then return ("%d GiB"):format(bytes >> 30) end
    if bytes >= 1 << 20 then return ("%d MiB"):format(bytes >> 20) end
    return ("%d KiB"):format(bytes >> 10)
end

local function row(r)
    local channels = r.channels or 0
    local n = r.bytes < 1 << 24 and 20 or 5
    local us = row_us(caller(comm_with(channels), r.collective, r.bytes, "work"), n)
    local with = channels > 0 and (", %d channels"):format(channels) or ""
    compare(("%s of %s%s"):format(r.collective, size(r.bytes), with), r.us, us, r.section)
end

local function host(r)
    local call = caller(comm_with(0), r.collective, r.bytes, "work")
    hold(1000)
    local from = lab.now_us()
    for _ = 1, 10 do call() end
    local us = (lab.now_us() - from) / 10
    synchronize()
    compare(("host: a group of two all_reduces of %s"):format(size(r.bytes)), r.us, us, "host")
end

-- ---- together --------------------------------------------------------------------------

local MATMULS <const> = 10

local function matmuls(i, t)
    for _ = 1, MATMULS do lab.matmul(t.a, t.b, { out = t.c, stream = streams[i].work }) end
end

local function run_together(t, call, name)
    local from, from2, to, to2 = {}, {}, {}, {}
    for i = 1, 2 do
        local s = streams[i]
        from[i], from2[i], to[i], to2[i] = event(i), event(i), event(i), event(i)
        on(i, lab.spin, 1.5, { stream = s.work, blocks = 1 })
        s[name]:wait_stream(s.work)
        s.work:record_event(from[i])
        s[name]:record_event(from2[i])
    end
    for i = 1, 2 do if t then on(i, matmuls, i, t[i]) end end
    for _ = 1, MATMULS do if call then call() end end
    for i = 1, 2 do
        streams[i].work:record_event(to[i])
        streams[i][name]:record_event(to2[i])
    end
    synchronize()
    local compute, collect = from[1]:elapsed_time(to[1]), from2[1]:elapsed_time(to2[1])
    return compute * 1000, collect * 1000
end

local function matrices(kind, n)
    local list = {}
    for i = 1, 2 do
        local opts = { dtype = kind == "bf16" and "bfloat16" or "float32", device = homes[i] }
        list[i] = { a = lab.empty(n, n, opts), b = lab.empty(n, n, opts),
                    c = lab.empty(n, n, opts) }
    end
    return list
end

local function points(name, measured, simulated)
    print(("    %s slowed: measured %.3f, simulated %.3f, %+.1f points"):format(
        name, measured, simulated, (simulated - measured) * 100))
end

local function together(r)
    local kind, n = r.matmul:match("^(%S+) (%d+)$")
    local t, name = matrices(kind, tonumber(n)), r.urgent and "urgent" or "side"
    local call = caller(comm_with(r.channels), "all_reduce", 256 << 20, name)
    local what = ("%s, %d channels%s"):format(r.matmul, r.channels, r.urgent and ", urgent" or "")
    local alone = run_together(t, nil, name)
    local _, collect_alone = run_together(nil, call, name)
    local compute, collect = run_together(t, call, name)
    compare(what .. ": matmuls alone", r.matmuls_us, alone, "alone")
    compare(what .. ": all_reduces alone", r.all_reduces_us, collect_alone, "alone")
    compare(what .. ": matmuls", r.both_matmuls_us, compute, "together")
    compare(what .. ": all_reduces", r.both_all_reduces_us, collect, "together")
    compare(what .. ": both", r.both_us, math.max(compute, collect), "makespan")
    points("matmuls", r.both_matmuls_us / r.matmuls_us, compute / alone)
    points("all_reduces", r.both_all_reduces_us / r.all_reduces_us, collect / collect_alone)
end

local sections <const> = { sizes = row, channels = row, host = host, together = together }
for _, r in ipairs(read_rows()) do
    if sections[r.section] and (r.policy or 0) == 0 then sections[r.section](r) end
end
for _, group in ipairs{ "sizes", "channels", "host", "alone", "together", "makespan" } do
    summary(group)
end
