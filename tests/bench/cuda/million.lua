-- million.lua N - N small kernels in 4 streams, first without recording, then recorded. Prints
-- the seconds of the first, of the second up to its synchronise and up to the finished
-- timeline, the number of spans, and the largest resident size in bytes before and after the
-- recording. A work-load of bench.lua, not a test.
local n = tonumber(arg[1]) or 1000000

local streams = {}
for i = 1, 4 do
    local out = lab.empty(32)
    streams[i] = { a = lab.rand(32), options = { out = out, stream = lab.stream() } }
end

local function seconds() return lab.now_us() / 1e6 end

-- Where the system does not tell the largest size so far, the size of now.
local function resident_bytes()
    local file = io.open("/proc/self/status")
    local text = file and file:read("a") or ""
    if file then file:close() end
    local kib = text:match("VmHWM:%s*(%d+)") or text:match("VmRSS:%s*(%d+)") or 0
    return math.tointeger(tonumber(kib)) * 1024
end

local function enqueue(count)
    local pow = lab.pow
    for _ = 1, count // 4 do
        for i = 1, 4 do
            local s = streams[i]
            pow(s.a, 3, s.options)
        end
    end
    for i = 1, count % 4 do pow(streams[i].a, 3, streams[i].options) end
    lab.synchronize()
end

enqueue(1000)
local began = seconds()
enqueue(n)
local plain = seconds() - began

-- A small recording first: what loads only then is no part of the costs.
lab.profile(enqueue, 100)
local before = resident_bytes()
local called
began = seconds()
local tl = lab.profile(function()
    enqueue(n)
    called = seconds() - began
end)
local whole = seconds() - began
print(("%.6f %.6f %.6f %d %d %d"):format(plain, called, whole, tl.span_count, before,
                                         resident_bytes()))
