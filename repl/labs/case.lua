-- case.lua - one test of a lab, in a process of its own.
--
-- The grader starts `streamlab lab case LABDIR NUMBER SUBMISSION BACKEND FOLDER` with a pipe for
-- the report at descriptor 3, to which no function of the submission's writes. Everything that is
-- needed is read before the process is confined; then the submission is loaded and the test runs.
-- On a simulated GPU the process is forked from one that has read the lab and opened the device.
-- The report is a list of records (`record_fields`); the grader believes it only if it has its
-- end.

local bundle = import "repl/labs/bundle.lua"
local calls = import "repl/labs/calls.lua"
local lists = import "repl/run/lists.lua"
local sandbox = import "repl/labs/sandbox.lua"
local submission = import "repl/labs/submission.lua"

local case = {}

-- What a record has, in this order; each a text. `kind`:
--   "mistake"     the submission cannot be read, or is no Lua, so that no test can pass
--   "lacking"     how this system does not confine a submission
--   "loading", "loaded"      before and after the submission's main chunk
--   "passed", "failed", "skipped"    an assertion
--   "said"        what t:diag was given
--   "used up"     the test ended because the processor time did
--   "error"       or with this error
--   "note"        something that the lab asks of every test was not so
--   "raced"       the race checker has found something, or was off; without a name if an assertion
--                 has said it
--   "end"
-- `look`: where to look; of a mistake and an error the line and a hint.
local record_fields = { "kind", "name", "seen", "asked", "look", "chart" }

-- As many columns has a field of a record in feedback.lua, behind its label.
local field_columns <const> = 67

-- Of a field: what a submission raises may be of any length.
local most_bytes <const> = 16384

local function report(record)
    program.report(lists.join(record_fields, function(field)
        return ("<s4"):pack(tostring(record[field] or ""):sub(1, most_bytes))
    end, ""))
end

-- The records of a report, also of one that breaks off.
function case.read(bytes)
    local list, at = {}, 1
    while at <= #bytes do
        local record = {}
        for _, field in ipairs(record_fields) do
            local fine, text, behind = pcall(string.unpack, "<s4", bytes, at)
            if not fine then
                return list
            end
            record[field], at = text, behind
        end
        list[#list + 1] = record
    end
    return list
end

-- ---- errors ------------------------------------------------------------------------------

-- The text of whatever was raised; that of a table or of a userdata is only asked for where
-- it is the laboratory's.
local function error_text(value)
    if type(value) == "string" then
        return value
    elseif type(value) == "number" then
        return tostring(value)
    end
    local metatable = debug.getmetatable(value)
    local of_lab = debug.getregistry()["streamlab.error"]
    if type(metatable) == "table" and rawequal(metatable, of_lab) then
        return tostring(value)
    end
    return "an error was raised whose value is a " .. type(value) .. ", not a message"
end

-- A handler that adds the submission's innermost line where the message does not begin with
-- a position in it.
local function handler(chunk)
    local name = chunk:sub(2)
    return function(value)
        local text = error_text(value)
        if text:sub(1, #name + 1) == name .. ":" then
            return text
        end
        for level = 2, 60 do
            local info = debug.getinfo(level, "Sl")
            if not info then
                return text
            elseif info.source == chunk and info.currentline > 0 then
                return ("%s\nin %s:%d"):format(text, name, info.currentline)
            end
        end
        return text
    end
end

-- ---- the run -------------------------------------------------------------------------------

-- What the submission's main chunk defines, for the test: its functions by name.
local function run_main(main, chunk, functions, environment, watch)
    watch.enter(main)()
    local student = {}
    for _, name in ipairs(functions) do
        local f = rawget(environment, name)
        if type(f) ~= "function" then
            error(("%s does not define the function %s%s"):format(chunk:sub(2), name,
                f ~= nil and "; its " .. name .. " is a " .. type(f)
                or " (a global one: no `local` before it)"), 0)
        end
        student[name] = watch.enter(f)
    end
    return student
end

-- A test that did not reach its end has not reached the required calls either.
local function note_calls(watch, came_to_end)
    for _, call in ipairs(watch.forbidden()) do
        report { kind = "note", name = call.name .. " is not called", seen = call.call,
            asked = "this lab forbids it", look = call.where }
    end
    for _, name in ipairs(came_to_end and watch.required() or {}) do
        report { kind = "note", name = name .. " is called", seen = "it was not called",
            asked = "this test requires it" }
    end
end

local function join(a, b)
    return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

-- A real GPU's libraries open files at their first use, and the first use of anything takes
-- longer. So everything is used once here, and recorded as in a test.
local function warm_up()
    lab.profile(function()
        local pinned = lab.ones(1024, 1024, { device = "cpu", pinned = true })
        local pageable = lab.ones(1024, 1024, { device = "cpu" })
        for _ = 1, 3 do
            local stream = lab.stream { non_blocking = true }
            lab.with(stream, function()
                local a, b = pinned:to("cuda", { non_blocking = true }), pageable:to("cuda")
                lab.matmul(a, b)
                lab.matmul(a, b, { tf32 = true })
                local c = lab.softmax(lab.pow(lab.add(lab.mul(a, 2), b), 2))
                lab.sum(c)
                lab.spin(0.01)
                a:copy_(c)
                pinned:copy_(a:fill_(1), { non_blocking = true })
                b:zero_():cpu()
                stream:record_event():synchronize()
                stream:launch_host_func(function() end)
            end)
        end
    end)
    collectgarbage()
end

local function open_device(lab_bundle, backend, index)
    if backend == "cuda" then
        local device = lab.open { backend = "cuda", index = index }
        warm_up()
        return device
    end
    return lab.open { backend = "sim", profile = lab_bundle.profile, index = index }
end

-- Gives the lab's GPUs, {devices =, comm =}: the first is current, several have a communicator.
local function open_machine(lab_bundle, backend)
    local devices = {}
    for i = 1, lab_bundle.gpus do
        devices[i] = open_device(lab_bundle, backend, i - 1)
    end
    devices[1]:make_current()
    if backend == "sim" then
        internals.load_blas()
    end
    return { devices = devices, comm = #devices > 1 and lab.comm { devices = devices } or nil }
end

local function synchronize(devices)
    for i = #devices, 1, -1 do
        devices[i]:make_current()
        lab.synchronize()
    end
end

local function confine(limits, backend)
    return program.confine { processor_seconds = math.ceil(limits.processor_s),
        memory_bytes = math.floor(limits.memory_mib * 1024 * 1024), gpu = backend == "cuda" }
end

-- The process that compiles and runs the submission's kernels, which writes to `folder`. On a real
-- GPU NVRTC compiles them here, and no code of theirs runs on the host.
local function start_kernels(limits, backend, folder)
    if backend == "cuda" then
        internals.distrust_kernels()
        return
    end
    local socket, lacking = program.start_kernel_server { folder = folder,
        processor_seconds = math.ceil(limits.processor_s),
        memory_bytes = math.floor(limits.memory_mib * 1024 * 1024) }
    local problem = internals.distrust_kernels(socket)
    if problem then
        error({ message = "the lab's kernels cannot be run: " .. problem }, 0)
    end
    for _, sentence in ipairs(lacking) do
        report { kind = "lacking", name = sentence }
    end
end

-- The error that ended the test, given what pcall said of xpcall; nil if none did.
local function error_of(whole, fine, message)
    if not whole then
        return error_text(fine)
    end
    return not fine and error_text(message) or nil
end

-- Reports a mistake or an error, with what helps.
local function report_problem(kind, source, message)
    message = message:sub(1, most_bytes)
    report { kind = kind, name = message,
        look = submission.explain(source, message, kind == "mistake") }
end

-- Of no use to any test.
local function report_unreadable(problem)
    report { kind = "mistake", name = problem }
    report { kind = "end" }
    program.leave()
end

local function find_test(lab_bundle, number)
    for _, test in ipairs(lab_bundle.tests) do
        if test.number == number then
            return test
        end
    end
    error({ message = ("there is no test %s in %s"):format(number, lab_bundle.folder) }, 0)
end

-- The object whose methods are assertions, and what is known of them: how many were `made`, and
-- where those that failed say that one has to `look`, as a set.
local function make_assertions()
    local known = { made = 0, look = {} }
    return internals.tap(function(result)
        known.made = known.made + 1
        known.look[result.look or false] = true
        report { kind = result.status, name = result.name, seen = result.seen or result.why,
            asked = result.asked, look = result.look, chart = result.chart }
    end, function(text)
        report { kind = "said", name = text }
    end), known
end

-- A race fails every test, whatever it asks for.
local function note_races(known)
    local result
    local checker = internals.tap(function(record) result = record end)
    local fine, problem = pcall(checker.no_race, checker, "nothing races")
    if not fine then
        report { kind = "raced", name = "nothing races", seen = error_text(problem),
            asked = "none" }
    elseif result.status == "failed" then
        report { kind = "raced", name = not known.look[result.look] and result.name or "",
            seen = result.seen, asked = result.asked, look = result.look }
    end
end

-- Runs the submission and the test, confined, and reports how that ended.
local function run_confined(lab_bundle, machine, test, source, environment, watch)
    local t, known = make_assertions()
    local mistake
    local function run()
        local main
        main, mistake = load(source.text, source.chunk, "t", environment)
        if main then
            local student = run_main(main, source.chunk, lab_bundle.functions, environment, watch)
            report { kind = "loaded" }
            synchronize(machine.devices)    -- what it has enqueued shall not run during the test
            test.run(t, student, machine.comm)
        end
    end
    report { kind = "loading" }
    local results = table.pack(program.call_confined(xpcall, run, handler(source.chunk)))
    local time_was_up = results[1]
    local problem = error_of(table.unpack(results, 2, results.n))
        or known.made == 0 and "the test asserts nothing"
    if time_was_up then
        report { kind = "used up" }
    elseif mistake or problem then
        report_problem(mistake and "mistake" or "error", source, mistake or problem)
    end
    note_calls(watch, not (time_was_up or problem))
    note_races(known)
    report { kind = "end" }
end

-- Assertions, and the sentences about what failed.
local function load_assertions()
    internals.need "tap"
    for _, path in ipairs(internals.embedded_names()) do
        local words = path:match("^bindings/(words/.+)%.lua$")
        if words then
            internals.need(words)
        end
    end
    import "repl/run/errors/errors.lua"
    internals.words.races.narrow(field_columns)
end

-- What no submission has to do with: the lab, and its GPUs.
local function prepare(folder, backend)
    local lab_bundle = bundle.read(folder)
    local machine = open_machine(lab_bundle, backend)
    load_assertions()
    program.prepare_filter(backend == "cuda")
    collectgarbage("restart")
    collectgarbage()
    return lab_bundle, machine
end

local function run(lab_bundle, machine, number, path, backend, scratch)
    local test = find_test(lab_bundle, number)
    local source, unreadable = submission.read(path, lab_bundle.folder)
    if not source then
        report_unreadable(unreadable)
    end
    program.entries()[source.chunk] = source.text       -- for explanations, which quote lines
    internals.prefer_source(source.chunk)   -- not the line of a test that the submission called
    internals.words.races.narrow_to_file(source.chunk:sub(2))
    if lab_bundle.kernels then
        start_kernels(lab_bundle.limits, backend, scratch)
    end
    local environment = sandbox.make(lab_bundle.kernels)
    local watch = calls.watch(environment.lab, source.chunk,
        join(lab_bundle.required, test.required), join(lab_bundle.forbidden, test.forbidden),
        machine.devices)
    math.randomseed(test.seed, 0)
    lab.check("warn")
    internals.keep_needs()                  -- which waits are needed, feedback has to know
    for _, problem in ipairs(confine(lab_bundle.limits, backend)) do
        report { kind = "lacking", name = problem }
    end
    run_confined(lab_bundle, machine, test, source, environment, watch)
    program.leave()
end

-- Runs the test of that number ("1.2") and reports; does not return. `scratch` is a folder for what
-- compilers write, of a lab that asks for kernels.
function case.run(folder, number, path, backend, scratch)
    local lab_bundle, machine = prepare(folder, backend)
    run(lab_bundle, machine, number, path, backend, scratch)
end

-- The same in each process that is forked from this one.
function case.serve(folder, backend)
    local lab_bundle, machine = prepare(folder, backend)
    local words = { program.next_fork() }       -- of the command that would run it alone
    run(lab_bundle, machine, table.unpack(words, #words - (lab_bundle.kernels and 3 or 2)))
end

return case
