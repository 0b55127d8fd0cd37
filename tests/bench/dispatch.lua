-- dispatch.lua N - makes each of the calls below N times, without a recording and with one. Before
-- and after each N it calls lab.current_stream(), where instructions.lua lets valgrind begin to
-- count again. Not a test.
local n <const> = tonumber(arg[1]) or 1000
local mark <const> = lab.current_stream

local s <const>, e <const> = lab.stream(), lab.event { timing = false }
local a <const>, b <const>, c <const> = lab.empty(1, 1), lab.empty(1, 1), lab.empty(1, 1)
local host <const> = lab.empty(1, 1, { device = "cpu", pinned = true })
local matmul <const>, pow <const> = lab.matmul, lab.pow
local onto <const>, into <const> = { non_blocking = true, stream = s }, { out = c, stream = s }
local timed <const>, in_s <const> = lab.event(), { stream = s }
-- Compiled only the first time; the driver that is played reads no code.
local own <const> = lab.kernel {
    source = "__global__ void add(float a, const float *x, float *y, int n) {}",
    name = "add", args = { "f32", "in f32*", "inout f32*", "i32" },
}

local calls <const> = {
    { "copy_, options reused", function() for _ = 1, n do a:copy_(host, onto) end end },
    { "copy_, options written",
      function() for _ = 1, n do a:copy_(host, { non_blocking = true, stream = s }) end end },
    { "record_event", function() for _ = 1, n do s:record_event(e) end end },
    { "record_event, timing", function() for _ = 1, n do s:record_event(timed) end end },
    { "wait_event", function() for _ = 1, n do s:wait_event(e) end end },
    { "pow, options reused", function() for _ = 1, n do pow(a, 2, into) end end },
    { "pow, options written",
      function() for _ = 1, n do pow(a, 2, { out = c, stream = s }) end end },
    { "matmul, options reused", function() for _ = 1, n do matmul(a, b, into) end end },
    { "matmul, options written",
      function() for _ = 1, n do matmul(a, b, { out = c, stream = s }) end end },
    { "own kernel, options reused",
      function() for _ = 1, n do own(1, 32, in_s, 2, a, b, 1) end end },
    { "own kernel, options written",
      function() for _ = 1, n do own(1, 32, { stream = s }, 2, a, b, 1) end end },
}

-- Twice: what a call makes once, it makes the first time.
local function round(name, call)
    call()
    lab.synchronize()
    collectgarbage()
    mark()
    call()
    mark()
    print(name)
end

for _, call in ipairs(calls) do round(call[1], call[2]) end
local timeline <const> = lab.record()
for _, call in ipairs(calls) do round(call[1] .. ", recorded", call[2]) end
timeline:stop()
pcall(lab.synchronize) -- which reports that the GPU that is played gave no times
for _, call in ipairs(calls) do round(call[1] .. ", after a recording", call[2]) end
