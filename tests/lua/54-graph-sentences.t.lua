-- 54-graph-sentences.t.lua - what is said of launches of graphs and of their nodes, word for word,
-- from records made by hand.
local tap = require "tap"
require "streamlab"

local core = debug.getregistry()["streamlab.internals"]
local say = core.words.say

local function node(number, name, more)
    local side = { kind = "kernel", engine = "compute", stream_id = 1,
                   stream_name = "work", name = name,
                   where = "g.lua:" .. number, source = "", priority = 0, bytes = 0,
                   node = number, launch = 7, graph = "step" }
    for key, value in pairs(more or {}) do side[key] = value end
    return side
end

local function record(cause, waiter, by, more)
    local r = { cause = cause, idle = true, engine = "compute", count = 1, lost_ns = 96000,
                by_host_ns = 0, waiter = waiter, by = by, by_itself = waiter == by,
                trace = { language = "lua", default_stream = "" } }
    for key, value in pairs(more or {}) do r[key] = value end
    return r
end

local function says(r, what, expected, name) tap.is(say(r, what), expected, name) end

local a, b = node(1, "a"), node(2, "b")
local launch = { is_call = true, kind = "plain", name = "cudaGraphLaunch", has_own_name = true,
                 where = "g.lua:9", source = "", graph = "step", nodes = 1000 }

-- ---- edges -----------------------------------------------------------------------------

local in_order = record("stream_order", b, a)
says(in_order, "sentence", 'No kernel ran for 96.0 us: b of graph "step" in stream "work" at '
    .. 'g.lua:2 waited for a of graph "step" in stream "work" at g.lua:1, which comes before it in '
    .. 'the graph, '
    .. "as both were captured in one stream", "order within a launch is the graph's")
says(in_order, "clause", 'b of graph "step" in stream "work" at g.lua:2 waits for a of graph '
    .. '"step" in stream "work" at g.lua:1, which comes before it in the graph, as both were '
    .. 'captured in one '
    .. "stream", "in a clause, too")
says(in_order, "remedy", "If they do not depend on one another, capture them in two streams. "
    .. "Record an event where they part, let a second stream wait for it, capture one of them "
    .. "there, and join it: then the graph has no edge between them",
    "and is changed in the capture")
says(record("stream_order", b, a, { idle = false }), "remedy", say(in_order, "remedy"),
    "also where both would fit on the GPU")
local behind = record("stream_order", b, node(1, "a", { launch = 3 }))
says(behind, "sentence", "No kernel ran for 96.0 us: b "
    .. 'of graph "step" in stream "work" at g.lua:2 waited for a of graph "step" in stream "work" '
    .. 'at '
    .. "g.lua:1, which comes before its launch: a launch waits for all that its stream has before "
    .. "it",
    "between launches it is the stream's")
says(behind, "remedy", "If the launch does not need what came before it, launch it in another "
    .. "stream; for two launches of one graph at once, capture the work once more, with data of "
    .. "its own",
    "and launches can have streams of their own")

local edge = record("event_wait", b, a)
says(edge, "sentence", 'No kernel ran for 96.0 us: b of graph "step" in stream "work" at g.lua:2 '
    .. 'waited for an edge of the graph from a of graph "step" in stream "work" at g.lua:1',
    "a captured event is an edge")
tap.like(say(edge, "clause"), "waits for an edge of the graph from a of graph", "in a clause, too")
tap.like(say(edge, "remedy"), "do without the wait: then the graph has no such edge$",
    "and is removed in the capture")
tap.like(say(record("event_wait", b, node(1, "a", { launch = 3 })), "sentence"),
    "waited for an event that was recorded behind a of graph", "between launches an event is one")

-- ---- launches --------------------------------------------------------------------------

local turns = record("graph_busy", a, node(2, "b", { launch = 3, stream_name = "other" }))
says(turns, "sentence", 'No kernel ran for 96.0 us: a of graph "step" in stream "work" at g.lua:1 '
    .. 'waited for the launch of graph "step" before it, in another stream, which ended with b of '
    .. 'graph "step" in stream "other" at g.lua:2: launches of one graph run one after the other',
    "two launches of one graph take turns")
says(turns, "clause", 'a of graph "step" in stream "work" at g.lua:1 waits for the launch of graph '
    .. '"step" before it, in another stream, which ended with b of graph "step" in stream "other" '
    .. 'at '
    .. "g.lua:2", "in a clause, too")
says(turns, "part", 'a launch of the same graph, up to b of graph "step" in stream "other" at '
    .. 'g.lua:2',
    "and as a part")
says(turns, "remedy", "Two graphs can run side by side, two launches of one cannot: capture the "
    .. "work once more with lab.graph, and launch one graph in each stream", "two graphs would not")
turns.trace = { language = "pytorch", default_stream = "" }
tap.like(say(turns, "remedy"), "capture a CUDAGraph for each stream$", "in PyTorch's words")
turns.trace = { language = "cuda", default_stream = "" }
tap.like(say(turns, "remedy"), "instantiate the graph once more", "or CUDA's")

local issuing = record("host_issuing", a, launch)
says(issuing, "sentence", "No kernel ran for 96.0 us: the host was still issuing cudaGraphLaunch "
    .. "of "
    .. 'graph "step" at g.lua:9, and a of graph "step" in stream "work" at g.lua:1 came after that',
    "a launch issues the whole graph")
says(issuing, "remedy", "The GPU waits for launches: capture more work in one graph, or several "
    .. "rounds of it", "and a larger graph needs fewer launches")

launch.uploads = true
local upload = record("host_blocked", a, launch)
says(upload, "sentence", 'No kernel ran for 96.0 us: the host was busy in cudaGraphLaunch of graph '
    .. '"step" at g.lua:9: the first launch uploads the graph, 1000 nodes',
    "a first launch uploads")
says(upload, "remedy", "Launch the graph once before the part that counts",
     "which can be done before")
upload.trace = { language = "cuda", default_stream = "" }
says(upload, "remedy", "Launch the graph once, or upload it (cudaGraphUpload), before the part "
    .. "that counts", "in CUDA without launching")
upload.trace = { language = "lua", default_stream = "" }
launch.nodes, launch.graph = 1, "graph 3"
tap.like(say(upload, "sentence"), "cudaGraphLaunch of graph 3 at .- uploads the graph, 1 node$",
    "a graph without a name is known by its number")

-- ---- priorities ------------------------------------------------------------------------

local long = node(0, "long", { priority = 0, graph = false, node = false })
local urgent = node(2, "urgent", { lost_priority = -5 })
local room = record("no_sm_room", urgent, long, { idle = false })
says(room, "sentence", 'urgent of graph "step" in stream "work" at g.lua:2 waited 96.0 us for long '
    .. 'in stream "work" at g.lua:0, which left no room on the SMs: in graph "step" it has '
    .. 'priority 0, '
    .. "that of the stream that launched it, and not -5, that of the stream that it was captured "
    .. "in",
    "a node without its priority waits for room")
says(room, "remedy", "Instantiate the graph with the priorities of its nodes: lab.graph(f, { "
    .. "priorities = true }), or launch it in a stream of the higher priority",
    "which it would keep if asked to")
long.priority = -5
tap.is(say(room, "sentence"):find("priority"), nil, "not beside what is as urgent")
local overtaken = record("priority", urgent, long, { idle = false })
tap.like(say(overtaken, "sentence"), "has the higher priority: in graph \"step\" it has priority 0",
    "overtaken it could have stayed in front")
tap.like(say(overtaken, "remedy"), "^Instantiate", "with its priority")
urgent.lost_priority = nil
tap.like(say(overtaken, "remedy"), "^That is what the priority asks for",
         "what lost none, could not")

tap.done()
