local before = lab.torch_defaults()               -- from here on streams and events are PyTorch's
local s, x = lab.stream(), lab.ones(1024, 1024)   -- torch.cuda.Stream()
local start = lab.event{ enable_timing = true }   -- torch.cuda.Event(enable_timing=True)
s:wait_stream(lab.current_stream())
lab.with(s, function()                            -- with torch.cuda.stream(s):
    start:record()
    x = x:matmul(x)
end)
local ready = s:record_event()
lab.spin(5)                                       -- in the default stream: s does not wait for it
ready:synchronize()
print(s, ready, lab.default_stream():query())
print(pcall(start.elapsed_time, start, ready))
lab.torch_defaults(before)                        -- and from here on CUDA's again
print(lab.stream(), lab.event())
