local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
for k = 1, 2 do
    gpus[k]:make_current()
    lab.cuda.device_enable_peer_access(gpus[3 - k])
end
local rows, n, w, s, x = 8192, 4096, {}, {}, {}
for k, gpu in ipairs(gpus) do
    s[k] = lab.stream{ device = gpu, name = "stage " .. k }
    w[k] = lab.full(1 / n, n, n, { device = gpu, dtype = "bfloat16" })
    x[k] = lab.ones(rows, n, { device = gpu, dtype = "bfloat16" })
end
lab.synchronize()                               -- of GPU 1: x[2] is written from GPU 0

local function stage(k, part)                   -- six layers
    for _ = 1, 6 do part = lab.matmul(part, w[k], { stream = s[k] }) end
    return part
end

local function forward(parts)                   -- of the batch
    for i = 1, parts do
        local function part(k) return x[k]:narrow(1, (i - 1) * rows // parts + 1, rows // parts) end
        part(2):copy_(stage(1, part(1)), { stream = s[1], non_blocking = true })
        s[2]:wait_event(s[1]:record_event())
        stage(2, part(2))
    end
end

for _, parts in ipairs{ 1, 4, 16 } do
    forward(parts)                              -- warm-up
    local tl = lab.profile(forward, parts)
    tl:show()
    print(("%d parts: %.0f us"):format(parts, tl.makespan_us))
end
