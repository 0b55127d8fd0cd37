local s, other = lab.stream{ name = "s" }, lab.stream{ name = "other" }
local x, host = lab.ones(4096), lab.empty(4096, { device = "cpu", pinned = true })
local earlier = other:record_event()
lab.sum(lab.add(x, x))                              -- warm-up

local function try(what, f)
    local fine, problem = pcall(lab.graph, f, { stream = s })
    print(what .. ": " .. (fine and "fine" or tostring(problem)))
end

try("read a value", function() lab.sum(x):item() end)
try("wait for the stream", function() s:synchronize() end)
try("wait for the device", function() lab.synchronize() end)
try("allocate", function() lab.cuda.malloc(1024) end)
try("wait for an event from outside", function() s:wait_event(earlier) end)
try("forget the join", function()
    other:wait_stream(s)
    lab.spin(1, { stream = other })
end)
try("go on after an error", function()
    pcall(s.synchronize, s)
    lab.add(x, x)
end)
try("copy to the CPU, not waiting", function() host:copy_(x, { non_blocking = true }) end)
try("make a tensor", function() lab.add(x, x) end)
