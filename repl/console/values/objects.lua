-- objects.lua - streams, events, graphs, devices and timelines, and their state. Querying it costs
-- no virtual time and is not recorded.

local text = import "repl/run/text.lua"

local objects = {}

local function stream_state(state)
    if state.capture == "active" then return "captured" end
    if state.capture == "invalidated" then return "its capture is spoiled" end
    if state.in_flight == 0 then return "idle" end
    return "working, " .. text.count(state.in_flight, "operation") .. " in flight"
end

local function event_state(state)
    if not state.recorded then return "not recorded" end
    return state.happened and "recorded, has happened" or "recorded, pending"
end

local function device_state(state)
    local parts = {}
    if state.current then parts[#parts + 1] = "current" end
    parts[#parts + 1] = state.in_flight == 0 and "idle"
        or text.count(state.in_flight, "operation") .. " in flight"
    if state.recording then parts[#parts + 1] = "recording" end
    return table.concat(parts, ", ")
end

local function graph_state(state)
    if not state.instantiated then return "not instantiated" end
    return state.launches == 0 and "not launched"
        or "launched " .. text.count(state.launches, "time")
end

local states <const> = {
    stream = stream_state, event = event_state, device = device_state, graph = graph_state,
}

-- The state of an object in words, given the result of internals.state; nil for a tensor.
function objects.state_text(kind, state)
    return states[kind] and states[kind](state)
end

local function stream_line(stream, state)
    if not state then return tostring(stream) end
    local name = text.clean(state.name)
    return ('stream "%s" (id %d, priority %d, %s): %s'):format(name, state.id, state.priority,
        state.non_blocking and "non-blocking" or "blocking", stream_state(state))
end

local function event_line(event, state)
    if not state then return tostring(event) end
    return ("event (%s): %s"):format(state.timed and "timed" or "without timing",
                                     event_state(state))
end

local function device_line(device, state)
    if not state then return tostring(device) end
    return text.clean(tostring(device), true) .. ": " .. device_state(state)
end

local function plain_line(object) return tostring(object) end

local makers <const> = {
    stream = stream_line, event = event_line, device = device_line, graph = plain_line,
    kernel = plain_line,
}

-- The object's line, which is several where it is wider than `columns`, and, if
-- asking found something that had gone wrong, one more.
function objects.lines(object, kind, columns)
    local state = internals.state(object)
    local lines = text.fold(makers[kind](object, state), columns or internals.columns())
    for i, line in ipairs(lines) do lines[i] = text.paint("name", line) end
    if state and state.problem then
        lines[#lines + 1] = text.paint("error", text.clean(state.problem, true))
    end
    return lines
end

-- ---- timelines ------------------------------------------------------------------------

local function us(value)
    return ("%.1f us"):format(value)
end

local function head(tl)
    local spans = text.count(tl.span_count, "span")
    if tl.span_count == 0 then return "timeline of " .. spans end
    local bound = tl:bounds().lower_us
    local distance = bound > 0 and (", %.2f times the bound of %s"):format(
        tl.makespan_us / bound, us(bound)) or ""
    local range = tl.range_us and (" (%s to %s)"):format(us(tl.range_us[1]), us(tl.range_us[2]))
        or ""
    return ("timeline of %s: makespan %s%s%s"):format(spans, us(tl.makespan_us), range, distance)
end

local function chart(tl, beside)
    local drawn = tl:text{ columns = internals.columns(), unicode = internals.unicode(),
                           colour = internals.colour(1), beside = beside }
    return drawn:gsub("\n$", "")
end

-- A recorded program and its changes: what they gain, and both charts on one axis.
function objects.whatif_lines(w)
    local lines = { text.paint("name", tostring(w)), (w:text():gsub("\n$", "")) }
    if #w:changes() == 0 or w:identity().problem then return lines end
    local before, after = w:before(), w:timeline()
    for _, both in ipairs { { "before", before, after }, { "after", after, before } } do
        lines[#lines + 1] = text.paint("dim", both[1])
        lines[#lines + 1] = chart(both[2], both[3])
    end
    return lines
end

-- The timeline as a chart, and what to ask next.
function objects.timeline_lines(tl)
    local whole = tostring(tl)
    if not whole:find("^timeline of") then return { text.paint("name", whole) } end
    if tl.keep == "summary" then
        return { text.paint("name", whole),
                 text.paint("dim", "_:summary() has what is kept of it") }
    end
    local lines = text.fold(head(tl), internals.columns())
    for i, line in ipairs(lines) do lines[i] = text.paint("name", line) end
    if tl.span_count == 0 then return lines end
    lines[#lines + 1] = chart(tl)
    lines[#lines + 1] = text.paint("dim", "_:explain() says where the time went")
    return lines
end

return objects
