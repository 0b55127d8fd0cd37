-- idle.lua - why GPUs were idle: as a list for scripts, as a table of plain text, as JSON.
--
-- GPUs come as {device =, prefix =, makespan =, no_kernel =, nothing =, rows =}, and their rows as
-- {kind =, call =, no_kernel =, nothing =, count =}, in ns (bindings/l_idle.c).

local _, core = ...
local duration, percent = core.duration, core.words.units.percent

local idle = {}

local values <const>, listed <const> = 41, 20       -- columns of a line but for its words; rows

local reasons <const> = {
    host_work = "the host issued no work", host_issuing = "the host was issuing work",
    launch_queue_full = "the launch queue was full",
    start_up = "start-up: first launches, code loads", latency = "launch latency",
    copy = "waiting for a copy", communication = "waiting for communication",
    other_work = "waiting for other work", after_last = "after the last kernel",
    unknown = "unknown",
}

-- Names of calls are those of the trace.
local function reason(row)
    return reasons[row.kind] or "host in " .. core.clip(row.call, 60)
end

-- ---- for scripts ---------------------------------------------------------------------------

local function list_rows(rows)
    local list = {}
    for i, row in ipairs(rows) do
        list[i] = {
            cause = row.kind, call = row.call ~= "" and row.call or nil, sentence = reason(row),
            no_kernel_us = row.no_kernel / 1000, nothing_us = row.nothing / 1000, count = row.count,
        }
    end
    return list
end

function idle.list(gpus)
    local list = {}
    for i, gpu in ipairs(gpus) do
        list[i] = {
            device = gpu.device, no_kernel_us = gpu.no_kernel / 1000,
            nothing_us = gpu.nothing / 1000, causes = list_rows(gpu.rows),
        }
    end
    return list
end

-- ---- for people ----------------------------------------------------------------------------

local function head(gpu)
    local gpu_name = gpu.prefix:match("^(.-): ")
    local of = gpu_name and " of " .. gpu_name or ""
    if gpu.no_kernel == 0 then
        return ("Kernels%s ran all the time: %s."):format(of, duration(gpu.makespan))
    end
    return ("No kernel%s ran for %s (%s) of %s, and nothing at all for %s (%s)."):format(of,
        duration(gpu.no_kernel), percent(gpu.no_kernel, gpu.makespan), duration(gpu.makespan),
        duration(gpu.nothing), percent(gpu.nothing, gpu.makespan))
end

local function put_rows(put, gpu, columns)
    local is_narrow = columns < values + 20
    put(("%9s %7s %9s %7s %5s%s"):format("no kernel", "share", "nothing", "share", "times",
        is_narrow and "" or "  why"))
    for i = 1, math.min(#gpu.rows, listed) do
        local row = gpu.rows[i]
        local line = ("%9s %7s %9s %7s %5d"):format(duration(row.no_kernel),
            percent(row.no_kernel, gpu.no_kernel), duration(row.nothing),
            percent(row.nothing, gpu.nothing), row.count)
        local why = core.clip(reason(row), is_narrow and columns or columns - values - 2)
        put(is_narrow and why .. "\n" .. line or line .. "  " .. why)
    end
    if #gpu.rows > listed then put(("and %d more"):format(#gpu.rows - listed)) end
end

-- The table of each GPU.
function idle.text(gpus, columns)
    local lines = {}
    local function put(text) lines[#lines + 1] = text end
    if #gpus == 0 then return "The timeline is empty: nothing ran on the device.\n" end
    for i, gpu in ipairs(gpus) do
        if i > 1 then put("") end
        put((core.fold(head(gpu), 0, columns):gsub("\n$", "")))
        if gpu.no_kernel > 0 then put_rows(put, gpu, columns) end
    end
    return table.concat(lines, "\n") .. "\n"
end

-- ---- for programs --------------------------------------------------------------------------

local function json_row(row)
    local string, us = core.json_string, core.json_milli
    return ('\n      {"cause": %s, "call": %s, "no_kernel_us": %s, "nothing_us": %s, "count": %d, '
        .. '"sentence": %s}'):format(string(row.kind),
        row.call ~= "" and string(row.call) or "null", us(row.no_kernel), us(row.nothing),
        row.count, string(reason(row)))
end

function idle.json(gpus)
    local us, texts = core.json_milli, {}
    for i, gpu in ipairs(gpus) do
        local rows = {}
        for k, row in ipairs(gpu.rows) do rows[k] = json_row(row) end
        texts[i] = ('\n    {"device": %d, "makespan_us": %s, "no_kernel_us": %s, "nothing_us": %s, '
            .. '"causes": [%s]}'):format(gpu.device, us(gpu.makespan), us(gpu.no_kernel),
            us(gpu.nothing), table.concat(rows, ","))
    end
    return ('{\n  "idle": [%s]\n}'):format(table.concat(texts, ","))
end

return idle
