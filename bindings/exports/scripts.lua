-- scripts.lua - a program with its changes as a script: what exports/actions.lua plans, in Lua,
-- Python (PyTorch) or CUDA C++. What each language needs besides is in exports/in_*.lua; the calls
-- are written alike in all three.

local _, core = ...
local plan_of = core.need("exports/actions").plan

local scripts = {}

local function text_of(value) return core.json_string(core.safe(value)) end

-- ---- calls ---------------------------------------------------------------------------------

local function number(us) return (("%.2f"):format(us):gsub("%.?0+$", "")) end

local function call(cell, language, list)
    local a, first = cell.what, language.first
    local function at(of, n) return ("%s[%d]"):format(of, n - 1 + first) end
    local gap, on = number(cell.gap / cell.n / 1000), at(list, a.on or 1)
    if a.kind == "kernel" and list == "captures" then
        return ("node(%s, %s, %s)"):format(at("kernels", a.uses), on,
            number(cell.work / cell.n / 1000))
    elseif a.kind == "kernel" then
        return ("launch(%s, %s, %s, %s)"):format(gap, at("kernels", a.uses), on,
            number(cell.work / cell.n / 1000))
    elseif a.kind == "copy" then
        return ("%s(%s, %s, %s)"):format(a.waits and "copy_and_wait" or "copy", gap,
            at("copies", a.uses), on)
    elseif a.kind == "memset" then
        return ("set_bytes(%s, %d, %s)"):format(gap, a.bytes, on)
    elseif a.kind == "graph" then
        return ("replay(%s, %s, %s)"):format(gap, at("graphs", a.uses), on)
    elseif a.kind == "record" or a.kind == "wait" then
        return ("%s(%s, %s, %s)"):format(a.kind == "record" and "record" or "wait", gap,
            at("events", a.slot), on)
    elseif a.kind == "event_sync" then
        return ("wait_for_event(%s, %s)"):format(gap, at("events", a.slot))
    elseif a.kind == "stream_sync" then
        return ("wait_for_stream(%s, %s)"):format(gap, on)
    end
    return ("wait_for_device(%s)"):format(gap)
end

local function write_body(out, body, language, list, depth)
    local indent = ("    "):rep(depth)
    for _, item in ipairs(body) do
        if item.body then
            out[#out + 1] = indent .. language.loop(item.times, depth)
            write_body(out, item.body, language, list, depth + 1)
            if language.loop_end then out[#out + 1] = indent .. language.loop_end end
        else
            out[#out + 1] = indent .. call(item, language, list) .. language.call_end
        end
    end
end

local function body_of(body, language, list, depth)
    local out = {}
    write_body(out, body, language, list, depth)
    return table.concat(out, "\n")
end

-- ---- what it needs -------------------------------------------------------------------------

local function rows_of(list, row)
    local out = {}
    for i, item in ipairs(list) do out[i] = row(item, i) end
    return table.concat(out, "\n")
end

local function most_bytes(plan, of, place)
    local most = 0
    for _, copy in ipairs(plan.copies) do
        if copy[of] == place then most = math.max(most, copy.bytes) end
    end
    return most
end

local about <const> =
    "%s, as a program that streamlab whatif --export wrote: the same calls, sizes, streams, events "
    .. "and kinds of memory, for %d of its calls.%s\n"
    .. "Kernels compute nothing: in the place of each is one with as many blocks, threads and "
    .. "bytes of shared memory, which is busy for as long. So kernels and copies take no memory "
    .. "bandwidth from each other as they may have done in the program, and no value is right. "
    .. "What the host did between its calls is waiting.\n"
    .. "As it was recorded, and without what recording took, it takes %.3f ms. %s"

local function about_of(w, plan, language)
    local changes = {}
    for _, edit in ipairs(w.changes) do
        changes[#changes + 1] = core.words.whatif.change(edit)
    end
    local changed = #changes == 0 and "" or "\nChanged: " .. table.concat(changes, ", ") .. "."
    local name = w.actions.name ~= "" and core.safe(w.actions.name) or "A recorded program"
    local parts = {}
    local text = about:format(name, plan.n_actions, changed, plan.total_us / 1000, language.how)
    for part in text:gmatch "[^\n]+" do
        parts[#parts + 1] = (core.fold(part, 0, 90):gsub("\n*$", ""))
    end
    return table.concat(parts, "\n\n")
end

-- The languages, by the name that w:export has for each.
local languages <const> = { lua = "exports/in_lua", pytorch = "exports/in_pytorch",
                            cuda = "exports/in_cuda" }

function scripts.names()
    local names = {}
    for name in next, languages do names[#names + 1] = name end
    table.sort(names)
    return names
end

function scripts.has(name) return languages[name] ~= nil end

-- The text. w: {changes = as w:changes(), actions = as l_whatif.c gives them}.
function scripts.write(name, w)
    local language = core.need(languages[name])
    local plan = plan_of(w.actions, language.own_us)
    local parts = {
        about = language.comment(about_of(w, plan, language)),
        say = "print", -- a word that this folder does not have: it prints nothing itself
        follow = number(plan.follow_us), graph_follow = number(plan.graph_follow_us),
        streams = rows_of(plan.streams, language.stream),
        kernels = rows_of(plan.kernels, function(k)
            return language.kernel(text_of(k.name), k.blocks, k.threads, k.shared,
                                   k.in_graph)
        end),
        copies = rows_of(plan.copies, language.copy),
        graphs = rows_of(plan.graphs, function(graph, i)
            return language.graph(i, body_of(graph.body, language, "captures", 1))
        end),
        n_streams = #plan.streams, n_events = plan.events, n_captures = plan.captures,
        n_kernels = #plan.kernels, n_copies = #plan.copies, n_graphs = #plan.graphs,
        set_bytes = plan.set_bytes,
        body = body_of(plan.body, language, "streams", 1),
    }
    for _, place in ipairs { "device", "pinned", "pageable" } do
        parts["from_" .. place] = most_bytes(plan, "from", place)
        parts["to_" .. place] = most_bytes(plan, "to", place)
    end
    return (language.text:gsub("@([%l_]+)@", function(key)
        return tostring(parts[key])
    end))
end

return scripts
