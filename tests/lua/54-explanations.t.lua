-- 54-explanations.t.lua - whole explanations and verdicts, word for word, from records made by
-- hand.
local tap = require "tap"
local lab = require "streamlab"

local core = debug.getregistry()["streamlab.internals"]
local words = core.words

-- An explanation of these findings and parts; `verdict` and `trace` say what differs.
local function explanation(findings, parts, verdict, trace)
    local e = { inferred = true, n_findings = #findings, n_parts = #parts, verdict = verdict,
                trace = { language = "lua", default_stream = "", n_spans = 3,
                          makespan_ns = verdict.makespan_ns } }
    for key, value in pairs(trace or {}) do e.trace[key] = value end
    for _, list in ipairs { findings, parts } do
        for _, r in ipairs(list) do
            r.count, r.by_host_ns, r.trace = r.count or 1, r.by_host_ns or 0, e.trace
            r.by_itself = r.waiter == r.by
        end
    end
    local v = e.verdict
    if v then v.most_ns, v.lead = v.most_ns or v.gain_ns, v.lead or 1 end
    function e.finding(i) return findings[i] end
    function e.part(i) return parts[i] end
    function e.part_ns(i) return parts[i].lost_ns end
    function e.loss(i)
        return findings[i].lost_ns, findings[i].gain_ns or -1, findings[i].same_as or i
    end
    return e
end

local function operation(kind, stream_id, name, where, more)
    local side = { kind = kind, stream_id = stream_id, stream_name = "", name = name,
                   where = where or "", source = "", priority = 0 }
    for key, value in pairs(more or {}) do side[key] = value end
    return side
end

-- ---- a whole one -------------------------------------------------------------------------------

-- A copy from pageable memory holds the host 100, and with it the D2H copy and the kernel of other
-- streams.
local up = operation("memcpy_h2d", 1, "Memcpy HtoD (Pageable -> Device)", "page.lua:3",
    { stream_name = "copies", from_pageable = true, source = "x = data_on_cpu:cuda()" })
local gemm = operation("kernel", 2, "gemm", "page.lua:4")
local down = operation("memcpy_d2h", 3, "Memcpy DtoH (Device -> Pinned)", "page.lua:5")

local function page()
    local function finding(cause, engine, waiter, by, lost_us, gain_us, same_as)
        return { cause = cause, engine = engine, idle = true, waiter = waiter, by = by,
                 lost_ns = lost_us * 1000, gain_ns = gain_us * 1000, same_as = same_as,
                 by_host_ns = 100000 }
    end
    return explanation({
        finding("host_blocked", "compute", gemm, up, 98, 53),
        finding("host_blocked", "d2h", down, up, 98, 53, 1),
        finding("host_issuing", "compute", gemm, gemm, 4, 4),
        finding("host_issuing", "d2h", down, gemm, 4, 4, 3),
        finding("host_issuing", "d2h", down, down, 2, 0),
    }, {
        { cause = "host_blocked", waiter = gemm, by = up, lost_ns = 98000 },
        { cause = "none", waiter = gemm, lost_ns = 50000 },
        { cause = "host_issuing", waiter = gemm, by = gemm, lost_ns = 4000 },
    }, { gain_ns = 53000, makespan_ns = 152000 })
end

tap.is(words.explain(page(), 80, true), [[
To gain by this cause alone: 53.0 us of 152 us (1.54 x): the host is blocked in
Memcpy HtoD (Pageable -> Device) at page.lua:3.
Critical path: where the total time went, from the last operation backwards
  98.0 us  the host blocked in Memcpy HtoD (Pageable -> Device) in stream
           "copies" at page.lua:3
  50.0 us  gemm in stream 2 at page.lua:4 running
  4.00 us  the GPU waits for the host to issue gemm in stream 2 at page.lua:4
Where time was lost (inferred from the records)
 1. 53.0 us to gain: No kernel ran for 98.0 us: the host was blocked in Memcpy
    HtoD (Pageable -> Device) at page.lua:3: the CPU copies pageable memory into
    the driver's buffers itself, so the call returns only near its end
    | x = data_on_cpu:cuda()
    The D2H engine was idle 98.0 us for the same reason
    -> Pin `data_on_cpu` (t:pin_memory(), or pinned = true): H2D from pageable
       memory blocks the host 100 us
 2. 4.00 us to gain: No kernel ran for 4.00 us: the host was still issuing gemm
    in stream 2 at page.lua:4, and the GPU had to wait for that
    The D2H engine was idle 4.00 us for the same reason
    -> The GPU waits for launches: fewer and larger operations keep it busy, or
       a CUDA graph (lab.graph)
 3. No gain alone: No D2H copy ran for 2.00 us: the host was still issuing
    Memcpy DtoH (Device -> Pinned) in stream 3 at page.lua:5, and the GPU had to
    wait for that
    -> The GPU waits for launches: fewer and larger operations keep it busy, or
       a CUDA graph (lab.graph)
]], "a whole explanation at 80 columns")
local wide, narrow = words.explain(page(), 80, true), words.explain(page(), 40, true)
local widest = 0
for text in narrow:gmatch "[^\n]+" do widest = math.max(widest, #text) end
tap.ok(widest <= 40 and widest > 36, "at 40 lines are no wider, but full", widest)
tap.is((narrow:gsub("%s+", " ")), (wide:gsub("%s+", " ")), "and it has the same words")
tap.like(narrow,
    "\n    %-> Pin `data_on_cpu`\n       %(t:pin_memory%(%), or pinned =\n       true%): H2D",
    "remedies stay indented")
tap.is((words.explain(page(), 80, false):match("^[^\n]*")),
    "Critical path: where the total time went, from the last operation backwards",
    "without its verdict, if that is not wanted")
local exact = page()
exact.inferred = false
tap.like(words.explain(exact, 80, true), "lost %(known exactly: the GPU is simulated%)\n",
    "what a simulated GPU says is known")

-- ---- what is little -----------------------------------------------------------------------------

local k = operation("kernel", 1, "k")
local empty = explanation({}, {}, { good = true, gain_ns = 0, makespan_ns = 0 }, { n_spans = 0 })
for _, with_verdict in ipairs { true, false } do
    tap.is(words.explain(empty, 80, with_verdict),
        "The timeline is empty: nothing ran on the device, so nothing waited.\n",
        "an empty timeline says so")
end
tap.is(words.explain(explanation({ { cause = "latency", engine = "compute", idle = true, waiter = k,
                                     lost_ns = 1000 } },
        { { cause = "none", waiter = k, lost_ns = 1000000 },
          { cause = "latency", lost_ns = 1000 } },
        { good = true, gain_ns = 0, makespan_ns = 1001000 }), 80, true), [[
Nothing to gain: no wait made the makespan of 1.00 ms longer.
Critical path: where the total time went, from the last operation backwards
  1.00 ms  k in stream 1 running
  1.00 us  launch latency between operations
Where time was lost (inferred from the records)
    1 loss, 1.00 us in total
]], "what is less than 2 in 1000 is only added up")

local many = {}
for i = 1, 9 do
    many[i] = { cause = "host_work", engine = "h2d", idle = i % 2 == 0, waiter = k, count = i,
                lost_ns = 100000, same_as = i > 7 and 1 or nil }
end
local parts = {}
for i = 1, 9 do parts[i] = { cause = "none", waiter = k, lost_ns = 1000 * i } end
local text = words.explain(explanation(many, parts,
                                       { gain_ns = 0, good = true, makespan_ns = 900000 }),
    200, true)
tap.like(text, "\n 6%. ", "six findings are shown")
tap.is(text:find("\n 7. ", 1, true), nil, "and no seventh")
tap.like(text, "\n    1 more loss, 100 us in total\n$", "the others are added up")
tap.like(text, "\n    The H2D engine was idle 100 us %(8 gaps%) for the same reason\n    Kernels "
    .. "had room beside what ran for 100 us more %(9 times%) for the same reason\n",
    "but for what the same cause did elsewhere")
tap.like(text, "\n  24.0 us  other parts\n", "as are the smaller parts of the makespan")

-- ---- verdicts -----------------------------------------------------------------------------------

local work = { is_call = true, kind = "host_work", name = "host_work", where = "", source = "" }
local function verdict(v, second)
    v.cause = v.first or "host_work"
    return words.verdict(explanation({
        { cause = v.first or "host_work", count = 1, idle = true, waiter = k, by = work,
          lost_ns = 1, gain_ns = v.gain_ns },
        { cause = second or "latency", idle = true, waiter = k, lost_ns = 1, gain_ns = 77000 },
    }, {}, v))
end
for _, case in ipairs {
    { { good = true, gain_ns = 0, makespan_ns = 200000 },
      "Nothing to gain: no wait made the makespan of 200 us longer." },
    { { good = true, gain_ns = 5000, makespan_ns = 206000 },
      "Little to gain: ending the largest cause would save 5.00 us of 206 us, 2.4 %." },
    { { gain_ns = 304000, makespan_ns = 505000 },
      "To gain by this cause alone: 304 us of 505 us (2.51 x): the host is busy in "
          .. "lab.host_work." },
    { { gain_ns = 9600000, makespan_ns = 10000000 },
      "To gain by this cause alone: 9.60 ms of 10.0 ms (25 x): the host is busy in "
          .. "lab.host_work." },
    { { gain_ns = 1000, makespan_ns = 1000 },
      "To gain by this cause alone: 1.00 us of 1.00 us: the host is busy in lab.host_work." },
    { { gain_ns = 100000, most_ns = 115000, makespan_ns = 300000 },
      "To gain by this cause alone: 100 us of 300 us (1.50 x): the host is busy in lab.host_work; "
      .. "with all other causes at most 115 us." },
    { { gain_ns = 100000, most_ns = 114000, makespan_ns = 300000 },
      "To gain by this cause alone: 100 us of 300 us (1.50 x): the host is busy in "
          .. "lab.host_work." },
    { { first = "latency", gain_ns = 100000, makespan_ns = 300000 },
      "To gain with fewer and larger operations: 100 us of 300 us (1.50 x): launch latency between "
          .. "operations." },
    { { unknown = true, gain_ns = 0, lost_ns = 90000, makespan_ns = 300000 },
      "Gain not known: 90.0 us of 300 us (30.0 %) were lost: the host is busy in lab.host_work." },
    { { good = true, gain_ns = 5000, makespan_ns = 206000, busiest = "h2d", busiest_ns = 200000 },
      "Little to gain: ending the largest cause would save 5.00 us of 206 us, 2.4 %: H2D copies "
      .. "ran for 97.1 % of it." },
    { { gain_ns = 70000, makespan_ns = 300000, also = 2 },
      "To gain by this cause alone: 70.0 us of 300 us (1.30 x): the host is busy in lab.host_work; "
      .. "besides, 77.0 us to gain with fewer and larger operations: launch latency between "
      .. "operations." },
    { { joint = true, gain_ns = 100000, makespan_ns = 300000, also = 2 },
      "To gain: at most 100 us of 300 us (1.50 x), if several causes end together: the host is "
      .. "busy in lab.host_work; launch latency between operations." },
    { { first = "unknown", gain_ns = 100000, makespan_ns = 300000, also = 2 },
      "To gain by this cause alone: 100 us of 300 us (1.50 x): k in stream 1 waits for something "
      .. "that the records do not tell; of what is known at most 77.0 us: launch latency between "
      .. "operations." },
} do
    tap.is(verdict(case[1]), case[2], case[2]:match("^[%w ]+"))
end

-- ---- names as nobody should give them -----------------------------------------------------------

local odd = operation("kernel", 1, "cutlass::Kernel2<cutlass_80_tensorop_" .. ("x"):rep(300) .. ">",
    "a/very/long/path/that/somebody/gave/to/a/script/of/theirs.lua:100",
    { stream_name = "a\27[2Jstream\nof \xff\xfe names that goes on and on and on and on and on",
      source = "x:cuda()\27[31m --\t\xff and a comment that has far more to say than would fit" })
for _, columns in ipairs { 80, 40, 24, 10, 1 } do
    local explained = words.explain(explanation(
        { { cause = "stream_order", engine = "compute", idle = true, waiter = odd, by = odd,
            lost_ns = 1000 } }, { { cause = "none", waiter = odd, lost_ns = 1000 } },
        { gain_ns = 900, makespan_ns = 1000 }), columns, true)
    local longest = 0
    for line in explained:gmatch("[^\n]+") do longest = math.max(longest, utf8.len(line)) end
    tap.is(longest <= math.max(columns, 24) and not explained:gsub("\n", ""):find("%c"), true,
        ("odd names in %d columns"):format(columns))
    if columns == 80 then
        tap.like(explained, "Kernel2<cutlass_80_tens", "a kernel's long name loses its middle")
    end
end

-- ---- of a recording -----------------------------------------------------------------------------

lab.open { backend = "sim" }
local tl = lab.profile(function()
    lab.spin(0.1)
    lab.synchronize()
    lab.spin(0.1)
end)
local e, n, lines = core.explanation(tl), 0, {}
for i = 1, e.n_findings do
    local r, lost_ns, gain_ns, same_as = e.finding(i), e.loss(i)
    if r.lost_ns == lost_ns and (r.gain_ns or -1) == gain_ns and same_as <= i then n = n + 1 end
    lines[i] = r.cause
end
tap.is(n, e.n_findings, "an explanation gives the same figures of a finding with and without its "
    .. "record")
tap.like(table.concat(lines, " "), "host_blocked", "and has the causes of tl:causes()")
tap.is(e.verdict.makespan_ns, e.trace.makespan_ns, "with a verdict")
tap.is(math.floor(tl.makespan_us * 1000 + 0.5), e.trace.makespan_ns, "in nanoseconds")
tap.throws_like(function() e.finding(0) end, "no such finding", "there is no finding 0")
tap.throws_like(function() e.finding(e.n_findings + 1) end, "no such finding",
                "nor one behind the last")

-- ---- one stream --------------------------------------------------------------------------------

-- On a GPU that launches at once: the urgent kernel of 1 ms waits for two of 2 ms; the slow stream
-- goes on for 3 ms more, so that nothing of it makes the whole longer.
dofile("tests/lua/ideal.lua").open()
local slow = lab.stream { name = "slow", non_blocking = true }
local urgent = lab.stream { name = "urgent", priority = -1, non_blocking = true }
local idle = lab.stream { name = "idle" }
tl = lab.profile(function()
    lab.spin(2, { stream = slow })
    lab.spin(2, { stream = slow })
    local e = slow:record_event()
    lab.spin(3, { stream = slow, blocks = 1 })
    urgent:wait_event(e)
    lab.spin(1, { stream = urgent, blocks = 1 })
end)

-- What ran, and for how long in us.
local function parts_of(how)
    local sum, list = 0, {}
    for i, part in ipairs(tl:makespan_parts(how)) do
        sum = sum + part.lost_us
        list[i] = ("%s %s %g"):format(part.cause,
                                      part.waiter_where:match(":%d+$") and "op", part.lost_us)
    end
    return sum, table.concat(list, ", ")
end
local sum, list = parts_of { stream = urgent }
tap.is(sum, 5000, "the parts of a stream add up to the time until its last operation ended")
tap.is(list, "running op 2000, running op 2000, running op 1000",
       "of which others have run for most")
tap.is((parts_of { stream = "urgent" }), 5000, "a stream is an object, a name")
tap.is((parts_of { stream = urgent.id }), 5000, "or an id")
tap.is((parts_of { stream = urgent, inferred = true }), 5000,
       "and the records alone give the same sum")
tap.is((parts_of()), 7000, "where the makespan has nothing of that stream")
tap.throws_like(function() tl:makespan_parts { stream = idle } end, "no operation of that stream",
                "a stream without work")
tap.throws_like(function() tl:explain { stream = "x" } end, "no stream named \"x\"",
                "no such stream")
tap.throws_like(function() tl:explain { stream = {} } end,
                "a stream, its name or its id, not table", "no stream")
tap.throws_like(function() tl:verdict { stream = urgent } end, "unknown option",
                "a verdict is of the whole")
for _, stream in ipairs { slow, urgent, idle } do stream:close() end

tap.done()
