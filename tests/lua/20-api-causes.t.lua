-- 20-api-causes.t.lua - tl:causes, tl:makespan_parts, and the script's lines in them.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local folder = os.getenv("TMPDIR") or "/tmp"

-- A copy from pageable memory that holds the host for 1.1 ms and more, then a kernel.
local function blocked()
    local data_on_cpu = lab.zeros(1 << 22, { device = "cpu" })
    local s = lab.stream{ non_blocking = true, name = "copies" }
    lab.synchronize()
    return lab.profile(function()
        data_on_cpu:to("cuda", { stream = s, non_blocking = true })
        lab.spin(1)
    end)
end

-- The finding of the kernels' row.
local function of_kernels(tl)
    for _, finding in ipairs(tl:causes()) do
        if finding.engine == "compute" and finding.cause == "host_blocked" then return finding end
    end
end

local function fields()
    ideal.textbook()
    local tl = blocked()
    local list = tl:causes()
    T.ok(#list >= 1, "something was lost")
    local f = of_kernels(tl)
    T.is(f.cause, "host_blocked", "cause is a name")
    T.is(f.idle, true, "idle says that the engine stood still")
    T.is(f.inferred, false, "the simulator tells its causes")
    T.is(f.count, 1, "count of the waits")
    T.is(math.type(f.waiter), "integer", "waiter is a correlation")
    T.is(math.type(f.by), "integer", "and so is by")
    T.like(f.waiter_where, "^20%-api%-causes%.t%.lua:%d+$", "where the waiter was issued")
    T.like(f.by_where, "^20%-api%-causes%.t%.lua:%d+$", "and what it waited for")
    T.near(f.to_us - f.from_us, f.lost_us, 1e-6, "one wait is all that was lost")
    T.like(f.sentence, "^No kernel ran for .* the host was blocked in Memcpy HtoD", "a sentence")
    T.like(f.remedy, "^Pin `data_on_cpu` ", "a remedy that names the variable")
    T.is(f.waits, nil, "waits are listed only when they are asked for")
    local sorted = true
    for i = 2, #list do sorted = sorted and list[i - 1].lost_us >= list[i].lost_us end
    T.ok(sorted, "the largest loss comes first")
    local spans = tl:spans()
    local near = 0
    for _, span in ipairs(spans) do
        if span.correlation == f.waiter then near = span.start_us - f.to_us end
    end
    T.ok(near >= 0 and near < 50, "times are those of tl:spans()")
    local told = tl:causes()
    told[1].cause = "changed"
    T.is(tl:causes()[1].cause, list[1].cause, "each call gives new tables")
end

local function options()
    ideal.textbook()
    local tl = blocked()
    local count, waits, inside = 0, 0, true
    for _, f in ipairs(tl:causes{ waits = true }) do
        count, waits = count + f.count, waits + #f.waits
        local sum = 0
        for _, w in ipairs(f.waits) do
            sum = sum + w.to_us - w.from_us
            inside = inside and w.to_us > w.from_us and math.type(w.waiter) == "integer"
        end
        inside = inside and (not f.idle or math.abs(sum - f.lost_us) < 1e-6)
    end
    T.is(waits, count, "waits has as many as count says")
    T.ok(inside, "of an idle engine they add up to lost_us")
    T.is(tl:causes{ inferred = true }[1].inferred, true, "inferred = true asks only the records")
    T.is(tl:causes{}[1].inferred, false, "without options as without a table")
    refuses(function() tl:causes{ inferred = 1 } end, "SL_EINVAL", "inferred", "an option's type")
    refuses(function() tl:causes{ wait = true } end, "SL_EINVAL", "wait", "an unknown option")
    refuses(function() tl:causes({}, 1) end, "SL_EINVAL", "causes", "too many arguments")
    refuses(function() tl:causes(3) end, "SL_EINVAL", "causes", "an argument that is no table")
    refuses(function() tl.causes() end, "SL_EINVAL", "timeline", "causes of nothing")
    refuses(function() tl:makespan_parts{ waits = true } end, "SL_EINVAL", "waits",
            "parts have no waits")
    refuses(function() tl.makespan_parts("x") end, "SL_EINVAL", "timeline", "parts of a text")
    refuses(function() tl:explain(1, 2) end, "SL_EINVAL", "explain", "explain takes no argument")
end

local function parts()
    ideal.textbook()
    local tl = blocked()
    local sum, running = 0, 0
    for _, p in ipairs(tl:makespan_parts()) do
        sum = sum + p.lost_us
        if p.cause == "running" then running = running + p.lost_us end
    end
    T.near(sum, tl.makespan_us, 1e-6, "the parts add up to the makespan")
    T.near(running, 1000, 1, "the kernel's own time is running")
    local engines, without = true, { latency = true, host_blocked = true, host_work = true,
                                     host_issuing = true }
    for _, p in ipairs(tl:makespan_parts()) do
        engines = engines and (p.engine == nil) == (without[p.cause] == true)
    end
    T.ok(engines, "each part has its engine, but latency and the host's, which are for all")
    sum = 0
    for _, p in ipairs(tl:makespan_parts{ inferred = true }) do sum = sum + p.lost_us end
    T.near(sum, tl.makespan_us, 1e-6, "inferred ones, too")
end

local function recording()
    ideal.textbook()
    local tl <close> = lab.record()
    lab.spin(1)
    refuses(function() tl:causes() end, "SL_ESTATE", "still recording",
            "a recording has no causes yet")
    refuses(function() tl:makespan_parts() end, "SL_ESTATE", "still recording", "nor parts")
    refuses(function() tl:explain() end, "SL_ESTATE", "still recording", "nor an explanation")
    tl:stop()
    T.is(#tl:causes(), 0, "one kernel waits for nothing")
    local empty = lab.profile(function() end)
    T.is(#empty:causes() + #empty:makespan_parts(), 0, "nothing ran, nothing waited")
end

-- ---- the script's lines -----------------------------------------------------------------

local body <const> = [[
local my_data = lab.zeros(1 << 22, {device = "cpu"})
local s = lab.stream{non_blocking = true}
lab.synchronize()
return lab.profile(function()
    my_data:to("cuda", {stream = s})
    lab.spin(1)
end)
]]

local function write(path, text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return path
end

-- The remedy is about `my_data` if the line was found, else about "the tensor on the CPU".
local knows <const>, knows_not <const> = "^Pin `my_data`", "^Pin the tensor on the CPU"

local function files()
    ideal.textbook()
    local base = os.tmpname()
    os.remove(base)
    local path = write(base .. "-plain.lua", body)
    T.like(of_kernels(dofile(path)).remedy, knows, "a script's line is read from its file")

    local tl = dofile(path)
    write(path, "-- changed\n" .. body)
    T.like(of_kernels(tl).remedy, knows_not, "not if the file was changed since it ran")
    os.remove(path)

    path = write(base .. "-gone.lua", body)
    tl = dofile(path)
    os.remove(path)
    T.like(of_kernels(tl).remedy, knows_not, "nor if it is gone")

    path = write(base .. "-early.lua", body)
    tl = dofile(path)
    local first = of_kernels(tl).remedy
    os.remove(path)
    T.is(of_kernels(tl).remedy, first, "lines that were read stay known")

    path = write(base .. "-module.lua", body)
    local load_path = package.path
    package.path = base .. "-?.lua;" .. load_path
    T.like(of_kernels(require "module").remedy, knows, "a module's lines are known")
    package.path, package.loaded.module = load_path, nil
    os.remove(path)

    path = write(base .. "-long.lua", ("-- a comment\n"):rep(100000) .. body)
    T.like(of_kernels(dofile(path)).remedy, knows, "a line behind 100,000 others")
    os.remove(path)

    path = write(base .. "-crlf.lua", (body:gsub("\n", "\r\n")))
    T.like(of_kernels(dofile(path)).remedy, knows, "a file with carriage returns")
    os.remove(path)
end

-- Where signalling another engine takes time, an event still holds the stream's wait, and work of
-- that stream follows the wait.
local function event_for_another_engine()
    for _, switch_us in ipairs{ 0, 3 } do
        ideal.open{ engine_switch_us = switch_us }
        local producer, consumer = ideal.streams(2)[1], ideal.streams(1)[1]
        local x = lab.zeros(1024, 1024)
        lab.synchronize()
        local tl = lab.profile(function()
            lab.spin(2, { stream = producer })
            consumer:wait_event(producer:record_event())
            x:to("cpu", { non_blocking = true, stream = consumer })
        end)
        local lead = tl:causes()[1]
        T.is(lead.cause, "event_wait", switch_us
            .. " us between engines: the copy waits for an event")
        local copy = tl:spans()[2]
        T.ok(math.abs(lead.gain_us - (copy.end_us - copy.start_us)) < 10,
             "and without it would be over before the kernel")
    end
end

-- Two files of the same base name: which one a position is of is ambiguous.
local function twins()
    ideal.textbook()
    local base = os.tmpname()
    os.remove(base)
    os.execute(("mkdir -p '%s/a' '%s/b'"):format(base, base))
    local a = write(base .. "/a/twin.lua", body)
    local b = write(base .. "/b/twin.lua", body:gsub("my_data", "other"))
    local tl = dofile(a)
    dofile(b)
    T.like(of_kernels(tl).remedy, knows_not, "two files of one name have no lines")
    os.execute(("rm -rf '%s'"):format(base))
end

local function strings()
    ideal.textbook()
    T.like(of_kernels(load(body)()).remedy, knows, "a string's lines are its own")
    T.like(of_kernels(load(body, "=name")()).remedy, knows_not, "a chunk with a name has none")
    T.like(of_kernels(load(body, "@not/there.lua")()).remedy, knows_not,
           "nor one that is named after a file that is not there")
    T.like(of_kernels(load(body, "@" .. folder)()).remedy, knows_not, "or after a folder")
    local zero = load("-- \0\n" .. body, "@/dev/zero")
    T.like(of_kernels(zero()).remedy, knows_not, "or after a device, which is not opened")
    T.ok(#load("return lab.profile(function() end)", ":::")():causes() == 0, "or after colons")
end

-- A program from stdin and from -e.
local function programs()
    local streamlab = os.getenv("STREAMLAB") or "build/streamlab"
    local text = "local f = load(io.read('a')) local tl = f() for _, c in ipairs(tl:causes()) do "
        .. "if c.cause == 'host_blocked' then print(c.remedy) end end"
    local path = write(os.tmpname(), body)
    local command = "'%s' --backend sim -e \"%s\" < '%s' 2>&1"
    local pipe = io.popen(command:format(streamlab, text, path))
    T.like(pipe:read("a"), knows, "a program that reads its script itself")
    pipe:close()
    write(path, body:gsub("return (.*)$", "local tl = %1 tl:explain()"))
    pipe = io.popen(("'%s' --backend sim - < '%s' 2>&1"):format(streamlab, path))
    T.like(pipe:read("a"), knows:sub(2), "a program from stdin is explained with its lines")
    pipe:close()
    os.remove(path)
end

fields()
options()
parts()
recording()
files()
event_for_another_engine()
twins()
strings()
programs()
T.done()
