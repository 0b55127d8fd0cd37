-- calls.lua - which functions of the laboratory a submission calls, and which it may not.
--
-- Names are those of help: "lab.matmul", "lab.cuda.free", "stream:synchronize"; a "*" at the end
-- matches anything. Functions are replaced in the submission's own `lab`. Methods are shared with
-- the test, so theirs check only while the submission runs. It also runs outside of its
-- functions' calls, in metamethods and host functions of what it returned or enqueued, so the
-- stack is inspected as well.

local sandbox = import "repl/labs/sandbox.lua"

local calls = {}

local prefix = "streamlab."     -- of the laboratory's classes
local most_violations <const> = 100

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

-- The set of names that a list of names and patterns matches; raises for one that matches
-- nothing.
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

-- Whether a function of the submission is among the callers; `level` 1 is the caller. A caller
-- that is not on the stack, because of a tail call or a coroutine, counts as the submission's:
-- tests have no reason to call that way.
local function is_below(chunk, level)
    if debug.getinfo(level + 1, "t").istailcall or not debug.getinfo(level + 2, "S") then
        return true
    end
    for i = level + 2, math.maxinteger do
        local info = debug.getinfo(i, "S")
        if not info then
            return false
        elseif info.source == chunk or info.source == sandbox.loaded then
            return true
        end
    end
end

-- Whether the caller is a line of a test, which the submission has called back. No chunk of a
-- submission has such a name; but a tail call of the submission looks like one of its caller.
local function is_tests(level)
    local info = debug.getinfo(level + 2, "S")
    return info ~= nil and info.source:find("^=tests/") ~= nil
        and not debug.getinfo(level + 1, "t").istailcall
end

-- Returns a function that restores the current device, and the current stream of each. A submission
-- could leave others, and the test's own work would run there.
local function where_it_stands(devices)
    local device, streams = lab.device(), {}
    for i, each in ipairs(devices) do
        each:make_current()
        streams[i] = lab.current_stream()
    end
    device:make_current()
    return function()
        for _, stream in ipairs(streams) do
            pcall(lab.use, stream)      -- fails if it was closed, and then none is current
        end
        pcall(device.make_current, device)
    end
end

-- Watches what the submission, whose chunk has that name, calls. Returns
--   enter(f)      f as the test may call it: what happens in it is the submission's
--   required()    the list of the required that were not called
--   forbidden()   what was called and may not be: {name =, where =, call = as a sentence}
function calls.watch(student_lab, chunk, required, forbidden, devices)
    local known = places(student_lab)
    local must, may_not = names_of(required, known), names_of(forbidden, known)
    local depth, called, violations = 0, {}, {}

    -- Each place once, and not too many: a loop can get here a million times.
    local function violate(name, where)
        local call = ("%s called %s"):format(where or "?", name)
        if not violations[call] and #violations < most_violations then
            violations[call] = true
            violations[#violations + 1] = { name = name, where = where, call = call }
        end
    end

    local function replace(name)
        local where, key = table.unpack(known[name])
        local original, is_own = where[key], where == student_lab or where == student_lab.cuda
        local function done(...)        -- only a call that went well fulfils a requirement
            called[name] = true
            return ...
        end
        where[key] = function(...)
            if not is_own and (is_tests(1) or depth == 0 and not is_below(chunk, 1)) then
                return original(...)
            elseif may_not[name] then
                violate(name, position(chunk, 1))
                error(("%s may not be called in this lab"):format(name), 2)
            end
            return done(original(...))
        end
    end
    for name in next, known do
        if must[name] or may_not[name] then
            replace(name)
        end
    end

    local watch = {}
    function watch.enter(f)
        return function(...)
            local put_back = where_it_stands(devices)
            depth = depth + 1
            local _ <close> = setmetatable({}, { __close = function()
                depth = depth - 1
                put_back()
            end })
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
