-- tooltips.lua - what a picture of a timeline says: labels of bars, and tooltips.
--
-- Tooltips are escaped here. Records of bars and arrows are those of core.picture (l_pictures.c).

local _, core = ...
local times, units = core.need("pictures/times"), core.words.units

local tooltips = {}

local label_pad <const> = 4             -- pixels at each end of a bar
local most_label_bytes <const> = 159
local most_name_bytes <const>, most_kernel_bytes <const> = 240, 120     -- in tooltips, in counts

-- Labels -------------------------------------------------------------------------------------

-- The name of one operation, as short as possible if `brief`.
local function name_span(c, bar, brief)
    if bar.label then return bar.label:sub(1, most_label_bytes) end
    local label = c.look_of[bar.look].label:gsub("^copy ", "")
    if bar.bytes == 0 or brief then return label end
    return label .. " " .. units.bytes(bar.bytes)
end

local function name_bar(c, bar, brief)
    if bar.n == 1 then return name_span(c, bar, brief) end
    if bar.counts then return bar.n .. " operations" end
    if bar.label and bar.same_name and not brief then
        return bar.n .. " × " .. name_span(c, bar, true):sub(1, most_kernel_bytes)
    end
    return bar.n .. " " .. bar.noun
end

-- What fits into a bar, if anything does: the full text, the brief one, or the beginning of that.
function tooltips.label(c, bar, size)
    local room = bar.width // 100 - 2 * label_pad
    if room < size then return nil end
    local full, brief
    if not bar.does then
        full, brief = name_bar(c, bar, false), name_bar(c, bar, true)
    elseif bar.n > 1 then
        full = bar.n .. " calls"
    else
        full, brief = bar.name, bar.brief
    end
    return core.xml_fit(core.xml_px(full, size) <= room and full or brief or full, room, size,
        false)
end

-- Tooltips -----------------------------------------------------------------------------------

local function xml(text) return core.xml(text, most_name_bytes) end

-- "starts at 1.25 ms, takes 300 us"
local function times_of(c, bar)
    return ("\nstarts at %s %s, takes %s"):format(
        times.exact(bar.start_ns - c.layout.first_ns, c.axis.unit_ns), c.axis.unit,
        core.duration(bar.end_ns - bar.start_ns))
end

local function where_of(record)
    if not record.where then return "" end
    local source = record.source and record.source:gsub("^[ \t]+", "") or ""
    return "\n" .. xml(record.where) .. (source ~= "" and ": " .. xml(source) or "")
end

-- 'node 3 of graph "step"'; "of graph 1" of one that was given no name
local function node_of(bar)
    if not bar.node then return "" end
    local graph = bar.graph
    if type(graph) == "string" then
        graph = graph:find("^graph ") and xml(graph) or 'graph "' .. xml(graph) .. '"'
    elseif graph then
        graph = "graph " .. graph
    end
    return ("\nnode %d of %s"):format(bar.node, graph or "a graph")
end

local function size_of(bar)
    if bar.bytes == 0 then return "" end
    local text, ns = "\n" .. units.bytes(bar.bytes), bar.end_ns - bar.start_ns
    return ns > 0 and text .. ", " .. units.rate(bar.bytes, ns) or text
end

local function tell_span(c, bar)
    return table.concat { xml(bar.name or c.look_of[bar.look].label),
        bar.symbol and "\n" .. xml(bar.symbol) or "", "\nstream: ", xml(bar.stream), node_of(bar),
        times_of(c, bar),
        bar.blocks > 0 and ("\n%d block%s of %d threads"):format(bar.blocks,
            bar.blocks == 1 and "" or "s", bar.threads) or "", size_of(bar), where_of(bar) }
end

function tooltips.of_bar(c, bar)
    if bar.n == 1 then return tell_span(c, bar) end
    return table.concat { xml(name_bar(c, bar, false)),
        bar.counts and ": " .. table.concat(bar.counts, ", ") or "", times_of(c, bar), ", ",
        core.duration(bar.busy_ns), " busy", where_of(bar) }
end

local does <const> = {
    wait = "the host waits for the device",
    copy = "the copy holds the host",
    queue = "the host waits for room in the launch queue",
    call = "the host is in this call",
    work = "the host does work of its own",
    issue = "the host issues work",
}

function tooltips.of_call(c, bar)
    return table.concat { bar.n == 1 and xml(bar.name) or bar.n .. " calls", ": ", does[bar.does],
        times_of(c, bar), where_of(bar) }
end

function tooltips.of_event(arrow)
    return table.concat { xml(arrow.to_stream), " waits for an event of ", xml(arrow.from_stream),
        arrow.held_ns > 0 and "\nfor " .. core.duration(arrow.held_ns)
            or "\nwhich had happened already", where_of(arrow) }
end

return tooltips
