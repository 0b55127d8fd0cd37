-- tasks.lua - a recorded program as simulators of larger machines replay it: what each GPU does,
-- which is a rank there, and what of its own it has to come behind.
--
-- Ranks are numbered as the GPUs are. A copy from one GPU to another is a send there and a receive
-- here. Where something has to come behind what another GPU does, that GPU sends it a message of a
-- byte.

local _, core = ...

local function refuse(text, ...) core.raise("SL_EUNSUPPORTED", "save", text:format(...)) end

-- Communicators -------------------------------------------------------------------------------

-- By place of a device: how many devices have smaller numbers.
local function rank_places(devices)
    local ranks = {}
    for place, index in ipairs(devices) do
        ranks[place] = 0
        for _, other in ipairs(devices) do
            if other < index then ranks[place] = ranks[place] + 1 end
        end
    end
    return ranks
end

local function check_ranks(what, comm, ranks, known)
    if known == ranks then return end
    refuse("a %s file has all ranks of a program: communicator %d has %d, the timeline has %d",
           what, comm, ranks, known)
end

-- A list in order of arrival, and by number: {comm =, n =, [0] = the file's rank of its rank 0,
-- ...}.
local function find_groups(order, what, rank_of)
    local groups, by_comm = {}, {}
    for note, place in order.note do
        local group = by_comm[note.comm]
        if note.ranks > #rank_of then check_ranks(what, note.comm, note.ranks, #rank_of) end
        if not group then
            group = { comm = note.comm, n = note.ranks }
            groups[#groups + 1], by_comm[note.comm] = group, group
        end
        check_ranks(what, note.comm, note.ranks, group.n)
        group[note.rank] = rank_of[place]
    end
    for _, group in ipairs(groups) do
        local known, everyone = 0, group.n == #rank_of
        for rank = 0, group.n - 1 do
            if group[rank] then known = known + 1 end
            everyone = everyone and group[rank] == rank
        end
        check_ranks(what, group.comm, group.n, known)
        group.is_everyone = everyone
    end
    return groups, by_comm
end

-- Meetings: a collective, or a send with its receive, some of whose parts have not come yet. --

local function is_between_two(note)
    return note.collective == "send" or note.collective == "recv"
end

-- Of a send and a receive each is the other's peer.
local function belong_together(a, b)
    if a.comm ~= b.comm or a.number ~= b.number then return false end
    if not is_between_two(a) then return a.collective == b.collective end
    return is_between_two(b) and a.collective ~= b.collective and a.peer == b.rank
        and a.rank == b.peer
end

local Tasks = {}
Tasks.__index = Tasks

function Tasks:new_tag()
    self.last_tag = self.last_tag + 1
    return self.last_tag
end

-- The tag that all parts of one meeting have.
function Tasks:tag_of(note)
    local open, i = self.open, 1
    while open[i] and not belong_together(open[i].first, note) do i = i + 1 end
    local meeting = open[i]
    if not meeting then
        meeting = { first = note, missing = is_between_two(note) and 2 or note.ranks,
                    tag = self:new_tag() }
        open[i] = meeting
    end
    meeting.missing = meeting.missing - 1
    if meeting.missing == 0 then
        open[i] = open[#open]
        open[#open] = nil
    end
    return meeting.tag
end

function Tasks:check_meetings(what)
    local meeting = self.open[1]
    if not meeting then return end
    local note, missing = meeting.first, meeting.missing
    refuse("a %s file has whole collectives; of %s %d of communicator %d the timeline lacks %d "
           .. "rank%s", what, note.collective, note.number, note.comm, missing,
           missing == 1 and "" or "s")
end

-- Tasks ---------------------------------------------------------------------------------------

-- The number of the next task, of that rank, from 1 on. It belongs to the operation unless that is
-- nil.
function Tasks:add(rank, op)
    local id = self.n + 1
    self.n, self.rank[id] = id, rank
    if not op then return id end
    local last = self.first[op]
    if not last then
        self.first[op] = id
        return id
    end
    while self.also[last] do last = self.also[last] end
    self.also[last] = id
    return id
end

-- Fills `deps` with all tasks that these operations have on the rank; gives how many.
function Tasks:find_deps(deps, own, ops, n_ops)
    local first, also, rank, n = self.first, self.also, self.rank, 0
    for i = 1, n_ops do
        local id = first[ops[i]]
        while id do
            if rank[id] == own then
                n = n + 1
                deps[n] = id
            end
            id = also[id]
        end
    end
    return n
end

function Tasks:is_known_on(op, rank)
    local id = self.first[op]
    while id and self.rank[id] ~= rank do id = self.also[id] end
    return id ~= nil
end

-- Writes a task of several ranks, which comes behind these operations.
function Tasks:put(task, op, before, n)
    task.n_deps = self:find_deps(task.deps, task.rank, before, n)
    task.id = self:add(task.rank, op)
    self.write(task)
end

-- A message that only orders, from the rank that runs the operation. The receive counts as a task
-- of it: it says the same there.
function Tasks:tell(op, rank)
    local from, tag = self.rank[self.first[op]], self:new_tag()
    self:put({ form = "send", orders = true, rank = from, peer = rank, tag = tag, bytes = 1,
               stream = self.n_streams[from], deps = {} }, nil, { op }, 1)
    self:put({ form = "recv", orders = true, rank = rank, peer = from, tag = tag, bytes = 1,
               stream = self.n_streams[rank], deps = {} }, op, {}, 0)
end

-- A send of NCCL's or a receive; a collective.
function Tasks:describe_exchange(task, note)
    local form = note.collective
    task.note, task.group, task.tag = note, self.by_comm[note.comm], self:tag_of(note)
    task.form = is_between_two(note) and form or "collective"
    if task.form == "collective" then return end
    task.bytes = form == "send" and note.in_bytes or note.out_bytes
    task.peer = task.group[note.peer] or 0
end

-- Both ends of a copy from one GPU to another.
function Tasks:put_copy(task, op, note, before, n)
    local here = task.rank
    local from, to = self.rank_of[note.from], self.rank_of[note.to]
    local other = here == from and note.to or note.from
    task.tag = self:new_tag()
    task.form, task.peer = here == from and "send" or "recv", here == from and to or from
    self:put(task, op, before, n)
    task.form, task.rank, task.peer = here == from and "recv" or "send", self.rank_of[other], here
    task.stream = self.n_streams[task.rank]
    self:put(task, op, before, self.order.on(other, before))
end

-- Of operations that come before, those of other ranks tell it.
function Tasks:tell_all(rank, before, n)
    for i = 1, n do
        if not self:is_known_on(before[i], rank) then self:tell(before[i], rank) end
    end
end

-- All of them, in order of issue.
function Tasks:put_all(work)
    local next_span, streams, several = self.order.next, self.order.streams, self.n_ranks > 1
    local before, deps = {}, {}
    while true do
        local op, lane, kind, name, start_ns, end_ns, bytes, n, note = next_span(before)
        if not op then break end
        local rank, stream = streams[lane].rank, streams[lane].number
        if several then self:tell_all(rank, before, n) end
        if not note then
            local n_deps = self:find_deps(deps, rank, before, n)
            local id = self:add(rank, op)
            work(id, rank, stream, deps, n_deps, name, kind, start_ns, end_ns, bytes)
        else
            local task = { rank = rank, stream = stream, deps = deps, name = name, kind = kind,
                           start_ns = start_ns, end_ns = end_ns, bytes = bytes }
            if note.from then
                self:put_copy(task, op, note, before, n)
            else
                self:describe_exchange(task, note)
                self:put(task, op, before, n)
            end
        end
    end
end

-- Each rank numbers its streams that have operations.
function Tasks:number_streams()
    for rank = 0, self.n_ranks - 1 do self.n_streams[rank] = 0 end
    for _, stream in ipairs(self.order.streams) do
        if stream.spans > 0 then
            local rank = self.rank_of[stream.place]
            stream.rank, stream.number = rank, self.n_streams[rank]
            self.n_streams[rank] = stream.number + 1
        end
    end
end

-- What other programs' traces have is too little: they are of one GPU, and their kernels of
-- collectives are like any others. Between threads there is an order that a timeline does not have:
-- a start, a join.
local function check_timeline(order, what)
    if order.foreign then
        refuse("a %s file needs a timeline that streamlab recorded: a trace of another program has "
               .. "one GPU, and not what its collectives are", what)
    elseif order.threads > 1 then
        refuse("a %s file needs a timeline of one thread of the host: this one has calls of others",
               what)
    end
end

local tasks = {}

-- What the timeline does, for files of the kind `what`, which messages name: {n_ranks =, first_ns =
-- the first start, groups = the communicators, a list of {comm =, n =, is_everyone = whether it is
-- all ranks in order, [0] = a rank, ...}}.
function tasks.open(timeline, what)
    local order = core.behind(timeline)
    check_timeline(order, what)
    local rank_of = rank_places(order.devices)
    local groups, by_comm = find_groups(order, what, rank_of)
    local self = setmetatable({ order = order, what = what, rank_of = rank_of, n_ranks = #rank_of,
                                first_ns = order.first_ns, groups = groups, by_comm = by_comm,
                                open = {}, last_tag = 0,
                                n = 0, first = {}, also = {}, rank = {}, n_streams = {} }, Tasks)
    self:number_streams()
    return self
end

-- Calls for each task of its own one of
--
--   work(id, rank, stream, deps, n_deps, name, kind, start_ns, end_ns, bytes)
--       a kernel, a copy within the GPU or between it and the host, ...: its number, from 1 on over
--       all ranks; which of its rank's streams, from 0; earlier tasks of its rank that it comes
--       behind, the first n_deps of the list; what its span has.
--   write(task)
--       the same as fields, and `form`: "collective" (its rank's part; `note`, see l_behind.c, and
--       `group`), "send" or "recv" (`peer`, the other rank; bytes of the message), and `tag`, from
--       1: what all that belong together have. `orders`: a message that only orders, which has no
--       span.
function Tasks:each(work, write)
    self.write = write
    self:put_all(work)
    self:check_meetings(self.what)
end

return tasks
