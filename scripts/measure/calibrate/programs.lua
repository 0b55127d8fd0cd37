-- programs.lua - small programs as users write them, with which the host's part of a profile is
-- fitted (fit.lua), and what the host takes in them.
--
-- They are the same in every calibration: their calls come from a generator with a fixed seed. On
-- what device they run is up to the caller; nothing in them depends on how fast it is, because the
-- host waits for no kernel: copies of pageable memory are in streams of their own. A round runs all
-- of them once; each is timed after a run that warms it up, but those whose memory is to be cold.
-- Nothing is recorded, for a recorder makes calls dearer.
--
-- In quantities: `calls` is the time from one call to the last one, in the programs without
-- pageable memory; uploads and downloads are the durations of the calls that copy pageable memory.

local context = import "scripts/measure/calibrate/context.lua"
local owner = import "scripts/measure/calibrate/owner.lua"
local random = import "scripts/measure/calibrate/random.lua"

local programs = {}

local mib <const> = 2 ^ 20

local Set = {}
Set.__index = Set

local function add(set, program)
    set.list[#set.list + 1] = program
end

-- A list of n of what make(i) gives.
local function several(n, make)
    local list = {}
    for i = 1, n do
        list[i] = make(i)
    end
    return list
end

local function host_memory(set, elements, options)
    options = options or {}
    options.device = "cpu"
    return set.own(set.lab.full(1, elements, options))
end

-- ---- calls ----------------------------------------------------------------------------------

-- What a stream of a program of n x n works on.
local function job_of(set, n, is_pinned)
    local lab = set.lab
    local job = { stream = set.own(lab.stream(), "close"), x = set.own(lab.rand(n, n)),
                  y = set.own(lab.rand(n, n)), out = set.own(lab.empty(n, n)),
                  event = set.own(lab.event { timing = false }, "close"), tf32 = set.tf32 }
    if is_pinned then
        job.host = set.own(lab.zeros(n, n, { device = "cpu", pinned = true }))
        job.result = set.own(lab.zeros(n, n, { device = "cpu", pinned = true }))
    end
    return job
end

-- Makers of calls: each gives a function that makes one call, or two.
local function product(lab, job)
    return function() lab.matmul(job.x, job.y, { out = job.out, stream = job.stream }) end
end

local function tensor_core_product(lab, job)
    return function()
        lab.matmul(job.x, job.y, { out = job.out, stream = job.stream, tf32 = job.tf32 })
    end
end

local function power(lab, job)
    return function() lab.pow(job.out, 2, { out = job.out, stream = job.stream }) end
end

local function sum(lab, job)
    return function() lab.add(job.out, job.y, { out = job.out, stream = job.stream }) end
end

local function upload(_, job)
    return function() job.x:copy_(job.host, { stream = job.stream, non_blocking = true }) end
end

local function download(_, job)
    return function() job.result:copy_(job.out, { stream = job.stream, non_blocking = true }) end
end

-- The job's stream waits for what is in the other's.
local function dependence(_, job, other)
    return function()
        other.event:record(other.stream)
        job.stream:wait_event(other.event)
    end
end

local kernels <const> = { product, tensor_core_product, power, sum }
local pinned_calls <const> = { product, product, tensor_core_product, power, sum, upload, download,
                               dependence }

-- `count` calls at random of the makers', in streams at random.
local function random_calls(set, makers, jobs, count, number)
    return several(count, function()
        local i = number(#jobs)
        return makers[number(#makers)](set.lab, jobs[i], jobs[i % #jobs + 1])
    end)
end

-- A call whose duration counts for a group.
local function staged(group, call)
    return { group = group, call = call }
end

local pinned_programs <const> = { { n = 256, streams = 4 }, { n = 512, streams = 3 },
                                  { n = 1024, streams = 4 } }
local pinned_count <const> = 80

local function add_pinned(set)
    for i, shape in ipairs(pinned_programs) do
        local jobs = several(shape.streams, function() return job_of(set, shape.n, true) end)
        local calls = random_calls(set, pinned_calls, jobs, pinned_count, random.new(i))
        add(set, { name = ("pinned, %d x %d"):format(shape.n, shape.n), warm = true,
                   counts_calls = true, calls = calls })
    end
end

-- ---- pageable memory that is used again and again -------------------------------------------

local pageable_sizes <const> = { 256, 512, 1024, 2048 }
local pageable_count <const> = 36

-- Two calls of three are kernels' in two streams. Uploads and downloads have a stream each.
local function pageable_calls(set, n, number)
    local lab = set.lab
    local jobs = several(2, function() return job_of(set, n) end)
    local sources = several(2, function() return host_memory(set, n * n) end)
    local device, target = set.own(lab.zeros(n * n)), host_memory(set, n * n)
    local up = { stream = set.own(lab.stream(), "close"),
                 event = set.own(lab.event { timing = false }, "close") }
    local down = set.own(lab.stream(), "close")
    return several(pageable_count, function(i)
        local kind = number(6)
        if kind == 1 then
            return staged("downloads", function()
                target:copy_(device, { stream = down, non_blocking = true })
            end)
        elseif kind == 2 then
            return dependence(lab, jobs[number(2)], up)
        elseif kind <= 4 then
            local source, to = sources[number(2)], jobs[i % 2 + 1].y:view(n * n)
            return staged("uploads_warm", function()
                to:copy_(source, { stream = up.stream, non_blocking = true })
            end)
        end
        return kernels[number(#kernels)](lab, jobs[number(2)])
    end)
end

local function add_pageable(set)
    for i, n in ipairs(pageable_sizes) do
        add(set, { name = ("pageable, %d x %d"):format(n, n), warm = true,
                   calls = pageable_calls(set, n, random.new(10 + i)) })
    end
end

-- ---- memory that no cache has, and results --------------------------------------------------

-- Bytes of a copy and how many there are.
local cold_copies <const> = { { mib, 96 }, { 4 * mib, 32 }, { 16 * mib, 8 } }
local result_copies <const> = { { mib / 4, 16 }, { mib, 8 }, { 4 * mib, 4 }, { 16 * mib, 2 } }

-- Copies with a buffer of their own each: of pageable memory in turn, to or from one of the device.
local function add_copies(set, name, shape, group)
    local elements, count = math.tointeger(shape[1] // 4), shape[2]
    local stream, device = set.own(set.lab.stream(), "close"), set.own(set.lab.zeros(elements))
    local options, is_download = { stream = stream, non_blocking = true }, group == "downloads"
    add(set, { name = ("%s of %s"):format(name, context.size_text(shape[1])), warm = is_download,
               calls = several(count, function()
        local buffer = host_memory(set, elements)
        local to, from = device, buffer
        if is_download then
            to, from = from, to
        end
        return staged(group, function() to:copy_(from, options) end)
    end) })
end

-- ---- a set of programs ----------------------------------------------------------------------

-- A GPU without such products makes plain ones in the same places.
local function can_tf32(lab)
    local x = lab.zeros(16, 16)
    local can = context.can(lab.matmul, x, x, { tf32 = true })
    x:free()
    return can
end

-- All programs, for the current device. `cold`: with those whose uploads no cache has; `plain`: all
-- products are plain ones.
function programs.new(lab, cold, plain)
    local set = setmetatable({ lab = lab, list = {}, own = owner.new(),
                               tf32 = not plain and can_tf32(lab) }, Set)
    add_pinned(set)
    add_pageable(set)
    for _, shape in ipairs(cold and cold_copies or {}) do
        add_copies(set, "uncached uploads", shape, "uploads_cold")
    end
    for _, shape in ipairs(result_copies) do
        add_copies(set, "downloads", shape, "downloads")
    end
    return set
end

function Set:close()
    self.lab.synchronize()
    self.own:close()
end

-- ---- what the host takes --------------------------------------------------------------------

-- Calls at the beginning of a program, which are dearer than all others.
local first_calls <const> = 6

-- Makes the program's calls. Gives the times of the host by group.
local function run(program, now_us)
    local us, first_us, last_us = {}, 0, 0
    for i, call in ipairs(program.calls) do
        if type(call) == "table" then
            local start_us = now_us()
            call.call()
            us[call.group] = (us[call.group] or 0) + now_us() - start_us
        else
            first_us = i == first_calls + 1 and now_us() or first_us
            last_us = i == #program.calls and now_us() or last_us
            call()
        end
    end
    us.calls = program.counts_calls and last_us - first_us or nil
    return us
end

-- By group the geometric mean over programs, so that each program counts alike: copies of large
-- tensors would outweigh all others in a sum.
local function means(by_program)
    local logs, counts, all = {}, {}, {}
    for _, us in ipairs(by_program) do
        for group, of_program in pairs(us) do
            logs[group] = (logs[group] or 0) + math.log(of_program)
            counts[group] = (counts[group] or 0) + 1
        end
    end
    for group, sum_of_logs in pairs(logs) do
        all[group] = math.exp(sum_of_logs / counts[group])
    end
    return all
end

-- Runs all programs once. Gives the times of the host by group, in us: of all, and as a list by
-- program.
function Set:round()
    local lab, by_program = self.lab, {}
    collectgarbage()
    for i, program in ipairs(self.list) do
        if program.warm then
            run(program, lab.now_us)
        end
        lab.synchronize()
        by_program[i] = run(program, lab.now_us)
        lab.synchronize()
    end
    return means(by_program), by_program
end

return programs
