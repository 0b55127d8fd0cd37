-- What does it cost to launch a chain of small kernels, call by call and as a graph?
--
-- CUDA's manual says of graphs: "CPU launch costs are reduced compared to streams, because much of
-- the setup is done in advance". Chains of 1 to 1000 empty kernels are issued in a stream, and
-- launched as a graph. Expected: a launch of a graph costs the host hardly more for 1000 kernels
-- than for 1, and the GPU has less to do between two of them. The setup is paid for once: capture,
-- instantiation, a dearer first launch. "paid_back" says after how many launches it has paid.
local lab = require "streamlab"

local function host_us(f)                   -- the median of 7 calls, each on an idle GPU
    local times = {}
    for i = 1, 7 do
        lab.synchronize()
        local start_us = lab.now_us()
        f()
        times[i] = lab.now_us() - start_us
    end
    table.sort(times)
    return times[4]
end

local function row(kernels)
    local r, g = { kernels = kernels }, nil
    local function chain() for _ = 1, kernels do lab.spin(0) end end
    local function launch() g:launch() end
    r.stream_us, r.calls_us = lab.measure(chain).median_us, host_us(chain)
    lab.synchronize()
    local start_us = lab.now_us()
    g = lab.graph(chain)
    g:launch()
    r.setup_us = lab.now_us() - start_us
    r.graph_us, r.launch_us = lab.measure(launch).median_us, host_us(launch)
    local saved_us = r.calls_us - r.launch_us
    r.paid_back = saved_us > 0 and math.ceil(r.setup_us / saved_us)
    return r
end

local rows = {}
lab.with(lab.stream{ name = "s" }, function()
    lab.spin(0)                                             -- the first ones are dearer
    lab.graph(function() lab.spin(0) end):launch()
    for i, n in ipairs{ 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 } do rows[i] = row(n) end
end)
lab.table(rows, { columns = { "kernels", "calls_us", "stream_us", "setup_us", "launch_us",
    "graph_us", "paid_back" },
    title = "Host: calls, setup, launch; until done: stream, graph" }):show()
local one, many = rows[1], rows[#rows]
print(("Verdict: %s: CPU launch costs are reduced: 1000 kernels %.0f us as calls, %.1f as a graph; "
    .. "1 kernel %.1f and %.1f; 1000 are done after %.0f us instead of %.0f"):format(many.launch_us
    < many.calls_us / 2 and "holds" or "no longer holds", many.calls_us, many.launch_us,
    one.calls_us, one.launch_us, many.graph_us, many.stream_us))
local at_once = 0
for _, r in ipairs(rows) do at_once = at_once + (r.paid_back == 1 and 1 or 0) end
print(("Verdict: %s: a graph pays at once: 1000 kernels take %.0f us to set up, saved after %s "
    .. "launches, 10 %.0f us, after %s, 1 %.0f us, after "
    .. "%s"):format(at_once == #rows and "holds" or at_once > 0
    and "depends" or "no longer holds", many.setup_us, many.paid_back or "no", rows[4].setup_us,
    rows[4].paid_back or "no", one.setup_us, one.paid_back or "no"))
