-- values.lua - how the REPL shows the values of an entry: each in the way of its kind, on
-- one line if all are short.

local pretty = import "repl/console/values/pretty.lua"
local records = import "repl/console/values/records.lua"
local objects = import "repl/console/values/objects.lua"
local tensors = import "repl/console/values/tensors.lua"
local laboratory = import "repl/console/values/laboratory.lua"
local api = import "repl/run/api.lua"
local lists = import "repl/run/lists.lua"

local values = {}

-- The value's lines.
local function lines_of(value, path)
    local kind = type(value) == "userdata" and internals.type_name(value)
    if kind == "timeline" then return objects.timeline_lines(value) end
    if kind == "tensor" then return tensors.lines(value) end
    if kind == "stream" or kind == "event" or kind == "device" or kind == "graph"
        or kind == "kernel" then
        return objects.lines(value, kind)
    end
    local class = api.class_of(value)
    if class == "results" then return { tostring(value) } end
    if class == "whatif" then return objects.whatif_lines(value) end
    return type(value) == "table" and laboratory.lines(value) or records.lines(value)
        or pretty.lines(value, path)
end

local short <const> = { ["nil"] = true, boolean = true, number = true, string = true }

-- All on one line, or nil if they are not short enough for that.
local function on_one_line(n, ...)
    local parts, width = {}, 0
    for i = 1, n do
        local value = select(i, ...)
        if not short[type(value)] then return nil end
        local lines = pretty.lines(value, "_")
        if #lines > 1 then return nil end
        parts[i] = lines[1]
        width = width + #lines[1] + 8
    end
    return width <= internals.columns() + 8 and table.concat(parts, "\t") or nil
end

-- The values of an entry as a text that ends with a newline.
function values.text(...)
    local n = select("#", ...)
    local line = n > 1 and on_one_line(n, ...)
    if line then return line .. "\n" end
    local lines = {}
    for i = 1, n do
        lists.append(lines, lines_of(select(i, ...), i == 1 and "_" or ("value " .. i)))
    end
    return table.concat(lines, "\n") .. "\n"
end

-- Prints the values of an entry.
function values.show(...)
    io.write(values.text(...))
end

return values
