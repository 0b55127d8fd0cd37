-- goal.lua - a timeline as a program in GOAL, the Group Operation Assembly Language, which
-- LogGOPSim and ATLAHS replay.
--
-- A task is a line with a label, "t9: calc 1200 cpu 0", and a line for each task that it comes
-- behind, "t9 requires t7". Calculations are in ns. Each stream of a rank is a CPU there. Ranks
-- come in order, and a rank without tasks has an empty calculation: their reader (txt2bin) needs
-- both. A message has at least one byte, since LogGOPSim counts those behind the first.
--
-- Collectives are the sends and receives of NCCL's ring: every rank sends to the next one of its
-- communicator, and receives from the one before. Step s of a rank is a send, "t9s3", and a
-- receive, "t9r3", between "t9s", which comes behind what the collective comes behind, and "t9".
-- What it sends it has received in the step before. All messages of a collective have one tag;
-- those between two ranks are matched by their order.

local _, core = ...
local tasks = core.need("exports/tasks")
local put = core.put

local cpus <const> = 256 -- a byte in the binary form: further streams share them

-- A broadcast passes through the ring in pieces, since every rank sends all that it has received:
-- NCCL's buffer of 4 MiB has 8 of them.
local piece_bytes <const> = (4 << 20) >> 3
local most_pieces <const> = 64

local function part(bytes, n) return math.max((bytes + n - 1) // n, 1) end

-- From the root on.
local function plan_broadcast(ring, note)
    local all = math.max(note.in_bytes, note.out_bytes)
    local pieces = math.min(part(all, piece_bytes), most_pieces)
    local root = note.peer >= 0 and note.peer < ring.n and note.peer or 0
    ring.steps = ring.n > 1 and pieces or 0
    ring.bytes = part(all, pieces)
    ring.at = (note.rank - root) % ring.n
end

-- By the collective: how many steps there are of n ranks, and the bytes of a message.
local function plan(note, group)
    local n = group.n
    local ring = { n = n, at = note.rank, next = group[(note.rank + 1) % n],
                   previous = group[(note.rank - 1) % n], steps = n - 1 }
    if note.collective == "all_reduce" then
        ring.steps, ring.bytes = 2 * (n - 1), part(note.in_bytes, n)
    elseif note.collective == "all_gather" then
        ring.bytes = part(note.in_bytes, 1)
    elseif note.collective == "reduce_scatter" then
        ring.bytes = part(note.out_bytes, 1)
    else
        plan_broadcast(ring, note)
    end
    return ring
end

-- "t9s3 requires t9s2", and of the first one of its kind the collective's begin.
local function put_order(out, id, kind, step)
    if step == 0 then
        put(out, "t", id, kind, "0 requires t", id, "s\n")
    else
        put(out, "t", id, kind, step, " requires t", id, kind, step - 1, "\n")
    end
end

local function put_message(out, id, step, kind, bytes, peer, tag, cpu)
    put(out, "t", id, step, ": ", kind, " ", bytes, kind == "send" and "b to " or "b from ", peer,
        " tag ", tag, " cpu ", cpu, " nic 0\n")
end

-- What a step sends has come `later` steps before it.
local function put_steps(out, task, cpu, ring, sends, receives, later)
    local id = task.id
    for step = 0, ring.steps - 1 do
        if receives then
            put_message(out, id, "r" .. step, "recv", ring.bytes, ring.previous, task.tag, cpu)
            put_order(out, id, "r", step)
        end
        if sends then
            put_message(out, id, "s" .. step, "send", ring.bytes, ring.next, task.tag, cpu)
            put_order(out, id, "s", step)
            if receives and step >= later then
                put(out, "t", id, "s", step, " requires t", id, "r", step - later, "\n")
            end
        end
    end
end

local function put_collective(out, task, cpu)
    local ring = plan(task.note, task.group)
    local chain = task.note.collective == "broadcast"
    local sends, receives = not chain or ring.at < ring.n - 1, not chain or ring.at > 0
    local id = task.id
    put(out, "t", id, "s: calc 0 cpu ", cpu, "\n")
    put_steps(out, task, cpu, ring, sends, receives, chain and 0 or 1)
    put(out, "t", id, ": calc 0 cpu ", cpu, "\n")
    if ring.steps == 0 then
        put(out, "t", id, " requires t", id, "s\n")
    elseif sends then
        put(out, "t", id, " requires t", id, "s", ring.steps - 1, "\n")
    end
    if ring.steps > 0 and receives then
        put(out, "t", id, " requires t", id, "r", ring.steps - 1, "\n")
    end
end

local function put_deps(out, id, requires, deps, n_deps)
    for i = 1, n_deps do put(out, "t", id, requires, deps[i], "\n") end
end

local function put_task(out, task)
    local id, form, cpu = task.id, task.form, task.stream % cpus
    if form == "collective" then
        put_collective(out, task, cpu)
    else
        put_message(out, id, "", form, math.max(task.bytes, 1), task.peer, task.tag, cpu)
    end
    put_deps(out, id, form == "collective" and "s requires t" or " requires t", task.deps,
             task.n_deps)
end

-- The file, as core.write_files takes it.
return function(timeline, path)
    local program = tasks.open(timeline, "GOAL")
    local text, ranks, is_empty = core.output(), {}, {}
    put(text, "num_ranks ", program.n_ranks, "\n")
    for rank = 0, program.n_ranks - 1 do
        ranks[rank], is_empty[rank] = core.output(), true
        put(ranks[rank], "\nrank ", rank, " {\n")
    end
    program:each(function(id, rank, stream, deps, n_deps, _, _, start_ns, end_ns)
        local out = ranks[rank]
        is_empty[rank] = false
        put(out, "t", id, ": calc ", end_ns - start_ns, " cpu ", stream % cpus, "\n")
        put_deps(out, id, " requires t", deps, n_deps)
    end, function(task)
        is_empty[task.rank] = false
        put_task(ranks[task.rank], task)
    end)
    for rank = 0, program.n_ranks - 1 do
        put(text, ranks[rank], is_empty[rank] and "calc 0\n}\n" or "}\n")
    end
    return { { path = path, text = text } }
end
