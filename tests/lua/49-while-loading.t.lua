-- 49-while-loading.t.lua - a script's finalizer calls what is being loaded at that moment.
--
-- lab.tap and some others are loaded when they are first called. A hook collects every few
-- instructions meanwhile, and each cycle ends with such a call.

local T = require "tap"

local loading, over, calls, refused = false, false, 0, nil

-- Calls f at the end of each cycle, while something is loaded.
local function in_each_cycle(f)
    setmetatable({}, { __gc = function()
        if over then return end
        if loading then
            calls = calls + 1
            local fine, err = pcall(f)
            refused = fine and refused or err
        end
        in_each_cycle(f)
    end })
end

local function methods_of(object)
    local list = {}
    for name in pairs(debug.getmetatable(object).__methods) do list[#list + 1] = name end
    table.sort(list)
    return table.concat(list, " ")
end

in_each_cycle(function() lab.tap() end)
loading = true
debug.sethook(function() collectgarbage() end, "", 40)
local object = lab.tap()
debug.sethook()
loading = false
T.ok(calls > 10, "finalizers have called it while it was loaded")
T.is(refused and refused.code, "SL_ESTATE", "which is refused")
T.like(methods_of(object), "is makespan near", "the first object has all methods")
T.is(methods_of(lab.tap()), methods_of(object), "and so have later ones")
collectgarbage()
over = true
T.is(collectgarbage("isrunning"), true, "the collector runs as before")
collectgarbage("stop")
lab.table{ { a = 1 } }
T.is(collectgarbage("isrunning"), false, "or rests, if it did")
collectgarbage("restart")
T.done()
