-- tap.lua - the Test Anything Protocol for tests written in Lua, twin of tap.h.
--
-- A test is one file: local tap = require "tap"; checks whose names are
-- sentences; tap.done() last. done() adds a check of its own, that no object of
-- the laboratory is left alive, so what a test holds in locals must have gone
-- out of scope by then (or be nil). The plan is printed at the end; plan(n)
-- counts the checks of the file, without done()'s.
--
-- With TAP_GC=stress in the environment a full collection runs every few
-- instructions, in changing modes, so that a value to which no reference is left is freed.

local tap = {}

local planned, run, failed = nil, 0, 0

local function out(...)
    io.stdout:write(...)
    io.stdout:write("\n")
    io.stdout:flush()
end

-- A short text for a value: strings quoted, tables by their sorted contents.
local function show(value, depth)
    depth = depth or 0
    if type(value) == "string" then
        return string.format("%q", value)
    end
    if type(value) ~= "table" or getmetatable(value) and getmetatable(value).__tostring then
        return tostring(value)
    end
    if depth > 4 then
        return "{...}"
    end
    local parts = {}
    for key, item in pairs(value) do
        local name = math.type(key) == "integer" and string.format("[%d]", key) or tostring(key)
        parts[#parts + 1] = name .. "=" .. show(item, depth + 1)
    end
    table.sort(parts)
    return "{" .. table.concat(parts, ", ") .. "}"
end

-- Where the test called: the first level outside this file.
local function caller()
    local here = debug.getinfo(1, "S").source
    for level = 2, 30 do
        local info = debug.getinfo(level, "Sl")
        if not info then
            break
        end
        if info.source ~= here and info.currentline > 0 then
            return info.short_src .. ":" .. info.currentline
        end
    end
    return "?"
end

-- A line of explanation, shown by prove next to the results.
function tap.diag(text)
    for line in (tostring(text) .. "\n"):gmatch("(.-)\n") do
        io.stderr:write("# ", line, "\n")
    end
end

local function result(passed, name)
    run = run + 1
    name = tostring(name or "a check without a name"):gsub("#", "\\#"):gsub("\n", " ")
    out(passed and "ok " or "not ok ", tostring(run), " - ", name)
    if not passed then
        failed = failed + 1
        tap.diag("  failed at " .. caller())
    end
    return passed
end

-- Announces that `n` checks will run, besides the one that done() adds.
function tap.plan(n)
    planned = n
end

function tap.ok(cond, name)
    return result(cond and true or false, name)
end

local function same(got, want)
    return rawequal(got, want) or got == want or (got ~= got and want ~= want)
end

function tap.is(got, want, name)
    local passed = result(same(got, want), name)
    if not passed then
        tap.diag("  got      " .. show(got) .. "\n  expected " .. show(want))
    end
    return passed
end

function tap.isnt(got, unwanted, name)
    local passed = result(not same(got, unwanted), name)
    if not passed then
        tap.diag("  got " .. show(got) .. ", which it should not be")
    end
    return passed
end

-- `text` matches a Lua pattern.
function tap.like(text, pattern, name)
    local passed = result(type(text) == "string" and text:find(pattern) ~= nil, name)
    if not passed then
        tap.diag("  got             " .. show(text) .. "\n  does not match  " .. show(pattern))
    end
    return passed
end

-- |got - want| <= tol.
function tap.near(got, want, tol, name)
    local numbers = type(got) == "number" and type(want) == "number"
    local passed = result(numbers and (got == want or math.abs(got - want) <= tol), name)
    if not passed then
        tap.diag(string.format("  got %s, expected %s within %s", show(got), show(want), show(tol)))
    end
    return passed
end

-- The first difference of two values as a path and two texts, or nil.
local function difference(got, want, path)
    if type(got) ~= "table" or type(want) ~= "table" then
        if same(got, want) then
            return nil
        end
        return path, show(got), show(want)
    end
    for key, value in pairs(want) do
        local where, g, w = difference(got[key], value, path .. "[" .. show(key) .. "]")
        if where then
            return where, g, w
        end
    end
    for key, value in pairs(got) do
        if want[key] == nil then
            return path .. "[" .. show(key) .. "]", show(value), "nil"
        end
    end
    return nil
end

function tap.is_deeply(got, want, name)
    local path, g, w = difference(got, want, "value")
    local passed = result(path == nil, name)
    if not passed then
        tap.diag("  " .. path .. " differs\n  got      " .. g .. "\n  expected " .. w)
    end
    return passed
end

-- `f` raises an error whose text (tostring of the error object) matches.
function tap.throws_like(f, pattern, name)
    local fine, err = pcall(f)
    local text = not fine and tostring(err) or nil
    local passed = result(text ~= nil and text:find(pattern) ~= nil, name)
    if fine then
        tap.diag("  no error was raised; expected one like " .. show(pattern))
    elseif not passed then
        tap.diag("  raised          " .. show(text) .. "\n  does not match  " .. show(pattern))
    end
    return passed
end

-- `f` raises no error.
function tap.lives(f, name)
    local fine, err = pcall(f)
    local passed = result(fine, name)
    if not passed then
        tap.diag("  raised " .. tostring(err))
    end
    return passed
end

-- Counts `n` checks (1) as passed and says why they did not run.
function tap.skip(why, n)
    for _ = 1, n or 1 do
        run = run + 1
        out("ok ", tostring(run), " # SKIP ", tostring(why))
    end
end

-- How much of something a test tries: as much as makes the claim, and in `make check-long` more.
function tap.sized(usual, in_check_long)
    return os.getenv("STREAMLAB_TEST_LONG") and in_check_long or usual
end

-- Ends the file as one that cannot run here.
function tap.skip_all(why)
    debug.sethook()
    out("1..0 # SKIP ", (tostring(why):gsub("%s+", " ")))
    os.exit(0, true)
end

-- Whether kernels from strings have values: on the simulator that needs a C++ compiler.
function tap.computes_kernels()
    local made, kernel = pcall(lab.kernel, { source = "__global__ void nothing() {}", args = {} })
    return made and kernel.has_values
end

-- With CUDA_LAUNCH_BLOCKING=1, and so under compute-sanitizer, nothing runs beside anything
-- else on a GPU; what needs that is not checked then.
tap.launches_block = (os.getenv("CUDA_LAUNCH_BLOCKING") or "0") ~= "0"

-- Opens a device of the backend that the tests run on: STREAMLAB_BACKEND, else the
-- simulator. Where no GPU answers the file is skipped with the reason; a GPU that is
-- there and cannot be opened is an error.
function tap.open(index)
    local lab = require "streamlab"
    local backend = os.getenv("STREAMLAB_BACKEND") or "sim"
    local found = backend == "sim"
    for _, device in ipairs(lab.devices()) do
        found = found or device.backend == backend
    end
    local options = { backend = backend, index = index }
    if not found then
        local _, err = pcall(lab.open, options)
        tap.skip_all(type(err) == "table" and err.message or err)
    end
    return lab.open(options)
end

-- The same for what only a real GPU can show.
function tap.open_real()
    if (os.getenv("STREAMLAB_BACKEND") or "sim") == "sim" then
        tap.skip_all("this is for a real GPU")
    end
    return tap.open()
end

-- What of the laboratory is still alive, as {name = count}; empty if it was not used.
local function left_alive()
    local lab = package.loaded.streamlab
    if not lab then
        return {}
    end
    collectgarbage()
    collectgarbage()
    local live = lab.live()
    local used = false
    for _, count in pairs(live) do
        used = used or count ~= 0
    end
    if used then
        pcall(lab.synchronize)
        collectgarbage()
        collectgarbage()
        live = lab.live()
    end
    local left = {}
    for _, name in ipairs { "streams", "events", "tensors", "buffers", "graphs", "comms", "ops" } do
        if live[name] ~= 0 then
            left[name] = live[name]
        end
    end
    return left
end

-- The end of every test: leak check, plan, exit status.
function tap.done()
    debug.sethook()
    local ran = run
    local left = left_alive()
    if not result(next(left) == nil, "no object is left alive") then
        tap.diag("  alive: " .. show(left))
    end
    out("1..", tostring((planned or ran) + 1))
    if planned and planned ~= ran then
        tap.diag(string.format("planned %d checks but ran %d", planned, ran))
    end
    if failed > 0 then
        tap.diag(string.format("%d of %d checks failed", failed, run))
    end
    if failed > 0 or (planned and planned ~= ran) then
        os.exit(1, true)
    end
end

-- Collects everything that can be, every few instructions, now in one mode, now
-- in the other. The step is a prime, so that it does not fall in with loops.
local function stress()
    local turn = 0
    debug.sethook(function()
        turn = turn + 1
        if turn % 64 == 0 then
            collectgarbage(turn % 128 == 0 and "generational" or "incremental")
        end
        collectgarbage("collect")
    end, "", 53)
end

if os.getenv("TAP_GC") == "stress" then
    stress()
end

return tap
