-- undefined.lua - a warning for an option whose value is an undefined variable:
-- lab.stream{non_blocking = True}, which for Lua is lab.stream{}.
--
-- A chunk's text is looked at when it has been loaded. Where it has `option = name` in a table,
-- and nothing in it declares the name, reading that name on that line is watched: if it still has
-- no value then, stderr says so, once. Reading still gives nil. A script without such a line is
-- not affected; if a script gives its globals a metatable, nothing is watched.

local read_global = rawget
local watched = {}          -- source -> name -> {option =, lines = {[number] = true}}
local reported = {}

-- Nothing is watched in larger chunks, which are generated, and at most so many names in others.
local most_bytes <const>, most_names <const> = 1 << 17, 100

-- The names that the chunk declares: locals, parameters, functions, the variables of loops.
local function declared_in(chunk)
    local names = {}
    for _, pattern in ipairs { "local%s+([^=\n]*)", "for%s+([^=\n]*)", "function%s*([%w_]*)",
                               "function[^(\n]*%(([^)]*)" } do
        for list in chunk:gmatch(pattern) do
            for name in list:gmatch("[%a_][%w_]*") do
                names[name] = true
            end
        end
    end
    return names
end

-- The names of all options that docs/api has.
local function all_options()
    local names = {}
    for entry in import "repl/run/api.lua".each() do
        for _, option in ipairs(entry.options or {}) do
            names[option[1]] = true
        end
    end
    return names
end

-- Whether the place is inside of a table: more braces have been opened than closed.
local function is_in_table(before)
    local _, opened = before:gsub("{", "")
    local _, closed = before:gsub("}", "")
    return opened > closed
end

-- Which line of the chunk gives that name to an option of that name, in a table; or nil.
local function line_of(chunk, at, option, options)
    local before = options[option] and chunk:sub(1, at)
    if not before or not is_in_table(before) then
        return nil
    end
    local _, breaks = before:gsub("\n", "")
    return breaks + 1
end

-- What the chunk gives to an option: {name =, option =, line =} each.
local function candidates(chunk)
    local list, options, declared = {}, nil, nil
    for option, at, name in chunk:gmatch("%f[%w_]([%a_][%w_]*)%s*=%s*()([%a_][%w_]*)%s*[,}]") do
        declared = declared or declared_in(chunk)
        if not import "repl/run/tokens.lua".keywords[name] and not declared[name]
                and read_global(_G, name) == nil
            and #list < most_names then
            options = options or all_options()
            local line = line_of(chunk, at, option, options)
            list[#list + 1] = line and { name = name, option = option, line = line }
        end
    end
    return list
end

-- ---- reporting -----------------------------------------------------------------------------

local function hint_for(name, info)
    local names = import "repl/run/errors/hint_names.lua"
    local tokens = import "repl/run/tokens.lua"
    local chunk = program.source(info.source) or ""
    return names.global({ number = info.currentline, after = "", line = "", source = info.source,
        script = { tokens = tokens.read(chunk), lines = {} } }, name)
end

local function report(name, option, info)
    local text = import "repl/run/text.lua"
    local fine, hint = pcall(hint_for, name, info)
    io.stdout:flush()
    local sentence = "there is no variable '%s', so that %s is not set%s"
    io.stderr:write(("streamlab: %s:%d: "):format(text.clean(info.short_src, true, true),
        info.currentline), sentence:format(name, option, fine and hint and ": " .. hint or ""),
        "\n")
end

-- In the place of reading a global that is not there.
local function read_missing(_, name)
    local info = debug.getinfo(2, "Sl")
    local entry = info and watched[info.source] and watched[info.source][name]
    local key = entry and entry[info.currentline]
        and ("%s:%d:%s"):format(info.source, info.currentline, name)
    if key and not reported[key] then
        reported[key] = true
        report(name, entry[info.currentline], info)
    end
    return nil
end

local metatable <const> = { __index = read_missing }

-- Looks at a chunk that has been loaded.
local function look(source)
    local chunk = program.source(source, true)
    local list = chunk and #chunk <= most_bytes and candidates(chunk) or {}
    if #list == 0 or (getmetatable(_G) or metatable) ~= metatable then
        return
    end
    watched[source] = {}
    for _, found in ipairs(list) do
        watched[source][found.name] = watched[source][found.name] or {}
        watched[source][found.name][found.line] = found.option
    end
    setmetatable(_G, metatable)
end

return { look = look }
