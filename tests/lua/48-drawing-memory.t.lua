-- 48-drawing-memory.t.lua - what a drawing takes of the core's memory is free when it is done.
--
-- Lua's collector knows nothing of that memory: it may see 200 KB of garbage in pictures that hold
-- gigabytes. It stands still here. An operation takes 48 bytes or more in a picture: pictures that
-- are kept would take 96 MB here.
local T = require "tap"
package.path = "tests/lua/?.lua;" .. package.path
local ideal = require "ideal"

local n_operations <const>, n_drawings <const> = 100000, 8
local path = ideal.temporary(".svg")

if not io.open("/proc/self/statm") or (os.getenv("STREAMLAB_SANITIZE") or "") ~= "" then
    T.skip_all("needs /proc, and an allocator that gives memory back")
end

local function resident_kib()
    for line in io.lines("/proc/self/status") do
        local kib = line:match("^VmRSS:%s*(%d+)")
        if kib then return math.tointeger(kib) end
    end
end

lab.open { backend = "sim", profile = "textbook" }

local function timeline()
    return lab.profile(function()
        for _ = 1, n_operations do lab.spin(0.001) end
    end)
end

-- How much more there is after that many, in KiB.
local function growth(draw)
    draw()
    collectgarbage()
    collectgarbage("stop")
    local before = resident_kib()
    for _ = 1, n_drawings do draw() end
    local more = resident_kib() - before
    collectgarbage("restart")
    T.diag(("%d KiB more"):format(more))
    return more
end

local tl <const> = timeline()
T.ok(growth(function() tl:save(path, { width_px = 200, arrows = false }) end) < 20 << 10,
    "8 pictures of 100,000 operations take less than half of what they would hold together")
os.remove(path)
T.done()
