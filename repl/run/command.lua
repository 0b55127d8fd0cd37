-- command.lua - what the subcommands share: reading the command line and trace files, and
-- reporting errors in one sentence.
--
-- Exit status: 0 fine, 1 a file that cannot be read or written, 2 wrong usage.

local command_line = import "repl/run/command_line.lua"
local errors = import "repl/run/errors/errors.lua"
local files = import "repl/run/files.lua"
local texts = import "repl/run/text.lua"

local lab = lab
local command = {}

local name = arg[0]

-- Text as it may go to a terminal, on one line.
command.clean = internals.safe

-- A line on stderr, behind what was printed before; on a terminal it is folded.
function command.warn(text)
    local begins = ("streamlab: %s: "):format(name)
    io.stdout:flush()
    io.stderr:write(begins, errors.fold(begins, command.clean(text)), "\n")
end

function command.fail(text)
    command.warn(text)
    os.exit(1)
end

function command.write(path, text)
    io.stdout:flush()           -- which may be where the path leads to
    local written, reason = files.write(path, text)
    if not written then
        command.fail(reason)
    end
end

-- A function that prints a line about the progress to stderr, unless --quiet is given.
function command.progress(options)
    return function(text)
        if not options.quiet then
            io.stderr:write(command.clean(text), "\n")
        end
    end
end

-- Checks that a file can be written, before anything is measured. Returns whether it is a pipe or
-- the like.
function command.try_file(path)
    local fine, result = files.try(path)
    if not fine then
        command.fail(result)
    end
    return result
end

-- ---- the command line --------------------------------------------------------------

local this_line              -- that of this command

-- For wrong usage: the sentence, and the first line of --help, as of the program itself.
function command.refuse(text)
    command.warn(text)
    io.stderr:write(command_line.text(this_line):match("[^\n]*"), "\n(streamlab ", name,
        " --help has more)\n")
    os.exit(2)
end

-- Reads the words of a command line that `described` describes (command_line.lua): gives options
-- and other words. --help, and what is wrong, end the command.
function command.read(described, words, action)
    this_line = described
    local options, others = command_line.read(this_line, words, action)
    if not options then
        command.refuse(others)
    elseif options.help then
        io.stdout:write(command_line.text(this_line))
        os.exit(0)
    end
    return options, others
end

-- Refuses an option that nothing of what is printed and written uses. A row is { NAME of an option,
-- whether it is used here, what it goes with }.
function command.check_used(options, rows)
    for _, row in ipairs(rows) do
        if options[row[1]] ~= nil and not row[2] then
            command.refuse(("--%s goes with %s"):format(row[1], row[3]))
        end
    end
end

-- Whether a file whose name ends in one of these is to be written.
function command.writes(options, ...)
    for _, path in ipairs(options.files or {}) do
        for _, ending in ipairs { ... } do
            if path:sub(-#ending) == ending then
                return true
            end
        end
    end
    return false
end

-- Both ends of a range, of which each may be missing.
function command.check_range(options)
    local from, to = options.from or 0, options.to
    if to and to <= from then
        command.refuse("--to must be later than --from")
    end
end

-- And whether anything lies behind its beginning.
function command.check_start(options, makespan_us)
    if options.from and options.from >= makespan_us and options.from > 0 then
        command.fail(("--from is behind the end, which is at %.3f us"):format(makespan_us))
    end
end

-- ---- timelines ------------------------------------------------------------------------

-- What went wrong, which may be the laboratory's error or Lua's.
function command.message(failure)
    return type(failure) == "table" and failure.message or tostring(failure)
end

-- Calls f, a function of the laboratory. For an error of the laboratory finish(message) is called,
-- which does not return; other errors, Ctrl-C among them, propagate.
function command.guard(finish, f, ...)
    local results = table.pack(pcall(f, ...))
    if results[1] then
        return table.unpack(results, 2, results.n)
    elseif type(results[2]) ~= "table" then
        error(results[2], 0)
    end
    finish(results[2].message)
end

-- The same, for what ends the command with a sentence.
function command.try(f, ...)
    return command.guard(command.fail, f, ...)
end

-- f(...), where what the laboratory refuses was asked for on the command line.
function command.checked(f, ...)
    return command.guard(command.refuse, f, ...)
end

-- What a shell gives for stdin and for <(command) may be a pipe: somebody writes to it.
local function is_given(path)
    return path == "-" or path == "/dev/stdin" or path:find("^/dev/fd/") ~= nil
end

-- Doubts that are only about when the host issued work, and what it waited for: they change nothing
-- of a table of operations.
local of_host <const> = {
    processes = true, before_call = true, after_wait = true, profiler_stalls = true,
    profiler_cost = true, unknown_waits = true, asking_loops = true,
    clock_early = true, clock_late = true,
}

-- What is in doubt about a timeline, to stderr, each behind `begins`; of what is only a table of
-- operations, what is about these.
function command.warn_of_doubts(begins, tl, is_only_table)
    for _, doubt in ipairs(tl.doubts) do
        if not is_only_table or not of_host[doubt.kind] then
            command.warn(begins .. doubt.sentence)
        end
    end
end

-- The timeline of a trace file, "-" for stdin, and of a GPU if one is given.
function command.load(path, device)
    if not is_given(path) and program.file_kind(program.real_path(path) or path) == "other" then
        command.fail(("cannot read '%s': it is no file (- is stdin)"):format(path))
    end
    return command.try(lab.load, path == "-" and "/dev/stdin" or path, { device = device })
end

-- "x.json: NVIDIA H200 (simulated), 23 operations in 3 streams"; "x.json, GPU 1: ..." where the
-- file has several.
function command.title(path, tl)
    local which = #tl.device_indices > 1 and (", GPU %d"):format(tl.device_index) or ""
    local device = tl.device_name
    if device ~= "" then
        device = device .. (tl.simulated and " (simulated), " or ", ")
    end
    local amount = "no operations"
    if tl.span_count > 0 then
        amount = texts.count(tl.span_count, "operation") .. " in "
            .. texts.count(tl.stream_count, "stream")
    end
    return command.clean(("%s%s: %s%s"):format(path == "-" and "stdin" or path, which, device,
        amount))
end

return command
