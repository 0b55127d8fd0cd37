-- callgrind.lua - reads what valgrind's callgrind writes: how many instructions functions took by
-- themselves, as their source files or names divide them into classes.
local callgrind = {}

-- A file of callgrind's names things by numbers, "(12) core/op.c" and later "(12)". Those of one
-- process share the numbers, so they are read in order, with one table of names.
local function name_of(names, text)
    local number, name = text:match("^(%(%d+%)) ?(.*)$")
    if name ~= "" then names[number] = name end
    return names[number]
end

-- Adds the instructions of one file of callgrind's to `count`, by class(source file, function).
local function add(path, files, functions, class, count)
    local file, name, is_of_call = "", "", false
    for line in io.lines(path) do
        local key, value = line:match("^(%l+)=(.*)$")
        if key == "fl" or key == "fi" or key == "fe" then
            file = name_of(files, value)
        elseif key == "cfi" or key == "cfl" then
            name_of(files, value)
        elseif key == "fn" then
            name = name_of(functions, value)
        elseif key == "cfn" then
            name_of(functions, value)
        elseif key == "calls" then
            is_of_call = true -- the next line has what the callee took
        elseif line:find("^[%d+*-]") then
            local n = line:match("^%S+ (%d+)")
            if n and not is_of_call then
                local of = class(file, name)
                count[of] = (count[of] or 0) + tonumber(n)
            end
            is_of_call = false
        end
    end
end

-- Reads the n parts PATH.1, PATH.2 ... of a process: a table class -> instructions for each.
function callgrind.read(path, n, class)
    local parts, files, functions = {}, {}, {}
    for i = 1, n do
        parts[i] = {}
        add(path .. "." .. i, files, functions, class, parts[i])
    end
    return parts
end

return callgrind
