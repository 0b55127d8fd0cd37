-- laboratory.lua - what is in the tables `lab` and `lab.cuda`: the names, by subject, in place
-- of the addresses of their functions. The subjects are the pages of docs/api.

local api = import "repl/run/api.lua"
local text = import "repl/run/text.lua"

local laboratory = {}

local function add_group(lines, title, names)
    for i, line in ipairs(text.wrap(table.concat(names, ", "), "  " .. title .. ": ", "    ")) do
        if i == 1 then
            line = "  " .. text.paint("heading", title) .. line:sub(#title + 3)
        end
        lines[#lines + 1] = line
    end
end

-- Takes from `left` what the page describes; a list of names.
local function take(page, prefix, left)
    local names = {}
    for _, entry in ipairs(page.entries) do
        local name = entry.name:sub(1, #prefix) == prefix and entry.name:sub(#prefix + 1)
        if name and left[name] ~= nil then
            names[#names + 1] = name
            left[name] = nil
        end
    end
    return names
end

-- The names in the table, whose name with a dot is `prefix`.
local function names_of(t, prefix, what)
    local left, rest = {}, {}
    local example = prefix == "lab." and "lab.matmul" or "lab.cuda.memcpy"
    local first = ("%s: %s. help() explains it, help(%s) one function."):format(
        prefix:sub(1, -2), what, example)
    local lines = text.wrap(first, "", "")
    for name in next, t do
        if type(name) == "string" then left[name] = true end
    end
    for _, page in ipairs(api.pages()) do
        local names = take(page, prefix, left)
        if #names > 0 then add_group(lines, page.title, names) end
    end
    for name in next, left do rest[#rest + 1] = text.clean(name) end
    table.sort(rest)
    if #rest > 0 then add_group(lines, #rest < 12 and "Others" or "Functions", rest) end
    return lines
end

-- The lines of one of the two tables; nil of any other value.
function laboratory.lines(value)
    local module = internals.module()
    if rawequal(value, module) then
        return names_of(module, "lab.", "the laboratory")
    elseif rawequal(value, rawget(module, "cuda")) then
        return names_of(value, "lab.cuda.", "CUDA's plain calls, for probes")
    end
end

return laboratory
