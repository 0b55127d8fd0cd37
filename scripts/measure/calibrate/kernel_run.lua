-- kernel_run.lua - streamlab calibrate --kernels: runs a script, keeps the launches of its custom
-- kernels, and measures each of them alone.

local alone = import "repl/run/alone.lua"
local command = import "repl/run/command.lua"
local files = import "repl/run/files.lua"
local kernel_file = import "scripts/measure/calibrate/kernel_file.lua"
local lists = import "repl/run/lists.lua"
local machine = import "scripts/measure/calibrate/machine.lua"
local measuring = import "repl/run/measuring.lua"
local spans = import "scripts/measure/calibrate/durations.lua"
local statistics = import "repl/run/statistics.lua"
local targets = import "scripts/measure/targets.lua"

local kernel_run = {}

local most_launches <const> = 500           -- different ones, in a run of the script
local most_copied_bytes <const> = 4 << 30   -- of what launches found in the tensors that they write
local warm_up <const>, repetitions <const>, pairs_measured <const> = 3, 15, 7
local cold_repetitions <const> = 7
-- read before, so that the L2 has nothing of the launch's tensors
local other_bytes <const> = 512 << 20

local function volume(size)
    if type(size) == "number" then
        return math.tointeger(size)
    end
    local product = 1
    for _, n in ipairs(size) do
        product = product * n
    end
    return math.tointeger(product)
end

local least_us_of_two <const> = 10       -- some 2 us lie between their beginnings

-- ---- what the script launches ------------------------------------------------------------------

local function bytes_of(arguments)
    local bytes = 0
    for i = 1, arguments.n do
        local value = arguments[i]
        bytes = bytes + (measuring.is_tensor(value) and value:nbytes() or 0)
    end
    return bytes
end

-- Of a tensor that the kernel writes, what it holds before the launch; the script goes on to change
-- it. Not of what is captured, which does not run now.
local function copies_of(found, launch, stream)
    local copies = {}
    if stream:capture_status() ~= "none" then
        return copies
    end
    for i, declared in ipairs(launch.kernel.args) do
        local tensor = launch.arguments[i]
        local is_written = declared:find("out", 1, true)
        if is_written and found.copied + tensor:nbytes() <= most_copied_bytes then
            copies[i] = lab.with(stream, function()
                return lab.empty(tensor:numel(), { dtype = tensor.dtype }):copy_(tensor:view(-1))
            end)
            found.copied = found.copied + tensor:nbytes()
        end
    end
    return copies
end

-- Those that are no tensors: how often a loop runs may be one of them.
local function numbers_of(arguments)
    local numbers = {}
    for i = 1, arguments.n do
        if type(arguments[i]) == "number" then
            numbers[#numbers + 1] = arguments[i]
        end
    end
    return numbers
end

local function note(found, kernel, grid, block, ...)
    local options = type((...)) == "table" and (...) or nil
    local arguments = options and table.pack(select(2, ...)) or table.pack(...)
    local launch = {
        kernel = kernel, arguments = arguments, grid = volume(grid), block = volume(block),
        shared = options and options.shared or 0, bytes = bytes_of(arguments),
        numbers = numbers_of(arguments),
        grid_given = grid, block_given = block, cooperative = options and options.cooperative,
    }
    local key = ("%s %d %d %d %d %s"):format(kernel.hash, launch.grid, launch.block, launch.shared,
        launch.bytes, table.concat(launch.numbers, " "))
    if found.by_key[key] then
        return
    elseif #found.list == most_launches then
        found.too_many = true
        return
    end
    launch.key = key
    launch.copies = copies_of(found, launch, options and options.stream or lab.current_stream())
    found.by_key[key] = launch
    found.list[#found.list + 1] = launch
end

-- The different launches of custom kernels that the script makes; nil and what went wrong.
local function launches_of(entry, device)
    local found = { list = {}, by_key = {}, copied = 0 }
    measuring.watch_launches(function(...) note(found, ...) end)
    local result, reason = alone.run(entry, {
        open = function() device:make_current() end, keeps_machine = true,
    })
    measuring.watch_launches(nil)
    if not result then
        return nil, reason
    end
    return found
end

-- ---- measuring ---------------------------------------------------------------------------------

local function restore(launch)
    for i, copy in pairs(launch.copies) do
        launch.arguments[i]:view(-1):copy_(copy)
    end
    lab.synchronize()
end

local function enqueue(launch, stream)
    local arguments = launch.arguments
    launch.kernel(launch.grid_given, launch.block_given,
        { shared = launch.shared, cooperative = launch.cooperative, stream = stream },
        table.unpack(arguments, 1, arguments.n))
end

local function run(launch)
    enqueue(launch)
    lab.synchronize()
end

local function kernels_of(tl)
    return lists.select(tl:spans(), function(span)
        return span.kind == "kernel"
    end)
end

-- How long each of `n` repetitions takes. The device is idle before each of them, and finds the
-- memory as the script's launch did. `before` is called then, if it is given.
local function times_of(launch, n, before)
    local us = {}
    for _ = 1, n do
        restore(launch)
        if before then before() end
        lists.append(us, spans.of_spans(kernels_of(lab.profile(run, launch))))
    end
    return us
end

-- Sets launch.us, launch.spread. What fits of its tensors is in the L2.
local function measure(launch)
    times_of(launch, warm_up)
    local us = times_of(launch, repetitions)
    launch.us, launch.spread = statistics.median(us), statistics.spread(us)
end

-- Sets launch.cold_us. `other` is a large tensor.
local function measure_cold(launch, other)
    local us = times_of(launch, cold_repetitions, function()
        lab.sum(other)
        lab.synchronize()
    end)
    launch.cold_us = statistics.median(us)
end

-- Two at a time, behind a kernel of one block during which the host enqueues both.
local function run_two(launch, streams)
    lab.spin(0.05, { stream = streams[1] })
    streams[2]:wait_event(streams[1]:record_event())
    for _, stream in ipairs(streams) do
        enqueue(launch, stream)
    end
    lab.synchronize()
end

-- Sets launch.two_us, unless the second one would begin when the first has nearly ended. Blocks
-- that wait for each other might wait for the other launch's.
local function measure_two(launch)
    if launch.cooperative or launch.us < least_us_of_two then
        return
    end
    local streams = { lab.stream { non_blocking = true }, lab.stream { non_blocking = true } }
    local us = {}
    for i = 1, 1 + pairs_measured do
        restore(launch)
        local tl = lab.profile(run_two, launch, streams)
        local kernels = kernels_of(tl)
        table.remove(kernels, 1)                        -- the one that held them
        us[i - 1] = i > 1 and spans.makespan_us(kernels) or nil
    end
    launch.two_us = statistics.median(us)
end

local function measure_all(list, tell)
    local measured, other = {}, lab.zeros(other_bytes // 4)
    for i, launch in ipairs(list) do
        local fine, failure = pcall(measure, launch)
        if fine then fine, failure = pcall(measure_cold, launch, other) end
        if fine then fine, failure = pcall(measure_two, launch) end
        if fine then
            local two = launch.two_us and (", two at a time %.4g us"):format(launch.two_us) or ""
            tell(("    %d of %d, %s: %d blocks of %d: %.4g us, %.4g us with an L2 of other "
                .. "data%s"):format(i,
                #list, launch.kernel.name, launch.grid, launch.block, launch.us,
                launch.cold_us, two))
            measured[#measured + 1] = launch
        else
            command.warn(("a launch of %s could not be repeated: %s"):format(launch.kernel.name,
                command.message(failure)))
        end
    end
    return measured
end

-- ---- in all ------------------------------------------------------------------------------------

-- The runs of the script: one, or one for each seed.
local function entries_of(words, seeds)
    local list = {}
    for seed = seeds and seeds[1] or 0, seeds and seeds[2] or 0 do
        local arguments = table.move(words, 2, #words, 1, {})
        if seeds then
            table.move({ "--seed", tostring(seed) }, 1, 2, #arguments + 1, arguments)
        end
        list[#list + 1] = { path = words[1], arguments = arguments }
    end
    return list
end

-- What an earlier run of the script had as well is measured once. `known`: by key.
local function measure_entry(entry, device, known, tell)
    local said = table.concat({ entry.path, table.unpack(entry.arguments) }, " ")
    tell(("running %s on %s"):format(said, device.name))
    local found, reason = launches_of(entry, device)
    if not found then
        command.fail(("%s failed: %s"):format(said, reason))
    elseif #found.list == 0 then
        command.fail(("%s launches no kernel of lab.kernel"):format(said))
    elseif found.too_many then
        command.warn(("only the first %d different launches are measured"):format(most_launches))
    end
    local measured = measure_all(lists.select(found.list, function(launch)
        return not known[launch.key]
    end), tell)
    for _, launch in ipairs(measured) do
        known[launch.key] = true
        launch.arguments, launch.copies = nil, nil      -- their memory
    end
    return measured
end

-- `options` are those of the command line, `words` the script and its arguments. The file is
-- written after each run of the script.
function kernel_run.run(options, words)
    local tell, path = command.progress(options), options.output
    local device = targets.device(options)
    local base = options.base or device.simulated and device.profile or "h200"
    local kernels = kernel_file.read(path, base)
    if not kernels then
        command.fail(("%s is there already and is no file of --kernels with the base %s; name "
            .. "another file, or remove it"):format(path, base))
    end
    if not files.exists(words[1]) then
        command.fail("there is no script " .. words[1])
    end
    command.try_file(path)
    local known, count = {}, 0
    for _, entry in ipairs(entries_of(words, options.seeds)) do
        local measured = measure_entry(entry, device, known, tell)
        count = count + #measured
        if count == 0 then
            command.fail("nothing could be measured")
        end
        command.write(path, kernel_file.text(kernels, measured, base, words[1],
                                             machine.text(device)))
        collectgarbage()
    end
    tell(("%s: %d launches"):format(path, count))
end

return kernel_run
