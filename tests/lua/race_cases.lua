-- race_cases.lua - small programs for the race checker: each is run with it on, and what it
-- then lists must be what the case says, and nothing else.
--
-- A program is text whose lines have marks, `--A`, that the expectations name. It finds the
-- streams producer, consumer and third, which are non-blocking, one and two, which are
-- blocking, and null, the default stream. After M.use_gpus it finds a communicator of several GPUs
-- as well, and two streams on each.

local T = require "tap"

local M = {}

local chunk <const> = "case.lua"

local gpus, comm = {}, nil

-- NCCL takes long to make one, so programs share it until one ends it.
local function communicator()
    if not comm or tostring(comm) == "comm (freed)" then comm = lab.comm { devices = gpus } end
    return comm
end

-- What programs for several GPUs find, whose ranks count from 0: `n`, their number; comm; and on
-- each the streams own0 and side0, which are in the lists own and side, too.
local function add_gpus(names)
    names.n, names.own, names.side = #gpus, {}, {}
    for i = 0, #gpus - 1 do
        for _, list in ipairs { "own", "side" } do
            local stream = lab.stream { name = list .. i, non_blocking = true,
                                        device = gpus[i + 1] }
            names[list .. i], names[list][i + 1] = stream, stream
        end
    end
    names.comm = communicator()
    return names
end

local function synchronize()
    for _, gpu in ipairs(gpus) do
        gpu:make_current()
        lab.synchronize()
    end
    lab.synchronize()
end

local function environment()
    local function stream(name, non_blocking)
        return lab.stream { name = name, non_blocking = non_blocking }
    end
    local names = {
        producer = stream("producer", true), consumer = stream("consumer", true),
        third = stream("third", true), one = stream("one", false), two = stream("two", false),
        null = lab.default_stream(),
    }
    return setmetatable(#gpus > 0 and add_gpus(names) or names, { __index = _G })
end

-- The number of the line with each mark.
local function marks(text)
    local lines, n = {}, 0
    for line in text:gmatch("(.-)\n") do
        n = n + 1
        for mark in line:gmatch("%-%-(%u)") do lines[mark] = n end
    end
    return lines
end

-- Runs it in a mode and gives the races, or nil and the error.
function M.run(text, mode)
    local program = assert(load(text, "@" .. chunk, "t", environment()))
    synchronize()
    lab.check(mode or "warn")
    local ok, err = pcall(program)
    local rest, rest_err = pcall(synchronize)
    if ok then ok, err = rest, rest_err end
    local races = lab.races()
    lab.check("off")
    if not ok then return nil, err end
    return races
end

-- ---- what is expected -------------------------------------------------------------------

local function line_of(lines, mark) return chunk .. ":" .. assert(lines[mark], mark) end

-- {mark, access, what, by, launch}, where by is a stream's name, "host" or "host_func" and a
-- stream's name; what may be false: not looked at; launch is the mark of the launch whose node it
-- is.
local function access_differs(got, want, lines)
    local by, stream = want[4], want[4]
    if by == "host" then
        stream = nil
    elseif by:find("^host_func ") then
        by, stream = "host_func", by:match(" (.*)")
    else
        by = "stream"
    end
    local expected = { where = line_of(lines, want[1]), access = want[2], by = by, stream = stream }
    if want[5] then expected.launched = line_of(lines, want[5]) end
    for _, key in ipairs { "where", "access", "by", "stream", "launched" } do
        if got[key] ~= expected[key] then
            return ("%s is %s, expected %s"):format(key, got[key], expected[key])
        end
    end
    if want[3] and got.what ~= want[3] then
        return ("what is %s, expected %s"):format(got.what, want[3])
    end
    local of_an_operation = by ~= "host" and want[2] ~= "free" and want[2] ~= "allocate"
    if of_an_operation and not got.correlation then return "correlation is nil" end
    if by == "host" and want[3] and got.correlation then
        return "correlation is " .. tostring(got.correlation)
    end
end

local streams <const> = { producer = true, consumer = true, third = true, one = true, two = true }

-- The programs to come are for these GPUs.
function M.use_gpus(list)
    if comm and tostring(comm) ~= "comm (freed)" then comm:free() end
    gpus, comm = list, nil
    for i = 0, #list - 1 do streams["own" .. i], streams["side" .. i] = true, true end
end

-- What would have ordered the two, where both are streams with a name of their own.
local function usual_remedy(want)
    local from = want.first[4]:gsub("^host_func ", "")
    local to = want.second[4]:gsub("^host_func ", "")
    if not streams[from] then return nil end
    if to == "host" then return from .. ":synchronize()" end
    return streams[to] and ("%s:wait_stream(%s)"):format(to, from)
end

local function remedy_differs(got, want, lines)
    local remedy = want.remedy or usual_remedy(want)
    if remedy and got.remedy ~= remedy then
        return ("remedy is %s, expected %s"):format(got.remedy, remedy)
    end
    if type(got.remedy) ~= "string" or got.remedy == "" then return "there is no remedy" end
    local launch = not want.inside and want.second[5]
    local where = "before " .. line_of(lines, launch or want.second[1])
    if want.remedy_where then where = where .. want.remedy_where end
    if want.second[4]:find("^host_func ") and not launch then
        where = where:gsub("^before ", "%0the host function of ") .. " is launched"
    end
    if got.remedy_where ~= where then
        return ("remedy_where is %s, expected %s"):format(got.remedy_where, where)
    end
end

local function rest_differs(got, want, lines)
    local kind, bytes = want.kind or "race", want.bytes or { 0, 64 }
    if got.kind ~= kind then return ("kind is %s, expected %s"):format(got.kind, kind) end
    if (kind == "accident") ~= (type(got.accident) == "string" and got.accident ~= "") then
        return "accident is " .. tostring(got.accident)
    end
    if got.made ~= line_of(lines, want.made or "X") then
        return ("made is %s, not at --%s"):format(got.made, want.made or "X")
    end
    if not got.tensor:find(want.tensor or "^tensor %d+ %(4x4 float32 ") then
        return "tensor is " .. got.tensor
    end
    if got.first_byte ~= bytes[1] or got.bytes ~= bytes[2] then
        return ("%s bytes from %s, expected %d from %d"):format(got.bytes, got.first_byte,
                                                                bytes[2], bytes[1])
    end
    if got.count ~= (want.count or 1) then return "count is " .. tostring(got.count) end
    if lab.device().backend == "sim" and want.stale ~= nil and got.stale ~= want.stale then
        return ("stale is %s, expected %s"):format(got.stale, want.stale)
    end
    if type(got.message) ~= "string" or tostring(got) ~= got.message then return "no message" end
end

-- How a race differs from what is expected, nil: it does not.
local function differs(got, want, lines)
    local first = access_differs(got.first, want.first, lines)
    if first then return "first: " .. first end
    local second = access_differs(got.second, want.second, lines)
    if second then return "second: " .. second end
    return rest_differs(got, want, lines) or remedy_differs(got, want, lines)
end

local function show(races)
    for i, race in ipairs(races) do T.diag(("%d: %s"):format(i, race.message)) end
end

-- ---- remedies -----------------------------------------------------------------------------

-- The program with the remedy of a race at the place that it names, still on the same lines.
local function mended(text, race)
    local at, n = tonumber(race.remedy_where:match("^before " .. chunk .. ":(%d+)$")), 0
    return at and text:gsub("([^\n]*)\n", function(line)
        n = n + 1
        return n == at and ("do %s end %s\n"):format(race.remedy, line) or nil
    end)
end

-- What is still found when all that is found has been mended, one after the other; nil: nothing.
-- Nothing is said of remedies in front of host functions, and of a stream that has been closed
-- in the meantime: it can only be waited for before.
local function unmended(text, races)
    for _ = 1, 10 do
        if #races == 0 then return nil end
        text = mended(text, races[1])
        if not text then return nil end
        local err
        races, err = M.run(text)
        if not races then return not tostring(err):find("was closed") and tostring(err) or nil end
    end
    return races[1].message
end

-- ---- cases --------------------------------------------------------------------------------

-- Nothing may be found.
function M.right(name, text)
    local races, err = M.run(text)
    if not T.ok(races and #races == 0, "right: " .. name) then
        if err then T.diag(err) else show(races) end
    end
end

-- The races that are given, in that order, and no others; with their remedies none, unless the
-- first is `lasting`. Of an `inside` race both are nodes of one launch.
function M.wrong(name, text, ...)
    local races, err = M.run(text)
    local wanted, lines, why = { ... }, marks(text), nil
    if not races then
        why = tostring(err)
    elseif #races ~= #wanted then
        why = ("%d reports, expected %d"):format(#races, #wanted)
    else
        for i, want in ipairs(wanted) do why = why or differs(races[i], want, lines) end
    end
    if not why then
        local left = not wanted[1].lasting and unmended(text, races)
        why = left and "with the remedies there is still: " .. left
    end
    if not T.ok(not why, "wrong: " .. name) then
        T.diag(why)
        show(races or {})
    end
end

-- Any of those given and at least one, and no others: which of them a checker lists, where one
-- implies another, is its own affair.
function M.wrong_somehow(name, text, ...)
    local races, err = M.run(text)
    local lines, why = marks(text), nil
    if not races or #races == 0 then why = err and tostring(err) or "no report" end
    for _, race in ipairs(races or {}) do
        local matches = false
        for _, want in ipairs { ... } do matches = matches or not differs(race, want, lines) end
        if not matches then why = "an unexpected report" end
    end
    if not T.ok(not why, "wrong: " .. name) then
        T.diag(why)
        show(races or {})
    end
end

return M
