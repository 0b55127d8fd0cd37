-- report.lua - the file that a calibration writes: a profile, each value with how it was found.
--
-- scripts/profiles/h200.lua is such a file. What was not measured comes from a base profile and
-- says so; findings come after the values.

local flat = import "scripts/measure/calibrate/flat.lua"
local lists = import "repl/run/lists.lua"
local reference = import "scripts/measure/calibrate/reference.lua"

local report = {}

local columns <const>, comment_column <const> = 100, 44

-- Keys by heading, in order; a key with no dot stands for all that are below it.
local sections <const> = {
    { "The chip.", "compute_capability", "sm_count", "max_threads_per_sm", "max_blocks_per_sm",
      "registers_per_sm", "shared_bytes_per_sm", "shared_bytes_per_block",
      "shared_reserved_bytes", "shared_splits", "max_threads_per_block", "memory_bytes",
      "async_engine_count", "max_grids", "connections", "copy_connections", "launch_queue_depth",
      "priority_least", "priority_greatest", "priority_levels" },
    { "Arithmetic.", "fp32_tflops", "tf32_tflops", "bf16_tflops", "gemm_efficiency",
      "gemm_fixed_us", "gemm_persistent" },
    { "Products of matrices.", "gemm_us", "gemm_grid_us", "gemm_kernels", "gemm_host", "gemm_warm",
      "gemm_blocks", "gemm_threads", "gemm_registers", "gemm_shared_bytes", "gemm_share" },
    { "Other kernels.", "kernel_fixed_us", "spin_fixed_us", "kernel_us" },
    { "Device memory.", "hbm_gb_per_s", "l2_bytes", "l2_gb_per_s", "d2d_gb_per_s",
      "d2d_fixed_us", "d2d_engine", "memset_gb_per_s" },
    { "Copies between host and device.", "h2d_gb_per_s", "d2h_gb_per_s", "duplex_factor",
      "copy_latency_us", "copy_us", "stage_bytes", "stage_buffers", "h2d_async_bytes",
      "h2d_staging_gb_per_s", "d2h_staging_gb_per_s", "host_cache_bytes",
      "h2d_staging_cold_gb_per_s", "d2h_staging_cold_gb_per_s", "host_gb_per_s" },
    { "From one GPU to another.", "peer", "comm", "comm_us" },
    { "Latencies.", "submit_us", "stream_gap_us", "copy_gap_us", "engine_switch_us",
      "engine_turn_us", "cross_stream_us", "record_us", "host_func_in_us", "host_func_out_us",
      "event_tick_ns", "wake_us", "lazy_load_us" },
    { "Graphs: on the device.", "graph" },
    { "What each call costs the host, and on top of it behind other work of the host.", "host",
      "host_cold", "host_graph" },
    { "What calls do besides: their costs, what waits, what serialises.", "calls" },
}

-- ---- values as text ---------------------------------------------------------------------------

local function number(value, measured)
    if math.type(value) == "integer" then
        return tostring(value)
    elseif value == math.floor(value) and math.abs(value) < 2^53 then
        return ("%d"):format(value)
    end
    return (measured and "%.6g" or "%.14g"):format(value)
end

local function text_of(value, measured)
    if type(value) == "table" then
        return lists.in_braces(value, function(item) return text_of(item, measured) end)
    elseif type(value) == "string" then
        return (("%q"):format(value):gsub("\\\n", "\\n"))
    end
    return type(value) == "number" and number(value, measured) or tostring(value)
end

report.value_text = text_of

-- A name, or ["what is none"].
function report.key_text(key)
    return key:find("^[%a_][%w_]*$") and key or ("[%q]"):format(key)
end

-- Wraps a text to `width` columns, of which `first` are taken in the first line. A number and its
-- % stay together.
local function lines_of(text, width, first)
    local lines, line, used = {}, {}, first or 0
    for word in text:gsub("(%d) %%", "%1\0%%"):gmatch("[^ \n]+") do
        word = word:gsub("%z", " ")
        if used + #word > width and #line > 0 then
            lines[#lines + 1] = table.concat(line, " ")
            line, used = {}, 0
        end
        line[#line + 1] = word
        used = used + #word + 1
    end
    lines[#lines + 1] = table.concat(line, " ")
    return lines
end

function report.add_comment(out, indent, text)
    for i, line in ipairs(lines_of(text, columns - #indent - 5)) do
        out[#out + 1] = indent .. (i == 1 and "-- " or "--   ") .. line
    end
end

-- Code that may take more than a line. A brace stays with its neighbour.
function report.add_wrapped(out, indent, code)
    code = code:gsub("{ ", "{\0"):gsub(" }", "\0}")
    for i, line in ipairs(lines_of(code, columns - #indent - 4, -4)) do
        out[#out + 1] = indent .. (i == 1 and "" or "    ") .. line
    end
end

-- A list of rows {x, y, z}: those of an x begin in a line of their own.
local function add_rows(out, indent, key, rows, measured)
    out[#out + 1] = indent .. key .. " = {"
    local i = 1
    while rows[i] do
        local texts, x = {}, rows[i][1]
        while rows[i] and rows[i][1] == x do
            texts[#texts + 1] = text_of(rows[i], measured):gsub(" ", "\0") .. ","
            i = i + 1
        end
        local lines = lines_of(table.concat(texts, " "), columns - #indent - 8, -4)
        for k, line in ipairs(lines) do
            out[#out + 1] = indent .. (k == 1 and "    " or "        ") .. line:gsub("%z", " ")
        end
    end
    out[#out + 1] = indent .. "},"
end

-- `code` with its comment behind it, or above it where the code takes more than a line.
local function add_line(out, indent, code, comment)
    if #indent + #code > columns then
        report.add_comment(out, indent, comment)
        report.add_wrapped(out, indent, code)
        return
    end
    local line = ("%-" .. comment_column - 1 .. "s "):format(indent .. code)
    local lines = lines_of(comment, columns - #line - 5, -2)
    if #lines > 1 and (#line > columns * 3 // 5 or #lines > 3) then
        report.add_comment(out, indent, comment)
        out[#out + 1] = indent .. code
        return
    end
    for i, words in ipairs(lines) do
        out[#out + 1] = (i == 1 and line .. "-- " or (" "):rep(#line) .. "--   ") .. words
    end
end

-- ---- the profile ------------------------------------------------------------------------------

local function note_of(state, name)
    local note = state.c.notes[name]
    if not note then
        return "not measured; from " .. state.base_name
    end
    local spread = note.spread and ("; spread%s %.1f %%"):format(
        note.passes and (" of %d passes"):format(note.passes) or "", 100 * note.spread) or ""
    return note.how .. spread
end

local function is_measured(state, name)
    return state.c.notes[name] ~= nil
end

-- The names below "host." or "calls.cudaFree.", as the next part of each and in order.
local function children(state, prefix)
    local list, seen = {}, {}
    for _, name in ipairs(state.names) do
        if name:sub(1, #prefix) == prefix then
            local child = name:match("^[^.]+", #prefix + 1)
            if not seen[child] then
                seen[child] = true
                list[#list + 1] = child
            end
        end
    end
    return list
end

-- A table in one line, and what is noted of all that is in it.
local function inline(state, name, notes)
    local value = state.values[name]
    if value ~= nil then
        local note = note_of(state, name)
        if not notes[note] then
            notes[note], notes[#notes + 1] = true, note
        end
        return text_of(value, is_measured(state, name))
    end
    return lists.in_braces(children(state, name .. "."), function(child)
        return report.key_text(child) .. " = " .. inline(state, name .. "." .. child, notes)
    end)
end

-- Tables are open at the first level ("host") and in one line below ("calls.cudaFree").
local function add_key(out, state, name, indent)
    local key = report.key_text(name:match("[^.]+$"))
    local below = children(state, name .. ".")
    if #below > 0 and not name:find(".", 1, true) then
        out[#out + 1] = indent .. key .. " = {"
        for _, child in ipairs(below) do
            add_key(out, state, name .. "." .. child, indent .. "    ")
        end
        out[#out + 1] = indent .. "},"
        return
    end
    local value = state.values[name]
    if type(value) == "table" and type(value[1]) == "table" and #value[1] > 2 then
        report.add_comment(out, indent, note_of(state, name))
        add_rows(out, indent, key, value, is_measured(state, name))
        return
    end
    local notes = {}
    local text = inline(state, name, notes)
    add_line(out, indent, ("%s = %s,"):format(key, text), table.concat(notes, "; "))
end

local function has(state, name)
    return state.values[name] ~= nil or #children(state, name .. ".") > 0
end

local function add_section(out, state, heading, keys)
    local body = {}
    for _, name in ipairs(keys) do
        state.done[name] = true
        if has(state, name) then
            add_key(body, state, name, "    ")
        end
    end
    if #body > 0 then
        out[#out + 1] = ""
        out[#out + 1] = "    -- " .. heading
        table.move(body, 1, #body, #out + 1, out)
    end
end

local function add_others(out, state)
    local others = lists.select(children(state, ""), function(name)
        return not state.done[name]
    end)
    add_section(out, state, "Others.", others)
end

function report.add_findings(out, findings)
    if #findings == 0 then
        return
    end
    out[#out + 1] = ""
    out[#out + 1] = "-- Found besides, and no value of a profile:"
    for _, finding in ipairs(findings) do
        report.add_comment(out, "", ("%s: %s"):format(finding.key, finding.text):gsub("%c", " "))
    end
end

-- The names of what was not measured; for a table without any measured figure, its own name only.
local function unmeasured(state)
    local measured, names = {}, {}
    for name in pairs(state.c.notes) do
        measured[name:match("^[^.]+")] = true
    end
    for _, name in ipairs(flat.names(state.values)) do
        local outer = name:match("^[^.]+")
        if not measured[outer] and names[#names] ~= outer then
            names[#names + 1] = outer
        elseif measured[outer] and not is_measured(state, name) then
            names[#names + 1] = name
        end
    end
    return names
end

-- The field `note`, for people and for `--difference`.
local function note_text(state)
    local names, host = unmeasured(state), reference.text(state.c.references)
    return "streamlab calibrate" .. (host and "; " .. host or "") .. (#names == 0 and "" or
        ("; not measured, from %s: %s"):format(state.base_name, table.concat(names, " ")))
end

-- Whether a profile says of a name that it was not measured.
function report.is_unmeasured(profile, name)
    local list = tostring(profile.note or ""):match("; not measured, from [^:]*: (.*)$") or ""
    for listed in list:gmatch("%S+") do
        if name == listed or name:match("^[^.]+") == listed then
            return true
        end
    end
    return false
end

-- A text as a string in Lua, over several lines.
function report.add_string(out, key, text)
    local lines = lines_of(("%s = %s,"):format(key, text_of(text)), columns - 12, -4)
    for i, line in ipairs(lines) do
        out[#out + 1] = (i == 1 and "    " or "        ") .. line .. (i < #lines and " \\z" or "")
    end
end

-- The field `spread`, of rows {name =, keys =, low =, high =}.
function report.add_spread(out, rows)
    out[#out + 1] = "    spread = {"
    for _, row in ipairs(rows) do
        report.add_wrapped(out, "        ",
            ("[%q] = { keys = %s, low = %.4g, high = %.4g },"):format(
            row.name, text_of(row.keys), row.low, row.high))
    end
    out[#out + 1] = "    },"
end

-- Under which heading a value stands.
function report.heading(name)
    local outer = name:match("^[^.]+")
    for _, section in ipairs(sections) do
        for i = 2, #section do
            if section[i] == outer then
                return section[1]
            end
        end
    end
    return "Others."
end

-- The profile's text. `base` (a profile's table, called base_name) has what was not measured;
-- `machine` and `seconds` are for its head.
function report.text(c, base, base_name, machine, seconds)
    local values = flat.of(base)
    values.note, values.profile = nil, nil
    for name in pairs(c.absent) do
        values[name] = nil
    end
    for name, value in pairs(c.values) do
        values[name] = value
    end
    local state = { c = c, base_name = base_name, values = values,
                    names = flat.names(values, c.order), done = { name = true } }
    local out = { "-- " .. c.device.name:gsub("%c", " ") .. ", as the simulator sees it.", "--" }
    report.add_comment(out, "",
                       ("Measured by streamlab calibrate in %d s: %s."):format(seconds, machine))
    if c.references[1] then
        report.add_comment(out, "", reference.sentence(c.references))
    end
    report.add_comment(out, "", "Each value says how it was found. A spread is that of the middle "
        .. "half of the repetitions, relative to their median; that of passes is the same of what "
        .. "each pass found, at the worst point of a table. docs/design/simulator.md says what "
        .. "each value does.")
    out[#out + 1] = "return {"
    add_key(out, state, "name", "    ")
    report.add_string(out, "note", note_text(state))
    if c.spread_rows then
        report.add_spread(out, c.spread_rows)
    end
    for _, section in ipairs(sections) do
        add_section(out, state, section[1], table.move(section, 2, #section, 1, {}))
    end
    add_others(out, state)
    out[#out + 1] = "}"
    report.add_findings(out, c.findings)
    return table.concat(out, "\n") .. "\n"
end

return report
