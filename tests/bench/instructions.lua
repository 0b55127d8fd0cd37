-- instructions.lua [-o FILE] BUILD - how many instructions a call takes the host: the calls of
-- dispatch.lua on a GPU that is played (tests/cuda/fake_plugin.c), counted by valgrind. Run by
-- `make bench-calls`.
--
-- Prints a table, compares it with the one in docs/results/calls.md and warns of what has got
-- worse; -o writes it there.
local folder = arg[0]:match("^.*/") or "./"
package.path = folder .. "?.lua;" .. package.path
local callgrind, files = require "callgrind", require "files"

local calls_each <const> = 4096 -- 64 marks of a stream, and what the collector takes for the tables
local known_table <const> = "docs/results/calls.md"
local times <const> = 3 -- the least counts: Lua hashes names with another seed in each process
local modes <const> = { "", ", recorded", ", after a recording" }

local output = arg[1] == "-o" and arg[2] or nil
local build = arg[output and 3 or 1] or "build"

local function lines_of(command)
    local pipe, lines = assert(io.popen(command)), {}
    for line in pipe:lines() do lines[#lines + 1] = line end
    if not pipe:close() then files.stop(1, "this failed: " .. command) end
    return lines
end

local function first_line(command)
    return lines_of(command .. " 2>/dev/null || true")[1] or ""
end

-- Whose an instruction is, by the source file that it comes from. "played": CUDA's, which a GPU
-- has instead; nil as file: Lua's and libc's, which have no symbols for debuggers.
local rooms <const> = {
    { "tests/cuda/", "played" }, { "bindings/", "bindings" }, { "core/cuda/", "backend" },
    { "core/", "core" },
}
local function room_of(file)
    for _, room in ipairs(rooms) do
        if file:find(room[1], 1, true) then return room[2] end
    end
    return "lua"
end

-- What dispatch.lua prints, run under `tool` on the GPU that is played.
local function dispatch(tool, n)
    return lines_of(("PLAYED_AT_ONCE=1 STREAMLAB_CUDA_PLUGIN=%s/tests/cuda/played_plugin.so "
        .. "STREAMLAB_CUDA_LIB=%s/tests/bench/played %s %s/streamlab --backend cuda %sdispatch.lua "
        .. "%d"):format(build, build, tool, build, folder, n))
end

-- {name, lua =, bindings =, core =, backend =, whole =} for each call in each mode.
local function measure_once()
    local out = build .. "/callgrind.out"
    local names = dispatch(("valgrind -q --tool=callgrind --callgrind-out-file=%s "
        .. "--dump-after=lab_current_stream"):format(out), calls_each)
    local parts, rows = callgrind.read(out, 2 * #names, room_of), {}
    for i, name in ipairs(names) do
        local part, row = parts[2 * i], { name = name, whole = 0 }
        for _, room in ipairs { "lua", "bindings", "core", "backend" } do
            row[room] = (part[room] or 0) / calls_each
            row.whole = row.whole + row[room]
        end
        rows[#rows + 1] = row
    end
    lines_of("rm -f " .. out .. " " .. out .. ".*")
    return rows
end

-- The least of each row, which are also found by their names.
local function measure()
    dispatch("", 1) -- compiles its kernel, which takes long under valgrind
    local rows = measure_once()
    for _ = 2, times do
        for i, row in ipairs(measure_once()) do
            if row.whole < rows[i].whole then rows[i] = row end
        end
    end
    for _, row in ipairs(rows) do rows[row.name] = row end
    return rows
end

-- What the first result of the simulator takes the whole process.
local function measure_start()
    local command = build .. "/streamlab --backend sim -e 'lab.ones(4):sum()'"
    local text = lines_of("valgrind --tool=callgrind --callgrind-out-file=/dev/null " .. command
        .. " 2>&1 | sed -n 's/.*Collected : //p'")[1]
    return tonumber(text) / 1e6
end

local function table_of(rows, start)
    local text = {
        "| call | Lua, libc | bindings | core | core/cuda | together | recorded | after a "
            .. "recording |",
        "|---|---|---|---|---|---|---|---|",
    }
    for i = 1, #rows // #modes do
        local row = rows[i]
        text[#text + 1] = ("| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f "
            .. "|"):format(row.name,
            row.lua, row.bindings, row.core, row.backend, row.whole,
            rows[row.name .. modes[2]].whole,
            rows[row.name .. modes[3]].whole)
    end
    text[#text + 1] = ("\nFrom the process's start to the simulator's first result: %.2f "
        .. "million."):format(start)
    return table.concat(text, "\n") .. "\n"
end

-- By row and column, the figures of the last three columns of a table; and its last line's.
local function figures_of(text)
    local figures = {}
    for name, whole, recorded,
            after in text:gmatch("\n| ([^|\n]+) |[^\n]- (%d+) | (%d+) | (%d+) |%f[\n]") do
        figures[name] = tonumber(whole)
        figures[name .. modes[2]] = tonumber(recorded)
        figures[name .. modes[3]] = tonumber(after)
    end
    figures["the first result"] = tonumber(text:match("first result: (%S+) million"))
    return figures
end

-- Other compilers and libraries take other numbers of instructions: 3 % is no matter.
local function compare(now, before)
    local n = 0
    for name, figure in pairs(figures_of(now)) do
        local known = figures_of(before)[name]
        if known and figure > 1.03 * known then
            io.stderr:write(("make bench-calls: warning: %s: %g instructions, %g in %s\n"):format(
                name, figure, known, known_table))
            n = n + 1
        end
    end
    if n == 0 then print("no more than in " .. known_table) end
end

local function page(text)
    return ([[
# How many instructions a call takes

`make bench-calls BENCH_ARGS='-o docs/results/calls.md'`, with %s, Lua %s and %s; valgrind counts them,
in the least of %d processes. The GPU is played by [tests/cuda/fake_plugin.c](../../tests/cuda/fake_plugin.c), whose own
instructions are left out: what remains is what streamlab adds to a call of CUDA's. Each call is made %d times in one
stream, methods are called by name; "written" is a table of options that is written in the call, "reused" one that is used again.

%s
CI prints a warning where a figure is more than 3 %% above this table.
]]):format(first_line((os.getenv("CC") or "cc") .. " --version"), _VERSION:match("%S+$"),
        first_line("getconf GNU_LIBC_VERSION"), times, calls_each, text)
end

if first_line("command -v valgrind") == "" then
    print("make bench-calls: skipped: it needs valgrind, which is not here")
    return
end
if first_line("ls " .. build .. "/tests/cuda/played_plugin.so") == "" then
    print("make bench-calls: skipped: it needs the CUDA backend, and nvcc is not here")
    return
end
local text = table_of(measure(), measure_start())
print(text)
if output then
    files.write(output, page(text))
else
    compare(text, files.whole(known_table))
end
