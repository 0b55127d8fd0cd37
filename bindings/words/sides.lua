-- sides.lua - the two sides of a finding in words, and the phrases that sentences share.
--
-- A finding is a record (bindings/l_records.c). Its sides are `waiter`, the operation that
-- waited, and `by`, what it waited for: an operation, or a call of the host (is_call). Either
-- may be nil: then nothing is known of it. All names are a user's, so all go through core.clip.

local _, core = ...
local clip, duration, short_kernel = core.clip, core.duration, core.short_kernel

local name_columns <const>, other_columns <const> = 60, 40  -- other: a stream's name, a position

local sides = {}

-- ---- one side --------------------------------------------------------------------------

-- " at lab.lua:12", where the line is known; else ' in range "forward"', where one is marked.
-- A sentence that puts other words before the line names no range.
function sides.at(side, before)
    if not side then return "" end
    if side.where ~= "" then return (before or " at ") .. clip(side.where, other_columns) end
    if not side.range or before and before ~= " at " then return "" end
    return (' in range "%s"'):format(clip(side.range, other_columns))
end

local function in_stream(side)
    local name = side.stream_name
    if side.stream_id == 0 and (name == "" or name == "default") then
        return " in the default stream"
    elseif name == "" then
        return " in stream " .. side.stream_id
    end
    local shown = clip(name, other_columns)
    return name:find("^stream ") and " in " .. shown or (' in stream "%s"'):format(shown)
end

-- What is launched as a kernel, and has a kernel's name.
function sides.is_kernel(side) return side.kind == "kernel" or side.kind == "collective" end

function sides.name(side)
    local name, otherwise = side.name, side.is_call and "a call" or side.kind
    if sides.is_kernel(side) then name = side.short_name or short_kernel(name) end
    return clip(name ~= "" and name or otherwise, name_columns)
end

-- 'graph "step"'; 'graph 1' of one that was given no name
function sides.graph(side)
    local shown = clip(side.graph, other_columns)
    return shown:find("^graph ") and shown or ('graph "%s"'):format(shown)
end

-- A row of what a graph captured in another stream: its name says so.
local function in_graph(side)
    return side.graph and side.graph ~= "" and " of " .. sides.graph(side) or ""
end

-- Others that share its sentence are at the same line, but may be in other ranges.
local function operation(side, many)
    local others = many and " and other operations" or ""
    return sides.name(side) .. in_graph(side) .. in_stream(side)
           .. (side.where == "" and sides.at(side) .. others or others .. sides.at(side))
end

-- "cudaFree at lab.lua:13"
function sides.call(side)
    local is_ours = side.kind == "host_work" and not side.has_own_name
    return (is_ours and "lab." or "") .. sides.name(side) .. in_graph(side) .. sides.at(side)
end

-- ---- both ------------------------------------------------------------------------------

-- 'matmul_f32 in stream "first" at lab.lua:12'
function sides.waiter(r)
    return r.waiter and operation(r.waiter, r.many_waiters) or "an operation"
end

function sides.by(r)
    if not r.by then return "other work" end
    return r.by.is_call and sides.call(r.by) or operation(r.by, r.many_by)
end

-- " (7 times)", of several
function sides.times(r, what)
    return r.count > 1 and (" (%d %s)"):format(r.count, what or "times") or ""
end

local idle <const> = {
    compute = "No kernel ran for ", comm = "No collective ran for ", h2d = "No H2D copy ran for ",
    d2h = "No D2H copy ran for ",
    p2p = "No P2P copy ran for ", copy = "No copy ran for ", host = "No host function ran for ",
}

-- "No kernel ran for 3.00 ms"
function sides.lost(r)
    local what = r.idle and (r.gpu and ("On %s no"):format(r.gpu) .. idle[r.engine]:sub(3)
                             or idle[r.engine])
                 or sides.waiter(r) .. " had room beside what ran for "
    return what .. duration(r.lost_ns)
end

-- "No kernel ran for 3.00 ms: W waited for ", or "W waited 3.00 ms for "
function sides.waited(r)
    local waited = r.idle and ("%s: %s waited"):format(sides.lost(r), sides.waiter(r))
                   or ("%s waited %s"):format(sides.waiter(r), duration(r.lost_ns))
    return waited .. sides.times(r) .. " for "
end

-- "W waits for "
function sides.waits(r)
    return sides.waiter(r) .. (r.many_waiters and " wait for " or " waits for ")
end

-- ", which comes before it in its stream"
function sides.in_order(r)
    return (", which %s before %s in %s stream"):format(r.many_by and "come" or "comes",
        r.many_waiters and "them" or "it", r.many_waiters and "their" or "its")
end

-- ---- who wrote the program -------------------------------------------------------------

-- A trace that another program wrote: its users write no Lua.
function sides.is_foreign(r) return r.trace.language ~= "lua" end
function sides.is_pytorch(r) return r.trace.language == "pytorch" end

-- What the user of the timeline writes: {lua =, pytorch =, cuda =}.
function sides.by_language(r, words) return words[r.trace.language] end

-- Without saying so of what is certain.
function sides.probably(r) return r.guess and "probably " or "" end

return sides
