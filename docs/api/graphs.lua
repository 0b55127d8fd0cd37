return {
    title = "Graphs",
    class = "graph",
    order = 35,
    about = [[
A graph is work that was captured once and is launched by one call, as often as you like. `lab.graph(f)` calls `f`; what `f` enqueues does not run but becomes nodes of the graph.
A launch costs the host about as much as one kernel, and nodes follow each other more closely than operations that are enqueued one by one: this is the remedy for many short kernels.

**What is captured.** All that `f` enqueues in the stream where the capture began, and in every stream that waits for an event recorded there (`stream:wait_event`, `stream:wait_stream`).
Such a stream takes part until the capture ends; before that the first stream must wait for it again. Records and waits become edges. Work in other streams is not captured: it runs at once.

**New data.** Every launch does the same work with the same memory. Copy new inputs into the tensors that `f` used (`x:copy_(new)`), launch, and read the tensors that `f` made or wrote. The numbers
and sizes that `f` computed in Lua are fixed, and so are seeds: a captured `lab.rand` gives the same numbers at each launch. `g:update` exchanges what is fixed.

**Memory.** A graph holds each tensor's memory that its nodes use until it is freed or updated, also if the script frees the tensor. What `lab.cuda.free` and the other calls that
free memory have freed is gone, though the graph still names it: the [race checker](races.md) reports a launch that uses it. A tensor that was made during the capture is filled only by a launch;
reading it before is reading uninitialised memory.

**What a capture forbids.** Captured work does not run, so that the host cannot wait for it: `t:item()`, `s:synchronize()`, `s:query()`, and copies between host and GPU without `non_blocking = true`
raise `SL_ECAPTURE`. So does work in the default stream, which would wait for the captured one, unless that is non-blocking. The message names CUDA's error (`cudaErrorStreamCaptureUnsupported` and others), and says
what to do instead. Most of these calls also spoil the capture: it ends with an error, even if the first error was caught. Child graphs, conditional nodes, allocations of `lab.cuda.malloc_async` and graphs over
several GPUs are not supported.]],
    entries = {
        {
            name = "lab.graph",
            brief = "captures what a function enqueues",
            arguments = { { "f", "function", "called once, without arguments" } },
            options = {
                {
                    "mode", [["thread_local"|"global"|"relaxed"]], [[to whom the capture forbids calls that might wait for other work, such as `lab.cuda.malloc`: to its own thread, to all threads, or to nobody]],
                    default = [["thread_local"]],
                },
                { "priorities", "boolean", "whether nodes keep the priorities of the streams where they were captured; without it they have that of the stream where the graph is launched", default = "false" },
                { "stream", "stream", "where the capture begins; current while `f` runs", default = "the current stream, or a new one if that is the default stream, which cannot be captured" },
                { "name", "string", "what charts and messages call it", default = [["graph 1" and so on, by its id]] },
            },
            returns = { { "graph", "the graph, ready to be launched" }, { "any", "then whatever `f` returned" } },
            errors = {
                { "SL_ECAPTURE", "a call that the capture forbids, or a stream that has joined it and was not waited for again (`cudaErrorStreamCaptureUnjoined`)" },
                { "SL_EUNSUPPORTED", "`f` enqueues what a graph cannot have here, such as `lab.cuda.malloc_async`" },
            },
            about = [[
If `f` raises an error, the capture is thrown away, and the error passes as it is. Either way the stream is usable afterwards, and the earlier stream is current again.

`f` has not done its work when `lab.graph` returns: launch the graph. Run `f` once before the capture if its first run prepares something, as PyTorch's guides advise.

A timeline shows the calls `cudaStreamBeginCapture`, `cudaStreamEndCapture` and `cudaGraphInstantiate`, and of an update `cudaGraphExecUpdate`; what is captured between the first two is no operation.

PyTorch's `torch.cuda.graph` is a context manager that takes an empty `CUDAGraph`, synchronises first, and has the mode "global" unless another is given.]],
            example = [[
local x, w = lab.ones(64, 64), lab.ones(64, 64)
local g, y = lab.graph(function() return lab.relu(lab.matmul(x, w)) end)
for i = 1, 3 do
    x:fill_(i)  -- new data
    g:launch()
    print(y:get(1, 1))
end  --> 64.0
--> 128.0
--> 192.0]],
            cuda = "cudaStreamBeginCapture, cudaStreamEndCapture, cudaGraphInstantiate",
            pytorch = "torch.cuda.graph",
            see = { "graph:launch", "graph:update", "stream:begin_capture", "lab.graphs" },
        },
        {
            name = "graph:launch",
            brief = "enqueues all of its work",
            options = { { "stream", "stream", "in which it runs; may be given alone, without a table", default = "the current stream" } },
            errors = {
                { "SL_ECLOSED", "the graph was freed, or the stream closed" },
                { "SL_ESTATE", "the graph is not instantiated: `lab.cuda.graph_instantiate` does that" },
                { "SL_EDEVICE", "the stream is another device's" },
                { "SL_ECAPTURE", "the stream is being captured" },
            },
            blocks = "while its nodes read pageable memory of the host, and until copies into pageable memory have arrived",
            about = [[
To the stream a launch is one operation, after all earlier ones and before all later ones. Inside only the graph's edges order. Launches of one graph run one after the other, also in
different streams; two graphs may run side by side.]],
            example = [[
local x = lab.zeros(4)
local g = lab.graph(function() x:add(1, { out = x }) end)
local s = lab.stream()
for i = 1, 10 do g:launch(s) end
s:synchronize()
print(x:get(1), g.launches)  --> 10.0	10]],
            cuda = "cudaGraphLaunch",
            pytorch = "torch.cuda.CUDAGraph.replay",
            see = { "lab.graph" },
        },
        {
            name = "graph:update",
            brief = "captures again, into the same graph",
            arguments = { { "f", "function", "called once, without arguments" } },
            options = {
                { "mode", [["thread_local"|"global"|"relaxed"]], "as in `lab.graph`", default = [["thread_local"]] },
                { "stream", "stream", "where the capture begins", default = "as in `lab.graph`" },
            },
            returns = {
                { "boolean", "true: later launches do what `f` enqueued; false: that cannot be an update, and the graph is what it was" },
                { "any", "then what `f` returned; or a string, why it cannot be one" },
            },
            errors = { { "SL_ECAPTURE", "as in `lab.graph`" }, { "SL_ESTATE", "the graph is not instantiated" } },
            about = [[
An update is cheaper than a new graph. It may change tensors, sizes and numbers, but not which nodes there are, of which kinds, and their edges. Launches that are on their way do what the graph was.]],
            example = [[
local x = lab.zeros(4)
local g = lab.graph(function() x:add(1, { out = x }) end)
print(g:update(function() x:add(5, { out = x }) end))  --> true
g:launch()
print(x:get(1))  --> 5.0
print(g:update(function() x:neg({ out = x }); x:add(1, { out = x }) end))
--> false	the graph has 1 node and the new one 2: capture a new graph]],
            cuda = "cudaGraphExecUpdate",
            see = { "lab.graph", "lab.cuda.graph_exec_update" },
        },
        {
            name = "graph:nodes",
            brief = "what it does: its kernels, copies, memsets and host functions",
            returns = { { "table[]", "a table for each, in the order of capture: `name` and `kind` (as in timelines; of values `write_value` and `wait_value`), `where` (the line that captured it), `stream` (the name of the stream where), `priority`, and `bytes` of a copy or memset" } },
            example = [[
local x = lab.zeros(1 << 20)
local g = lab.graph(function() x:zero_(); x:add(1, { out = x }) end)
for i, node in ipairs(g:nodes()) do print(i, node.kind, node.name, node.bytes) end
--> 1	memset	Memset (Device)	4194304
--> 2	kernel	add_scalar_f32	nil]],
            cuda = "cudaGraphGetNodes, cudaGraphNodeGetType",
            see = { "graph:edges", "graph:dot" },
        },
        {
            name = "graph:edges",
            brief = "which node comes behind which",
            returns = { { "table[]", "pairs `{ from, to }` of positions in `g:nodes()`, in the order of `to`" } },
            example = [[
local a, b = lab.stream(), lab.stream()
local g = lab.graph(function()
    lab.spin(1); b:wait_stream(a)
    lab.spin(1); lab.spin(1, { stream = b }); a:wait_stream(b)
    lab.spin(1)
end, { stream = a })
for _, edge in ipairs(g:edges()) do io.write(edge[1], "-", edge[2], " ") end  --> 1-2 1-3 2-4 3-4]],
            cuda = "cudaGraphGetEdges",
            see = { "graph:nodes", "graph:dot" },
        },
        {
            name = "graph:dot",
            brief = "the graph as text for Graphviz",
            returns = { { "string", "in the language DOT: each node with its name and line, the streams as boxes around them" } },
            about = [[`io.open("g.dot", "w"):write(g:dot()):close()`, then `dot -Tsvg g.dot -o g.svg` in a shell. PyTorch's `debug_dump` writes the file itself.]],
            example = [[
local g = lab.graph(function() lab.spin(1) end)
print(g:dot():match("digraph"))  --> digraph]],
            cuda = "cudaGraphDebugDotPrint",
            pytorch = "torch.cuda.CUDAGraph.debug_dump",
            see = { "graph:nodes", "graph:edges" },
        },
        {
            name = "graph:free",
            brief = "ends the graph",
            about = [[
It lets go of the memory that the graph holds, and does not wait: launches that are on their way still run. Freeing it again does nothing. The garbage collector frees a graph to which nothing refers, and
`local g <close> = lab.graph(f)` frees it at the end of the block. A host function in the graph that refers to it keeps it: free such a graph.]],
            example = [[
local g = lab.graph(function() lab.spin(2) end)
g:launch()
g:free()
print(g)  --> graph (freed)
print(lab.current_stream():query())  --> false]],
            cuda = "cudaGraphExecDestroy, cudaGraphDestroy",
            pytorch = "torch.cuda.CUDAGraph.reset",
        },
        {
            name = "lab.graphs",
            brief = "the graphs of the current device",
            returns = { { "graph[]", "those that were not freed, in the order of capture" } },
            example = [[
local g = lab.graph(function() lab.spin(1) end, { name = "step" })
print(#lab.graphs(), lab.graphs()[1] == g)  --> 1	true
g:free()
print(#lab.graphs())  --> 0]],
            see = { "lab.live", "who" },
        },
        { name = "graph.id", type = "integer", brief = "its number on its device, in the order of capture, from 1" },
        { name = "graph.name", type = "string", brief = "its name" },
        { name = "graph.launches", type = "integer", brief = "how often it was launched" },
        {
            name = "graph.priorities", type = "boolean", brief = "whether its nodes keep the priorities of the streams where they were captured",
            cuda = "cudaGraphInstantiateFlagUseNodePriority",
        },
        { name = "graph.instantiated", type = "boolean", brief = "whether it can be launched" },
        { name = "graph.freed", type = "boolean", brief = "whether it was freed" },
        { name = "graph.device", type = "device", brief = "the device that it belongs to" },
        {
            name = "stream:begin_capture",
            brief = "begins a capture in the stream",
            arguments = { { "mode", [["global"|"thread_local"|"relaxed"]], "as in `lab.graph`", default = [["global"]] } },
            errors = { { "SL_ECAPTURE", "the stream is being captured, or is the default stream" } },
            about = [[
The plain call, without a function and without a change of the current stream; `lab.graph` is usually what you want. The capture goes on until `s:end_capture()`, also if the script fails in between; closing the stream throws it away.]],
            example = [[
local s = lab.stream()
s:begin_capture()
lab.spin(1, { stream = s })
print(s:capture_status())  --> active
local g = s:end_capture()
print(g)  --> graph 1 "graph 1" (1 node, not instantiated)]],
            cuda = "cudaStreamBeginCapture",
            pytorch = "torch.cuda.CUDAGraph.capture_begin",
            see = { "stream:end_capture", "lab.cuda.graph_instantiate", "lab.graph" },
        },
        {
            name = "stream:end_capture",
            brief = "ends the capture that began in the stream",
            returns = { { "graph", "the graph; `lab.cuda.graph_instantiate(g)` makes it one that can be launched" } },
            errors = {
                { "SL_ECAPTURE", "no capture began in the stream; or the capture was spoiled, or a stream that joined it has not come back: then it has ended, and is lost" },
            },
            example = [[
local s, x = lab.stream(), lab.zeros(4)
s:begin_capture()
lab.with(s, function() x:add(1, { out = x }) end)
local g = s:end_capture()
lab.cuda.graph_instantiate(g)
g:launch()
print(x:get(1))  --> 1.0]],
            cuda = "cudaStreamEndCapture",
            pytorch = "torch.cuda.CUDAGraph.capture_end",
            see = { "stream:begin_capture" },
        },
        {
            name = "stream:capture_status",
            brief = "asks whether the stream is being captured",
            returns = { { [["none"|"active"|"invalidated"]], "invalidated: a call has spoiled the capture, which ends with an error" } },
            example = [[
local s = lab.stream()
print(s:capture_status())  --> none
lab.graph(function() print(s:capture_status()) end, { stream = s })  --> active]],
            about = [[PyTorch's `is_current_stream_capturing` asks that for the current stream, and gives true or false.]],
            cuda = "cudaStreamIsCapturing",
            pytorch = "torch.cuda.is_current_stream_capturing",
            see = { "stream:begin_capture" },
        },
    },
}
