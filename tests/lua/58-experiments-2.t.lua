-- 58-experiments-2.t.lua - experiments on what runs beside what, what holds the host, events,
-- priorities and the ported listings: their verdicts on the simulated H200, against figures
-- worked out from its profile (in comments), and that they make sense with other profiles.

local T = require "tap"
local ideal = require "lua.ideal"

local has_checker = pcall(lab.check)

local function run(name, profile)
    return ideal.run("scripts/experiments/" .. name .. ".lua", nil,
                     { options = "--profile " .. (profile or "textbook") })
end

-- The text after "Verdict: ", in order.
local function verdicts(text)
    local list = {}
    for line in text:gmatch("[^\n]+") do
        list[#list + 1] = line:match("^Verdict: (.*)")
    end
    return list
end

-- Runs it; `wanted` are patterns, one for each verdict.
local function says(name, wanted, profile)
    local status, text = run(name, profile)
    local who = name .. (profile and " on " .. profile or "")
    T.is(status, 0, who .. " runs")
    local found = verdicts(text)
    T.is(#found, #wanted, who .. " has a verdict for each claim")
    for i, pattern in ipairs(wanted) do
        T.like(found[i] or text, "^" .. pattern, who .. ", verdict " .. i)
    end
    return text
end

-- What stands behind `label` in the last line that begins with it and is no chart's.
local function figures(text, label)
    local list, rest = {}, ""
    local pattern <const> = "^%s*" .. label:gsub("%p", "%%%0") .. "%s+([%dyn%-].*)"
    for line in text:gmatch("[^\n]+") do
        rest = not line:find("|") and line:match(pattern) or rest
    end
    for word in rest:gmatch("%S+") do list[#list + 1] = tonumber(word) or word end
    return list
end

local function near_row(text, label, wanted, tolerance, name)
    local found, right = figures(text, label), true
    for i, want in ipairs(wanted) do
        right = right and type(found[i]) == "number" and math.abs(found[i] - want) <= tolerance
    end
    if not T.ok(right, name) then
        T.diag(("  row %s has %s"):format(label, table.concat(found, " ")))
    end
end

-- cudaMemcpy from pageable memory waits for its stream first. h2d_async_bytes is 2 MiB here: of 1,
-- 64, 128 KiB, 1, 4 and 64 MiB four are below, as on a T4. memcpy_async_us is 1.4.
local function async_with_host()
    local text = says("async_with_host", {
        "holds: [^:]+: kernel launch 6 of 6 times$",
        "holds: [^:]+: cudaMemcpy within the device 6 of 6 times$",
        "depends: [^:]+: cudaMemcpy at no size, cudaMemcpyAsync up to 1024 KiB$",
        "depends: .*from pageable 4 of 6 .*from pinned 6 .*to pageable 0 .*to pinned 6 of 6 times$",
        "holds: [^:]+: cudaMemset 6 of 6 times$", "holds: .*from pinned 6 .*to pinned 6 of 6" })
    near_row(text, "cudaMemcpyAsync from pinned", { 1.4, 1.4, 1.4, 1.4, 1.4, 1.4 }, 0.01,
             "an asynchronous pinned copy costs the host its call, at any size")
    local held = figures(text, "cudaMemcpyAsync to pageable")
    T.ok(held[1] > 5000 and held[1] < 5020, "1 KiB to pageable memory waits for the 5 ms kernel")
    says("async_with_host", { "holds", "holds", "depends: .*cudaMemcpyAsync up to 1024 KiB",
                              "depends: .*from pageable 4", "holds", "holds" }, "t4")
end

-- H2D beside D2H: each at duplex_factor of its speed, so both take 1 / 0.915 = 1.093 of one, and
-- 1 - 0.093 = 91 % is hidden. Two in one direction take turns.
local function concurrency_matrix()
    local text = says("concurrency_matrix", { "holds: [^:]+: %d+ %%, ", "holds: [^:]+: %d+ %%",
        "holds: [^:]+: 91 %% with 3$", "depends: [^:]+: the same way 0 %%, both ways 91 %%$" })
    local d2h = figures(text, "D2H")
    T.ok(d2h[1] >= 95 and d2h[2] >= 95, "copies are hidden behind host work and kernels")
    T.is(d2h[3], 91, "H2D and D2H run together at 0.915 of their speed")
    T.is(d2h[4], 0, "two D2H copies take turns")
    T.ok(figures(text, "kernel")[2] >= 95, "kernels of one block run together")
    T.is(figures(text, "host")[1], 0, "the host does one thing at a time")
    T.like(text, "there is one GPU", "copies among GPUs are left out, and it says so")
    -- 64 MiB within a T4 take 560 us, in blocks that fill it: a 200 us kernel waits for them.
    says("concurrency_matrix", { "depends: .*, kernel/D2D$", "", "", "" }, "t4")
end

-- Four kernels of 1 ms each in two streams: 4 ms together, 8 ms and 8 times 0.01 ms in turns.
local function default_stream()
    local text = says("default_stream", {
        "depends: [^:]+: they took 100 %% of the overlap %(2.02 times as long%); with "
        .. "non_blocking streams 0 %%$",
        "depends: .* a blocking one for 0.00 ms, beside a non_blocking one for 0.08$" })
    near_row(text, "two streams", { 4, 4, 0 }, 0.02, "two streams overlap for 4 ms")
    near_row(text, "+ NULL-stream launch", { 8.08, 0, 0 }, 0.03,
             "with the launches nothing overlaps")
    near_row(text, "+ non_blocking streams", { 4, 4, 0.08 }, 0.02, "without the rule all overlaps")
end

-- The long grid has 40 waves of 0.25 ms. The small one arrives after 2.1 ms: it begins with the
-- next wave at 2.25 if it is urgent, else at 10.
local function priorities()
    local text = says("priorities", {
        "no longer holds: .*after 8.15 ms with priority 0, after 8.15 with 1, after 0.40 with %-5$",
        "no longer holds: .* began 0.15 ms .*took 0.25 ms more$", "holds: [^:]+: 0, of 0 to %-5$" })
    near_row(text, "0", { 0, 7.9, 8.15, 10 }, 0.01, "priority 0 waits for the last wave")
    near_row(text, "1", { 0, 7.9, 8.15, 10 }, 0.01, "priority 1 is clamped to 0")
    near_row(text, "-1", { -1, 0.15, 0.4, 10.25 }, 0.01, "priority -1 begins with the next wave")
end

-- Records cost the host 0.27 and 1.23 us, and the GPU nothing and 2.15 us.
local function events()
    local text = says("events", {
        "depends: .*around one of 1 ms 1.0%d%d ms, behind another kernel 3.99%d ms$",
        "holds: .* host 0.27 us and the GPU 0.00, a timed one 1.23 and 2.15$" })
    near_row(text, "untimed", { 0.27, 1.1 }, 0.05, "without timing the gap stays stream_gap_us")
    near_row(text, "timed", { 1.23, 3.25 }, 0.05, "with timing record_us is added")
end

local function events_race()
    local text = says("events_race", {
        "holds: .*5 of 5 runs read an old value$", "holds: .*5 of 5 runs read 49",
        "holds: .*and 0 of 5 runs read 49" })
    near_row(text, "no event", { 1, 1, 1, 1, 1, 0 }, 0, "without an event the old 1 is squared")
    near_row(text, "record, wait", { 49, 49, 49, 49, 49, 5, 1.003 }, 0.01, "with one the new 7")
    near_row(text, "record, wait, record again", { 49, 49, 49, 49, 49, 5, 1.003 }, 0.01,
             "the second record, 2 ms later, is not waited for")
end

-- host_func_in_us 10, host_func_out_us 5, and the stream's own gaps. Behind the function in b,
-- which runs from 0.11 to 2.11 ms, the one in a ends at 4.12, and a's first kernel at 0.2.
local function callbacks()
    local text = says("callbacks", {
        "holds: .*of 2 ms for 201%d us, an empty one for 17%.%d, none for 1.1; .*after %d.%d us$",
        "holds: .*block a for 39%d%d us$", "holds: .*allowed are 0 of 6, and 2 of 2 others$" })
    T.is(figures(text, "launch a kernel")[1], "no", "a host function may not launch a kernel")
    T.is(figures(text, "launch a kernel")[2], "SL_ESTATE", "and is reported so")
    T.is(figures(text, "write host memory")[1], "yes", "it may write to host memory")
end

local function listings()
    if not has_checker then return T.skip("the race checker is not in this version") end
    local text = says("overlap_data_computation", {
        "no longer holds: .*races and accidents: 0 and [1-9]%d* as printed, [1-9]%d* and %d+ "
        .. "from pinned memory, 0 with wait_stream$", "no longer holds: .*for 0.0 of 55%.%d us" })
    T.is(figures(text, "as printed")[3], "no", "as printed the input has arrived")
    text = says("multi_stage_pipeline", {
        "no longer holds: .*races found: 1 as printed, 1 with a longer stage 1 %(the result is "
        .. "wrong%), 0 mended$", "no longer holds: .*mended, for 0.0 us" })
    T.is_deeply({ table.unpack(figures(text, "as printed"), 3, 4) }, { "no", "yes" },
                "as printed stage 2 comes late enough, by luck")
    T.is_deeply({ table.unpack(figures(text, "longer stage 1"), 3, 4) }, { "yes", "no" },
                "behind a longer stage 1 it reads a stale value")
    T.is_deeply({ table.unpack(figures(text, "longer, wait_stream"), 1, 4) }, { 0, 0, "no", "yes" },
                "with wait_stream nothing is found, and the result is right")
    -- 3 x (2 + 2) ms in turns; with prefetching 2 + 3 x 2, so 4 ms of it at the same time
    text = says("data_prefetching", {
        "no longer holds: .*for 0.00 ms as printed, 0.00 with 2 ms of each, [34]%.%d+ mended$",
        "no longer holds: .*races found: [1-9]%d* as printed, 0 mended$" })
    T.is(figures(text, "2 ms, prefetching")[4], "yes", "prefetching gives the right results")
end

local names <const> = { "async_with_host", "callbacks", "concurrency_matrix", "default_stream",
                        "events", "events_race", "priorities" }
local listed <const> = { "overlap_data_computation", "multi_stage_pipeline", "data_prefetching" }

local function everywhere()
    local all = { table.unpack(names) }
    if has_checker then table.move(listed, 1, #listed, #all + 1, all) end
    for _, profile in ipairs(T.sized({}, { "a100", "rtx4060_laptop", "t4" })) do
        local wrong = {}
        for _, name in ipairs(all) do
            local status, text = run(name, profile)
            local found = verdicts(text)
            for _, verdict in ipairs(found) do
                local word = verdict:match("^([%a ]+): [^:]+: %S")
                if word ~= "holds" and word ~= "no longer holds" and word ~= "depends"
                    or verdict:find("nan") or verdict:find("inf") then
                    wrong[#wrong + 1] = name .. ": " .. verdict
                end
            end
            if status ~= 0 or #found == 0 then wrong[#wrong + 1] = name .. ": " .. text end
        end
        T.is_deeply(wrong, {}, "all run on " .. profile .. ", with verdicts in the common form")
    end
end

async_with_host()
concurrency_matrix()
default_stream()
priorities()
events()
events_race()
callbacks()
listings()
everywhere()
T.done()
