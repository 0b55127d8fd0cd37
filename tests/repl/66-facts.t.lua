-- 66-facts.t.lua - the facts of docs/facts: each fact has a source, the pages that it
-- names state it, and no page contradicts it.

local T = require "tap"
local shell = require "repl.shell"
local observed = require "both.observed"
local import = dofile("docs/generate/source.lua").environment("").import
local sources = import "docs/facts/sources.lua"

local facts <const> = {}
for _, topic in ipairs(import "docs/facts/all.lua") do
    table.move(topic, 1, #topic, #facts + 1, facts)
end

-- ---- pages -----------------------------------------------------------------------------------

-- All that teaches: pages, labs, experiments with their verdicts; docs/reference is what help says.
local pages <const> = {}
for path in io.popen("ls README.md docs/*.md docs/*/*.md scripts/labs/*.md scripts/labs/*/*.md "
    .. "scripts/experiments/*.md scripts/experiments/*.lua"):lines() do
    pages[#pages + 1] = path
end

-- A page without line breaks and without the marks of code and emphasis.
local function plain(text)
    return (text:gsub("[`*]", ""):gsub("\n[ \t]*%-%- ", "\n"):gsub("%s+", " "))
end

local texts = {}
local function text_of(path)
    texts[path] = texts[path] or plain(shell.read(path))
    return texts[path]
end

-- What a page says itself, in lower case: without what it quotes. A quotation ends with its
-- paragraph, or with its row of a table.
local function own_words(text)
    local parts = {}
    for paragraph in (text:gsub("|\n|", "|\n\n|") .. "\n\n"):gmatch("(.-)\n\n+") do
        parts[#parts + 1] = plain(paragraph):gsub('"[^"]*"', '""'):lower()
    end
    return table.concat(parts, " ")
end

local own = {}

-- The first page that has the pattern, or the plain text, in its own words, or nil.
local function contradiction(pattern, is_plain)
    for _, path in ipairs(pages) do
        own[path] = own[path] or own_words(shell.read(path))
        if own[path]:find(pattern, 1, is_plain) then return path end
    end
end

-- What the guide's tables "What is often said" quote to put right stands nowhere as our own words.
local function check_often_said()
    local n = 0
    for path in io.popen("ls docs/guide/[0-9]*.md"):lines() do
        for claim in shell.read(path):gmatch('\n| "([^|"]+)" |') do
            n = n + 1
            local wrong = plain(claim):lower()
            T.is(contradiction(wrong, true), nil, path .. ": nowhere else: " .. claim)
        end
    end
    T.ok(n > 40, "of all these tables")
end

-- ---- sources -----------------------------------------------------------------------------------

local function check_link(link, name)
    local path, anchor = link:match("^([^#]*)#?(.*)$")
    local found = io.open(path) and (anchor == ""
        or shell.read(path):lower():find("\n#+ " .. anchor:gsub("%p", "%%%0") .. "\n"))
    T.ok(found, name .. " leads somewhere: " .. link)
end

local function check_sources(fact)
    for _, name in ipairs(fact.source) do
        local source = sources[name]
        T.ok(source and source[1] and source[2]:find("^https://"), ("%s: %s is a source with an "
            .. "address"):format(fact.id, name))
    end
    if fact.measured then check_link(fact.measured, fact.id .. ": the measurement") end
    T.ok(#fact.source > 0 or fact.measured, fact.id .. " has a source or a measurement")
end

local function check_use_of_sources()
    local used = {}
    for _, fact in ipairs(facts) do
        for _, name in ipairs(fact.source) do used[name] = true end
    end
    for name in pairs(sources) do
        T.ok(used[name], "the source " .. name .. " is one of some fact")
    end
end

-- ---- facts -------------------------------------------------------------------------------------

local function check_stated(fact)
    for _, at in ipairs(fact.stated) do
        T.ok(text_of(at[1]):find(at[2], 1, true), ("%s: %s says: %s"):format(fact.id, at[1],
            at[2]))
    end
    T.ok(#fact.stated > 0, fact.id .. " is stated somewhere")
end

local function check_never(fact)
    for _, wrong in ipairs(fact.never or {}) do
        T.ok(own_words(wrong[2]):find(wrong[1]), fact.id .. ": the pattern finds what was "
            .. "once said")
        T.is(contradiction(wrong[1]), nil, fact.id .. ": no page says: " .. wrong[2])
    end
end

local pairs_with_torch = {}
for _, pair in ipairs(require "torch.pairs") do pairs_with_torch[pair.name] = true end

local function check_run(fact)
    local runs = observed[fact.id] or fact.pair
    T.ok((runs ~= nil) ~= (fact.not_run ~= nil), fact.id .. " is run, or says why not")
    if fact.pair then
        T.ok(pairs_with_torch[fact.pair], fact.id .. ": there is a pair of programs of that name")
    end
end

local ids = {}
for _, fact in ipairs(facts) do
    T.ok(not ids[fact.id], fact.id .. " is there once")
    ids[fact.id] = true
    check_sources(fact)
    check_stated(fact)
    check_never(fact)
    check_run(fact)
end
for id in pairs(observed) do T.ok(ids[id], id .. ", which is run, is a fact") end
check_use_of_sources()
check_often_said()
T.done()
