-- ideal.lua - what the tests of the simulator share: a device without latencies.
--
-- An experiment's outcome can be worked out on paper once the small costs (the
-- host's calls, submission, gaps, wake-ups) are zero; a test then turns on the
-- one that it is about. Times in the timeline are then exact to the nanosecond.

local M = {}

-- Profile keys that only add latency. An event's tick must be positive: 1 ns is
-- the resolution of the timeline itself.
M.no_latency = {
    submit_us = 0, stream_gap_us = 0, cross_stream_us = 0, record_us = 0, copy_latency_us = 0,
    host_func_in_us = 0, host_func_out_us = 0, event_tick_ns = 1, wake_us = 0, lazy_load_us = 0,
    kernel_fixed_us = 0, d2d_fixed_us = 0, gemm_fixed_us = 0,
    ["host.launch_us"] = 0, ["host.matmul_us"] = 0, ["host.memcpy_async_us"] = 0,
    ["host.memset_us"] = 0, ["host.record_us"] = 0, ["host.record_untimed_us"] = 0,
    ["host.wait_us"] = 0, ["host.query_us"] = 0, ["host.synchronize_us"] = 0,
    ["host.host_func_us"] = 0, ["host.stream_create_us"] = 0, ["host.event_create_us"] = 0,
    ["host.tensor_alloc_us"] = 0, ["host.pinned_alloc_us"] = 0,
    ["calls.cudaMallocHost.us"] = 0, ["calls.cudaMallocHost.us_per_mib"] = 0,
}

-- Opens the textbook profile, with the keys of `overrides` in place of its own. Work
-- on the device before it is waited for: it would stay in flight, and alive, as
-- long as nobody looks at that device again.
local opened = false
function M.textbook(overrides)
    if opened then lab.synchronize() end
    opened = true
    return lab.open{ backend = "sim", profile = "textbook", overrides = overrides or {} }
end

-- The same without latencies; `overrides` turns single ones on again.
function M.open(overrides)
    local keys = {}
    for key, value in pairs(M.no_latency) do keys[key] = value end
    for key, value in pairs(overrides or {}) do keys[key] = value end
    return M.textbook(keys)
end

-- n streams that do not take part in the NULL stream's rules.
function M.streams(n, options)
    local list = {}
    for i = 1, n do
        local o = { non_blocking = true }
        for key, value in pairs(options or {}) do o[key] = value end
        list[i] = lab.stream(o)
    end
    return list
end

-- The spans of a timeline in issue order, with .from_us and .to_us counted from
-- the first span's start.
function M.spans(tl)
    local spans, first = tl:spans(), math.huge
    for _, span in ipairs(spans) do first = math.min(first, span.start_us) end
    for _, span in ipairs(spans) do
        span.from_us, span.to_us = span.start_us - first, span.end_us - first
    end
    table.sort(spans, function(a, b) return a.correlation < b.correlation end)
    return spans
end

-- The largest number of spans that run at the same moment.
function M.most_at_once(spans)
    local edges = {}
    for _, span in ipairs(spans) do
        if span.end_us > span.start_us then
            edges[#edges + 1] = { span.start_us, 1 }
            edges[#edges + 1] = { span.end_us, -1 }
        end
    end
    table.sort(edges, function(a, b)
        if a[1] ~= b[1] then return a[1] < b[1] end
        return a[2] < b[2]              -- ends before starts
    end)
    local now, most = 0, 0
    for _, edge in ipairs(edges) do
        now = now + edge[2]
        most = math.max(most, now)
    end
    return most
end

-- How long the enqueueing call of a span kept the host.
function M.host_us(span) return span.host_end_us - span.host_start_us end

-- One spin kernel of `ms` in `stream`.
function M.spin(stream, ms, blocks, options)
    local o = { stream = stream, blocks = blocks }
    for key, value in pairs(options or {}) do o[key] = value end
    lab.spin(ms, o)
end

-- A path for a file that does not exist yet; the caller removes it.
function M.temporary(suffix)
    local base = os.tmpname()
    os.remove(base)
    return base .. (suffix or "")
end

-- The whole of a file.
function M.read(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("a")
    file:close()
    return text
end

-- Runs a script in another process of the program that runs this test, on the
-- simulator and in the C locale, with its output and errors in the file `log`.
-- `how` may name a program to run it through ("env COLUMNS=5") and other options
-- than "--backend sim". Gives the exit status and what was written.
function M.run(script, arguments, how)
    local i = -1
    while arg[i - 1] do i = i - 1 end
    local log = M.temporary(".log")
    local _, _, status = os.execute(("LC_ALL=C %s '%s' %s '%s' %s > '%s' 2>&1"):format(
        how and how.through or "", arg[i], how and how.options or "--backend sim", script,
        arguments or "", log))
    local text = M.read(log)
    os.remove(log)
    return status, text
end

-- The same with the script's text.
function M.run_text(text, how)
    local path = M.temporary(".lua")
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    local status, output = M.run(path, nil, how)
    os.remove(path)
    return status, output, path:match("[^/]+$")
end

-- Runs f and gives the error that it raises, or nil.
function M.error_of(f, ...)
    local ok, err = pcall(f, ...)
    if ok then return nil end
    return err
end

-- A check: f raises an error object of the laboratory with this code (or one of
-- several, "SL_EINVAL SL_ESHAPE"), whose one line names a script position and
-- matches `pattern`. T is the tap module.
function M.refuses(T, f, code, pattern, name)
    local err = M.error_of(f)
    local text = tostring(err)
    local codes, got = " " .. code .. " ", type(err) == "table" and tostring(err.code) or type(err)
    local right = codes:find(" " .. got .. " ", 1, true) and text:find(pattern) ~= nil
        and text:find("^[%w%-%.]+:%d+: ") ~= nil
    if not T.ok(right, name) then
        T.diag(("  raised %s (%s), expected %s like %q"):format(
            text, got, code, pattern))
    end
end

-- Runs an experiment: {{word, text}, ...}, its verdicts in order; what it printed; its status.
function M.verdicts(T, name, options)
    local status, text = M.run("scripts/experiments/" .. name .. ".lua", nil,
                               { options = options or "--backend sim --profile textbook" })
    local list = {}
    for line in text:gmatch("Verdict: ([^\n]+)") do
        local word, rest = line:match("^([%l ]+): [^:]+: (.+)$")    -- without the claim
        list[#list + 1] = { word, rest }
    end
    if status ~= 0 then T.diag(text) end
    return list, text, status
end

-- Random programs of an experiment, of the seeds up to `last`: each runs, a seed gives the same one
-- again, all kinds of steps occur, and wrong arguments are refused. `run` gives the status and the
-- text of a run with these arguments. Gives the texts, that of seed 0 first.
function M.random_programs(T, name, run, last, kinds)
    local all, failed = {}, {}
    for seed = 0, last do
        local status, text = run("--list --seed " .. seed)
        if status ~= 0 then failed[#failed + 1] = ("%d: %s"):format(seed, text:match("[^\n]*")) end
        all[#all + 1] = text
    end
    T.is_deeply(failed, {}, ("of %d seeds each runs without a race"):format(last + 1))
    T.is(select(2, run("--list --seed 4")), all[5], "a seed gives the same program and chart again")
    T.isnt(all[5], all[6], "and not another's")
    local text = table.concat(all)
    for _, kind in ipairs(kinds) do T.ok(text:find(kind[2]) ~= nil, "there are " .. kind[1]) end
    local status, why = run("--seed -1")
    T.is(status, 2, "a seed below 0 is wrong usage")
    T.like(why, name .. ": %-%-seed needs a whole number", "which it says")
    T.is(run("--what"), 2, "and so is an unknown argument")
    return all
end

return M
