-- callgrind.lua - reads what valgrind's callgrind writes: how many instructions the functions of
-- each source file took by themselves.
local callgrind = {}

-- A file of callgrind's names things by numbers, "(12) core/op.c" and later "(12)". Those of one
-- process share the numbers, so they are read in order, with one table of names.
local function name_of(names, text)
    local number, name = text:match("^(%(%d+%)) ?(.*)$")
    if name ~= "" then names[number] = name end
    return names[number]
end

-- Adds the instructions of one file of callgrind's to `count`, by class(source file).
local function add(path, files, class, count)
    local file, is_of_call = "", false
    for line in io.lines(path) do
        local key, value = line:match("^(%l+)=(.*)$")
        if key == "fl" or key == "fi" or key == "fe" then
            file = class(name_of(files, value))
        elseif key == "cfi" or key == "cfl" then
            name_of(files, value)
        elseif key == "calls" then
            is_of_call = true -- the next line has what the callee took
        elseif line:find("^[%d+*-]") then
            local n = line:match("^%S+ (%d+)")
            if n and not is_of_call then count[file] = (count[file] or 0) + tonumber(n) end
            is_of_call = false
        end
    end
end

-- Reads the n parts PATH.1, PATH.2 ... of a process: a table class -> instructions for each.
function callgrind.read(path, n, class)
    local parts, files = {}, {}
    for i = 1, n do
        parts[i] = {}
        add(path .. "." .. i, files, class, parts[i])
    end
    return parts
end

return callgrind
