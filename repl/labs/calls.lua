-- calls.lua - which functions of the laboratory a submission calls, and which it may not.
--
-- Names are as help has them: "lab.matmul", "lab.cuda.free", "stream:synchronize"; a "*" at
-- the end stands for anything. Functions are replaced in the submission's own `lab`; methods
-- are shared with the test, so theirs only look while the submission runs.

local calls = {}

local prefix = "streamlab."     -- of the laboratory's classes

-- The laboratory's classes: name -> table of methods.
local function classes()
    local result = {}
    for _, value in next, debug.getregistry() do
        local name = type(value) == "table" and rawget(value, "__name")
        local methods = type(name) == "string" and rawget(value, "__methods")
        if methods and name:sub(1, #prefix) == prefix then
            result[name:sub(#prefix + 1)] = methods
        end
    end
    return result
end

-- Each function that can be named: name -> {table that has it, key}.
local function places(student_lab)
    local result = {}
    for key, value in next, student_lab do
        if type(value) == "function" then
            result["lab." .. key] = { student_lab, key }
        end
    end
    for key in next, student_lab.cuda do
        result["lab.cuda." .. key] = { student_lab.cuda, key }
    end
    for class, methods in next, classes() do
        for key in next, methods do
            result[class .. ":" .. key] = { methods, key }
        end
    end
    return result
end

-- The names that a list of names and patterns stands for, as a set; raises for one that
-- stands for nothing.
local function names_of(list, known)
    local result = {}
    for _, pattern in ipairs(list) do
        local found = false
        local stem = pattern:match("^(.*)%*$")
        for name in next, known do
            if name == pattern or stem and name:sub(1, #stem) == stem then
                result[name], found = true, true
            end
        end
        if not found then
            local near = internals.nearest(pattern, known)
            error({ message = ("'%s' in a list of calls is no function%s"):format(pattern,
                near and ("; did you mean '%s'?"):format(near) or "") }, 0)
        end
    end
    return result
end

-- The line of the submission that runs; `level` 1 is the caller.
local function position(chunk, level)
    for i = level + 1, level + 50 do
        local info = debug.getinfo(i, "Sl")
        if not info then
            return nil
        elseif info.source == chunk then
            return ("%s:%d"):format(info.short_src, info.currentline)
        end
    end
end

-- Watches what the submission, whose chunk has that name, calls. Returns
--   enter(f)      f as the test may call it: what happens in it is the submission's
--   required()    the list of the required that were not called
--   forbidden()   what was called and may not be: {name =, where =}
function calls.watch(student_lab, chunk, required, forbidden)
    local known = places(student_lab)
    local must, may_not = names_of(required, known), names_of(forbidden, known)
    local depth, called, violations = 0, {}, {}

    local function replace(name)
        local where, key = table.unpack(known[name])
        local original = where[key]
        local function watched(...)
            if depth > 0 then
                called[name] = true
                if may_not[name] then
                    violations[#violations + 1] = { name = name, where = position(chunk, 1) }
                    error(("%s may not be called in this lab"):format(name), 2)
                end
            end
            return original(...)
        end
        where[key] = watched
    end
    for name in next, known do
        if must[name] or may_not[name] then
            replace(name)
        end
    end

    local leave = setmetatable({}, { __close = function() depth = depth - 1 end })
    local watch = {}
    function watch.enter(f)
        return function(...)
            depth = depth + 1
            local _ <close> = leave
            return f(...)
        end
    end
    function watch.required()
        local list = {}
        for name in next, must do
            list[#list + 1] = not called[name] and name or nil
        end
        table.sort(list)
        return list
    end
    function watch.forbidden()
        return violations
    end
    return watch
end

return calls
