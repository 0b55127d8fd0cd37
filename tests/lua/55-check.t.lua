-- 55-check.t.lua - lab.check and lab.races: modes, what is refused, races as tables.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function modes()
    T.is(lab.check(), "off", "the checker is off unless it is asked for")
    T.is(lab.check("off"), "off", "check gives the mode before")
    T.is(lab.check(nil), "off", "nil only asks")
    T.is(#lab.races(), 0, "no races are found")
    T.is(tostring(lab.races()), "no races found", "and the list says so")
end

local function wrong_use()
    refuses(function() lab.check("on") end, "SL_EINVAL",
            '"off", "warn" or "error", got "on"$', "an unknown mode")
    refuses(function() lab.check("") end, "SL_EINVAL", 'got ""$', "an empty mode")
    refuses(function() lab.check(true) end, "SL_EINVAL",
            "argument 1 %(mode%) must be a string, got boolean", "a mode that is no text")
    refuses(function() lab.check("warn\0") end, "SL_EINVAL", "zero byte", "a zero byte in it")
    refuses(function() lab.check("off", 1) end, "SL_EINVAL", "argument 2 is one too many",
            "an argument too many of check")
    refuses(function() lab.races(1) end, "SL_EINVAL", "argument 1 is one too many",
            "an argument of races")
    refuses(function() lab:check("off") end, "SL_EINVAL", "take a dot", "check with a colon")
    refuses(function() lab:races() end, "SL_EINVAL", "take a dot", "races with a colon")
    T.is(lab.check(), "off", "and the mode is what it was")
end

for _, f in ipairs { modes, wrong_use } do f() end
T.done()
