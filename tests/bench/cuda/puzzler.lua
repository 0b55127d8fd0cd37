-- puzzler.lua - the puzzler of scripts/puzzler.lua from Lua beside the same calls in C,
-- beside PyTorch, and recorded. Sections of bench.lua.

local variants = { "nonblocking", "blocking", "pinned" }

-- Opening -----------------------------------------------------------------------------------

local function tensors(count, make)
    local list = {}
    for i = 1, count do list[i] = make(i) end
    return list
end

-- The tensors and streams, and the three variants as functions. Results are made in each
-- call and left to the collector, as in the puzzler.
local function open_lua(b)
    local lab, size = b.lab, b.size
    local function rand(where)
        return function() return lab.rand(size.n, size.n, { device = where }) end
    end
    local streams = { lab.stream { name = "first" }, lab.stream { name = "second" },
                      lab.stream { name = "third" } }
    local matrix_on_gpu = tensors(size.matmuls, rand("cuda"))
    local data_on_gpu = tensors(size.copies, rand("cuda"))
    local data_on_cpu = tensors(size.copies, rand("cpu"))
    local pinned_data = tensors(size.copies, function(i) return data_on_cpu[i]:pin_memory() end)

    local function run(inputs, non_blocking)
        lab.with(streams[1], function()
            for i = 1, #matrix_on_gpu do lab.matmul(matrix_on_gpu[i], matrix_on_gpu[i]) end
        end)
        lab.with(streams[2], function()
            for i = 1, #data_on_gpu do data_on_gpu[i]:to("cpu", { non_blocking = non_blocking }) end
        end)
        lab.with(streams[3], function()
            for i = 1, #inputs do inputs[i]:to("cuda", { non_blocking = non_blocking }) end
        end)
    end
    return streams, {
        nonblocking = function() run(data_on_cpu, true) end,
        blocking = function() run(data_on_cpu, false) end,
        pinned = function() run(pinned_data, true) end,
    }
end

-- The Lua side, opened by the first section that needs it.
local function open(b)
    if b.puzzler then return b.puzzler end
    local streams, run = open_lua(b)
    b.puzzler = {
        streams = streams, run = run, start = b.lab.event(),
        ends = { b.lab.event(), b.lab.event(), b.lab.event() },
    }
    b.lab.synchronize()
    return b.puzzler
end

-- Measuring -----------------------------------------------------------------------------------

-- One run: ms of the host's clock from before the first call to the end of the final
-- synchronise, and ms of the GPU's from an event before the first matmul to the last of the
-- events at the streams' ends. The same calls as the raw side makes for that.
local function lua_run(b, p, variant)
    local began = b.raw.now_ns()
    p.start:record(p.streams[1])
    p.run[variant]()
    for i, stream in ipairs(p.streams) do p.ends[i]:record(stream) end
    b.lab.synchronize()
    local wall = (b.raw.now_ns() - began) / 1e6
    local device = 0
    for _, ended in ipairs(p.ends) do device = math.max(device, p.start:elapsed_time(ended)) end
    return wall, device
end

-- What the run before has left is collected outside the times.
local function settle(b)
    collectgarbage()
    b.lab.synchronize()
end

local function raw_run(raw, variant)
    local wall_ns, device_ms = raw:run(variant)
    return wall_ns / 1e6, device_ms
end

-- Runs `left` and `right` by turns, which give wall and device time. A turn is a run that does
-- not count and `per_turn` that do: the copies read and write more than the caches hold of both
-- sides together, and each is to be measured with its own data there, as if it were alone.
local per_turn = 4
local function alternate(b, left, right, turns)
    local walls, devices = { left = {}, right = {} }, { left = {}, right = {} }
    for _ = 1, turns do
        for _, side in ipairs { "left", "right" } do
            for i = 0, per_turn do
                settle(b)
                local wall, device = (side == "left" and left or right)()
                if i > 0 then
                    table.insert(walls[side], wall)
                    table.insert(devices[side], device)
                end
            end
        end
    end
    local summary = b.report.summary
    return { left = summary(walls.left), right = summary(walls.right) },
        { left = summary(devices.left), right = summary(devices.right) }
end

-- Sections --------------------------------------------------------------------------------------

-- Both sides multiply the pattern with itself: raw in its first matrix, which holds it.
local function check_values(b, raw)
    local n = b.size.n
    local matrix = b.lab.tensor(b.pattern({ n, n }, 1))
    local product = b.lab.matmul(matrix, matrix):totable()
    local first = table.move(product[2], 1, n, n + 1, product[1])
    raw:run("pinned")
    b.check("the puzzler's matmul", first, raw:values(1, 2 * n))
end

-- Rows of the variants from Lua over those in C; most: the largest ratio that is allowed.
local function compare(b, which, most)
    local p, size = open(b), b.size
    local raw <close> = b.closing(b.raw.puzzler(size.n, size.matmuls, size.copies))
    check_values(b, raw.object)
    for _, variant in ipairs(which) do
        local wall, device = alternate(b, function() return raw_run(raw.object, variant) end,
                                       function() return lua_run(b, p, variant) end, size.turns)
        b.table:ratio(variant .. ", wall", wall.left, wall.right, "ms", most)
        b.table:ratio(variant .. ", events", device.left, device.right, "ms", most)
    end
end

local function beside_raw(b)
    local size = b.size
    b.table:section("The puzzler", ([[
%d matmuls of %d x %d, %d copies each way, three blocking streams, the variants of
scripts/puzzler.lua. Wall: from before the first call to the end of the final synchronise; events:
from before the first matmul to the end of the last stream. Median of %d runs (least to largest),
%d of Lua and %d of raw by turns. raw has all memory allocated before; Lua makes its results in the
calls.]])
        :format(size.matmuls, size.n, size.n, size.copies, size.turns * per_turn,
                per_turn, per_turn),
        "raw CUDA C",
        "streamlab from Lua")
    compare(b, variants, 1)
end

-- Wall times of the two functions of the seed, in ms.
local function seed_walls(b, p, walls)
    for _, variant in ipairs { "nonblocking", "blocking" } do
        for i = -1, 6 do
            settle(b)
            local wall = lua_run(b, p, variant)
            if i >= 1 then table.insert(walls[variant], wall) end
        end
    end
end

local function numbers(text, name)
    local list = {}
    for number in (text:match('"' .. name .. '": %[([^]]*)%]') or ""):gmatch("[%d.eE+-]+") do
        list[#list + 1] = tonumber(number)
    end
    return #list > 0 and list or nil
end

-- What python3 has measured of the puzzler with a library, once a process: its version and the wall
-- times by variant, or what is missing.
local function measure_python(b, script)
    b.python = b.python or {}
    if b.python[script] then return b.python[script] end
    local text = b.output("python3 " .. b.quote(b.folder .. script))
    local figures = { version = text:match('"version": "([^"]*)"') or "?",
                      nonblocking = numbers(text, "non_blocking_ms"),
                      blocking = numbers(text, "blocking_ms") }
    if not figures.nonblocking or not figures.blocking then
        figures.missing = text:match('"missing": "([^"]*)"') or "python3 gave no figures"
    end
    b.python[script] = figures
    return figures
end

local libraries = { { "PyTorch", "torch_puzzler.py" }, { "CuPy", "cupy_puzzler.py" } }

-- Rows of the two functions of the seed; most: the largest ratio to PyTorch that is allowed.
local function compare_python(b, most)
    local p = open(b)
    local walls = { nonblocking = {}, blocking = {} }
    seed_walls(b, p, walls)
    local figures = {}
    for i, library in ipairs(libraries) do figures[i] = measure_python(b, library[2]) end
    seed_walls(b, p, walls)
    for i, library in ipairs(libraries) do
        local name, theirs = library[1], figures[i]
        for _, variant in ipairs(theirs.missing and {} or { "nonblocking", "blocking" }) do
            b.table:ratio(("%s, wall, %s %s"):format(variant, name, theirs.version),
                          b.report.summary(theirs[variant]), b.report.summary(walls[variant]), "ms",
                          name == "PyTorch" and most or nil)
        end
        if theirs.missing then b.table:row("skipped: " .. theirs.missing, "", "", "", "", nil) end
    end
end

local function beside_python(b)
    b.table:section("The puzzler beside PyTorch and CuPy", [[
Wall time of the two functions of the puzzler, final synchronise included; PyTorch and CuPy in a process
of their own each. Medians (least to largest) of 11 runs of theirs, and of 6 before and 6 after from Lua.]],
        "Python", "streamlab from Lua")
    compare_python(b, nil)
end

-- The same with a plan of matmul that was measured. It stays: a section of its own at the end.
local function tuned(b)
    local size = b.size
    local matrix = b.lab.rand(size.n, size.n)
    local plan = b.lab.tune(matrix, matrix)
    b.puzzler = nil -- both sides are to have new memory, as in the section above
    settle(b)
    b.table:section("The puzzler, tuned", ([[
As "The puzzler", after lab.tune: a product takes %.2f us of the GPU, %.2f us as cublasLt chooses
(algorithm %d, tile %d, split-K %d). Then beside PyTorch and CuPy, as above.]])
        :format(plan.us, plan.first_us, plan.algorithm, plan.tile, plan.split_k),
        "raw CUDA C, Python", "streamlab from Lua")
    compare(b, { "nonblocking", "pinned" }, 0.96)
    compare_python(b, 0.87)
end

-- One recorded run: wall is all that lab.profile takes, device is the makespan in it.
local function recorded_run(b, p, variant, note)
    local device
    local began = b.raw.now_ns()
    local tl = b.lab.profile(function()
        local _
        _, device = lua_run(b, p, variant)
    end)
    local wall = (b.raw.now_ns() - began) / 1e6
    note(tl)
    return wall, device
end

local function recorded(b)
    local size = b.size
    local expected = size.matmuls + 2 * size.copies
    b.table:section("What recording costs", [[
The puzzler from Lua, under lab.profile and not, by turns. Makespan: by events around the streams'
work; whole: all that lab.profile takes, delivery of the spans included. Medians (least to largest).]],
        "not recorded", "recorded")
    local p = open(b)
    for _, variant in ipairs(variants) do
        local least, most = math.huge, 0
        local function note(tl)
            least, most = math.min(least, tl.span_count), math.max(most, tl.span_count)
        end
        local wall, device = alternate(b, function() return lua_run(b, p, variant) end,
            function() return recorded_run(b, p, variant, note) end, size.turns)
        b.table:ratio(variant .. ", makespan", device.left, device.right, "ms", 1.02)
        b.table:ratio(variant .. ", whole", wall.left, wall.right, "ms", nil)
        b.table:row(variant .. ", spans", "", least == most and tostring(least)
            or ("%d to %d"):format(least, most), "", tostring(expected),
            least == expected and most == expected)
    end
end

return { beside_raw = beside_raw, tuned = tuned, beside_python = beside_python,
         recorded = recorded }
