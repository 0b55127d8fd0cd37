-- events.lua N - records N/2 events in eight streams and lets the next stream wait for each; prints
-- the seconds of processor time. A work-load, not a test.
local n <const> = tonumber(arg[1]) or 1000000

lab.open { backend = "sim", profile = "textbook" }
local streams, round = {}, nil
for i = 1, 8 do streams[i] = lab.stream() end
for _, entry in ipairs(dofile("tests/bench/calls.lua").list) do
    if entry.name == "record and wait" then round = entry.make(lab, streams) end
end
lab.synchronize()
local began <const> = os.clock()
for _ = 1, n // 16 do round() end
lab.synchronize()
print(("%.6f"):format(os.clock() - began))
