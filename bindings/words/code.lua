-- code.lua - a change as code: which lines it concerns, what to write there, and what to check.
--
-- What to write is in code_pytorch.lua, code_cuda.lua, code_cupy.lua and code_lua.lua: a row by
-- edit, or by edit and subject (subject_of), a text in which $number and $mib stand for the
-- argument. What to check does not depend on the language.

local _, core = ...

local code = {}

local shown <const> = 5             -- lines of a change
local columns <const>, name_columns <const> = 72, 36
local no_line <const> = "(its line was not recorded: streamlab record --python)"
local value_bytes <const> = 16      -- a copy of so few is a value that the host reads

-- What has to hold before the change is made.
local checks <const> = {
    pin = "Pinning takes long: do it once, and not in the loop. Pinned memory is not swapped out, "
        .. "so pin what is copied often. Alone it does not let the host go on: that is "
        .. "non_blocking.",
    non_blocking = "The memory on the host has to be pinned, and nobody may write to it before "
        .. "the copy has ended.",
    ["non_blocking from"] = "The memory on the host has to be pinned, and nobody may read it "
        .. "before the copy has ended: wait for an event behind it.",
    ["non_blocking value"] = "Nothing that the host decides may depend on the value of this very "
        .. "step.",
    move = "Neither side may read what the other one writes, but for what an event orders; memory "
        .. "that one stream has freed must not be used again while the other one reads it.",
    ["move to"] = "What is overwritten must not be in use: a second buffer, or wait for the work "
        .. "that reads it.",
    ["move from"] = "What is copied must not be overwritten before the copy has ended, and the "
        .. "host has to wait for the copy before it reads.",
    priority = "It decides only between kernels whose blocks wait for SMs at the same time.",
    drop_sync = "What the host reads, frees or overwrites behind it has to be complete: wait for "
        .. "an event there. Times that the host measures between such calls become those of "
        .. "launches: use events.",
    drop_wait = "The stream must not read or overwrite anything that the other one still writes "
        .. "or reads.",
    prefetch = "It takes a buffer more, the next batch has to be known already, and its memory on "
        .. "the host pinned.",
    scale = "Compare the results: lower precision changes them.",
    remove = "Nothing may need what it computes or copies.",
    ["drop_sync shape"] = "What comes behind it must not need to know how many there are.",
    ["remove layout"] = "All that the convolutions read has to have that layout: see whether a "
        .. "conversion is left.",
    ["remove copy"] = "What reads it has to take that type and layout.",
    ["remove memory"] = "Another program may need the memory that is kept.",
    ["remove to"] = "Only what the GPU can make, or what stays the same and can be copied once, "
        .. "need not be copied. What is loaded has to be: prefetch it, or load it in a thread.",
    ["remove fill"] = "All of it has to be overwritten before it is read.",
    fuse = "Results may differ in the last bits, since intermediate ones are not rounded.",
    ["fuse optimizer"] = "All parameters have to be on the GPU, and of floating point.",
    graph = "Shapes, addresses and the path through the code have to be the same each time; "
        .. "inside nothing may synchronise, copy to pageable memory, or read a value.",
    host_scale = "What the host does has to stay the same: compare the results.",
    batch = "All of them have to be known before the first is needed.",
    async = "Nothing may read or write the memory before the wait.",
    threads = "What the thread prepares must not be used before it has ended; in Python it has to "
        .. "release the interpreter's lock, or be a process.",
    buckets = "The first collective begins later: what has to be ready for it is more.",
    channels = "Fewer channels leave SMs to kernels, and make the collective slower.",
    profile = "Sizes of batches and kernels that were chosen for the one GPU may not suit the "
        .. "other.",
}

local languages <const> = { pytorch = "PyTorch", cuda = "CUDA C++", cupy = "CuPy", lua = "Lua" }
code.languages = languages

-- ---- which row ------------------------------------------------------------------------------

local function has(line, ...)
    for _, part in ipairs { ... } do
        if line.name:find(part) or line.operator:find(part) then return true end
    end
    return false
end

-- What an operation or call is, by the first that holds.
local subjects <const> = {
    { "to", function(line) return line.kind == "memcpy_h2d" end },
    { "value", function(line)
        return line.kind == "memcpy_d2h" and line.bytes <= value_bytes * line.count
            or has(line, "^aten::_local_scalar_dense$", "^aten::item$")
    end },
    { "from", function(line) return line.kind == "memcpy_d2h" end },
    { "fill", function(line) return line.kind == "memset" or has(line, "FillFunctor") end },
    { "layout", function(line) return has(line, "ToNhwc", "ToNchw") end },
    { "copy", function(line) return has(line, "direct_copy") end },
    { "memory", function(line)
        return line.kind == "call" and has(line, "^cudaMalloc", "^cudaFree", "^cudaHostAlloc",
            "^cuMem")
    end },
    { "shape", function(line)
        return has(line, "write_indices", "DeviceSelect", "^aten::nonzero$")
    end },
    { "optimizer", function(line)
        return has(line, "^Optimizer", "^aten::_foreach", "^aten::_fused", "multi_tensor")
            or line.where:find("optim", 1, true) ~= nil
    end },
    { "kernel", function(line) return line.kind == "kernel" end },
    { "", function() return true end },
}

local function subject_of_line(line)
    for _, row in ipairs(subjects) do
        if row[2](line) then return row[1] end
    end
end

local function any(lines, holds)
    for _, line in ipairs(lines) do
        if holds(line) then return true end
    end
    return false
end

-- Of a line that makes a shape of data, or reads a value, each call and kernel is mended alike.
local function subject_around(where, all)
    local function is(subject)
        return any(all, function(line)
            return line.where == where and subject_of_line(line) == subject
        end)
    end
    return where ~= "" and (is("shape") and "shape" or is("value") and "value") or nil
end

local around <const> = { drop_sync = true, remove = true }
local own <const> = { to = true, fill = true, layout = true, memory = true }

-- What an edit is about, by the line that takes the longest.
local function subject_of(edit, longest, lines, all)
    if edit == "graph" then
        local trains = any(lines, function(line) return line.source:find("backward(", 1, true) end)
        return trains and "training" or ""
    end
    local subject = longest and subject_of_line(longest) or ""
    return around[edit] and longest and not own[subject] and subject_around(longest.where, all)
        or subject
end

-- Calls that wait for a value, and the copies of values, are mended alike.
local same <const> = {
    ["drop_sync value"] = "non_blocking value", ["remove value"] = "non_blocking value",
    ["pin value"] = "non_blocking value", ["move value"] = "non_blocking value",
    ["remove shape"] = "drop_sync shape",
}

local function row_of(rows, edit, subject)
    local key = edit .. " " .. subject
    return rows[same[key] or key] or rows[edit]
end

local function fill_in(text, argument)
    local number = math.type(argument) and ("%.14g"):format(argument) or "1"
    local mib = math.type(argument) and ("%.14g"):format(argument / (1 << 20)) or "25"
    return (text:gsub("%$(%a+)", { number = number, mib = mib }))
end

-- ---- languages ------------------------------------------------------------------------------

local function is_python(line) return line.where:find("%.py[:%(]") ~= nil end

-- The language of a recorded program, by its lines and names: each is {where =, name =,
-- operator =}. is_own: a script of ours.
function code.language(is_own, lines)
    local python, cupy, torch = false, false, false
    for _, line in ipairs(lines) do
        python = python or is_python(line)
        cupy = cupy or line.name:find("^cupy_") ~= nil
        torch = torch or line.operator:find("^aten::") ~= nil
            or line.name:find("at::native", 1, true) ~= nil
    end
    if is_own then return "lua" end
    if torch or python and not cupy then return "pytorch" end
    return cupy and "cupy" or "cuda"
end

-- ---- a change -------------------------------------------------------------------------------

-- Lines of the same position are one: {where =, source =, name = what takes the longest, kind =,
-- names = how many, count =, time =}, the longest first. The time is that of the GPU, of calls the
-- host's.
local function merged(lines)
    local list, at = {}, {}
    for _, line in ipairs(lines) do
        local one = at[line.where]
        if not one then
            one = { where = line.where, source = line.source, names = 0, count = 0, time = 0,
                    longest = -1 }
            at[line.where], list[#list + 1] = one, one
        end
        local time = line.kind == "call" and line.call_time or line.time
        if time > one.longest then
            one.longest, one.name, one.kind = time, line.name, line.kind
        end
        one.names, one.count = one.names + 1, one.count + line.count
        one.time = one.time + time
    end
    table.sort(list, function(a, b)
        if a.time ~= b.time then return a.time > b.time end
        return a.where < b.where
    end)
    return list
end

local function longest(lines)
    local found
    for _, line in ipairs(lines) do
        local time = line.time + line.call_time
        if not found or time > found.time + found.call_time then found = line end
    end
    return found
end

-- code.of(change, lines, all, language): {change =, language = its name, how =, write = a text, or
-- nil and none = why there is none, check =, lines = as merged}. change: {name =, selection =,
-- argument =}; lines: as core.whatif's lines(), and all: those of the whole program.
function code.of(change, lines, all, language)
    local subject = subject_of(change.name, longest(lines), lines, all)
    local row = row_of(core.words["code_" .. language], change.name, subject)
    local found = { change = change, lines = merged(lines),
                    language = languages[language], check = row_of(checks, change.name, subject) }
    if not row or row.none then
        found.none = fill_in(row and row.none or "What to write is not known here.",
                             change.argument)
    else
        found.how, found.write = fill_in(row[1], change.argument), fill_in(row[2], change.argument)
    end
    return found
end

-- ---- as text --------------------------------------------------------------------------------

local function plural(n, one) return ("%d %s%s"):format(n, one, n == 1 and "" or "s") end

local function line_text(line)
    local name = line.kind == "kernel" and core.short_kernel(line.name) or line.name
    local others = line.names > 1 and " and " .. plural(line.names - 1, "other") or ""
    local where = line.where ~= "" and core.label(line.where, columns) or no_line
    local source = line.source:match("^%s*(.-)%s*$")
    return ("  %s\n%s      %s, %s: %s%s\n"):format(where,
        source ~= "" and "      " .. core.label(source, columns) .. "\n" or "",
        plural(line.count, "time"), core.duration(line.time), core.label(name, name_columns),
        others)
end

local function lines_text(lines)
    local parts = {}
    for i = 1, math.min(#lines, shown) do parts[i] = line_text(lines[i]) end
    if #lines > shown then parts[#parts + 1] = ("  and %d more\n"):format(#lines - shown) end
    return table.concat(parts)
end

local function body_of(found)
    local lines = lines_text(found.lines)
    if found.none then return lines .. core.fold("  " .. found.none, 2, 80) end
    return ("%s  In %s, by names of an example:\n%s\n%s"):format(lines, found.language,
        found.write:gsub("[^\n]+", "    %0"), core.fold("  Check: " .. found.check, 2, 80))
end

-- Of a list of what code.of gives. Changes of which the same is to be said stand together.
function code.text(list)
    if #list == 0 then return "No change that can be tried gains anything.\n" end
    local bodies, titles = {}, {}
    for _, found in ipairs(list) do
        local body = body_of(found)
        if not titles[body] then bodies[#bodies + 1], titles[body] = body, "" end
        local title = core.words.whatif.change(found.change) .. "\n"
        if not titles[body]:find(title, 1, true) then titles[body] = titles[body] .. title end
    end
    for i, body in ipairs(bodies) do bodies[i] = titles[body] .. body end
    return table.concat(bodies, "\n")
end

-- ---- as JSON --------------------------------------------------------------------------------

local function object(pairs_of)
    local list = {}
    for _, pair in ipairs(pairs_of) do
        if pair[2] then list[#list + 1] = core.json_string(pair[1]) .. ": " .. pair[2] end
    end
    return "{" .. table.concat(list, ", ") .. "}"
end

local function quoted(text) return text and text ~= "" and core.json_string(text) end

local function line_json(line)
    return object { { "where", quoted(line.where) }, { "source", quoted(line.source) },
                    { "name", quoted(line.name) }, { "count", ("%d"):format(line.count) },
                    { "time_us", ("%.3f"):format(line.time / 1000) } }
end

local function change_json(found)
    local lines = {}
    for i = 1, math.min(#found.lines, shown) do lines[i] = line_json(found.lines[i]) end
    return object { { "edit", quoted(found.change.name) },
                    { "selection", quoted(found.change.selection) },
                    { "language", quoted(found.language) }, { "how", quoted(found.how) },
                    { "write", quoted(found.write) }, { "none", quoted(found.none) },
                    { "check", quoted(found.check) },
                    { "lines", "[" .. table.concat(lines, ", ") .. "]" } }
end

-- The same as a list of objects, each change by itself.
function code.json(list)
    local parts = {}
    for i, found in ipairs(list) do parts[i] = change_json(found) end
    return "[\n    " .. table.concat(parts, ",\n    ") .. "\n  ]"
end

return code
