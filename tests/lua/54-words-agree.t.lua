-- 54-words-agree.t.lua - sentences made in Lua are those that C makes, byte for byte: on the traces
-- of the tests and on random programs.
local tap = require "tap"
local lab = require "streamlab"
local programs = require "lua.programs"

local core = debug.getregistry()["streamlab.internals"]
local words = core.words

local function told_in_lua(tl, columns)
    local e = core.explanation(tl)
    local told = {
        explain = words.explain(e, columns, true), verdict = words.verdict(e),
    }
    for i = 1, e.n_findings do
        local r = e.finding(i)
        told[i] = words.say(r, "sentence") .. " -> " .. (words.say(r, "remedy") or "")
    end
    return told
end

local function agree(tl, name)
    for _, columns in ipairs { 80, 33 } do
        local l, c = told_in_lua(tl, columns), core.told_in_c(tl, columns)
        tap.is(l.explain, c.explain, ("%s explained in %d columns"):format(name, columns))
        if columns == 80 then
            for key, text in pairs(c) do
                if text ~= l[key] then tap.is(l[key], text, name .. ", " .. key) end
            end
            tap.is(#l, #c, name .. ": all findings")
        end
    end
end

local traces = {}
for path in io.popen(("ls %s"):format(os.getenv "WORDS_TRACES"
    or "tests/timeline/data/*.json* tests/timeline/data/planted/*.json*")):lines() do
    traces[#traces + 1] = path
end
for _, path in ipairs(traces) do
    local is_there, tl = pcall(lab.load, path)
    for _, index in ipairs(is_there and tl.device_indices or {}) do
        agree(lab.load(path, { device = index }), path:match("[^/]*$") .. " " .. index)
    end
end

for seed = 1, 60 do agree(programs.run(seed), "random program " .. seed) end

-- Lines of a script, as fuzzers would write them: what C finds in them and what Lua finds.
local pieces <const> = {
    "x", "y.z", "t[i]", "t[1][2]", ":to", ":cuda", ":cpu", ":copy_", "(", ")", "{", "}", "[", "]", " ",
    '"cuda"', "'", '"', [["a\"b']], "--", ",", "=", "..", ".", "end", "local ", "return ", "f(", ")", "1",
    '("cuda")', "()", ":", "::", "_a9",
}
math.randomseed(1)
local wrong = 0
for _ = 1, 200000 do
    local line = {}
    for i = 1, math.random(12) do line[i] = pieces[math.random(#pieces)] end
    line = table.concat(line)
    for _, written in ipairs { false, true } do
        local in_c, in_lua = core.operand_in_c(line, written), words.operand(line, written)
        if in_c ~= in_lua and (load(line) or load("return " .. line)) then
            wrong = wrong + 1
            if wrong < 20 then tap.diag(("%q %s: C %s, Lua %s"):format(line, written, in_c, in_lua)) end
        end
    end
end
tap.is(wrong, 0, "operands are the same in all of 200,000 lines that are Lua")
tap.done()
