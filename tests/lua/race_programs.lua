-- race_programs.lua - random programs whose races are known: text for the laboratory, and the
-- same calls for the oracle (race_oracle.lua).
--
-- Each call stands on a line of its own, so that reports name it. No program asks for times or
-- values to decide what it does. All numbers are small, and kernels add, fill and copy, so that
-- values tell which of two accesses came first.

local graphs = require "lua.race_graphs"
local oracle = require "lua.race_oracle"

local M = {}

local Program = {}
Program.__index = Program

local rows <const>, columns <const> = 4, 4
local numel <const> = rows * columns
local all_bytes <const> = numel * 4

local function generator(seed)
    local state = (seed * 2654435761 + 12345) % 2147483648
    return function(n)      -- 1..n
        state = (state * 1103515245 + 12345) % 2147483648
        return (state >> 8) % n + 1
    end
end

function Program:pick(list) return list[self.random(#list)] end

-- ---- statements ---------------------------------------------------------------------

-- A call: its line, what it tells the oracle, and whether it only brings order.
local function statement(text, apply, is_wait)
    return { text = text, apply = apply or function() end, is_wait = is_wait or false }
end

-- `{stream = s}`, or with the current stream: that of the calls that take none.
local function options(stream, more)
    return ("{stream = s%d%s}"):format(stream, more and ", " .. more or "")
end

-- Some rows of a tensor, as an operand: `text`, and what of the memory it is. `n` rows, all if
-- nil.
local function rows_of(self, t, n)
    n = n or rows
    local first = self.random(rows - n + 1)
    local view = { tensor = t, place = t.place, first = (first - 1) * columns * 4,
                   bytes = n * columns * 4, name = t.name }
    if n == 2 and first ~= 2 and self.random(2) == 1 then
        view.name = ("%s:chunk(2)[%d]"):format(t.name, first // 2 + 1)
    elseif n < rows then
        view.name = ("%s:narrow(1, %d, %d)"):format(t.name, first, n)
    end
    return view
end

-- How many rows the operands of a call have.
local function some_rows(self)
    return self.random(3) == 1 and self.random(rows - 1) or rows
end

local function kernel(text, stream, inputs, out)
    return statement(text, function(o, line)
        local node = o:enqueue(stream)
        for _, v in ipairs(inputs) do
            o:access(node, "read", v.tensor.memory, v.first, v.bytes, line)
        end
        if out then o:access(node, "write", out.tensor.memory, out.first, out.bytes, line) end
    end)
end

-- `n` bytes of views.
local function copied(text, stream, dst, src, n, waits)
    return statement(text, function(o, line)
        local read = { src.tensor.memory, src.first, n }
        local write = { dst.tensor.memory, dst.first, n }
        if dst.place ~= "device" and src.place ~= "device" then
            local host = o:host_step()
            o:access(host, "read", read[1], read[2], n, line)
            o:access(host, "write", write[1], write[2], n, line)
        elseif src.place == "pageable" then
            o:staged_copy(stream, read, write, waits == "surely", waits == "perhaps", line)
        else
            local host_waits = dst.place == "pageable" and "by accident"
            if waits and dst.place ~= src.place then host_waits = "surely" end
            o:copy(stream, read, write, host_waits, line)
        end
    end)
end

local function by_host(text, kind, tensor, first, n)
    local call = statement(text, function(o, line)
        o:access(o:host_step(), kind, tensor.memory, first, n, line)
    end)
    call.kind, call.first, call.bytes = kind, first, n
    return call
end

local function new_stream(id, blocking)
    return ("lab.stream{non_blocking = %s, name = %q}"):format(not blocking, "s" .. id)
end

-- ---- what there is to call ------------------------------------------------------------

local calls = {}

local function live(self, places)
    local list = {}
    for _, t in ipairs(self.tensors) do
        if not t.gone and places:find(t.place, 1, true) then list[#list + 1] = t end
    end
    return list
end

local function value(self)
    self.values = self.values + 1
    return self.values
end

function calls.fill(self, s)
    local t = rows_of(self, self:pick(live(self, "device")), some_rows(self))
    if self.random(5) == 1 then
        return kernel(("%s:zero_(s%d)"):format(t.name, s), s, {}, t)
    end
    return kernel(("%s:fill_(%d, s%d)"):format(t.name, value(self), s), s, {}, t)
end

local function three(self, n)
    local list = live(self, "device")
    return rows_of(self, self:pick(list), n), rows_of(self, self:pick(list), n),
        rows_of(self, self:pick(list), n)
end

-- A kernel may write what it reads, but no part of it.
local function overlap_in_part(a, b)
    return a.tensor == b.tensor and a.first ~= b.first
end

function calls.add(self, s)
    local a, b, out = three(self, some_rows(self))
    if overlap_in_part(a, out) or overlap_in_part(b, out) then return calls.add(self, s) end
    if self.random(2) == 1 then
        return kernel(("lab.add(%s, %d, %s)"):format(a.name, self.random(9),
                      options(s, "out = " .. out.name)), s, { a }, out)
    end
    return kernel(("lab.add(%s, %s, %s)"):format(a.name, b.name,
                  options(s, "out = " .. out.name)), s, { a, b }, out)
end

function calls.matmul(self, s)
    local a, b, out = three(self)
    if out.tensor == a.tensor or out.tensor == b.tensor then return calls.add(self, s) end
    return kernel(("lab.matmul(%s, %s, %s)"):format(a.name, b.name,
                  options(s, "out = " .. out.name)), s, { a, b }, out)
end

function calls.memset(self, s)
    local t, n = self:pick(live(self, "device")), 4 * self.random(numel)
    return statement(("lab.cuda.memset_async(%s, 0, %d, s%d)"):format(t.name, n, s),
        function(o, line) o:access(o:enqueue(s), "write", t.memory, 0, n, line) end)
end

-- A new tensor in an old one's place.
function calls.full(self, s)
    local t = self:pick(live(self, "device"))
    local v, new = value(self), { name = t.name, place = "device" }
    for i, other in ipairs(self.tensors) do
        if other == t then self.tensors[i] = new end
    end
    local call = statement(("%s = lab.full(%d, 4, 4, {stream = s%d})"):format(t.name, v, s),
        function(o, line)
            new.memory = line
            o:access(o:enqueue(s), "write", line, 0, all_bytes, line)
        end)
    return call
end

function calls.spin(self, s)
    return kernel(("lab.spin(%g, {stream = s%d, blocks = %d})"):format(
                  self:pick { 0.01, 0.1, 1 }, s, self:pick { 1, 200 }), s, {})
end

local function two(self, n)
    local list = live(self, "device pinned pageable")
    local dst, src = self:pick(list), self:pick(list)
    if dst == src then return two(self, n) end
    return rows_of(self, dst, n), rows_of(self, src, n)
end

function calls.copy(self, s)
    local dst, src = two(self, some_rows(self))
    local non_blocking = self.random(3) > 1
    return copied(("%s:copy_(%s, %s)"):format(dst.name, src.name,
                  options(s, non_blocking and "non_blocking = true")), s, dst, src, dst.bytes,
                  not non_blocking and "surely")
end

function calls.memcpy(self, s)
    local dst, src = two(self)
    local n = 4 * self.random(numel)
    if self.random(3) == 1 then
        return copied(("lab.cuda.memcpy(%s, %s, %d)"):format(dst.name, src.name, n), 0, dst, src,
                      n, "perhaps")
    end
    return copied(("lab.cuda.memcpy_async(%s, %s, %d, s%d)"):format(dst.name, src.name, n, s), s,
                  dst, src, n, nil)
end

-- One element: its text and its first byte.
local function element(self)
    local r, c = self.random(rows), self.random(columns)
    return ("%d, %d"):format(r, c), 4 * ((r - 1) * columns + c - 1)
end

function calls.read(self, _, of_function)
    local t = of_function or self:pick(live(self, "pinned pageable"))
    if self.random(3) == 1 then
        local v = rows_of(self, t, some_rows(self))
        return by_host(("note(%s:totable())"):format(v.name), "read", t, v.first, v.bytes)
    end
    local at, first = element(self)
    return by_host(("note(%s:get(%s))"):format(t.name, at), "read", t, first, 4)
end

function calls.write(self, _, of_function)
    local t = of_function or self:pick(live(self, "pinned pageable"))
    if not of_function and self.random(3) == 1 then     -- a function must not fill
        local v = rows_of(self, t, some_rows(self))
        return by_host(("%s:fill_(%d)"):format(v.name, value(self)), "write", t, v.first, v.bytes)
    end
    local at, first = element(self)
    return by_host(("%s:set(%s, %d)"):format(t.name, at, value(self)), "write", t, first, 4)
end

-- An element of a device tensor: a copy to pageable memory in the current stream.
function calls.look(self, s)
    local t = self:pick(live(self, "device"))
    local at, first = element(self)
    return statement(("note(lab.with(s%d, %s.get, %s, %s))"):format(s, t.name, t.name, at),
        function(o, line)
            local node = o:enqueue(s)
            o:access(node, "read", t.memory, first, 4, line)
            o:host_step { node }
        end)
end

-- `task` gives the function that is launched: it may do more around this one.
function calls.host_func(self, s)
    local t = self:pick(live(self, "pinned pageable"))
    local touch = calls[self:pick { "read", "write" }](self, s, t)
    local call = statement(("s%d:launch_host_func(task(function() %s end))"):format(s, touch.text),
        function(o, line)
            o:access(o:enqueue(s), touch.kind, t.memory, touch.first, touch.bytes, line,
                     true)
        end)
    call.is_late = true
    return call
end

function calls.host_work(self)
    return statement(("lab.host_work(%g)"):format(self:pick { 0.01, 0.2, 2 }))
end

function calls.record(self, s)
    local e = self.random(self.n_events)
    return statement(("e%d:record(s%d)"):format(e, s), function(o) o:record(e, s) end)
end

local function wait_event(s, e)
    return statement(("s%d:wait_event(e%d)"):format(s, e), function(o) o:wait(s, e) end, true)
end

local function wait_stream(s, other)
    return statement(("s%d:wait_stream(s%d)"):format(s, other),
        function(o) o:wait_stream(s, other) end, true)
end

-- A query that gives true is as good.
local function until_over(name, asks)
    return (asks and "while not %s:query() do lab.host_work(0.1) end" or "%s:synchronize()")
        :format(name)
end

local function synchronize_stream(s, asks)
    return statement(until_over("s" .. s, asks), function(o) o:synchronize_stream(s) end, true)
end

local function synchronize_event(e, asks)
    return statement(until_over("e" .. e, asks), function(o) o:synchronize_event(e) end, true)
end

function calls.wait(self, s)
    local other = self:pick(self.ids)
    if self.random(3) == 1 and other ~= s then return wait_stream(s, other) end
    return wait_event(s, self.random(self.n_events))
end

function calls.synchronize(self, s)
    local kind = self.random(6)
    if kind == 1 then
        return statement("lab.synchronize()", function(o) o:synchronize() end, true)
    elseif kind <= 3 then
        return synchronize_stream(s, self.random(2) == 1)
    end
    return synchronize_event(self.random(self.n_events), self.random(2) == 1)
end

-- A new stream, where the old one has been collected. There is one per-thread stream.
function calls.reopen(self, s)
    local blocking = self.random(2) == 1
    if s == 0 or s == self.per_thread then return calls.host_work(self) end
    return statement(("s%d = nil collectgarbage() s%d = %s"):format(s, s, new_stream(s, blocking)),
        function(o) o:reopen(s, blocking) end)
end

-- The checker is switched off and on, which forgets all, or stays off for a while.
function calls.switch(self)
    if not self.switches then return calls.host_work(self) end
    self.is_off = not self.is_off and self.random(2) == 1
    local off = self.is_off
    return statement(off and "check(false)" or "check(true)",
        function(o) o:check_anew(not off) end)
end

function calls.launch(self, s)
    local graph = self:pick(self.graphs)
    return statement(("%s:launch(s%d)"):format(graph.name, s),
        function(o, line) o:launch(graph, s, line) end)
end

-- The last that is done with a tensor. Of each place some stay, and all that graphs may name.
function calls.free(self, s)
    local t = self:pick(live(self, "device pinned"))
    if t.in_graphs or #live(self, t.place) < 3 then return calls.host_work(self) end
    t.gone = true
    local free = self.random(2) == 1
    if t.place == "pinned" or free then
        return statement(("lab.cuda.%s(%s)"):format(t.place == "pinned" and "free_host" or "free",
            t.name), function(o, line) o:free(t.memory, all_bytes, line) end)
    end
    return statement(("lab.cuda.free_async(%s, s%d)"):format(t.name, s), function(o, line)
        o:access(o:free_async(s), "free", t.memory, 0, all_bytes, line)
    end)
end

-- ---- memory of cudaMallocAsync: bytes that only these calls touch ------------------------

local function pooled(self)
    local list = {}
    for _, m in ipairs(self.pool) do
        if not m.gone then list[#list + 1] = m end
    end
    return list
end

-- Allocating is an operation of the stream.
function calls.malloc_async(self, s)
    if #pooled(self) == 3 then return calls.free_pooled(self, s) end
    local m = { name = "m" .. #self.pool + 1 }
    self.pool[#self.pool + 1] = m
    return statement(("%s = lab.cuda.malloc_async(%d, s%d)"):format(m.name, all_bytes, s),
        function(o, line)
            m.memory = line
            o:access(o:allocate(s), "allocate", line, 0, all_bytes, line)
        end)
end

function calls.use_pooled(self, s)
    local list, n = pooled(self), 4 * self.random(numel)
    if #list == 0 then return calls.malloc_async(self, s) end
    local dst, src = self:pick(list), self:pick(list)
    if dst == src then
        return statement(("lab.cuda.memset_async(%s, 0, %d, s%d)"):format(dst.name, n, s),
            function(o, line) o:access(o:enqueue(s), "write", dst.memory, 0, n, line) end)
    end
    return statement(("lab.cuda.memcpy_async(%s, %s, %d, s%d)"):format(dst.name, src.name, n, s),
        function(o, line)
            local node = o:enqueue(s)
            o:access(node, "read", src.memory, 0, n, line)
            o:access(node, "write", dst.memory, 0, n, line)
        end)
end

function calls.free_pooled(self, s)
    local list = pooled(self)
    if #list == 0 then return calls.malloc_async(self, s) end
    local m = self:pick(list)
    m.gone = true
    return statement(("lab.cuda.free_async(%s, s%d)"):format(m.name, s), function(o, line)
        o:access(o:free_async(s), "free", m.memory, 0, all_bytes, line)
    end)
end

-- How often which.
local weights <const> = {
    fill = 6, add = 10, matmul = 1, memset = 3, full = 2, spin = 8, copy = 10, memcpy = 6, read = 6,
    write = 6, look = 3, host_func = 5, host_work = 3, record = 6, wait = 3, synchronize = 1,
    free = 1, reopen = 1, switch = 1, malloc_async = 2, use_pooled = 5, free_pooled = 1,
}

local urn <const> = {}
do
    local names = {}
    for name in pairs(weights) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        for _ = 1, weights[name] do urn[#urn + 1] = name end
    end
end

-- ---- putting it in order ----------------------------------------------------------------

-- An event whose latest record comes after the access.
local function event_after(self, o, access)
    local list = {}
    for e = 1, self.n_events do
        local node = o.events[e]
        if node and o.before.guaranteed[node][access.node] then list[#list + 1] = e end
    end
    return #list > 0 and self:pick(list) or nil
end

local function remedy(self, o, race)
    local event = self.random(3) > 1 and event_after(self, o, race.first)
    local from, to = race.from, race.to
    if not event and (not from or from < 0) then    -- closed, or the host's
        return statement("lab.synchronize()", function(oo) oo:synchronize() end, true)
    end
    if to and self.random(12) > 1 then
        return event and wait_event(to, event) or wait_stream(to, from)
    end
    return event and synchronize_event(event) or synchronize_stream(from)
end

-- ---- programs -----------------------------------------------------------------------------

local function append(self, call)
    self.calls[#self.calls + 1] = call
    call.apply(self.oracle, self.header + #self.calls)
end

-- The first race that the call would bring, or nil.
local function race_of(self, call)
    local o = self.oracle
    local mark = o:mark()
    call.apply(o, self.header + #self.calls + 1)
    local race = o:races_since(mark)[1]
    o:back(mark)
    return race
end

local function add_call(self)
    local s = self:pick(self.ids)
    if s == 0 then s = self:pick(self.ids) end      -- not too much of it: it orders the others
    local name = self:pick(urn)
    while name == self.lacks do name = self:pick(urn) end
    if self.graphs and self.random(8) == 1 then name = "launch" end
    local call = calls[name](self, s)
    for _ = 1, 20 do
        if self.random(100) > self.care then break end
        local race = race_of(self, call)
        if not race then break end
        append(self, remedy(self, self.oracle, race))
    end
    append(self, call)
    if self.random(5) == 1 then append(self, calls.record(self, s)) end
end

local function header(self)
    local lines = { "s0 = lab.default_stream()" }
    for id, blocking in ipairs(self.blocking) do
        lines[#lines + 1] = ("s%d = %s"):format(id, id == self.per_thread
            and "lab.per_thread_stream()" or new_stream(id, blocking))
    end
    for e = 1, self.n_events do
        lines[#lines + 1] = ("local e%d = lab.event{timing = %s}"):format(e, self.random(2) == 1)
    end
    local where = { device = "", pinned = [[, {device = "cpu", pinned = true}]],
                    pageable = [[, {device = "cpu"}]] }
    for _, t in ipairs(self.tensors) do
        t.memory = #lines + 1
        lines[t.memory] = ("%s = lab.full(%d, 4, 4%s)"):format(t.name, value(self), where[t.place])
    end
    lines[#lines + 1] = "lab.synchronize()"
    return lines
end

-- Graphs at the end of the header.
local function add_graphs(self, care, host_funcs)
    self.graphs, self.bytes = {}, all_bytes
    for i = 1, 3 do
        self.graphs[i] = graphs.make("g" .. i, self.random, self.lines, self, care, host_funcs)
    end
    for _, t in ipairs(self.tensors) do t.in_graphs = true end
end

local function tensors(self)
    for i, place in ipairs { "device", "device", "device", "device", "pinned", "pinned", "pinned",
                             "pageable", "pageable" } do
        self.tensors[i] = { name = "t" .. i, place = place }
    end
end

-- The program of that number. `care` is how often, in per cent, a call is put in order. Options:
-- `switches`, of the checker in between, `lacks`, a kind of call, and `graphs`,
-- that it launches, or `clean_graphs`, whose nodes do not race and are no host functions.
function M.make(seed, care, with)
    with = with or {}
    local self = setmetatable({
        seed = seed, care = care, random = generator(seed), values = 0, calls = {},
        tensors = {}, pool = {},
        blocking = {}, ids = { 0 }, n_events = 4, switches = with.switches, lacks = with.lacks,
    }, Program)
    for id = 1, self.random(3) + 1 do
        self.blocking[id] = self.random(2) == 1
        self.ids[id + 1] = id
    end
    if self.random(3) == 1 then
        self.per_thread = #self.ids
        self.ids[#self.ids + 1], self.blocking[self.per_thread] = self.per_thread, true
    end
    tensors(self)
    self.lines = header(self)
    if with.graphs then add_graphs(self, care, true) end
    if with.clean_graphs then add_graphs(self, 100, false) end
    self.header = #self.lines
    self.oracle = oracle.new(self.blocking)
    for _ = 1, 10 + self.random(40) do add_call(self) end
    return self
end

-- The calls by which a program orders what races without them are sought.
function Program:waits()
    local list = {}
    for i, call in ipairs(self.calls) do
        if call.is_wait then list[#list + 1] = i end
    end
    return list
end

-- Its text and its oracle, without the call of that number.
function Program:without(dropped)
    local o, lines = oracle.new(self.blocking), { table.unpack(self.lines) }
    for i, call in ipairs(self.calls) do
        lines[#lines + 1] = i == dropped and "-- dropped: " .. call.text or call.text
        if i ~= dropped then call.apply(o, self.header + i) end
    end
    return table.concat(lines, "\n") .. "\n", o
end

-- Its text with each call in a function of its own, given to `try`; of the header only the text.
-- `refused` lines are left out, of host functions what they do.
function Program:tried(refused)
    local lines = { table.unpack(self.lines) }
    for i, call in ipairs(self.calls) do
        local text, is_refused = call.text, refused and refused[self.header + i]
        if is_refused then
            text = call.is_late and text:gsub("task%b()", "function() end") or ""
        end
        lines[#lines + 1] = ("try(function() %s end)"):format(text)
    end
    return table.concat(lines, "\n") .. "\n"
end

-- Tells a new oracle of all calls but those refused. visit(oracle, call, line, mark) is called
-- behind each, refused or not, with how things stood before it; a refused one is then taken
-- back, or of a host function what it does.
function Program:replay(refused, visit)
    local o = oracle.new(self.blocking)
    for i, call in ipairs(self.calls) do
        local line, mark = self.header + i, o:mark()
        call.apply(o, line)
        visit(o, call, line, mark)
        if refused[line] and call.is_late then
            o.accesses[#o.accesses] = nil
        elseif refused[line] then
            o:back(mark)
        end
    end
    return o
end

-- Names of the tensors that are there at the end.
function Program:left()
    local names = {}
    for _, t in ipairs(self.tensors) do
        if not t.gone then names[#names + 1] = t.name end
    end
    return names
end

return M
