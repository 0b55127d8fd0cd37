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

-- The lines that count, as one text.
function results.counted(list)
    local lines = {}
    for _, line in ipairs(list) do
        if not line:find("^#") then
            lines[#lines + 1] = line
        end
    end
    return table.concat(lines, "\n")
end

return results
