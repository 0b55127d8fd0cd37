-- 55-figures-agree.t.lua - summaries, comparisons and figures as JSON made in Lua are those that C
-- makes, byte for byte: on the traces of the tests, on random programs and on spans of any kind
-- anywhere.
local tap = require "tap"
local lab = require "streamlab"
local made = require "lua.made"
local programs = require "lua.programs"

local core = debug.getregistry()["streamlab.internals"]
local words, in_c = core.words, core.figures_in_c

local timelines = {}
for path in io.popen("ls tests/timeline/data/*.json* tests/timeline/data/planted/*.json* "
    .. "tests/fuzz/corpus/*.json"):lines() do
    local is_trace, tl = pcall(lab.load, path)
    for _, device in ipairs(is_trace and tl.device_indices or {}) do
        timelines[#timelines + 1] = {lab.load(path, {device = device}), path .. " " .. device}
    end
end
for seed = 1, 60 do
    timelines[#timelines + 1] = {programs.run(seed), "random program " .. seed}
end

-- Any spans, some of no length, on engines where they may hardly be.
local kinds <const> = {
    "kernel", "memcpy_h2d", "memcpy_d2h", "memcpy_d2d", "memcpy_p2p", "memset", "host_func",
}
local engines <const> = {"compute", "h2d", "d2h", "p2p", "copy"}
local random = math.random
math.randomseed(7)
for seed = 1, 200 do
    local t = {streams = {[1] = "a\tb", [3] = "x" .. ("y"):rep(seed % 40)}}
    local longest, n_kinds, n_streams = math.tointeger(10 ^ random(9)), random(#kinds), random(5)
    for i = 1, random(0, 14) do
        local kind, from = kinds[random(n_kinds)], random(0, longest)
        t[i] = {kind, random(n_streams), from, from + (random(5) == 1 and 0 or random(longest)),
                waited = random(6) == 1}
        if kind ~= "host_func" and random(4) == 1 then t[i].engine = engines[random(#engines)] end
    end
    if random(3) > 1 then t.device = {name = "GPU " .. seed, simulated = random(2) == 1} end
    timelines[#timelines + 1] = {made(t), "made " .. seed}
end

local compared = {summary = 0, json = 0, diff = 0}
local function agree(what, name, lua, c)
    if lua ~= c then return tap.is(lua, c, ("%s of %s"):format(what, name)) end
    compared[what] = compared[what] + 1
end

local function diff(a, b, names)
    local fa, fb, moves = core.moves(a, b)
    local verdicts = {words.verdict(core.explanation(a)), words.verdict(core.explanation(b))}
    return words.diff(fa, fb, moves, names, verdicts)
end

for i, t in ipairs(timelines) do
    local tl, name = t[1], t[2]
    local e = core.explanation(tl)
    agree("summary", name, words.summary(core.figures(tl)), in_c("summary", tl, false))
    agree("summary", name, words.summary(core.figures(tl), words.verdict(e)),
        in_c("summary", tl, true))
    agree("json", name, words.figures_json(core.figures(tl, true), words.causes_json(e)),
        in_c("json", tl))
    for _, other in ipairs {t, timelines[i % #timelines + 1], timelines[i * 7 % #timelines + 1]} do
        agree("diff", name .. " and " .. other[2], diff(tl, other[1]), in_c("diff", tl, other[1]))
        local names = {name, other[2]}
        agree("diff", name .. " and " .. other[2] .. " by name", diff(tl, other[1], names),
            in_c("diff", tl, other[1], table.unpack(names)))
    end
end
tap.is(compared.summary, 2 * #timelines, ("%d summaries are the same"):format(compared.summary))
tap.is(compared.json, #timelines, ("and %d sets of figures as JSON"):format(compared.json))
tap.is(compared.diff, 6 * #timelines, ("and %d comparisons"):format(compared.diff))
tap.done()
