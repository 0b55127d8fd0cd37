-- results.lua - what the sides of the pairs have shown, as a file: lines that begin with "#" in
-- front, then for each pair "=== NAME" and a line for each thing shown. Lines with "#" below a pair
-- are notes, which are kept and not compared.

local results = {}

function results.read(path)
    local of, head, list = {}, {}, nil
    for line in assert(io.open(path)):lines() do
        local name = line:match("^=== (.*)")
        if name then
            list = {}
            of[name] = list
        else
            table.insert(list or head, line)
        end
    end
    return of, head
end

-- The lines of the list that count.
function results.counted(list)
    local lines = {}
    for _, line in ipairs(list) do
        if not line:find("^#") then
            lines[#lines + 1] = line
        end
    end
    return lines
end

-- The line with its longer fractions rounded: libraries differ in the last bit of a float32.
local function rounded(line)
    return (line:gsub("%d+%.%d%d%d+", function(number)
        return ("%.6g"):format(number)
    end))
end

-- Of the lines that `ours` shows those that `theirs` does not, sorted, as one text.
function results.differing(ours, theirs)
    local there, lines = {}, {}
    for _, line in ipairs(theirs) do
        there[rounded(line)] = true
    end
    for _, line in ipairs(results.counted(ours)) do
        lines[#lines + 1] = not there[rounded(line)] and line or nil
    end
    table.sort(lines)
    return table.concat(lines, "\n")
end

-- Those that the pair states, in the same form; `torch`: after lab.torch_defaults().
function results.stated(pair, torch)
    local lines = table.move(pair.here or {}, 1, #(pair.here or {}), 1, {})
    for _, line in ipairs(not torch and pair.plain or {}) do
        lines[#lines + 1] = line
    end
    table.sort(lines)
    return table.concat(lines, "\n")
end

return results
