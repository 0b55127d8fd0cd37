-- profile.lua - a profile with which the simulator gives the same results of lab.probes as a
-- device: the base profile with the costs of the calls, and with what waits and what serialises.
--
-- What the simulator does without settings (CUDA's own rules) is not listed here: a simulator
-- with empty `calls` is probed, and only what differs goes into `calls`.

local command = import "repl/run/command.lua"
local lists = import "repl/run/lists.lua"
local report = import "scripts/measure/calibrate/report.lua"

local profile = {}

-- ---- tables of a profile --------------------------------------------------------------------

-- Puts what `t` has into the table `into`, and "a.b" = c as a = {b = c}. A list replaces another.
local function merge(into, t)
    for key, value in pairs(t) do
        local at = into
        if type(key) == "string" then
            for outer in key:gmatch("([^.]+)%.") do
                at[outer] = at[outer] or {}
                at = at[outer]
            end
            key = key:match("[^.]+$")
        end
        if type(value) == "table" then
            value = merge(#value == 0 and type(at[key]) == "table" and at[key] or {}, value)
        end
        at[key] = value
    end
    return into
end

-- ---- rows -----------------------------------------------------------------------------------

local kinds <const> = {
    ["device to device"] = ".d2d", ["pageable to device"] = ".h2d_pageable",
    ["pinned to device"] = ".h2d_pinned", ["device to pageable"] = ".d2h_pageable",
    ["device to pinned"] = ".d2h_pinned",
}

-- The call's name in `calls`; nil for rows that add nothing to another row of the same call.
local function name_of(row)
    if row.memory == "pinned" or (row.into == "NULL" and row.call:find("^cuda[EL]")) then
        return nil              -- the row of its other memory, or of its own stream, says the same
    end
    return row.call .. (kinds[row.memory] or "")
end

-- Calls f(name, group): rows of one call, each {blocking = row, nonblocking = row}, by size.
local function each_call(rows, f)
    local named = {}
    for i = 1, #rows, 2 do
        local pair = { blocking = rows[i], nonblocking = rows[i + 1] }
        named[#named + 1] = name_of(rows[i]) and pair or nil
    end
    for _, group in ipairs(lists.group(named, function(pair) return name_of(pair.blocking) end)) do
        f(group.key, group)
    end
end

-- ---- what calls cost ------------------------------------------------------------------------

local function rounded(number)
    return tonumber(("%.4g"):format(number))
end

local function alone(pair)
    return (pair.blocking.alone_us + pair.nonblocking.alone_us) / 2
end

local plain_names <const> = {
    "cudaMalloc", "cudaFree", "cudaMallocHost", "cudaFreeHost", "cudaHostRegister",
    "cudaHostUnregister", "cudaMallocAsync", "cudaFreeAsync", "cudaFuncSetCacheConfig",
    "cudaDeviceSetLimit", "cublasCreate", "cublasDestroy",
}

local plain <const> = {}
for _, name in ipairs(plain_names) do
    plain[name] = true
end

local host <const> = {
    cudaLaunchKernel = "launch_us", ["cudaMemcpyAsync.h2d_pinned"] = "memcpy_async_us",
    cudaMemsetAsync = "memset_us", cudaEventRecord = "record_untimed_us",
    cudaStreamWaitEvent = "wait_us", cudaEventQuery = "query_us",
    cudaStreamSynchronize = "synchronize_us", cudaLaunchHostFunc = "host_func_us",
    cudaStreamCreate = "stream_create_us", cudaEventCreate = "event_create_us",
}

local function put_plain(set, name, group)
    local small, large = group[1], group[#group]
    local bytes = (small.blocking.bytes or 0) / 2^20
    local span = (large.blocking.bytes or 0) / 2^20 - bytes
    local per_mib = span > 0 and math.max(0, (alone(large) - alone(small)) / span) or 0
    set("calls." .. name .. ".us", rounded(math.max(0, alone(small) - per_mib * bytes)))
    if span > 0 then
        set("calls." .. name .. ".us_per_mib", rounded(per_mib))
    end
end

-- Each cudaMallocAsync of the probe comes behind a synchronisation, so that its pool has to grow:
-- that part the base has by itself.
local function put_malloc_async(set, base, pair)
    local grow_us = base.host_pool and base.host_pool.grow_us[1][2] or 0
    set("calls.cudaMallocAsync.us", rounded(math.max(0, alone(pair) - grow_us)))
end

local function put_costs(set, base, rows)
    local query_us, info_us
    each_call(rows, function(name, group)
        if name == "cudaMallocAsync" then
            put_malloc_async(set, base, group[1])
        elseif plain[name] then
            put_plain(set, name, group)
        elseif host[name] then
            set("host." .. host[name], rounded(alone(group[1])))
        end
        query_us = name == "cudaEventQuery" and alone(group[1]) or query_us
        info_us = name == "cudaMemGetInfo" and alone(group[1]) or info_us
    end)
    set("calls.cudaMemGetInfo.us", rounded(math.max(0, info_us - query_us)))
end

-- ---- pageable copies to the device ---------------------------------------------------------

-- The size up to which cudaMemcpyAsync does not wait lies between what did not and what did.
local function put_staging(set, base, rows)
    local copies = lists.select(rows, function(row)
        return row.call == "cudaMemcpyAsync" and row.memory == "pageable to device"
    end)
    local waited = math.huge
    for _, row in ipairs(copies) do
        waited = row.host_blocked and math.min(waited, row.bytes) or waited
    end
    local returned = lists.most(lists.select(copies, function(row) return row.bytes < waited end),
                                "bytes")
    local buffers = base.stage_bytes * base.stage_buffers
    local limit = math.min(base.h2d_async_bytes, buffers)
    if limit >= returned and limit < waited then
        return
    end
    set("h2d_async_bytes", returned)
    if buffers < returned then
        set("stage_buffers", math.ceil(returned / base.stage_bytes))
    end
end

-- ---- what waits -----------------------------------------------------------------------------

-- Whether a setting is missing, on one kind of streams: the device has it, the bare simulator
-- not.
local function lacks(row, bare, field)
    return row[field] and not bare[field]
end

-- "waits" or "serialises" and its value; nil if nothing is missing.
local function missing(pair, bare)
    for _, field in ipairs { "host_blocked", "serialised" } do
        local blocking = lacks(pair.blocking, bare.blocking, field)
        local exempt = lacks(pair.nonblocking, bare.nonblocking, field)
        local is_host = field == "host_blocked"
        if exempt then
            return is_host and "waits" or "serialises", true
        elseif blocking then
            return is_host and "waits" or "serialises", is_host and "stream" or "blocking"
        end
    end
end

-- Profiles have no setting for these: whether they wait follows from what they do.
local settled <const> = {
    cudaEventQuery = true, cudaEventSynchronize = true, cudaEventDestroy = true,
    cudaStreamQuery = true, cudaStreamSynchronize = true, cudaStreamDestroy = true,
    cudaDeviceSynchronize = true,
}

local function put_waits(set, rows, bare_rows)
    local bare = {}
    each_call(bare_rows, function(name, group) bare[name] = group end)
    each_call(rows, function(name, group)
        for i, pair in ipairs(settled[name] and {} or group) do
            local field, value = missing(pair, bare[name][i])
            if field then
                set("calls." .. name .. "." .. field, value)
                if i > 1 then
                    set("calls." .. name .. ".from_bytes", pair.blocking.bytes)
                end
                return
            end
        end
    end)
end

-- ---- the whole ------------------------------------------------------------------------------

local function probe(settings)
    lab.open { backend = "sim", profile = settings }
    return lab.probes()
end

-- In which rows the two differ.
local function differences(rows, others)
    local list = {}
    for i, row in ipairs(rows) do
        local other = others[i]
        if row.host_blocked ~= other.host_blocked or row.serialised ~= other.serialised then
            list[#list + 1] = row
        end
    end
    return list
end

-- A sentence about such a row.
function profile.difference_text(row)
    return ("the profile cannot say what %s%s%s did with %s streams"):format(row.call,
        row.memory and " (" .. row.memory .. ")" or "",
        row.bytes and (", %d bytes"):format(row.bytes) or "", row.streams)
end

-- The base with `values` in place of its own, and without its `calls`: all are among the rows.
function profile.over(base, values)
    local made = merge({}, base)
    made.profile, made.calls = nil, {}
    return merge(made, values)
end

-- Puts into `made` what waits and what serialises in `rows`, and calls set(key, value) with each.
-- Gives the rows that the profile then answers otherwise. It opens simulated devices, the last of
-- which has the profile.
function profile.put_implicit(made, rows, set)
    local function put_and_set(path, value)
        merge(made, { [path] = value })
        set(path, value)
    end
    for _, call in ipairs(plain_names) do
        put_and_set("calls." .. call .. ".waits", false)
    end
    put_waits(put_and_set, rows, probe(made))
    return differences(rows, probe(made))
end

-- The profile, the set of keys that were measured, and the rows that it answers otherwise.
function profile.make(base, rows, name, note)
    local made, measured = profile.over(base, { name = name, note = note }), {}
    local function note_measured(path) measured[path] = true end
    local function set(path, value)
        merge(made, { [path] = value })
        note_measured(path)
    end
    put_costs(set, base, rows)
    put_staging(set, made, rows)
    return made, measured, profile.put_implicit(made, rows, note_measured)
end

-- ---- as text --------------------------------------------------------------------------------

-- A list's text, broken where a line would be too long.
local function wrapped(text, indent, column)
    local out = {}
    for piece in text:gmatch("[^ ]+ ?") do
        if column + #piece > 92 - #indent then
            out[#out + 1] = "\n" .. indent .. "    "
            column = 4
        end
        out[#out + 1] = piece
        column = column + #piece
    end
    return (table.concat(out):gsub(" +\n", "\n"))
end

local function add_table(out, t, indent, path, measured)
    local keys = {}
    for key in pairs(t) do
        keys[#keys + 1] = key
    end
    table.sort(keys)
    for _, key in ipairs(keys) do
        local value, here = t[key], path .. key
        if type(value) == "table" and #value == 0 then
            if next(value) ~= nil then
                out[#out + 1] = indent .. key .. " = {"
                add_table(out, value, indent .. "    ", here .. ".", measured)
                out[#out + 1] = indent .. "},"
            end
        else
            local text = report.value_text(value)
            text = type(value) == "table" and wrapped(text, indent, #key + 3) or text
            out[#out + 1] = ("%s%s = %s,%s"):format(indent, key, text,
                measured[here] and "    -- measured" or "")
        end
    end
end

function profile.text(made, measured)
    local out = { "-- " .. command.clean(made.name) .. ", as the simulator sees it.",
        "-- " .. command.clean(made.note):gsub("^%l", string.upper) .. ".", "return {" }
    add_table(out, made, "    ", "", measured)
    out[#out + 1] = "}"
    return table.concat(out, "\n") .. "\n"
end

return profile
