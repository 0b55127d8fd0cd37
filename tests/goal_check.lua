-- goal_check.lua - what is wrong with a GOAL program, and when its tasks would end.
--
-- parse reads the grammar of LogGOPSim's txt2bin, line by line and as strictly as it does.
-- complaints says what its simulator would trip over. replay is the LogGP model: a calculation and
-- the overhead o occupy a CPU of the rank, a message takes L and G for each byte behind the first,
-- and the NIC sends the next one after g and as much.

local check = {}

-- "cpu 1 nic 0" behind the rest of a line, in this order; nil: something else.
local function places(rest)
    local found = {}
    for _, word in ipairs{ "tag", "cpu", "nic" } do
        local value, behind = rest:match("^%s+" .. word .. "%s+(%d+)(.*)$")
        if value then
            found[word], rest = math.tointeger(value), behind
        end
    end
    return rest:find("^%s*$") and found or nil
end

local function read_task(line)
    local size, rest = line:match("^calc%s+(%d+)(.*)$")
    if size then
        local found = places(rest)
        if not found or found.tag or found.nic then return end
        return { kind = "calc", size = math.tointeger(size), cpu = found.cpu or 0 }
    end
    for kind, word in pairs{ send = "to", recv = "from" } do
        local bytes, peer
        bytes, peer, rest = line:match("^" .. kind .. "%s+(%d+)b%s+" .. word .. "%s+(%d+)(.*)$")
        local found = bytes and places(rest)
        if found then
            return { kind = kind, size = math.tointeger(bytes), peer = math.tointeger(peer),
                     tag = found.tag or 0, cpu = found.cpu or 0, nic = found.nic or 0 }
        end
    end
end

local Reader = {}
Reader.__index = Reader

function Reader:fail(what, ...)
    self.wrong[#self.wrong + 1] = ("line %d: " .. what):format(self.number, ...)
end

function Reader:line(line)
    local rank = line:match("^rank%s+(%d+)%s*{$")
    local a, b = line:match("^(%a[%w_]*)%s+i?requires%s+(%a[%w_]*)$")
    if rank then
        self.now = { labels = {} }
        if math.tointeger(rank) ~= #self.ranks then self:fail("rank %s comes too soon", rank) end
        self.ranks[#self.ranks + 1] = self.now
    elseif not self.now then
        self:fail("'%s' is in no rank", line)
    elseif line == "}" then
        self.now = nil
    elseif a then
        local from, to = self.now.labels[b], self.now.labels[a]
        if not from or not to then return self:fail("no label %s", from and a or b) end
        to.needs[#to.needs + 1] = from
    else
        local label, rest = line:match("^(%a[%w_]*):%s*(.*)$")
        local task = read_task(rest or line)
        if not task then return self:fail("'%s' is nothing", line) end
        if label and self.now.labels[label] then self:fail("label %s comes twice", label) end
        task.needs, task.rank, task.label = {}, #self.ranks - 1, label
        self.now[#self.now + 1] = task
        if label then self.now.labels[label] = task end
    end
end

-- The ranks, from 1 on, each a list of tasks with a table of its labels; and what is wrong, a list.
function check.parse(text)
    local reader = setmetatable({ ranks = {}, wrong = {}, number = 0 }, Reader)
    local n
    for line in text:gmatch("([^\n]*)\n") do
        reader.number = reader.number + 1
        local count = line:match("^num_ranks%s+(%d+)$")
        if count and not n then
            n = math.tointeger(count)
        elseif line ~= "" and not line:find("^//") then
            reader:line(line)
        end
    end
    if n ~= #reader.ranks then reader:fail("%d ranks, not %s", #reader.ranks, n) end
    if not text:find("\n$") then reader:fail("no newline at the end") end
    return reader.ranks, reader.wrong
end

local function channel(task)
    local from = task.kind == "send" and task.rank or task.peer
    local to = task.kind == "send" and task.peer or task.rank
    return ("%d to %d tag %d"):format(from, to, task.tag)
end

local function each(ranks)
    return coroutine.wrap(function()
        for _, rank in ipairs(ranks) do
            for _, task in ipairs(rank) do coroutine.yield(task) end
        end
    end)
end

-- A list; empty: the program can be simulated.
function check.complaints(text)
    local ranks, wrong = check.parse(text)
    local ends = { send = {}, recv = {} }
    local function fail(what, ...) wrong[#wrong + 1] = what:format(...) end
    for task in each(ranks) do
        if task.cpu > 255 then fail("cpu %d", task.cpu) end
        if task.kind ~= "calc" then
            if task.size < 1 then fail("an empty message at %s", task.label) end
            if task.peer >= #ranks or task.peer == task.rank then fail("peer %d", task.peer) end
            local list = ends[task.kind]
            list[channel(task)] = (list[channel(task)] or "") .. task.size .. " "
        end
    end
    for where, sizes in pairs(ends.send) do
        if ends.recv[where] ~= sizes then fail("%s: sends and receives differ", where) end
    end
    for where in pairs(ends.recv) do
        if not ends.send[where] then fail("%s: nobody sends", where) end
    end
    for _, rank in ipairs(ranks) do
        if #rank == 0 then fail("a rank without tasks") end
    end
    return wrong
end

-- When the last task of each rank ends, in ns, from 1 on; nil and a text if some cannot begin.
-- model:
-- {L =, o =, g =, G =, S =}: messages of more than S bytes end at the sender when the receive is
-- there.
function check.replay(text, model)
    local ranks = check.parse(text)
    local cpus, nics, sent, posted, waiting, ends = {}, {}, {}, {}, {}, {}
    local function at(list, key) return list[key] or 0 end
    local function push(list, key, value)
        list[key] = list[key] or { first = 1 }
        table.insert(list[key], value)
    end
    local function pop(list, key)
        local queue = list[key]
        if queue and queue[queue.first] then
            queue.first = queue.first + 1
            return queue[queue.first - 1]
        end
    end
    local function finish(task, ns)
        task.done = ns
        ends[task.rank + 1] = math.max(ends[task.rank + 1] or 0, ns)
    end
    local function meet(send, receive)
        finish(receive, math.max(send.arrival, receive.ready) + model.o)
        if not send.done then finish(send, math.max(send.start + model.o, receive.ready)) end
    end
    local function begin(task)
        local cpu, nic = task.rank .. "/" .. task.cpu, task.rank .. "/" .. (task.nic or "")
        local here = task.kind ~= "calc" and channel(task)
        task.begun = true
        if task.kind == "calc" then
            cpus[cpu] = math.max(task.ready, at(cpus, cpu)) + task.size
            finish(task, cpus[cpu])
        elseif task.kind == "send" then
            task.start = math.max(task.ready, at(cpus, cpu), at(nics, nic))
            cpus[cpu] = task.start + model.o
            nics[nic] = task.start + model.g + (task.size - 1) * model.G
            task.arrival = task.start + model.o + model.L + (task.size - 1) * model.G
            if task.size <= model.S then finish(task, task.start + model.o) end
            local receive = pop(posted, here)
            if receive then meet(task, receive) else push(sent, here, task) end
        else
            local send = pop(sent, here)
            if send then meet(send, task) else push(posted, here, task) end
        end
    end
    -- Of those that may begin the one that may soonest.
    for task in each(ranks) do waiting[#waiting + 1] = task end
    while #waiting > 0 do
        local best
        for i, task in ipairs(waiting) do
            local ready = 0
            for _, need in ipairs(task.needs) do
                ready = need.done and ready and math.max(ready, need.done)
            end
            task.ready = ready
            if ready and (not best or ready < waiting[best].ready) then best = i end
        end
        if not best then return nil, #waiting .. " tasks wait for ever" end
        begin(table.remove(waiting, best))
    end
    for task in each(ranks) do
        if not task.done then return nil, "a message of " .. task.label .. " never arrives" end
    end
    return ends
end

return check
