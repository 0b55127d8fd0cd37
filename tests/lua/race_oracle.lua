-- race_oracle.lua - which accesses of a program nothing orders, worked out the slow way.
--
-- The races that the checker must find, from CUDA's rules alone. A program is told call by
-- call; each call becomes nodes of a graph, whose edges are what is guaranteed: the host's own
-- order, host before what it enqueues, stream order, event record to wait, synchronisation,
-- and the legacy stream's rules. Of each node all nodes before it are kept. Two accesses to
-- the same bytes, one of them a write, of which neither is before the other, are a race.
--
-- Two more relations have what orders by accident. Whether a call with pageable memory waits
-- depends on sizes and drivers, so one has what waits everywhere, the other what may.

local M = {}
M.__index = M

local relations <const> = { "guaranteed", "at_least", "at_most" }

-- Stream 0 is the legacy one; `streams` has the others: id = whether it is blocking.
function M.new(streams)
    local self = setmetatable({
        nodes = 0, before = {}, last = {}, events = {}, accesses = {},
        stream_of = {}, blocking = { [0] = true }, after_legacy = nil,
        session = 1, closed = 0, launched = {},
    }, M)
    for _, relation in ipairs(relations) do self.before[relation] = {} end
    for id, blocking in pairs(streams) do self.blocking[id] = blocking end
    self.host = self:node {}
    return self
end

-- Node `to` comes after `from` and all before that.
local function join(before, to, from)
    local set = before[to]
    set[from] = true
    for earlier in pairs(before[from]) do set[earlier] = true end
end

-- A node after those given; numbers rise along all edges.
function M:node(from)
    self.nodes = self.nodes + 1
    for _, relation in ipairs(relations) do
        self.before[relation][self.nodes] = {}
        for _, node in ipairs(from) do join(self.before[relation], self.nodes, node) end
    end
    return self.nodes
end

-- The host's next moment, after `from` as well.
function M:host_step(from)
    self.host = self:node { self.host, table.unpack(from or {}) }
    return self.host
end

-- The same where it is an accident that the host waits; `surely`: it does everywhere.
function M:host_accident(from, surely)
    local host = self:host_step()
    for _, node in ipairs(from) do
        join(self.before.at_most, host, node)
        if surely then join(self.before.at_least, host, node) end
    end
    return host
end

-- The last operation of the stream; of the legacy stream those of all blocking ones.
function M:tail(stream)
    local list = {}
    for id, blocking in pairs(self.blocking) do
        if id == stream or (stream == 0 and blocking) then list[#list + 1] = self.last[id] end
    end
    return list
end

-- Those of all streams.
function M:tails()
    local list = {}
    for id in pairs(self.blocking) do list[#list + 1] = self.last[id] end
    return list
end

-- Whatever is put into a stream: a kernel, a copy, a record, a wait, a host function.
function M:enqueue(stream, also)
    local from = self:tail(stream)
    from[#from + 1] = self:host_step()
    if self.blocking[stream] then from[#from + 1] = self.after_legacy end
    from[#from + 1] = also
    self.last[stream] = self:node(from)
    self.stream_of[self.nodes] = stream
    if stream == 0 then self.after_legacy = self.last[0] end
    return self.last[stream]
end

-- cudaMallocAsync: the stream's later work, and with the legacy stream that of blocking ones, comes
-- after it. It orders nothing else: no work is put into the stream.
function M:allocate(stream)
    local from = { self:host_step(), self.last[stream] }
    if self.blocking[stream] then from[#from + 1] = self.after_legacy end
    self.last[stream] = self:node(from)
    self.stream_of[self.nodes] = stream
    if stream == 0 then self.after_legacy = self.last[0] end
    return self.last[stream]
end

-- cudaFreeAsync: nothing comes after it.
function M:free_async(stream)
    local from = self:tail(stream)
    from[#from + 1] = self:host_step()
    if self.blocking[stream] then from[#from + 1] = self.after_legacy end
    self:node(from)
    self.stream_of[self.nodes] = stream
    return self.nodes
end

function M:record(event, stream) self.events[event] = self:enqueue(stream) end

-- An event that was not recorded is not waited for.
function M:wait(stream, event) self:enqueue(stream, self.events[event]) end

function M:wait_stream(stream, other) self:enqueue(stream, self:enqueue(other)) end

-- Of the legacy stream: that this waits for the blocking ones as well, nobody promises.
function M:synchronize_stream(stream)
    self:host_step { self.last[stream] }
    if stream == 0 then self:host_accident(self:tail(0), true) end
end

-- A new stream in the place of one that closes, whose work stays what it is. Closed ones have
-- numbers below 0.
function M:reopen(stream, blocking)
    local old = self.closed - 1
    self.closed = old
    self.last[old], self.last[stream] = self.last[stream], nil
    self.blocking[old], self.blocking[stream] = self.blocking[stream], blocking
    for node, of in pairs(self.stream_of) do
        if of == stream then self.stream_of[node] = old end
    end
end

-- The checker forgets what was; `on`: and looks at what comes.
function M:check_anew(on)
    self.sessions = (self.sessions or 1) + 1
    self.session = on and self.sessions or nil
end

function M:synchronize_event(event) self:host_step { self.events[event] } end

function M:synchronize() self:host_step(self:tails()) end

-- ---- accesses ---------------------------------------------------------------------------

-- `memory` names the tensor whose bytes they are; `what` is the line, or anything else that
-- tells accesses apart.
-- `late`: a host function's, which runs later than it is enqueued. `launched`: the line of the
-- launch of the graph that it is in.
function M:access(node, kind, memory, first, n, what, late, launched)
    if n > 0 then
        self.accesses[#self.accesses + 1] = {
            node = node, kind = kind, memory = memory, first = first, n = n, what = what,
            session = self.session, late = late, launched = launched,
        }
    end
end

-- A copy from pinned memory or within the device, or one to the host. `read` and `write` are
-- {memory, first, n}. The host waits: "surely", "by accident" or not (nil).
function M:copy(stream, read, write, waits, what)
    local node = self:enqueue(stream)
    self:access(node, "read", read[1], read[2], read[3], what)
    self:access(node, "write", write[1], write[2], write[3], what)
    if waits == "surely" then
        self:host_step { node }
    elseif waits then
        self:host_accident({ node }, true)
    end
end

-- A copy from pageable memory to the device: the source is read by the host, in the call,
-- which may wait for the stream first, and for the copy.
-- cudaMemcpy (`plain`) waits for its stream in any case.
function M:staged_copy(stream, read, write, blocking, plain, what)
    if plain then self:synchronize_stream(stream) end
    local host = self:host_accident(self:tail(stream), false)
    self:access(host, "read", read[1], read[2], read[3], what)
    local node = self:enqueue(stream)
    self:access(node, "write", write[1], write[2], write[3], what)
    self:host_accident({ node }, blocking)
end

-- A launch of a graph (race_graphs.lua): behind its stream and behind the graph's last launch; the
-- stream comes after all of its nodes.
function M:launch(graph, stream, line)
    local base, nodes = self:enqueue(stream, self.launched[graph.name]), {}
    for i, node in ipairs(graph.nodes) do
        local from = { base }
        for _, before in ipairs(node.before) do from[#from + 1] = nodes[before] end
        nodes[i] = self:node(from)
        self.stream_of[nodes[i]] = stream
        for _, a in ipairs(node.accesses) do
            self:access(nodes[i], a[1], a[2], a[3], a[4], node.line, node.late, line)
        end
    end
    self.last[stream] = self:node { base, table.unpack(nodes) }
    self.stream_of[self.nodes] = stream
    self.launched[graph.name] = self.nodes
    if stream == 0 then self.after_legacy = self.nodes end
    for i, node in ipairs(graph.nodes) do
        if node.waits then self:host_accident({ nodes[i] }, true) end
    end
end

-- cudaFree and cudaFreeHost.
function M:free(memory, n, what)
    self:access(self:host_accident(self:tails(), true), "free", memory, 0, n, what)
end

-- ---- the answer -------------------------------------------------------------------------

local function overlap(a, b)
    local first = math.max(a.first, b.first)
    local past = math.min(a.first + a.n, b.first + b.n)
    return first, past - first
end

local function is_same_operation(a, b) return a.what == b.what and a.launched == b.launched end

local function conflict(a, b)
    if a.session ~= b.session or not a.session then return false end
    if a.memory ~= b.memory or (a.kind == "read" and b.kind == "read") then return false end
    local _, n = overlap(a, b)
    return n > 0
end

function M:is_before(a, b, relation)
    return self.before[relation or "guaranteed"][b.node][a.node] or false
end

local function kind_of(self, a, b)
    if self:is_before(a, b, "at_least") then return "accident" end
    return self:is_before(a, b, "at_most") and "either" or "race"
end

-- Whether `b`, which comes between the two, makes `a` of no interest to `c`. Of a write that
-- is so in any case: it comes after `a` and races with `c`, or races with `a` itself.
local function stands_for(self, a, b, c)
    if b.kind ~= "read" then return true end
    return a.kind == "read" and c.kind ~= "read" and self:is_before(a, b)
end

-- Whether a checker that keeps of each byte the last write and the reads since then need not
-- know of `a` at `c`, whose number in the accesses are given.
local function is_covered(self, index_a, index_c)
    local a, c, open = self.accesses[index_a], self.accesses[index_c], {}
    local first, n = overlap(a, c)
    for byte = first, first + n - 1 do open[byte] = true end
    for i = index_a + 1, index_c - 1 do
        local b = self.accesses[i]
        if b.memory == a.memory and not is_same_operation(b, a) and not is_same_operation(b, c)
            and stands_for(self, a, b, c) then
            for byte = b.first, b.first + b.n - 1 do open[byte] = nil end
        end
    end
    return next(open) == nil
end

-- ---- trying a call ----------------------------------------------------------------------

local function shallow(t)
    local copy = {}
    for key, item in pairs(t) do copy[key] = item end
    return copy
end

-- How things stand, for `back`.
function M:mark()
    return {
        nodes = self.nodes, n_accesses = #self.accesses, host = self.host,
        last = shallow(self.last), events = shallow(self.events), after_legacy = self.after_legacy,
        blocking = shallow(self.blocking), stream_of = shallow(self.stream_of),
        session = self.session, closed = self.closed, launched = shallow(self.launched),
    }
end

function M:back(mark)
    for i = #self.accesses, mark.n_accesses + 1, -1 do self.accesses[i] = nil end
    self.blocking, self.stream_of = mark.blocking, mark.stream_of
    self.session, self.closed, self.launched = mark.session, mark.closed, mark.launched
    self.nodes, self.host, self.after_legacy = mark.nodes, mark.host, mark.after_legacy
    self.last, self.events = mark.last, mark.events
end

-- The races of an access with those from number `from` to `to` (all of them).
function M:races_with(access, from, to)
    local found = {}
    for i = from or 1, to or #self.accesses do
        local a, b = self.accesses[i], access
        if a.node > b.node then a, b = b, a end
        if not is_same_operation(a, b) and conflict(a, b) and not self:is_before(a, b) then
            found[#found + 1] = {
                first = a, second = b, kind = kind_of(self, a, b),
                from = self.stream_of[a.node], to = self.stream_of[b.node],
            }
        end
    end
    return found
end

-- Those of what came after the mark with what came before; with the streams of the two, nil for
-- the host.
function M:races_since(mark)
    local found = {}
    for j = mark.n_accesses + 1, #self.accesses do
        for _, race in ipairs(self:races_with(self.accesses[j], 1, mark.n_accesses)) do
            found[#found + 1] = race
        end
    end
    return found
end

-- A host function may run when the checker has forgotten about it.
local function may_be_forgotten(self, access)
    return access.late and access.session ~= self.session
end

-- All races: {first =, second = accesses in program order, kind = "race", "accident" or
-- "either", covered =}.
function M:races()
    local found = {}
    for j, b in ipairs(self.accesses) do
        for i = 1, j - 1 do
            local a = self.accesses[i]
            if not is_same_operation(a, b) and conflict(a, b) and not self:is_before(a, b) then
                found[#found + 1] = {
                    first = a, second = b, kind = kind_of(self, a, b),
                    covered = is_covered(self, i, j) or may_be_forgotten(self, a)
                        or may_be_forgotten(self, b),
                }
            end
        end
    end
    return found
end

return M
