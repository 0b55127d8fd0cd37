-- growth.lua BUILD [CASE...] - checks that costs grow with the work: each case (cases.lua) is run
-- with n, 2n and 4n calls. Run by `make check-growth`.
--
-- Counted are instructions, by valgrind, and the most memory that the process had (with 4n, 8n and
-- 16n): neither depends on what else the machine does. From 2n to 4n there is twice as much to do
-- as from n to 2n; a function whose part grows threefold takes more for each call, the more calls
-- there are. (A part that is quadratic grows fourfold; n log n stays below 2.4.)
local folder = arg[0]:match("^.*/") or "./"
package.path = folder .. "?.lua;" .. folder .. "../bench/?.lua;" .. package.path
local callgrind, cases = require "callgrind", require "cases"

local most_growth <const> = 3
local least_share <const> = 0.001 -- of all instructions with 4n: less is no matter yet
-- What allocators and the kernel may keep: the peaks of one script differ by up to 1.5 MiB. A part
-- that is quadratic takes more: a byte for each pair of 3,200 calls is 10 MiB.
local memory_slack_kib <const> = 4096

local build = arg[1] or "build"
local only = {}
for i = 2, #arg do only[arg[i]] = true end

local function lines_of(command)
    local pipe, lines = assert(io.popen(command .. " 2>&1")), {}
    for line in pipe:lines() do lines[#lines + 1] = line end
    if pipe:close() then return lines end
    print(table.concat(lines, "\n"))
    error("this failed: " .. command, 0)
end

-- A function of ours by its name; of all others there is one figure, "Lua and libc". Lua's
-- allocator is one of them: what a list of free blocks lacks comes in steps.
local function class(file, name)
    if file:find("repl/run/lua_memory.c", 1, true) then return "Lua and libc" end
    for _, room in ipairs { "core/", "bindings/", "repl/" } do
        local from = file:find(room, 1, true)
        if from then return name:match("^[%w_]+") .. " (" .. file:sub(from) .. ")" end
    end
    return "Lua and libc"
end

local function script(case, sizes)
    return ("%s/streamlab --backend sim --devices 2 %scase.lua %s %s"):format(build,
        folder, case, sizes)
end

-- Instructions with n, 2n and 4n: three tables by function.
local function count(case)
    local out = build .. "/callgrind.growth"
    lines_of(("valgrind -q --tool=callgrind --callgrind-out-file=%s --dump-after=lab_now_us "
        .. "%s"):format(out,
        script(case.name, ("%d %d %d"):format(case.n, 2 * case.n, 4 * case.n))))
    local parts = callgrind.read(out, 4, class) -- the first is what comes before
    lines_of("rm -f " .. out .. " " .. out .. ".*")
    return { parts[2], parts[3], parts[4] }
end

local function sum(part)
    local n = 0
    for _, instructions in pairs(part) do n = n + instructions end
    return n
end

local failed = 0

-- How much more there is from the second to the third than from the first to the second.
local function growth(a, b, c) return (c - b) / math.max(b - a, 1) end

-- Functions whose part grows too fast, the largest first.
local function find_growing(parts)
    local whole, found = sum(parts[3]), {}
    for name, most in pairs(parts[3]) do
        local by = growth(parts[1][name] or 0, parts[2][name] or 0, most)
        if by > most_growth and most > least_share * whole then
            found[#found + 1] = { name = name, by = by, part = most / whole }
        end
    end
    table.sort(found, function(a, b) return a.part > b.part end)
    return found
end

-- The most memory that a process of its own had for each size, in KiB.
local function memory(case)
    local kib = {}
    for i = 1, 3 do
        local lines = lines_of(script(case.name, case.n << i + 1))
        kib[i] = tonumber(lines[#lines]:match("^(%d+) KiB$"))
    end
    return kib
end

-- A cache that hashes addresses has other collisions in each process, for Lua draws a seed: what
-- grows in one process alone does not count.
local function find_twice(case)
    local found, again = find_growing(count(case)), {}
    if #found == 0 then return found end
    for _, one in ipairs(find_growing(count(case))) do again[one.name] = true end
    local both = {}
    for _, one in ipairs(found) do both[#both + 1] = again[one.name] and one or nil end
    return both
end

local function plant(case)
    if #find_twice(case) > 0 then return end
    failed = failed + 1
    print("not ok: " .. case.says .. ": their edges grow with n^2, and nothing was found")
end

local function check(case)
    local found, kib = find_twice(case), memory(case)
    local by = growth(kib[1], kib[2], kib[3] - memory_slack_kib)
    local says = {}
    for i = 1, math.min(#found, 3) do
        says[i] = ("    %s: %.1f times, %.0f %% of all"):format(found[i].name, found[i].by,
            100 * found[i].part)
    end
    if by > most_growth then
        says[#says + 1] = ("    memory: %.1f times; %d, %d and %d KiB"):format(by,
            kib[1], kib[2], kib[3])
    end
    if #says == 0 then return end
    failed = failed + 1
    print(("not ok: %s: more than %d times as much comes from %d to %d as from %d to %d"):format(
        case.says, most_growth, 2 * case.n, 4 * case.n, case.n, 2 * case.n))
    print(table.concat(says, "\n"))
end

if not os.execute("command -v valgrind >/dev/null 2>&1") then
    print("make check-growth: skipped: it needs valgrind, which is not here")
    return
end
local n = 0
for _, case in ipairs(cases) do
    if not next(only) or only[case.name] then
        (case.planted and plant or check)(case)
        n = n + 1
    end
end
print(("make check-growth: %d of %d cases are right"):format(n - failed, n))
os.exit(failed == 0)
