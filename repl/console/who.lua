-- who.lua - who(): which devices, streams, events, graphs, tensors and timelines there are, and
-- which variables hold them.

local text = import "repl/run/text.lua"
local objects = import "repl/console/values/objects.lua"

local who = {}

local most_objects <const> = 200
local most_entries <const> = 100000     -- of tables, that are searched for objects
local most_names <const> = 3            -- of one object

-- ---- variables ------------------------------------------------------------------------

local function join(path, key)
    if type(key) == "string" and key:find("^[%a_][%w_]*$") then return path .. "." .. key end
    if type(key) == "string" then return path .. "[" .. text.quote(key, 30) .. "]" end
    return type(key) == "number" and path .. "[" .. tostring(key) .. "]" or nil
end

local function note(found, value, name)
    local kind = internals.type_name(value)
    local key = internals.key(value)
    if key then
        found.names[key] = found.names[key] or {}
        table.insert(found.names[key], name)
    elseif kind == "timeline" then
        table.insert(found.timelines, { timeline = value, name = name })
    end
end

local function search_table(found, t, path)
    for key, value in next, t do
        found.left = found.left - 1
        if found.left <= 0 then return end
        local name = type(value) == "userdata" and join(path, key)
        if name then note(found, value, name) end
    end
end

-- What the globals hold, and plain tables in them: {names = key of an object -> list of
-- names, timelines = list of {timeline, name}}. `_` counts only where nothing else does.
local function search_globals()
    local found = { names = {}, timelines = {}, left = most_entries }
    local tables = {}
    for name, value in next, _G do
        if type(name) == "string" and name ~= "_" then
            if type(value) == "userdata" then note(found, value, text.clean(name, true)) end
            local plain = type(value) == "table" and debug.getmetatable(value) == nil
                and not rawequal(value, _G) and not rawequal(value, internals.module())
            if plain then tables[#tables + 1] = name end
        end
    end
    table.sort(tables)
    for _, name in ipairs(tables) do
        search_table(found, rawget(_G, name), text.clean(name, true))
    end
    local last = rawget(_G, "_")
    local key = type(last) == "userdata" and internals.key(last)
    if key and not found.names[key] then found.names[key] = { "_" } end
    for _, names in next, found.names do table.sort(names) end
    return found
end

-- ---- rows -----------------------------------------------------------------------------

local ranks <const> = { device = 1, stream = 2, event = 3, graph = 4, kernel = 5,
    tensor = 6 }

local function name_text(names)
    if not names then return "(no variable)" end
    local more = #names > most_names and ", ..." or ""
    return table.concat(names, ", ", 1, math.min(#names, most_names)) .. more
end

local function object_row(object, names)
    local name = name_text(names[object.key])
    if object.kind == "device" and not names[object.key] then name = "" end
    local what = object.text
    if object.kind == "device" then what = "device " .. what end
    what = what:gsub("^event %(.-(%a+)%)$", "event (%1)")
        :gsub("^(graph .*) %((%d+ nodes?), [^()]*%)$", "%1 (%2)")
    local state = objects.state_text(object.kind, object) or ""
    return { name, text.clean(what, true), (state:gsub(" operations? in flight", " in flight")),
             object.bytes and text.bytes(object.bytes) or "" }
end

local function rows_of(list, found)
    local rows = { { "variable", "what", "now", "size" } }
    -- The list has the latest first.
    local order = {}
    for i, object in ipairs(list) do order[object] = -i end
    table.sort(list, function(a, b)
        if a.kind ~= b.kind then return ranks[a.kind] < ranks[b.kind] end
        return order[a] < order[b]
    end)
    for _, object in ipairs(list) do rows[#rows + 1] = object_row(object, found.names) end
    table.sort(found.timelines, function(a, b) return a.name < b.name end)
    for _, entry in ipairs(found.timelines) do
        rows[#rows + 1] = { entry.name, (tostring(entry.timeline):gsub(", wall .*", "")), "", "" }
    end
    return rows
end

local function widths_of(rows)
    local widths = { 0, 0, 0, 0 }
    for _, row in ipairs(rows) do
        for c, cell in ipairs(row) do widths[c] = math.max(widths[c], text.width(cell)) end
    end
    return widths
end

local function print_rows(rows, widths)
    for i, row in ipairs(rows) do
        local parts = {}
        for c, cell in ipairs(row) do
            parts[c] = text.paint(i == 1 and "heading" or c == 1 and "name" or nil,
                                  text.pad(cell, widths[c], c == 4))
        end
        io.write((table.concat(parts, "  "):gsub("%s+$", "")), "\n")
    end
end

local function print_wrapped(sentence)
    io.write(table.concat(text.wrap(sentence, "", "  "), "\n"), "\n")
end

-- Where the table is too wide: each object as a paragraph.
local function print_paragraphs(rows)
    for i = 2, #rows do
        local row = rows[i]
        local sentence = (row[1] ~= "" and row[1] .. ": " or "") .. row[2]
            .. (row[3] ~= "" and ", " .. row[3] or "") .. (row[4] ~= "" and ", " .. row[4] or "")
        print_wrapped(sentence)
    end
end

local function print_totals(live)
    print_wrapped(("memory: %s on the device, %s pinned, %s pageable"):format(
        text.bytes(live.device_bytes), text.bytes(live.pinned_bytes),
        text.bytes(live.pageable_bytes)))
end

-- who(): prints the table.
function who.who()
    collectgarbage()        -- so that nothing is listed that only waits to be collected
    local fine, live = pcall(lab.live)
    local list, n = internals.objects(most_objects)
    local found = search_globals()
    local rows = rows_of(list, found)
    if #rows == 1 then
        io.write("nothing: no device, stream, event, graph, kernel, tensor or timeline\n")
        return
    end
    local widths = widths_of(rows)
    local total = widths[1] + widths[2] + widths[3] + widths[4] + 6
    if total <= internals.columns() then print_rows(rows, widths)
    else print_paragraphs(rows) end
    if n > #list then io.write(("... and %d older\n"):format(n - #list)) end
    if fine then print_totals(live)
    else io.write(text.clean(tostring(live), true), "\n") end
end

return who
