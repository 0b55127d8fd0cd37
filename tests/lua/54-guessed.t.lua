-- 54-guessed.t.lua - kernels whose duration is a guess: in spans, files, and sentences.
local T = require "tap"
local lab = require "streamlab"
local ideal = require "lua.ideal"
local made = require "lua.made"

local core = debug.getregistry()["streamlab.internals"]

-- In us: saxpy guessed from 0 to 20 and from 10 to 30, another one from 40 to 50, of 100.
local function timeline(other)
    return made {
        { "kernel", 1, 0, 20000, name = "saxpy", guessed = true },
        { "kernel", 2, 10000, 30000, name = "saxpy", guessed = true },
        { "kernel", 1, 40000, 50000, name = other, guessed = true },
        { "kernel", 1, 50000, 100000, name = "matmul_f32" },
        device = { name = "GPU", simulated = true },
    }
end

local function has(text, part, name)
    T.ok(text:find(part, 1, true), name)
    if not text:find(part, 1, true) then T.diag(part .. "\nis not in\n" .. text) end
end

local how <const> = ": each tensor moved once; give cost = { us = } or { bytes =, flops = }, or "
    .. "measure it: streamlab calibrate --kernels script.lua"
local one <const> = "The time of saxpy (3 launches, 40 % of the makespan) is a guess" .. how
local several <const> = "The times of saxpy and others (3 launches, 40 % of the makespan) are "
    .. "guesses"
    .. how

local tl = timeline("saxpy")
T.is(tl:spans()[1].guessed, true, "a span has it")
T.is(tl:spans()[4].guessed, nil, "where it is not, it is nil")
has(tl:json(), '"guessed": {"busy_us": 40.000, "count": 3, "sentence": "' .. one .. '"}', "in JSON")
has(timeline("scale"):json(), several, "of several kernels")

local explained = core.words.explain(core.explanation(tl), 1000, false)
has(explained, one .. "\n", "in an explanation, also without the verdict")
has(core.words.summary(core.figures(tl), "The verdict."),
    "The verdict.\nThe time of saxpy (3 launches, 40 %",
    "in a summary, behind the verdict")
T.is(core.words.summary(core.figures(tl)):find("guess"), nil, "and not without it")

local path = ideal.temporary(".html")
tl:save(path)
local page = assert(io.open(path)):read("a")
os.remove(path)
has(page, one, "on a page")

path = ideal.temporary(".json")
tl:save(path)
T.is(lab.load(path):spans()[2].guessed, true, "and in a trace")
os.remove(path)

local known = made { { "kernel", 1, 0, 20000 }, device = { name = "GPU", simulated = true } }
for name, text in pairs { explain = core.words.explain(core.explanation(known), 80, true),
                          summary = core.words.summary(core.figures(known), "The verdict."),
                          json = known:json() } do
    T.is(text:find("guess,"), nil, "nothing is said of kernels that are known: " .. name)
    T.is(text:find("is a guess"), nil, "nowhere: " .. name)
end
local brief = made { { "kernel", 1, 0, 10, name = "k", guessed = true }, { "kernel", 1, 10, 20000 },
                     device = { name = "GPU", simulated = true } }
has(brief:json(), "The time of k (1 launch, less than 1 % of the makespan) is a guess",
    "one, and short")
T.done()
