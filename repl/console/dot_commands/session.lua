-- session.lua - the entries of a session as a script that repeats it.

local lists = import "repl/run/lists.lua"
local tokens = import "repl/run/tokens.lua"

local session = {}

-- A list of {text = an entry, shown = it printed its values} and {code = Lua}.
local done = {}
local n_entries = 0

local function entry_name(n)
    return ("=lab[%d]"):format(n)
end

-- The latest entry has run without error.
function session.ran()
    local entries = program.entries()
    while entries[entry_name(n_entries + 1)] do
        n_entries = n_entries + 1
    end
    done[#done + 1] = { text = entries[entry_name(n_entries)] }
end

-- And its values were printed.
function session.shown()
    local latest = done[#done]
    if latest then
        latest.shown = true
    end
end

-- The number of the latest entry.
function session.count()
    return n_entries
end

-- What a command has done, as Lua.
function session.did(code)
    done[#done + 1] = { code = code }
end

-- Whether a command has done just this.
function session.has_done(code)
    return lists.any(done, function(item) return item.code == code end)
end

-- ---- as a script -----------------------------------------------------------------------

local function compiles(text)
    return load(text, "=entry", "t") ~= nil
end

-- The expression that an entry is, or nil.
local function expression_of(text)
    for _, candidate in ipairs { (text:gsub(";%s*$", "")), text, (text:gsub("^return ", "")),
        (text:gsub("^=", "")) } do
        if compiles("return " .. candidate) then
            return candidate
        end
    end
end

local function has_word(text, wanted)
    return lists.any(tokens.read(text), function(token)
        return token.text == wanted or wanted == "--" and token.kind == "comment"
    end)
end

-- Whether the text calls the console's function of that name, of which a script has none; and
-- whether it begins so.
local function calls_console(text, name)
    local list = tokens.read(text)
    for i, token in ipairs(list) do
        local before, behind = i > 1 and list[i - 1].text, list[i + 1]
        if token.text == name and before ~= "." and before ~= ":" and behind
            and (behind.text == "(" or behind.kind == "string") then
            return true, i == 1
        end
    end
    return false
end

-- help(x), who() and timeit(f) are for the one who looks.
local function only_looks(text)
    return expression_of(text) and lists.any({ "help", "who", "timeit" }, function(name)
        local _, first = calls_console(text, name)
        return first
    end)
end

-- The last statement may be an expression, or a call that has printed its values: what stands
-- before it, and that, or nil.
local function split_block(text, shown)
    if compiles(text) and not shown then
        return nil
    end
    for at = #text, 1, -1 do
        if text:find("^[\n;]", at) then
            local tail = expression_of(text:sub(at + 1):match("^%s*(.*)"))
            if tail and compiles(text:sub(1, at) .. "return " .. tail) then
                return text:sub(1, at), tail
            end
        end
    end
end

-- Puts the last value into `_`, and gives all of them.
local keep_last <const> = [[
local function keep_last(...)     -- what the prompt does with values
    if select("#", ...) > 0 then _ = (...) end
    return ...
end
]]

-- An entry as statements. `keeps`: later entries use `_`.
local function statements(entry, keeps)
    local text = entry.text
    local expression = expression_of(text)
    local head, tail = nil, nil
    if not expression then
        head, tail = split_block(text, entry.shown)
    end
    if head then        -- the names that are local to the block reach to its end
        local last = statements({ text = tail, shown = entry.shown }, keeps)
        return "do\n" .. head:gsub("\n$", "") .. "\n" .. last .. "\nend"
    end
    local newline = expression and has_word(expression, "--") and "\n" or ""
    if expression and keeps then
        local kept = "keep_last(" .. expression .. newline .. ")"
        return entry.shown and "print(" .. kept .. ")" or kept
    elseif expression and entry.shown then
        return "print(" .. expression .. newline .. ")"
    elseif expression and not compiles(expression) then
        return "local _ = " .. expression
    elseif has_word(text, "local") or has_word(text, "::") then
        return "do\n" .. text .. "\nend"        -- as there, it ends with the entry
    end
    return expression or text
end

session.header = "-- A session of streamlab, written by .save."

-- The whole as a script. `ending`: what is done at its end, as Lua, or nil.
function session.script(ending)
    local lines = { session.header, "local lab = require \"streamlab\"", "" }
    local keeps, times = false, false
    for _, item in ipairs(done) do
        keeps = keeps or (item.text ~= nil and has_word(item.text, "_"))
        times = times or (item.text ~= nil and calls_console(item.text, "time"))
    end
    if keeps then
        lines[#lines + 1] = keep_last
    end
    if times then
        lines[#lines + 1] = "local time = time or function(f, ...) return f(...) end\n"
    end
    for _, item in ipairs(done) do
        if item.code or not only_looks(item.text) then
            local code = item.code or statements(item, keeps)
            -- A line that begins so would go on with the one before.
            lines[#lines + 1] = code:find("^%s*%(") and ";" .. code or code
        end
    end
    lines[#lines + 1] = ending
    return table.concat(lines, "\n") .. "\n"
end

function session.is_empty()
    return #done == 0
end

return session
