-- values.lua - how the REPL shows values.

local values = {}

-- Prints the values of an entry on a line.
function values.show(...)
    local texts = {}
    for i = 1, select("#", ...) do
        texts[i] = tostring((select(i, ...)))
    end
    io.write(table.concat(texts, "\t"), "\n")
end

return values
