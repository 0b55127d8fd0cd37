-- bench.lua [-o FILE] [--only NAME,NAME...] [BUILD] - the CUDA backend from Lua beside plain
-- CUDA C that does the same (the module `raw`, BUILD/tests/bench/raw.so), in one process and
-- one run, the two sides by turns. Prints a table with ratios and limits; -o writes it as
-- Markdown as well. Run by `make bench-cuda`.
--
-- Exit status 0 also when a limit is missed, which its row says; 1 when something could not be
-- measured; 2 for wrong usage.

local lab = require "streamlab"

local folder = (arg[0]:match("^.*/") or "./")
local sizes = {
    n = 1024, matmuls = 1000, copies = 100,     -- the puzzler
    pipelines = { 1024, 2048, 4096 }, items = 16,
    pow = 4096, operations = 1000000, starts = 5,
    runs = 11,                                  -- that count, of each side
    turns = 4,                                  -- of the puzzler, some runs each
}

local function stop(status, ...)
    io.stderr:write("bench-cuda", string.format(...), "\n")
    os.exit(status, true)
end

local function parse(arguments)
    local options, i = { build = "build" }, 1
    local function value()
        i = i + 1
        return arguments[i] or stop(2, ": %s needs a value", arguments[i - 1])
    end
    while arguments[i] do
        if arguments[i] == "-o" then options.output = value()
        elseif arguments[i] == "--only" then
            options.only = {}
            for name in value():gmatch("[^,]+") do options.only[name] = true end
        elseif arguments[i]:find("^%-") then stop(2, ": unknown argument '%s'", arguments[i])
        else options.build = arguments[i] end
        i = i + 1
    end
    return options
end

-- What the sections share -----------------------------------------------------------------

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- What a command prints; an empty text if it cannot be run.
local function output(command)
    local pipe = io.popen(command)
    local text = pipe and pipe:read("a") or ""
    if pipe then pipe:close() end
    return text
end

-- Element i (from 0) of the numbers that the raw side's buffers hold (raw_kernels.h).
local function element(i, seed)
    local h = (i + seed * 40503) * 2654435769 & 0xffffffff
    h = (h ~ h >> 15) * 2654435769 & 0xffffffff
    return ((h ~ h >> 13) >> 8) * 0x1p-24
end

-- They as a list of {n}, or as rows of {rows, columns}.
local function pattern(size, seed)
    local list = {}
    if not size[2] then
        for i = 1, size[1] do list[i] = element(i - 1, seed) end
        return list
    end
    for row = 1, size[1] do
        local numbers, first = {}, (row - 1) * size[2] - 1
        for column = 1, size[2] do numbers[column] = element(first + column, seed) end
        list[row] = numbers
    end
    return list
end

-- Raises unless as many of `got` as there are in `expected` are equal to it but for rounding.
local function check(what, got, expected)
    for i, value in ipairs(expected) do
        local tolerance = 1e-4 * math.abs(value)
        if not got[i] or not (math.abs(got[i] - value) <= tolerance) then
            error(("%s: element %d is %s, the other side has %.9g")
                  :format(what, i, got[i], value), 0)
        end
    end
end

-- For `local x <close>`: closes the raw object x.object, also after an error.
local function closing(object)
    return setmetatable({ object = object }, { __close = function() object:close() end })
end

-- Opening --------------------------------------------------------------------------------

local function reason_of(err)
    local ok, message = pcall(function() return err.message end)
    return ok and message or tostring(err)
end

local function open_raw(build)
    local path = build .. "/tests/bench/raw.so"
    local open, why = package.loadlib(path, "luaopen_raw")
    if not open then stop(1, " cannot load the plain CUDA C side: %s", why) end
    return open()
end

local function driver_version()
    local file = io.open("/proc/driver/nvidia/version")
    local text = file and file:read("a") or ""
    if file then file:close() end
    local number = "%d+%.%d[%d.]*"
    return text:match(number)
        or output("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null")
            :match(number) or "unknown"
end

local function processors()
    local count, model, file = 0, nil, io.open("/proc/cpuinfo")
    if not file then return "unknown" end
    for line in file:lines() do
        if line:find("^processor%s*:") then count = count + 1 end
        model = model or line:match("^model name%s*:%s*(.+)")
    end
    file:close()
    return ("%d processors, %s"):format(count, model or "unknown")
end

-- How the program was compiled, as GCC has written it beside the symbols.
local function how_built(program)
    local file = assert(io.open(program, "rb"))
    local is_fast = file:read("a"):find("-fprofile-use", 1, true)
    file:close()
    return is_fast and "make fast" or "make"
end

local function header(gpu, program)
    return ([[
# Performance: streamlab beside plain CUDA C, PyTorch and CuPy

`make bench-cuda BENCH_ARGS='-o docs/results/performance.md'` after `%s`, %s,
on one %s, driver %s (CUDA %s), CUDA run-time %s, cuBLAS %s; %s.
One process and one run: the two sides alternate, on one context.]])
        :format(how_built(program), os.date "%Y-%m-%d", gpu.name, driver_version(), gpu.driver_cuda,
                gpu.cuda, gpu.cublas,
                processors())
end

local function open(options)
    if options.output then
        local file, why = io.open(options.output, "a")
        if not file then stop(2, ": cannot write %s", why) end
        file:close()
    end
    local ok, err = pcall(lab.open, { backend = "cuda" })
    if not ok then stop(1, " needs a GPU: %s", reason_of(err)) end
    local raw = open_raw(options.build)
    local found, gpu = pcall(raw.open, lab.device().index)
    if not found then stop(1, " needs a GPU: %s", reason_of(gpu)) end
    local report = dofile(folder .. "report.lua")
    local program = options.build .. "/streamlab"
    local top = header(gpu, program)
    print(top)
    return {
        lab = lab, raw = raw, report = report, table = report.new(top, options.output),
        build = options.build, program = program, folder = folder,
        size = sizes, quote = quote, output = output, pattern = pattern, check = check,
        closing = closing,
    }
end

-- The run --------------------------------------------------------------------------------

-- In this order: until a recording was made, nothing of it is loaded.
local function sections()
    local puzzler, pipeline = dofile(folder .. "puzzler.lua"), dofile(folder .. "pipeline.lua")
    local process, limits = dofile(folder .. "process.lua"), dofile(folder .. "limits.lua")
    return {
        { "enqueue", dofile(folder .. "enqueue.lua") },
        { "custom", dofile(folder .. "custom.lua") },
        { "puzzler", puzzler.beside_raw },
        { "python", puzzler.beside_python }, { "pipeline", pipeline.pipelines },
        { "graphs", pipeline.graphs },
        { "pow", limits.pow }, { "link", limits.link },
        { "recorded-call", dofile(folder .. "recording.lua") },
        { "recording", puzzler.recorded }, { "start", process.start },
        { "million", process.million },
        { "check", dofile(folder .. "check.lua") },
        -- What is tuned stays so, and so do threads.
        { "matmul", dofile(folder .. "matmul.lua") }, { "tuned", puzzler.tuned },
        { "threads", dofile(folder .. "threads.lua") },
    }
end

-- A section that fails does not keep the others from being measured.
local function run(b, name, section)
    local began = b.raw.now_ns()
    local ok, err = xpcall(section, function(e) return debug.traceback(reason_of(e), 2) end, b)
    if not ok then
        io.stderr:write(("bench-cuda: %s was not measured: %s\n"):format(name, err))
        local what = ("%s: not measured (%s)"):format(name, err:match("^[^\n]*"))
        b.table:row(what, "", "", "", "", nil)
    end
    print(("  (%s took %.1f s)"):format(name, (b.raw.now_ns() - began) / 1e9))
    b.table:save()
    return ok
end

local options = parse(arg)
local list = sections()
local known = {}
for _, entry in ipairs(list) do known[entry[1]] = true end
for name in pairs(options.only or {}) do
    if not known[name] then stop(2, ": there is no section '%s'", name) end
end
local b, complete = open(options), true
for _, entry in ipairs(list) do
    if not options.only or options.only[entry[1]] then
        complete = run(b, entry[1], entry[2]) and complete
    end
end
print("\n" .. b.table:verdict() .. (complete and "" or "; not everything was measured"))
os.exit(complete and 0 or 1, true)
