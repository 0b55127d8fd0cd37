-- ops.lua N - enqueues N operations of all kinds on three streams and waits for
-- them; prints the seconds of real time from the first call to the last, and the
-- virtual time that they took. With "record" as second argument, they are
-- recorded, with "summary" only sums of them. The third one is the profile, or
-- "textbook". A work-load for bench.lua, not a test.
local n = tonumber(arg[1]) or 1000000
local keep = ({ record = "spans", summary = "summary" })[arg[2]]

lab.open { backend = "sim", profile = arg[3] or "textbook" }
local compute, up, down = lab.stream(), lab.stream(), lab.stream()
local a, b, c = lab.empty(256, 256), lab.empty(256, 256), lab.empty(256, 256)
local host = lab.empty(256, 256, { device = "cpu", pinned = true })
local back = lab.empty(256, 256, { device = "cpu", pinned = true })
local loaded = lab.event()
local on_compute = { out = c, stream = compute }
local on_up = { non_blocking = true, stream = up }
local on_down = { non_blocking = true, stream = down }
local short = { stream = compute }

lab.synchronize()
-- Recording synchronises, which costs the host time: before the clocks start.
local tl = keep and lab.record { keep = keep }
local began, began_us = os.clock(), lab.now_us()
for _ = 1, n // 10 do
    a:copy_(host, on_up)
    up:record_event(loaded)
    compute:wait_event(loaded)
    lab.matmul(a, b, on_compute)
    lab.pow(c, 2, on_compute)
    lab.add(c, b, on_compute)
    lab.spin(0.001, short)
    compute:record_event(loaded)
    down:wait_event(loaded)
    back:copy_(c, on_down)
end
lab.synchronize()
local virtual_us = lab.now_us() - began_us
if tl then
    tl:stop()
end
print(string.format("%.6f %.6f", os.clock() - began, virtual_us / 1000))
