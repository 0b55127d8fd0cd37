-- command.lua - what the subcommands share: reading the command line and trace files, and
-- reporting errors in one sentence.
--
-- Exit status: 0 fine, 1 a file that cannot be read or written, 2 wrong usage.

local files = import "repl/run/files.lua"

local lab = lab
local command = {}

local name = arg[0]

-- Text as it may go to a terminal, on one line.
command.clean = internals.safe

-- A line on stderr, behind what was printed before.
function command.warn(text)
    io.stdout:flush()
    io.stderr:write("streamlab: ", name, ": ", command.clean(text), "\n")
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

-- The last two lines are as for the program itself.
function command.refuse(usage, text)
    command.warn(text)
    io.stderr:write(usage:match("[^\n]*"), "\n(streamlab ", name, " --help has more)\n")
    os.exit(2)
end

-- ---- the command line --------------------------------------------------------------

-- Values of options: each gives the value, or nil and what is needed instead.

local units = { ns = 1e-3, us = 1, [""] = 1, ms = 1e3, s = 1e6 }

-- "12ms", "3.5us", "2s"; a bare number is in us.
function command.time_us(text)
    local number, unit = text:match("^(%d*%.?%d*)(%a*)$")
    local value, factor = tonumber(number), units[unit]
    if not value or not factor then
        return nil, "a time like 12ms, 3.5us or 2s"
    elseif value * factor > 9e15 then
        return nil, "a time of at most 9e9 s"
    end
    return value * factor
end

-- A whole number; `wanted` says so, else it is "a number from LEAST to MOST".
function command.whole(least, most, wanted)
    wanted = wanted or ("a number from %d to %d"):format(least, most)
    return function(text)
        local value = text:match("^%d+$") and math.tointeger(tonumber(text))
        if not value or value < least or value > most then
            return nil, wanted
        end
        return value
    end
end

local most_seeds <const> = 100000

-- "1-200"
function command.seeds(text)
    local first, last = text:match("^(%d+)%-(%d+)$")
    first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
    if not first or not last or first > last or last - first >= most_seeds then
        return nil, ("two numbers as 1-200, at most %d seeds"):format(most_seeds)
    end
    return { first, last }
end

command.columns = command.whole(20, 4096)
command.device = command.whole(0, 1000000, "a GPU's number, from 0 on")

-- A file whose name ends in ".lua" or the like.
function command.file(suffix)
    return function(text)
        if text:match("[^/](%.%w+)$") ~= suffix then
            return nil, "a file that ends in " .. suffix
        end
        return text
    end
end

function command.one_of(...)
    local words = { ... }
    return function(text)
        for _, word in ipairs(words) do
            if text == word then
                return text
            end
        end
        return nil, table.concat(words, " or ")
    end
end

function command.some(text)
    if text == "" then
        return nil, "a name or a file"
    end
    return text
end

-- Takes an option, `text` behind its dashes; `value` is what stands with it in one word.
-- Gives how many of the following arguments were its value.
local function take(options, known, usage, dashes, text, value, following)
    local option = known[text]
    local shown = dashes .. text
    if not option or (#dashes == 1) ~= (#text == 1) then
        local near = #text > 1 and internals.nearest(text, known)
        command.refuse(usage, "unrecognized option '" .. shown .. "'"
            .. (near and ("; did you mean --%s?"):format(near) or ""))
    elseif option == true then
        if value then
            command.refuse(usage, shown .. " takes no value")
        end
        options[text] = true
        return 0
    end
    local taken = value and 0 or 1
    if not value and following and following:find("^%-%-") then
        command.refuse(usage, ("%s needs a value, and '%s' is an option; %s=%s takes it as the value")
            :format(shown, following, shown, following))
    end
    value = value or following
    if not value then
        command.refuse(usage, shown .. " needs a value")
    end
    local result, needed = option.read(value)
    if result == nil then
        command.refuse(usage, ("%s needs %s, got '%s'"):format(shown, needed, value))
    elseif option.list then
        local list = options[option.name] or {}
        list[#list + 1] = result
        options[option.name] = list
    else
        options[option.name or text] = result
    end
    return taken
end

-- Reads a command line: options, anywhere before a "--", and files. `known` has for each
-- option's name true, or {read = FUNCTION, name = FIELD, list = true if it may come again}.
-- --help is known by itself: it prints the usage, whose first line is the short one.
function command.read(usage, known, ...)
    local options, paths = {}, {}
    local words, n, i = { ... }, select("#", ...), 1
    while i <= n do
        local word = words[i]
        if word == "--" then
            table.move(words, i + 1, n, #paths + 1, paths)
            break
        elseif word == "--help" or word == "-h" then
            io.stdout:write(usage)
            os.exit(0)
        elseif word:find("^%-%-") then
            local text, value = word:match("^%-%-([^=]*)=(.*)$")
            i = i + take(options, known, usage, "--", text or word:sub(3), value, words[i + 1])
        elseif word:find("^%-.") then
            local value = #word > 2 and word:sub(3) or nil
            i = i + take(options, known, usage, "-", word:sub(2, 2), value, words[i + 1])
        else
            paths[#paths + 1] = word
        end
        i = i + 1
    end
    return options, paths
end

-- Both ends of a range, of which each may be missing.
function command.check_range(usage, options)
    local from, to = options.from or 0, options.to
    if to and to <= from then
        command.refuse(usage, "--to must be later than --from")
    end
end

-- And whether anything lies behind its beginning.
function command.check_start(options, makespan_us)
    if options.from and options.from >= makespan_us and options.from > 0 then
        command.fail(("--from is behind the end, which is at %.3f us"):format(makespan_us))
    end
end

-- ---- timelines ------------------------------------------------------------------------

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
function command.checked(usage, f, ...)
    return command.guard(function(message) command.refuse(usage, message) end, f, ...)
end

-- ---- devices --------------------------------------------------------------------------

-- What `read` needs to know of a command that opens a device and takes no files: `known` with the
-- options of the device and of a base profile.
function command.with_device(known)
    known.backend, known.profile = { read = command.one_of("cuda", "sim") }, { read = command.some }
    known.device = { read = command.whole(0, 1023, "a whole number from 0 to 1023") }
    known.base = { read = command.some }
    return known
end

function command.refuse_files(usage, words)
    if #words > 0 then
        command.refuse(usage, ("no files are needed, got '%s'"):format(words[1]))
    end
end

-- The table of the profile that --base names, and what it is called; without --base that of the
-- simulated device, or h200.
function command.load_base(usage, options, device)
    local base, host = options.base, nil
    if not base and device.simulated then
        local chosen, chosen_host = internals.chosen_profile()
        base, host = options.profile or chosen, options.host or not options.profile and chosen_host
    end
    return command.checked(usage, internals.load_profile, base or "h200", host)
end

-- The device that --backend, --device and --profile name, or that a script would get.
function command.open_device(usage, options)
    if options.backend or options.device or options.profile or options.host then
        return command.checked(usage, lab.open, { backend = options.backend,
                                                  index = options.device,
                                                  profile = options.profile,
                                                  host = options.host })
    end
    return command.checked(usage, lab.device)
end

-- What a shell gives for stdin and for <(command) may be a pipe: somebody writes to it.
local function is_given(path)
    return path == "-" or path == "/dev/stdin" or path:find("^/dev/fd/") ~= nil
end

-- The timeline of a trace file, "-" for stdin, and of a GPU if one is given. What there is to say
-- about it goes to stderr, unless the caller says it.
function command.load(path, device, is_said)
    if not is_given(path) and program.file_kind(program.real_path(path) or path) == "other" then
        command.fail(("cannot read '%s': it is no file (- is stdin)"):format(path))
    end
    local tl = command.try(lab.load, path == "-" and "/dev/stdin" or path, { device = device })
    for line in (not is_said and tl.notice or ""):gmatch("[^\n]+") do
        command.warn(path .. ": " .. line)
    end
    return tl
end

local function count(n, noun)
    return ("%s %s%s"):format(n == 0 and "no" or n, noun, n == 1 and "" or "s")
end

-- "x.json: NVIDIA H200 (simulated), 23 operations in 3 streams"; "x.json, GPU 1: ..." where the
-- file has several.
function command.title(path, tl)
    local which = #tl.device_indices > 1 and (", GPU %d"):format(tl.device_index) or ""
    local device = tl.device_name
    if device ~= "" then
        device = device .. (tl.simulated and " (simulated), " or ", ")
    end
    local amount = count(tl.span_count, "operation")
    if tl.span_count > 0 then
        amount = amount .. " in " .. count(tl.stream_count, "stream")
    end
    return command.clean(("%s%s: %s%s"):format(path == "-" and "stdin" or path, which, device,
        amount))
end

return command
