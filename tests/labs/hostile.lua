-- hostile.lua - submissions that would take the grader's time or memory, or points from those who
-- are graded beside them, for any lab: for 40-class.t.lua and tests/bench/class.lua.
local hostile = {}

-- A submission all of whose functions do that.
local function in_each(body)
    return function(functions)
        local parts = {}
        for i, name in ipairs(functions) do
            parts[i] = ("function %s() %s end\n"):format(name, body)
        end
        return table.concat(parts)
    end
end

-- One whose main chunk is that, whatever the functions.
local function main(text)
    return function() return text end
end

local function prints(text)
    return in_each(("print(%s)"):format(text))
end

-- Each label is compared with all before it; two side by side nest in Lua's parser.
local function many_labels()
    local parts = {}
    for i = 1, 32000 do
        parts[i] = ("::a%d:: x = 1\n"):format(i)
    end
    return table.concat(parts)
end

-- {name, text(functions)}; `load` of its kind: it is over before any function could be called.
hostile.kinds = {
    { "newlines", prints '("\\n"):rep(65000) .. "x"' },
    { "blanks", prints '(" "):rep(65000) .. "x"' },
    { "blank-lines", prints '(" \\n"):rep(32000) .. "x"' },
    { "quotes-another", in_each 'error("alice.lua:1: look", 0)' },
    { "blank-error", in_each 'error("a" .. (" "):rep(16000), 0)' },
    { "chain-error", function(functions)      -- a line of 10000 fields, the last of which is nil
        return "local n = 0\nlocal a = setmetatable({}, { __index = function(t)\n    n = n + 1\n"
            .. "    return n % 10000 ~= 0 and t or nil\nend })\n"
            .. in_each("return 1 + a" .. (".a"):rep(10000))(functions)
    end },
    { "many-near", main(("x=1;"):rep(30000) .. "x = = 1") },
    { "sparse", bytes = 6 << 30 },
    { "loads-for-ever", main "while true do end", load = true },
    { "slow-elseif", main("if x then\n" .. ("elseif x then y()\n"):rep(46000) .. "end\n"),
        load = true },
    { "slow-labels", many_labels },
    { "runs-for-ever", in_each "while true do end" },
    { "prints-for-ever", in_each 'while true do print(("x"):rep(1000)) end' },
    { "fills-memory", in_each [[
        local t = {}
        for i = 1, 1 << 40 do t[i] = ("x"):rep(1 << 20) .. i end ]] },
}

-- Writes a submission of that kind.
function hostile.write(kind, path, functions)
    local file <close> = assert(io.open(path, "wb"))
    if kind.bytes then
        file:seek("set", kind.bytes - 1)        -- takes no room on the disk
        file:write("\0")
    else
        file:write(kind[2](functions))
    end
end

return hostile
