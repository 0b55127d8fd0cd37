-- 57-whatif-export.t.lua - programs recorded on the simulated GPU and exported to Lua: run there
-- again, the script takes as long as the program did. The other languages need a GPU: here they are
-- read, and by tests/record/60-exports.t.sh compiled.
local tap = require "tap"
local lab = require "streamlab"

local s, side = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local n <const> = 4 << 20
local a = lab.zeros(n)
local pageable = lab.zeros(n, { device = "cpu" })
local pinned = lab.zeros(n, { device = "cpu", pinned = true })
local x = lab.rand(1024, 1024)

local function spin(ms, stream) lab.spin(ms, { stream = stream or s }) end

local function copy(from, stream, non_blocking)
    a:copy_(from, { non_blocking = non_blocking ~= false, stream = stream or s })
end

local function times(count, f)
    return function()
        for i = 1, count do f(i) end
    end
end

local function record(program)
    program() -- once before: kernels are loaded
    lab.synchronize()
    return lab.profile(program)
end

-- The ms that an exported script prints.
local function run(text)
    local said
    local env = setmetatable({ arg = { "1" }, print = function(line) said = line end },
                             { __index = _G })
    assert(load(text, "=exported", "t", env))()
    return tonumber(said:match "^[%d.]+")
end

local function planned(text)
    return tonumber((text:gsub("\n%-%- ", " ")):match "takes ([%d.]+) ms")
end

local function check(name, program, most)
    local text = lab.whatif(record(program)):export "lua"
    local wanted, found = planned(text), run(text)
    tap.ok(math.abs(found / wanted - 1) <= (most or 0.02), name .. ": takes as long as it did")
    if math.abs(found / wanted - 1) > (most or 0.02) then
        tap.diag(("%.3f ms, and not %.3f"):format(found, wanted))
    end
    return text
end

-- ---- what programs do ----------------------------------------------------------------------

check("kernels", times(4, function() spin(1) end))
check("short kernels", times(200, function() spin(0.002) end))
check("kernels with more blocks than fit", times(20, function()
    lab.spin(0.02, { blocks = 1000, threads = 1024, stream = s })
end))
check("two streams that share the SMs", times(20, function()
    lab.spin(0.2, { blocks = 66, threads = 1024, stream = s })
    lab.spin(0.3, { blocks = 66, threads = 1024, stream = side })
end))
check("the NULL stream", times(6, function()
    lab.spin(0.5)
    lab.spin(0.5, { stream = lab.default_stream() })
end))
check("matrix products", times(6, function() lab.relu(lab.matmul(x, x)) end))
check("pinned copies", times(4, function() copy(pinned) spin(1) end))
check("copies that are waited for", times(4, function() copy(pinned, s, false) spin(1) end))
check("pageable copies", times(4, function() copy(pageable) spin(1) end), 0.05)
check("memsets", times(5, function()
    lab.cuda.memset_async(a, 0, n, { stream = s })
    spin(0.1)
end))
check("streams that wait for each other", times(6, function()
    copy(pinned, side)
    s:wait_stream(side)
    spin(1)
    side:wait_stream(s)
end))
check("events that the host waits for", times(10, function()
    local e = lab.event()
    spin(0.5)
    e:record(s)
    spin(0.2)
    e:synchronize()
    lab.host_work(0.1)
end))
check("work of the host", times(6, function() lab.host_work(2) spin(1) s:synchronize() end))
check("memory that is freed", times(5, function()
    local m = lab.cuda.malloc(1 << 20)
    spin(0.3)
    lab.cuda.free(m)
end))
local chain = lab.graph(function() for _ = 1, 20 do lab.spin(0.01) end end)
check("a graph", times(10, function() chain:launch(s) end))
local fork = lab.graph(function()
    local first = lab.current_stream()
    side:wait_stream(first)
    lab.spin(0.3)
    spin(0.2, side)
    first:wait_stream(side)
    lab.spin(0.1)
end)
check("a graph with branches", times(10, function() fork:launch(s) end))

-- ---- loops ----------------------------------------------------------------------------------

local function lines_of(text) return select(2, text:gsub("\n", "")) end

local long = lab.whatif(record(times(200, function()
    for _ = 1, 4 do spin(0.01) end
    copy(pinned)
end))):export "lua"
tap.like(long, "for _ = 1, 200 do\n +for _ = 1, 4 do\n +launch", "what repeats is a loop in a loop")
tap.ok(lines_of(long) < 250, "1000 operations are few lines")
local two_steps = record(times(10, function(i) spin(i % 2 == 1 and 1 or 3) s:synchronize() end))
tap.ok(math.abs(run(lab.whatif(two_steps):export "lua") / (10 * 2.0) - 1) < 0.02,
    "loops have the mean of what they take")

-- ---- changes --------------------------------------------------------------------------------

local before = record(times(8, function() copy(pinned) spin(1) s:synchronize() end))
local w = lab.whatif(before):prefetch("*HtoD*", 1)
tap.ok(math.abs(run(w:export "lua") / (w:predict().after_us / 1000) - 1) < 0.03,
    "with a change it takes what is predicted")
tap.like(w:export "lua", "Changed: prefetch '%*HtoD%*' 1%.", "and says what was changed")
w = lab.whatif(before):move("*HtoD*", "copies")
tap.ok(math.abs(run(w:export "lua") / (w:predict().after_us / 1000) - 1) < 0.03,
    "work that is moved to another stream")
w = lab.whatif(before):remove("*HtoD*"):drop_sync("*Synchronize*")
tap.ok(not (w:export "lua"):find "\n +copy%(%d", "what is removed is not there")

-- ---- other languages --------------------------------------------------------------------------

local python, cuda = w:export "pytorch", w:export "cuda"
tap.like(python, "\ndef program%(%):\n", "Python has a function")
tap.like(python, "launch%([%d.]+, kernels%[0%], streams%[0%], [%d.]+%)\n", "that launches")
tap.like(cuda, "\nstatic void program%(%)\n{\n", "CUDA C++ as well")
tap.ok(not (python .. cuda .. long):find "@[%l_]+@", "nothing is left to be filled in")

-- A stranger's file has a kernel of 4294967295 blocks.
local strange = lab.whatif(lab.load "tests/timeline/data/pytorch.json"):export "lua"
tap.ok(not strange:find "4294967295" and run(strange) > 0, "a grid that no GPU takes is not known")

-- ---- wrong use --------------------------------------------------------------------------------

tap.throws_like(function() w:export() end, 'a language, "cuda", "lua", "pytorch", got nothing',
    "no language")
tap.throws_like(function() w:export "perl" end, "got 'perl'", "one that there is not")
tap.throws_like(function() w:export("lua", 1) end, "export", "too many arguments")

local refused <const> = { threads = "another thread", async = "an order that no stream has" }
for change, problem in pairs(refused) do
    local results = record(times(4, function()
        spin(0.1)
        pinned:copy_(a, { non_blocking = true, stream = s })
        lab.host_work(0.1)
    end))
    local changed = lab.whatif(results)
    changed[change](changed, "*DtoH*")
    tap.throws_like(function() changed:export "lua" end, problem, change .. " has no script yet")
end

for _, change in ipairs { "graph", "batch", "fuse" } do
    local spins = lab.whatif(record(times(4, function() spin(0.1) end)))
    spins[change](spins, "*spin*")
    tap.throws_like(function() spins:export "lua" end,
        "what '" .. change .. "' makes of several operations is in no script yet",
        change .. " has no script yet")
end

local two = record(function()
    local th = lab.thread(function()
        local own = lab.stream()
        for _ = 1, 5 do lab.spin(1, { stream = own }) own:synchronize() end
    end)
    for _ = 1, 5 do spin(1) s:synchronize() end
    th:join()
end)
tap.throws_like(function() lab.whatif(two):export "lua" end,
    "several of its threads call CUDA at the same time", "threads that call at the same time")
local called = record(function() s:launch_host_func(function() end) spin(1) end)
tap.throws_like(function() lab.whatif(called):export "lua" end, "its streams run host functions",
    "functions of the host in a stream")
tap.throws_like(function()
    lab.whatif(lab.load "tests/timeline/data/ddp-25-even.rank0.json.gz"):export "lua"
end, "export: ", "collectives")

s, side, a, pageable, pinned, x, chain, fork = nil, nil, nil, nil, nil, nil, nil, nil
tap.done()
