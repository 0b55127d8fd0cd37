-- What does a host function in a stream delay, and what may it do?
--
-- cudaLaunchHostFunc puts a function of the host into a stream. CUDA's manual says: it "will be
-- called after currently enqueued work and will block work added after it"; functions of
-- independent streams "may be serialized"; and it "must not make any CUDA API calls". Expected: the
-- stream stands still meanwhile and some us beyond, other streams go on, two functions run one
-- after the other, and what would enqueue, wait or allocate is refused.

local lab = require "streamlab"
local a, b, c = lab.stream{ name = "a" }, lab.stream{ name = "b" }, lab.stream{ name = "c" }
local function two_ms() lab.host_work(2) end
-- A kernel in a, the host functions, a kernel in c beside them, and a kernel behind them in a.
local function delays(name, in_b, in_a)
    local tl = lab.profile(function()
        lab.spin(0.2, { stream = a })
        lab.spin(0.1, { stream = b })
        if in_b then b:launch_host_func(in_b) end
        if in_a then a:launch_host_func(in_a) end
        lab.spin(1, { stream = c })
        lab.spin(1, { stream = a })
    end)
    local gap, spans = tl:gaps({ stream = a, kind = "kernel" })[1], tl:spans()
    return { functions = name, gap_in_a_us = gap.end_us - gap.start_us,
             c_begins_us = spans[#spans - 1].start_us - spans[1].start_us }
end
delays("warm-up", nil, two_ms)
local plain, empty = delays("none"), delays("empty in a", nil, function() end)
local one, two = delays("2 ms in a", nil, two_ms), delays("2 ms in b, 2 ms in a", two_ms, two_ms)
lab.table({ plain, empty, one, two },
          { columns = { "functions", "gap_in_a_us", "c_begins_us" } }):show()

local host, event, rows = lab.zeros(4, { device = "cpu" }), lab.event(), {}
local cuda_calls = { { "launch a kernel", lab.spin, 1 }, { "make a stream", lab.stream },
    { "wait for the GPU", lab.synchronize }, { "record an event", event.record, event, b },
    { "ask an event", event.query, event }, { "allocate", lab.cuda.malloc, 4 } }
local host_calls = { { "write host memory", host.set, host, 1, 2 },
                     { "ask the clock", lab.now_us } }
local function allowed(calls)
    local count = 0
    for _, call in ipairs(calls) do
        local ok, err = pcall(table.unpack(call, 2))
        rows[#rows + 1] = { call = call[1], allowed = ok, code = not ok and err.code or nil }
        count = ok and count + 1 or count
    end
    return count
end
local cuda, others
a:launch_host_func(function() cuda, others = allowed(cuda_calls), allowed(host_calls) end)
lab.synchronize()
lab.table(rows, { columns = { "call", "allowed", "code" }, title = "In a host function" }):show()

local function verdict(holds, ...)
    print("Verdict: " .. (holds and "holds: " or "no longer holds: ") .. string.format(...))
end
verdict(one.gap_in_a_us > 2000 and one.c_begins_us < 2000, "a host function blocks its own stream: "
    .. "one of 2 ms for %.0f us, an empty one for %.1f, none for %.1f; c began after %.1f us",
    one.gap_in_a_us, empty.gap_in_a_us, plain.gap_in_a_us, one.c_begins_us)
verdict(two.gap_in_a_us > 3000, "host functions take turns: 2 ms in b as well block a for %.0f us",
    two.gap_in_a_us)
verdict(cuda == 0, "no CUDA calls in a host function: allowed are %d of %d, and %d of 2 others",
    cuda, #cuda_calls, others)
