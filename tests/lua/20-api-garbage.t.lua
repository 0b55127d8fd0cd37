-- 20-api-garbage.t.lua - results that nobody holds are let go about as fast as they come.

local T = require "tap"

lab.open{ profile = "textbook" }
T.open()

local function loop(n)
    local a = lab.empty(8, 8)
    for _ = 1, n do lab.matmul(a, a) end
    lab.synchronize()
end

local function kib_after(n)
    collectgarbage()
    loop(n)
    return collectgarbage("count")
end

local few, many = kib_after(20000), kib_after(200000)
T.ok(many < few + 500, "ten times as many products leave no more garbage behind")
T.diag(("%.0f KiB, %.0f KiB"):format(few, many))

collectgarbage("stop")
local before = collectgarbage("count")
loop(20000)
local collects = os.getenv("TAP_GC")     -- by itself, also while the collector is stopped
T.ok(collects or collectgarbage("count") > before + 500, "a collector that was stopped stays so")
collectgarbage("restart")

T.done()
