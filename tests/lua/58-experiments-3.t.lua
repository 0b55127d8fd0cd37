-- 58-experiments-3.t.lua - the experiments are all there and of one form, each of their verdicts
-- answers a claim of the list, and the results page says what they print.

local T = require "tap"
local ideal = require "lua.ideal"

local wanted <const> = {
    "answer", "async_with_host", "callbacks", "concurrency_matrix", "concurrent_kernels",
    "data_prefetching", "default_stream", "events", "explicit_sync", "graph_fork_join",
    "graph_launch", "graph_long_kernels", "graph_pipeline", "graph_priorities", "graph_update",
    "launch_queue",
    "matmul_streams", "multi_stage_pipeline", "overlap_data_computation", "pinned_memory",
    "pipeline", "priorities", "single_stream",
}
local folder <const> = "scripts/experiments/"
local words <const> = { holds = true, ["no longer holds"] = true, depends = true }

-- A script that takes --seed asks nothing: it makes scripts (58-random.t.lua).
local function there_are()
    local names, pipe = {}, assert(io.popen("ls " .. folder))
    for file in pipe:lines() do
        local name = file:match("^(.*)%.lua$")
        if name and not ideal.read(folder .. file):find("--seed", 1, true) then
            names[#names + 1], names[name] = name, true
        end
    end
    pipe:close()
    return names
end

-- The comment at the top as one text without line ends.
local function header(text)
    local lines = {}
    for line in text:gmatch("[^\n]*") do
        if not line:find("^%-%-") then break end
        lines[#lines + 1] = line:match("^%-%- ?(.*)$")
    end
    return table.concat(lines, " ")
end

-- Lines without the CUDA sources in long strings: a kernel takes what lines it takes, and the limit
-- is for the experiment, which is the Lua around it.
local function lua_lines(text)
    local _, lines = text:gsub("%[%[\n.-\n%]%]", "[[]]"):gsub("\n", "")
    return lines
end

-- A question, a claim in quotation marks or what is said, and what is expected.
local function form(name, listed)
    local text = ideal.read(folder .. name .. ".lua")
    T.ok(lua_lines(text) < 80, name .. " is below 80 lines")
    local top = header(text)
    T.like(top, "^[%u][^.]*%?  ", name .. " begins with a question")
    T.like(top, '"[^"]+"', name .. " quotes a claim")
    T.like(top, "Expected: %S", name .. " says what is expected")
    local question = top:match("^(.-%?)  ")
    T.ok(listed:find(("| [%s.lua](%s.lua) | %s |"):format(name, name, question), 1, true),
         name .. " is in the list with its question")
end

local function verdicts(name, claims)
    local status, text = ideal.run(folder .. name .. ".lua", nil,
                                   { options = "--backend sim --profile textbook" })
    T.is(status, 0, name .. " runs")
    local found, wrong = 0, {}
    for line in text:gmatch("[^\n]+") do
        if line:find("^Verdict") then
            local word, claim, figure = line:match("^Verdict: ([%l ]+): ([^:]+): (%S.*%w.*)$")
            found = found + 1
            if not words[word] or not figure:find("%d") or not claims[name .. ": " .. claim] then
                wrong[#wrong + 1] = line
            end
        end
    end
    T.ok(found > 0, name .. " has verdicts")
    T.is_deeply(wrong, {}, name .. ": each has a word, a claim of the list and a figure")
end

local function claims_of_list()
    local set = {}
    for _, claim in ipairs(dofile("tests/bench/experiments/claims.lua").claims) do
        if claim.experiment then set[claim.experiment .. ": " .. claim.verdict] = true end
    end
    return set
end

-- The page holds what the generator makes of the GPU's run that is kept and a new one here.
local function page()
    local status, text = ideal.run("tests/bench/experiments/page.lua", "--print",
                                   { options = "--backend sim --profile textbook" })
    T.is(status, 0, "the page is made")
    if not T.ok(text == ideal.read("docs/results/experiments.md"),
                "docs/results/experiments.md is what is made now") then
        T.diag(text:sub(1, 4000))
    end
    T.ok(not text:find("no such"), "each claim of the list has a verdict")
end

-- A GPU cannot tell what a race read: there lab.races gives no `stale`.
local function without_stale(name)
    local status, text = ideal.run(folder .. name .. ".lua", nil, { options = "--backend sim -e '"
        .. "local races = lab.races; function lab.races() local list = {} "
        .. "for i, found in ipairs(races()) do list[i] = {kind = found.kind} end return list "
        .. "end'" })
    T.is(status, 0, name .. " runs where nothing is known of stale values")
    T.like(text, "unknown", "and says so")
end

local function wrong_use()
    for arguments, wanted in pairs{ ["run.lua"] = 2, ["run.lua a b"] = 2, ["page.lua --prin"] = 2,
                                    ["page.lua a b"] = 2, ["page.lua no/such.jsonl"] = 1 } do
        local script, rest = arguments:match("^(%S+) ?(.*)$")
        T.is(ideal.run("tests/bench/experiments/" .. script, rest), wanted,
             arguments .. " fails with status " .. wanted)
    end
end

local names, listed = there_are(), ideal.read(folder .. "README.md")
for _, name in ipairs(wanted) do T.ok(names[name], name .. " is there") end
T.ok(not names.random, "random, which takes a seed, is none of them")
local claims, computes_kernels = claims_of_list(), T.computes_kernels()
for _, name in ipairs(names) do
    form(name, listed)
    -- The page has the same verdicts of a run of all of them.
    if not T.sized(false, true) then
        goto continue
    elseif computes_kernels or not name:find("^kernel_") then
        verdicts(name, claims)
    else
        T.skip("there is no C++ compiler", 3)
    end
    ::continue::
end
for _, name in ipairs{ "data_prefetching", "multi_stage_pipeline", "overlap_data_computation" } do
    without_stale(name)
end
if computes_kernels then page() else T.skip("there is no C++ compiler", 3) end
wrong_use()
T.done()
