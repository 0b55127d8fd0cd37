-- graphs.lua - what is said of launches of graphs, and of the nodes that they ran.

local _, core = ...
local sides = core.words.sides

local graphs = {}

-- Both ran in one launch: only the graph's edges order them.
function graphs.is_one(r)
    return r.waiter and r.by and r.waiter.node and r.by.node and r.waiter.launch
           and r.waiter.launch == r.by.launch
end

-- A call that launched a graph.
function graphs.is_launch(side) return side and side.is_call and side.nodes end

-- ---- edges -----------------------------------------------------------------------------

-- A launch comes behind all that its stream had before it.
function graphs.is_launch_order(r)
    return r.waiter and r.by and r.waiter.node and not graphs.is_one(r)
end

-- What orders them: their stream, or a launch's; within a launch, that they were captured in one.
function graphs.order(r)
    if graphs.is_launch_order(r) then
        return (", which %s before %s: a launch waits for all that its stream has before "
            .. "it"):format(
            r.many_by and "come" or "comes", r.many_waiters and "their launches" or "its launch")
    elseif not graphs.is_one(r) then
        return sides.in_order(r)
    end
    return (", which %s before %s in the graph, as both were captured in one stream"):format(
        r.many_by and "come" or "comes", r.many_waiters and "them" or "it")
end

graphs.fork = "Record an event where they part, let a second stream wait for it, capture one of "
    .. "them there, and join it: then the graph has no edge between them"

graphs.two_launches = "If the launch does not need what came before it, launch it in another "
    .. "stream; for two launches of one graph at once, capture the work once more, with data of "
    .. "its own"

-- ---- launches --------------------------------------------------------------------------

-- What was waited for is known by the launch that ran it.
function graphs.launch_before(r)
    local of = r.waiter and r.waiter.graph and sides.graph(r.waiter) or "its graph"
    return ("the launch of %s before it, in another stream, which ended with %s"):format(of,
        sides.by(r))
end

-- ": the first launch uploads the graph, 1000 nodes"
function graphs.upload(side)
    return (": the first launch uploads the graph, %d node%s"):format(side.nodes,
        side.nodes == 1 and "" or "s")
end

function graphs.upload_before(r)
    return ("Launch the graph once%s before the part that counts"):format(sides.by_language(r, {
        lua = "", pytorch = "", cuda = ", or upload it (cudaGraphUpload),",
    }))
end

-- ---- priorities ------------------------------------------------------------------------

-- A priority that the graph did not keep would have let it go first.
function graphs.has_lost_priority(r)
    local captured = r.waiter and r.waiter.lost_priority
    if not captured or not r.by or r.by.is_call then return false end
    return captured < r.by.priority or r.cause == "priority" and captured == r.by.priority
end

function graphs.lost_priority(r)
    if not graphs.has_lost_priority(r) then return "" end
    return (": in %s it has priority %d, that of the stream that launched it, and not %d, that of "
            .. "the stream that it was captured in"):format(sides.graph(r.waiter),
            r.waiter.priority, r.waiter.lost_priority)
end

function graphs.keep_priority(r)
    return "Instantiate the graph with the priorities of its nodes: " .. sides.by_language(r, {
        lua = "lab.graph(f, { priorities = true })",
        pytorch = "cudaGraphInstantiateFlagUseNodePriority",
        cuda = "cudaGraphInstantiateFlagUseNodePriority",
    }) .. ", or launch it in a stream of the higher priority"
end

-- ---- in place of launches ----------------------------------------------------------------

-- Of the nearest GPU that is known: {name, ...} as settings of a simulated one; nil: none.
local function settings(trace)
    local profiles = core.need("profiles")
    local profile = trace.profile ~= "" and trace.profile or trace.device:find("H200") and "h200"
    for _, name in ipairs(profiles.names()) do
        if name == profile then return profiles.settings(profiles.figures(name).flat) end
    end
end

local function simulate(trace)
    local found = trace.as_graphs()
    if found then return found end
    local known = settings(trace)
    return known and trace.as_graphs(core.graph_costs(known))
end

-- {makespan_ns =, n_graphs =, n_nodes =, issue_ns =} where it is known, and both that and issuing
-- nothing would gain a twentieth.
function graphs.instead(r)
    local trace = r.trace
    local least_ns = trace.makespan_ns and trace.makespan_ns // 20
    if not trace.as_graphs or not r.gain_ns or r.gain_ns < least_ns then return nil end
    if trace.graphs == nil then trace.graphs = simulate(trace) or false end
    local found = trace.graphs
    local gains = found and found.n_graphs > 0
                  and found.makespan_ns <= trace.makespan_ns - least_ns
    return gains and found or nil
end

local function all_would_take(found)
    local as = found.n_graphs == 1 and "as a graph"
               or ("as %d graphs, which end where the host waits or works,"):format(found.n_graphs)
    return ("%s all would take about %s (simulated)"):format(as, core.duration(found.makespan_ns))
end

-- "; as a graph all would take about 691 us (simulated)": shorter gaps
function graphs.shorter(r)
    local found = graphs.instead(r)
    return found and "; " .. all_would_take(found) or ""
end

-- Where it would gain something.
function graphs.or_one(r)
    return graphs.instead(r) and "; or launch both with one call: " .. sides.by_language(r, {
        lua = "a CUDA graph (lab.graph)", pytorch = "a CUDA graph (torch.cuda.graph)",
        cuda = "a CUDA graph",
    }) or ""
end

-- "; host-bound: 1000 launches of 3.80 us, as a graph all would take about 691 us (simulated)"
function graphs.host_bound(r)
    local found = graphs.instead(r)
    if not found then return "" end
    return ("; host-bound: %d launches of %s%s %s"):format(found.n_nodes,
        core.duration(found.issue_ns // found.n_nodes), found.n_graphs == 1 and "," or ";",
        all_would_take(found))
end

return graphs
