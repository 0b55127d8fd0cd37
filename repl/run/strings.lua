-- strings.lua - the methods of strings, which the program's Lua and the user's share.
--
-- ("x"):format() asks the metatable of strings, of which there is one. While the program's
-- Lua runs it is `own`, with the methods as they were at the start and behind them what the
-- user has added: `string.format = nil` at the prompt breaks the user's code only. The
-- program's functions are called so by repl/run/embedded.c and console.open; while they call a
-- function of the user's, the metatable is the user's again.

local strings = {}

local own, behind = {}, {}
for name, method in next, debug.getmetatable("") do
    own[name] = method
end
own.__index = setmetatable(string, behind)

local users = debug.getmetatable("")

-- Gives strings the program's methods or the user's; returns whether they had the program's.
local function change(to_own)
    local present = debug.getmetatable("")
    local were_own = present == own
    if to_own and not were_own then
        users = present
        behind.__index = type(present) == "table" and rawget(present, "__index") or nil
        debug.setmetatable("", own)
    elseif were_own and not to_own then
        debug.setmetatable("", users)
    end
    return were_own
end

-- What is closed to have the program's methods again, or the user's.
local back_to_own = setmetatable({}, { __close = function() change(true) end })
local back_to_users = setmetatable({}, { __close = function() change(false) end })

-- From now on strings have the program's methods, until what is returned is closed.
function strings.own()
    return change(true) and back_to_own or back_to_users
end

-- Returns what f(...) returns, whose strings have the user's methods.
function strings.call_users(f, ...)
    local closer <close> = change(false) and back_to_own or back_to_users
    return f(...)
end

return strings
