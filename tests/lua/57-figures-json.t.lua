-- 57-figures-json.t.lua - the figures as a JSON object (tl:json()), on timelines worked out by
-- hand.
local tap = require "tap"
require "streamlab"
local made = require "lua.made"

local function has(text, part, name)
    local found = text:find(part, 1, true) ~= nil
    tap.ok(found, name)
    if not found then tap.diag(part .. "\nis not in\n" .. text) end
end

--   stream 1   0 ......... 100 kernel, 100 .. 100.5 memset
--   stream 2          50 .............. 150 copy
-- In us. Makespan 150, serial 200.5, compute busy for 100.5, and that is the bound:
-- 150 / 100.5 = 1.49254. Two engines from 50 to 100.5, else one.
tap.is(made {
    { "kernel", 1, 0, 100000 }, { "memcpy_h2d", 2, 50000, 150000 }, { "memset", 1, 100000, 100500 },
    streams = { "work\tbench" }, device = { name = 'GPU "A"', simulated = true },
    wall = { -1000, 160001 },
}:json(), [[
{
  "makespan_us": 150.000,
  "wall_us": 161.001,
  "lower_bound_us": 100.500,
  "unblocked_bound_us": 100.500,
  "serial_us": 200.500,
  "critical_path_us": 100.500,
  "busiest_engine": "compute",
  "busiest_engine_us": 100.500,
  "makespan_over_bound": 1.4925,
  "device": "GPU \"A\"",
  "device_index": 0,
  "simulated": true,
  "span_count": 3,
  "doubts": [],
  "graph_launch_count": 0,
  "graph_span_count": 0,
  "count": {"kernel": 1, "memcpy_h2d": 1, "memset": 1},
  "busy_us": {"kernel": 100.000, "memcpy_h2d": 100.000, "memset": 0.500},
  "engine_busy_us": {"compute": 100.500, "h2d": 100.000},
  "overlap_us": {"kernel&memcpy_h2d": 50.000, "kernel&memset": 0.000, "memcpy_h2d&memset": 0.500},
  "engine_overlap_us": {"compute&h2d": 50.500},
  "concurrency_us": {"engines": [0.000, 99.500, 50.500], "kernels": [0.000, 100.000], ]]
.. [["streams": [0.000, 99.500, 50.500]},
  "streams": [
    {"name": "work\tbench", "id": 1, "busy_us": 100.500, "count": 2},
    {"name": "stream 2", "id": 2, "busy_us": 100.000, "count": 1}
  ],
  "verdict": {"good": false, "joint": false, "gain_known": true, "gain_us": 49.500, "most_us": 49.500,
    "lost_us": null, "ratio": 1.4925, "code": "unknown",
    "sentence": "To gain by this cause alone: 49.5 us of 150 us (1.49 x): memcpy_h2d in stream 2 waits for ]]
.. [[something that the records do not tell."},
  "causes": [
    {"code": "unknown", "engine": "h2d", "idle": true, "guess": true, "lost_us": 49.978, ]]
.. [["gain_us": 49.500, "count": 1,
     "operands": {"waiter": {"name": "memcpy_h2d", "stream": "stream 2", "where": null, ]]
.. [["correlation": 2},
       "by": null},
     "sentence": "No H2D copy ran for 50.0 us: memcpy_h2d in stream 2 waited for something that ]]
.. [[the records do not tell", "remedy": null},
    {"code": "host_issuing", "engine": "h2d", "idle": true, "guess": false, "lost_us": 0.012, ]]
.. [["gain_us": null, "count": 1,
     "operands": {"waiter": {"name": "memcpy_h2d", "stream": "stream 2", "where": null, ]]
.. [["correlation": 2},
       "by": {"name": "kernel", "stream": "work\tbench", "where": null, "correlation": 1}},
     "sentence": "No H2D copy ran for 12 ns: the host was still issuing kernel in stream ]]
.. [[\"work?bench\", and memcpy_h2d in stream 2 came after that", "remedy": "Issue the two ]]
.. [[alternately, or first the one that came too late"},
    {"code": "host_issuing", "engine": "h2d", "idle": true, "guess": false, "lost_us": 0.010, ]]
.. [["gain_us": null, "count": 1,
     "operands": {"waiter": {"name": "memcpy_h2d", "stream": "stream 2", "where": null, ]]
.. [["correlation": 2},
       "by": {"name": "memcpy_h2d", "stream": "stream 2", "where": null, "correlation": 2}},
     "sentence": "No H2D copy ran for 10 ns: the host was still issuing memcpy_h2d in stream 2, ]]
.. [[and the GPU had to wait for that", "remedy": "The GPU waits for launches: fewer and larger ]]
.. [[operations keep it busy, or a CUDA graph (lab.graph)"}
  ],
  "remedies": []
}]], "two streams")

tap.is(made { streams = { "idle" }, wall = { 0, 2500 } }:json(), [[
{
  "makespan_us": 0.000,
  "wall_us": 2.500,
  "lower_bound_us": 0.000,
  "unblocked_bound_us": 0.000,
  "serial_us": 0.000,
  "critical_path_us": 0.000,
  "busiest_engine": null,
  "busiest_engine_us": 0.000,
  "makespan_over_bound": null,
  "device": null,
  "device_index": 0,
  "simulated": false,
  "span_count": 0,
  "doubts": [],
  "graph_launch_count": 0,
  "graph_span_count": 0,
  "count": {},
  "busy_us": {},
  "engine_busy_us": {},
  "overlap_us": {},
  "engine_overlap_us": {},
  "concurrency_us": {"engines": [], "kernels": [], "streams": []},
  "streams": [],
  "verdict": {"good": true, "joint": false, "gain_known": true, "gain_us": 0.000, "most_us": 0.000,
    "lost_us": null, "ratio": null, "code": null,
    "sentence": "The timeline is empty: nothing ran on the device, so nothing waited."},
  "causes": [],
  "remedies": []
}]], "an empty timeline has all keys, and no stream that did nothing")

-- Every kind once, 10 ns each and at the same time.
local all = {}
for i, kind in ipairs { "host_func", "memset", "memcpy_p2p", "memcpy_d2d", "memcpy_d2h",
                        "memcpy_h2d", "kernel" } do
    all[i] = { kind, 7 - i, 0, 10 }
end
local text = made(all):json()
has(text, '"count": {"kernel": 1, "memcpy_h2d": 1, "memcpy_d2h": 1, "memcpy_d2d": 1, '
    .. '"memcpy_p2p": 1, "memset": 1, "host_func": 1},\n',
    "kinds are in one order, whatever the order of issue")
has(text, '"overlap_us": {"kernel&memcpy_h2d": 0.010, "kernel&memcpy_d2h": 0.010',
    "so are their pairs")
tap.is(select(2, text:gsub("&", "")), 21 + 10 + 2 * 10,
    "seven kinds make 21 pairs, five engines 10 pairs and 10 triples")
has(text, '"compute&h2d&d2h": 0.010, ', "what three engines did at once")
has(text, '"engine_busy_us": {"compute": 0.010, "h2d": 0.010, "d2h": 0.010, "p2p": 0.010, '
    .. '"host": 0.010},\n', "engines are in one order as well")
has(text, '"engines": [0.000, 0.000, 0.000, 0.000, 0.000, 0.010]', "and all five at once")

local peta <const> = 10 ^ 15 // 1 | 0
has(made { { "kernel", 1, 0, 3 }, { "kernel", 2, peta, peta + 3 } }:json(),  -- 10^15 + 3 over 6
    '"makespan_over_bound": 166666666666667.1667,\n', "a large ratio keeps its decimals")
has(made { { "kernel", 1, 0, 100000 }, { "host_func", 1, 199999, 199999 } }:json(),
    '"makespan_over_bound": 2.0000,\n', "1.99999 is rounded to 2.0000")
has(made { { "kernel", 1, 5, 5 } }:json(), '"makespan_over_bound": null,\n',
    "nothing is divided by 0")
local far <const> = (1 << 61) - 1
has(made { { "kernel", 1, -far, -far }, { "kernel", 1, far, far } }:json(),
    '"makespan_us": 4611686018427387.902,\n',
    "the longest time is exact")

-- Waiting for the copy costs: with the wait 30 us, without it 20.
has(made { { "memcpy_d2h", 1, 0, 10000, waited = true }, { "kernel", 2, 10000, 30000 } }:json(),
    '"lower_bound_us": 30.000,\n  "unblocked_bound_us": 20.000,\n', "both bounds")

has(made { { "kernel", 3, 0, 1 }, streams = { [3] = "caf\u{e9} \xFF" } }:json(),
    '{"name": "caf\u{e9} \u{fffd}", "id": 3,', "UTF-8 stays, what is none is replaced")

tap.done()
