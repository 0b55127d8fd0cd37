-- One thread launches kernels; another one page-locks memory for it.
local function feed()
    local batch = lab.empty(64 << 20, { device = "cpu", dtype = "uint8" })
    lab.host_work(0.5)
    batch:pin()
    lab.host_work(0.5)
end

local tl = lab.profile(function()
    local loader = lab.thread(feed)
    local s = lab.stream{ name = "train" }
    for _ = 1, 60 do lab.spin(0.2, { stream = s }) s:synchronize() end
    loader:join()
end)
tl:show()
local longest, pin = 0, 0
for _, span in ipairs(tl:spans()) do
    longest = math.max(longest, span.host_end_us - span.host_start_us)
end
for _, call in ipairs(tl:calls()) do
    if call.name == "cudaHostRegister" then pin = call.host_end_us - call.host_start_us end
end
print(("page-locking took %.1f ms, the longest launch %.1f ms"):format(pin / 1000, longest / 1000))
