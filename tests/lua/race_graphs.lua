-- race_graphs.lua - random graphs for random programs (race_programs.lua): the text that captures
-- one, and its nodes for the oracle.
--
-- A node is {before = nodes that its edges name, accesses = {kind, memory, first byte, bytes},
-- line =, late = it is a host function, waits = a launch waits for it by accident}.

local M = {}

local Graph = {}
Graph.__index = Graph

local function overlaps(a, b)
    return a[2] == b[2] and (a[1] ~= "read" or b[1] ~= "read")
        and a[3] < b[3] + b[4] and b[3] < a[3] + a[4]
end

local function conflict(a, b)
    for _, x in ipairs(a.accesses) do
        for _, y in ipairs(b.accesses) do
            if overlaps(x, y) then return true end
        end
    end
    return false
end

function Graph:line(text)
    self.lines[#self.lines + 1] = "    " .. text
    return self.first_line + #self.lines - 1
end

-- The stream comes behind what the other one has captured.
function Graph:wait(stream, other)
    self:line(("s%d:wait_stream(s%d)"):format(stream, other))
    self.last[stream] = self.last[stream] or {}
    for node in pairs(self.last[other]) do self.last[stream][node] = true end
end

-- All nodes before those of the set.
function Graph:ancestors(set)
    local all = {}
    for node in pairs(set) do
        all[node] = true
        for earlier in pairs(self.nodes[node].all_before) do all[earlier] = true end
    end
    return all
end

-- What a node does: its text and its accesses.
function Graph:work(stream)
    local random, kind = self.random, self.random(8)
    local function access(what, t) return { what, t.memory, 0, self.bytes } end
    local function pick(list) return list[random(#list)] end
    local x, y = pick(self.device), pick(self.device)
    if kind <= 2 then
        return ("%s:fill_(%d, s%d)"):format(x.name, random(99), stream), { access("write", x) }
    elseif kind <= 5 or x == y then
        return ("lab.add(%s, %d, {stream = s%d, out = %s})"):format(x.name, random(9),
            stream, y.name),
            { access("read", x), access("write", y) }
    elseif kind == 6 and self.host_funcs then
        local p = pick(self.pinned)
        local touch = random(2) == 1 and "get(1, 1)" or "set(1, 1, 5)"
        return ("s%d:launch_host_func(task(function() %s:%s end))"):format(stream, p.name, touch),
            { { touch:sub(1, 1) == "g" and "read" or "write", p.memory, 0, 4 } }, "late"
    end
    local p, to_host = pick(self.pinned), random(2) == 1
    if to_host and random(4) == 1 then p = pick(self.pageable) end
    local dst, src = to_host and p or x, to_host and x or p
    return ("%s:copy_(%s, {stream = s%d, non_blocking = true})"):format(dst.name, src.name, stream),
        { access("read", src), access("write", dst) }, p.place == "pageable" and "waits"
end

-- The first node that the new one, in that stream, would race with.
function Graph:race(node, stream)
    local before = self:ancestors(self.last[stream])
    for i, earlier in ipairs(self.nodes) do
        if not before[i] and conflict(earlier, node) then return earlier end
    end
end

function Graph:add(stream)
    local text, accesses, trait = self:work(stream)
    local node = { accesses = accesses, stream = stream, late = trait == "late",
                   waits = trait == "waits" }
    if not self.last[stream] then self:wait(stream, self.origin) end
    local other = self:race(node, stream)
    while other and self.random(100) <= self.care do
        self:wait(stream, other.stream)
        other = self:race(node, stream)
    end
    node.line = self:line(text)
    node.before = {}
    for before in pairs(self.last[stream]) do node.before[#node.before + 1] = before end
    node.all_before = self:ancestors(self.last[stream])
    self.nodes[#self.nodes + 1] = node
    self.last[stream] = { [#self.nodes] = true }
end

-- A graph in `lines` of a program, behind those there are. The program has streams `ids`, where 0
-- is the NULL stream, and tensors of so many `bytes`; `care` is how often, in per cent, nodes that
-- would race are put in order; `host_funcs`: nodes may be host functions.
function M.make(name, random, lines, program, care, host_funcs)
    local self = setmetatable({ name = name, random = random, lines = {}, nodes = {}, last = {},
                                care = care, host_funcs = host_funcs, bytes = program.bytes,
                                first_line = #lines + 1, device = {}, pinned = {},
                                pageable = {} }, Graph)
    for _, t in ipairs(program.tensors) do table.insert(self[t.place], t) end
    local streams = {}
    for i = 1, 3 do streams[i] = program.ids[random(#program.ids - 1) + 1] end
    self.origin = streams[1]
    self.last[self.origin] = {}
    self.lines[1] = ("%s = lab.graph(function()"):format(name)
    for _ = 1, 1 + random(8) do self:add(streams[random(3)]) end
    for stream in pairs(self.last) do
        if stream ~= self.origin then self:wait(self.origin, stream) end
    end
    self.lines[#self.lines + 1] = ("end, {stream = s%d})"):format(self.origin)
    table.move(self.lines, 1, #self.lines, #lines + 1, lines)
    return { name = name, nodes = self.nodes }
end

return M
