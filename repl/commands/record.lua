-- record.lua - streamlab record -- COMMAND: runs a CUDA program, records what it gives its GPUs,
-- and says where time was lost.

local command = import "repl/run/command.lua"
local shown = import "repl/run/shown.lua"
local texts = import "repl/run/text.lua"

local options, words = command.read(import "repl/usage/record.lua", { ... })
if #words == 0 then
    command.refuse("a command is needed: streamlab record -- python3 train.py")
end

if options.range and (options.skip or options.count) then
    command.refuse("--range does not go with --skip and --count")
end
if options.by and options.quiet then
    command.refuse("--by prints a table, and --quiet prints nothing: they do not go together")
end
-- Spools are whole.
if options.quiet and not options.files then
    local goes_with <const> = "-o FILE, or with what is printed without --quiet"
    command.check_used(options, { { "range", false, goes_with }, { "skip", false, goes_with },
                                  { "count", false, goes_with },
                                  { "children", false, goes_with } })
end
local part = (options.range or options.skip or options.count)
    and { range = options.range, skip = options.skip, count = options.count }

-- ---- before ------------------------------------------------------------------------------

-- Where the library lies that the program loads: beside this program, or as make install puts it.
local function find_library()
    local folder = program.executable():match("^(.*)/[^/]*$")
    for _, path in ipairs { folder .. "/libstreamlab_record.so",
                            folder .. "/../lib/streamlab/libstreamlab_record.so" } do
        local real = program.real_path(path)
        if real then
            return real
        end
    end
    command.fail("this build cannot record programs: there is no libstreamlab_record.so, "
        .. "which make builds where cupti.h of CUDA 12.8 or later is")
end

local other = os.getenv("CUDA_INJECTION64_PATH")
if other and other ~= "" then
    command.fail(("another tool is to be loaded into the program already "
        .. "(CUDA_INJECTION64_PATH is %s)"):format(other))
end
local library = find_library()
for _, path in ipairs(options.files or {}) do
    command.try_file(path)
end

local spools = options.spools
if spools then
    local made, reason = program.make_folder(spools)
    if not made then
        command.fail(reason)
    end
    for _, name in ipairs(program.folder(spools) or {}) do
        if name:find("%.spool$") then
            command.fail(("'%s' has a recording already, and a folder of spools is read as one "
                .. "timeline: name another one"):format(spools))
        end
    end
    spools = program.real_path(spools)
else
    spools = program.make_scratch()
end
-- For what ends all this by an error, as Ctrl-C while spools are read.
local _ <close> = setmetatable({}, { __close = function()
    if not options.spools then
        program.remove_scratch(spools)
    end
end })

-- ---- the program ----------------------------------------------------------------------------

local environment = { CUDA_INJECTION64_PATH = library, STREAMLAB_RECORD = spools }
local ranges = os.getenv("NVTX_INJECTION64_PATH")
if not ranges or ranges == "" then
    environment.NVTX_INJECTION64_PATH = library
end
if options["for"] then
    environment.STREAMLAB_RECORD_FOR = ("%d"):format(math.floor(options["for"] * 1000))
end
if options.python then
    environment.STREAMLAB_RECORD_PYTHON = "1"
end
if options.stacks then
    environment.STREAMLAB_RECORD_STACKS = "1"
end
local status, ended, not_run = program.run_recorded(words, environment)

local function finish(code)
    if not options.spools then
        program.remove_scratch(spools)
    end
    os.exit(code)
end

if not status then
    command.warn(("cannot run '%s': %s"):format(words[1], ended))
    finish(not_run)
end

-- ---- what it has left ------------------------------------------------------------------------

-- The spools, each with its timeline, or why it has none; the one with the most operations first.
local function read_spools()
    local found = {}
    for _, name in ipairs(program.folder(spools) or {}) do
        if name:find("%.spool$") then
            local one = { path = spools .. "/" .. name, pid = name:match("^%d+") }
            command.guard(function(message) one.problem = message end, function()
                one.tl = lab.load(one.path)
            end)
            found[#found + 1] = one
        end
    end
    table.sort(found, function(a, b)
        local n, m = a.tl and a.tl.span_count or 0, b.tl and b.tl.span_count or 0
        return n > m or n == m and a.path < b.path
    end)
    return found
end

-- sudo is one: it also starts what follows with another environment.
local function say_no_spool()
    if program.gives_rights(words[1]) then
        command.warn(("nothing is recorded: '%s' runs with rights of its own (setuid, setgid, "
            .. "capabilities), and such programs are not recorded; start streamlab with these "
            .. "rights"):format(words[1]))
        return
    end
    command.warn("nothing is recorded: the program did not use CUDA, or not in processes that it "
        .. "started itself (docker, ssh)")
end

local function say_nothing_recorded(found)
    if #found == 0 then
        say_no_spool()
        return
    end
    for _, one in ipairs(found) do
        local problem = one.problem:gsub("^'[^']*': ", ""):gsub("^it has no operations: ", "")
        command.warn(("process %s: %s"):format(one.pid, problem))
    end
end

-- Which of several processes this is, or whose streams are which. nil: there is one.
local function which(found)
    local each = {}
    for _, one in ipairs(found) do
        if one.tl then
            each[#each + 1] = ("%s (%d operations)"):format(one.pid, one.tl.span_count)
        end
    end
    if #each < 2 then
        return nil
    end
    if options.children then
        return ("Several processes used the GPU: %s. The number before a stream says whose it is.")
            :format(table.concat(each, ", "))
    end
    return ("Several processes used the GPU: this is process %s, and there %s %s; "
        .. "--children puts all into one timeline."):format(found[1].pid,
        #each == 2 and "is" or "are", table.concat(each, ", ", 2))
end

local found = read_spools()
local first = found[1]
if not first or not first.tl then
    say_nothing_recorded(found)
    finish(status)
end
local whose = which(found)
local path = options.children and #found > 1 and spools or first.path

-- The part of it that is asked for.
local function load(device)
    local tl = path == first.path and not device and first.tl or lab.load(path, { device = device })
    return part and tl:part(part) or tl
end

-- The command as one types it in a shell.
local function typed(command_words)
    local list = {}
    for i, word in ipairs(command_words) do
        local is_plain = word:find("^[%w%%+,./:=@_-]+$")
        list[i] = is_plain and word or texts.shell_word(word)
    end
    return table.concat(list, " ")
end

local tl
command.guard(function(message)
    command.warn(message)
    finish(status == 0 and 1 or status)
end, function() tl = load() end)
local failed = false
for _, file in ipairs(options.files or {}) do
    command.guard(function(message)
        command.warn(message)
        failed = true
    end, tl.save, tl, file)
end
if not options.quiet then
    if whose then
        shown.wrap(whose, 80)
    end
    if options.by then
        command.warn_of_doubts("", tl, true)
    end
    shown.print { name = typed(words), tl = tl, load = load,
                  options = { by = options.by }, some = options.by,
                  parts = not part and "--range or --skip" or nil }
end
finish(failed and status == 0 and 1 or status)
