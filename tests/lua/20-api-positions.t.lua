-- 20-api-positions.t.lua - the script's lines of calls that are made again and again, whose
-- positions are known by the address of the instruction: code that the collector has freed, C
-- functions in between, closures, coroutines, two devices.

local T = require "tap"
local ideal = require "lua.ideal"

local function here() return debug.getinfo(2, "l").currentline end

-- The positions of the spans that f makes, the same ones in a row once: "x:3 x:4".
local function positions(f)
    local list, last = {}, nil
    for _, span in ipairs(lab.profile(f):spans()) do
        if span.where ~= last then list[#list + 1] = span.where end
        last = span.where
    end
    return table.concat(list, " ")
end

-- Each chunk has the name and the code of the one before, whose memory it may get, and another
-- line.
local function freed_code(mode)
    ideal.textbook()
    collectgarbage(mode)
    local wanted = {}
    local got = positions(function()
        for i = 1, 400 do
            local line = i % 7 + 1
            local chunk = load(("\n"):rep(line - 1) .. "local lab = ... lab.spin(0)", "=x")
            for _ = 1, 4 do chunk(lab) end
            wanted[i] = "x:" .. line
            chunk = nil
            if i % 3 == 0 then collectgarbage() end
        end
    end)
    collectgarbage("incremental")
    T.is(got, table.concat(wanted, " "), "code that was freed has its own lines, " .. mode)
end

-- pcall's frame is where the frame of f was, with what that has left there.
local function c_functions()
    ideal.textbook()
    local spin = lab.spin
    local function f() spin(0) spin(0) spin(0) end
    local first = here() - 1
    local got = positions(function()
        for _ = 1, 4 do
            f()
            pcall(spin, 0)
            pcall(pcall, spin, 0)
        end
    end)
    local turn = ("20-api-positions.t.lua:%d 20-api-positions.t.lua:%d 20-api-positions.t.lua:%d")
        :format(first, first + 5, first + 6)
    T.is(got, table.concat({ turn, turn, turn, turn }, " "),
         "a call through pcall has the line of pcall")
end

local function closures_and_coroutines()
    ideal.textbook()
    local s, first = lab.stream(), here()
    local got = positions(function()
        for i = 1, 20 do
            lab.with(s, function() lab.spin(0) end)
            coroutine.wrap(function() lab.spin(0) end)()
            if i % 5 == 0 then collectgarbage() end
        end
    end)
    local turn = ("20-api-positions.t.lua:%d 20-api-positions.t.lua:%d"):format(first + 3,
        first + 4)
    T.is(got, (turn .. " "):rep(19) .. turn, "closures and coroutines that are made anew")
end

-- Each device has its own number for a line.
local function two_devices()
    local a = lab.open { backend = "sim", profile = "textbook" }
    local b = lab.open { backend = "sim", profile = "textbook" }
    lab.spin(0)                         -- b knows one more text than a
    local function spin() lab.spin(0) end
    local first = here() - 1
    for _, device in ipairs { a, b, a, b } do
        device:make_current()
        T.is(positions(function() spin() spin() spin() end), "20-api-positions.t.lua:" .. first,
             "the line of a call that alternates between devices")
    end
end

freed_code("incremental")
freed_code("generational")
c_functions()
closures_and_coroutines()
two_devices()
T.done()
