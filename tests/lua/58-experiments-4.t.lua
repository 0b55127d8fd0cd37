-- 58-experiments-4.t.lua - the experiments on graphs: what they find on the simulator is what
-- follows from its profile and from what they capture, and they run on other profiles.

local T = require "tap"
local ideal = require "lua.ideal"

local words <const> = { holds = true, ["no longer holds"] = true, depends = true }

-- Checks the words of an experiment's verdicts, but for those that are "any". Gives the numbers in
-- each one's text, and the printed table's rows as {[first column] = {the others}}.
local function found(name, ...)
    local list, text, status = ideal.verdicts(T, name)
    local got, numbers, rows = {}, {}, {}
    for i, verdict in ipairs(list) do
        got[i], numbers[i] = select(i, ...) == "any" and "any" or verdict[1], {}
        for number in verdict[2]:gmatch("%-?%d+%.?%d*") do
            table.insert(numbers[i], tonumber(number))
        end
    end
    for line in text:gmatch("[^\n]+") do
        local cells = {}
        for cell in line:gmatch("%S+") do cells[#cells + 1] = tonumber(cell) or cell end
        if not line:find("[%a][%a][%a][%a]") and type(cells[1]) == "number" then
            rows[#rows + 1] = cells
        end
    end
    T.is(status, 0, name .. ".lua runs")
    T.is_deeply(got, { ... }, name .. ": " .. table.concat({ ... }, ", "))
    return numbers, rows, text
end

local function graph_launch()
    local n, rows = found("graph_launch", "holds", "depends")
    -- A launch costs the host 3.8 us.
    T.near(n[1][2], 3800, 1, "graph_launch: 1000 calls cost what 1000 launches cost")
    T.ok(n[1][3] < 20, "graph_launch: as a graph they cost about as much as one")
    for _, row in ipairs(rows) do
        if row[1] >= 5 then
            T.ok(row[6] < row[3], ("graph_launch: %d kernels are done sooner"):format(row[1]))
        end
    end
    T.ok(rows[#rows][7] >= 1, "graph_launch: the setup is paid back some time")
    T.ok(rows[1][7] == "no" or rows[1][7] > 1, "graph_launch: of one kernel not at once")
end

-- 20 levels. Without a kernel at the join each of k branches comes behind each one of all levels
-- before: (0 + 1 + ... + 19) k^2. With one: k edges into it at each level, behind it one to each
-- branch, which has one of its own stream as well, and one to the next join: 20 k + 19 (2 k + 1).
local function graph_fork_join()
    local n, rows, text = found("graph_fork_join", "any")
    T.is(text:match("Verdict: ([%l ]+):"), rows[5][5] < rows[1][5] + 1
        and rows[5][6] < 2 * rows[10][6] and "holds" or "no longer holds",
        "graph_fork_join: the word follows from the table")
    for _, row in ipairs(rows) do
        local k <const> = row[1]
        if row[2] == "no" then
            T.is(row[3], 190 * k * k, ("graph_fork_join: edges of %d branches"):format(k))
        else
            T.is(row[3], 20 * k + 19 * (2 * k + 1),
                 ("graph_fork_join: edges of %d branches with a kernel at the join"):format(k))
        end
    end
    T.ok(n[1][5] > n[1][4], "graph_fork_join: streams take longer than the graph")
end

-- The long grid has 40 waves of 0.25 ms and the urgent kernel comes after 2.1: 7.9 ms are left, and
-- then it takes 0.25. Urgent, it begins with the next wave, after at most 0.25 ms.
local function graph_priorities()
    local _, rows = found("graph_priorities", "depends")
    local late, soon = 7.9 + 0.25, 0.25 + 0.25
    local wanted = { ["0 0"] = { late, late }, ["0 -5"] = { soon, late }, ["-5 0"] = { late, soon },
                     ["-5 -5"] = { soon, soon } }
    for _, row in ipairs(rows) do
        local key = row[1] .. " " .. row[2]
        for i, flag in ipairs{ "without", "with" } do
            T.near(row[i + 2], wanted[key][i], 0.15,
                   ("graph_priorities: %s the flag, captured and launched with "
                       .. "%s"):format(flag, key))
        end
    end
    T.is(#rows, 4, "graph_priorities: has all four")
end

local function graph_update()
    local n, rows, text = found("graph_update", "no longer holds")
    for _, row in ipairs(rows) do
        T.is(row[5], "yes", "graph_update: each replay read what it should")
    end
    T.like(text, "1000 nodes and the new one 1001",
           "graph_update: it says why it cannot be an update")
    T.ok(n[1][3] <= n[1][2], "graph_update: an update costs no more than a new graph")
    T.ok(n[1][4] < 10, "graph_update: a copy costs one call")
end

-- 16 MiB take 305 us at 55 GB/s, a product 342: at best only the 32 products count.
local function graph_pipeline()
    local n, rows = found("graph_pipeline", "depends")
    T.ok(n[1][1] > 1.2, "graph_pipeline: small items gain")
    T.near(n[1][3], 1, 0.02, "graph_pipeline: large ones do not")
    T.near(rows[3][5], 32 * 342 + 305 + 303, 500, "graph_pipeline: they take what the matmuls take")
end

-- 200 kernels of 200 us take 40 ms, and a gap of a us or two behind each.
local function graph_long_kernels()
    local _, rows = found("graph_long_kernels", "depends")
    local last = rows[#rows]
    T.near(last[2], 40.2, 0.3, "graph_long_kernels: long kernels take as long in a stream")
    T.near(last[3], 40.2, 0.3, "graph_long_kernels: as in a graph")
    for i = 2, #rows do
        T.ok(rows[i][4] <= rows[i - 1][4] + 0.05,
             "graph_long_kernels: the longer, the less is gained")
    end
end

-- As many verdicts, each beginning with one of the three words, and no figure that is none.
local function elsewhere(name, count)
    for _, profile in ipairs(T.sized({}, { "h200", "t4" })) do
        local list, text = ideal.verdicts(T, name, "--backend sim --profile " .. profile)
        local sound = #list == count and not text:find("[^%a]nan") and not text:find("[^%a]inf")
        for _, verdict in ipairs(list) do sound = sound and words[verdict[1]] end
        if not T.ok(sound, name .. " has sound verdicts on " .. profile) then T.diag(text) end
    end
end

graph_launch()
graph_fork_join()
graph_priorities()
graph_update()
graph_pipeline()
graph_long_kernels()
for name, count in pairs{ graph_launch = 2, graph_fork_join = 1, graph_priorities = 1,
                          graph_update = 1, graph_pipeline = 1, graph_long_kernels = 1 } do
    elsewhere(name, count)
end
T.done()
