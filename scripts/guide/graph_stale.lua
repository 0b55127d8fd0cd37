local n <const>, s = 1 << 20, lab.stream{ name = "s" }
local host, on_cpu = lab.zeros(n, { device = "cpu", pinned = true }), {}
local x, y = lab.zeros(n), nil
lab.add(x, x)                                       -- warm-up
local g = lab.graph(function()
    x:copy_(host, { non_blocking = true })          -- a node: each launch copies from `host`
    y = lab.add(x, x)
end, { stream = s })

for step = 1, 3 do
    if arg[1] == "wait" then s:synchronize() end
    host:fill_(step)                                -- the launch before has not read it yet
    g:launch{ stream = s }
    on_cpu[step] = y:to("cpu", { non_blocking = true, stream = s })
end
s:synchronize()
for step = 1, 3 do print("step " .. step, "y = " .. on_cpu[step]:get(1)) end
