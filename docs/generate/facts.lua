-- facts.lua - the page docs/reference/facts.md, from docs/facts.

local topics = import "docs/facts/all.lua"
local sources = import "docs/facts/sources.lua"

local facts = { title = "Facts about streams, with their sources" }

local intro <const> = [[
What this project states about streams and copies, once each: for which GPUs it holds, who says so
or where it was measured, and which page shows it. The tests run each fact on the simulator, unless
its row says why not, and check that no page contradicts it. In November 2026 the same 51 runs came
out as stated on an NVIDIA H200 (driver 580.159.03); what is said of graphs was measured there by a
program in plain CUDA C (driver 580.159.04). "Measured on one H200" is no promise for other GPUs or
drivers.
]]

-- The path as seen from docs/reference.
local function from_reference(path)
    local below = path:match("^docs/(.*)")
    if not below then return "../../" .. path end
    return (("../" .. below):gsub("^%.%./reference/", ""))
end

local function link(words, path)
    return ("[%s](%s)"):format(words, from_reference(path))
end

local function sources_of(fact)
    local parts = {}
    for _, name in ipairs(fact.source) do
        parts[#parts + 1] = ("[%s](%s)"):format(table.unpack(sources[name]))
    end
    if #parts == 0 then parts[1] = "no public source found" end
    if fact.measured then parts[#parts + 1] = link("measured", fact.measured) end
    return table.concat(parts, "; ")
end

-- "guide 5", "lab 3", "causes"
local function name_of(path)
    local chapter, lab = path:match("guide/0?(%d+)"), path:match("labs/0?(%d+)")
    return chapter and "guide " .. chapter or lab and "lab " .. lab or path:match("([^/]+)%.md$")
end

local function pages_of(fact)
    local seen, parts = {}, {}
    for _, at in ipairs(fact.stated) do
        if not seen[at[1]] then parts[#parts + 1] = link(name_of(at[1]), at[1]) end
        seen[at[1]] = true
    end
    return table.concat(parts, ", ")
end

-- How the tests run it, where that is not on the simulator.
local function remark(fact)
    return fact.not_run and " *Not run by the tests: " .. fact.not_run .. "*"
        or fact.pair and " *Run with PyTorch as well, where there is one.*" or ""
end

local function row(fact)
    return ("| %s%s | %s | %s | %s |\n"):format(fact.fact, remark(fact), fact.holds,
        sources_of(fact), pages_of(fact))
end

function facts.text()
    local parts = { intro }
    for _, topic in ipairs(topics) do
        parts[#parts + 1] = "\n## " .. topic.title .. "\n\n| fact | holds for | source | "
            .. "shown in |\n|---|---|---|---|\n"
        for _, fact in ipairs(topic) do
            parts[#parts + 1] = row(fact)
        end
    end
    return table.concat(parts)
end

return facts
