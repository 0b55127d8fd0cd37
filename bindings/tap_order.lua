-- tap_order.lua - why two selections of work ran one after the other, or beside each other, in
-- words that fit what was asked: for too little overlap what keeps the two apart, for too much what
-- would put them in order.

local _, core = ...

local as = core.as
local tap = core.assertions
local format, duration = string.format, tap.duration

local function named(span)
    return span.where ~= "" and format("%s at %s", span.name, span.where) or span.name
end

local function selected(spans, tl, sel, op)
    local list = {}
    for i, place in ipairs(as(op, core.selected, tl, sel)) do list[i] = spans[place] end
    return list
end

-- The id of the stream in which all of both lists are; nil if there are two or more.
local function common_stream(a, b)
    local id = a[1] and a[1].stream_id
    for _, list in ipairs{ a, b } do
        for _, span in ipairs(list) do
            if span.stream_id ~= id then return nil end
        end
    end
    return id
end

local function stream_text(span)
    return span.stream_id == 0 and "the default stream" or format('stream "%s"', span.stream)
end

-- Of two selections that are to run at the same time: what is said where one stream has them all,
-- whatever the engines do; nil where there are several.
function tap.same_stream_text(tl, a, b, op)
    local spans = as(op, tl.spans, tl)
    local ours, theirs = selected(spans, tl, a, op), selected(spans, tl, b, op)
    if #ours == 0 or #theirs == 0 or not common_stream(ours, theirs) then return nil end
    return format("%s and %s are both in %s, where one operation runs after the other\n"
                  .. "-> Put the two into different streams, with an event where one needs the "
                  .. "other's result", named(ours[1]), named(theirs[1]), stream_text(ours[1]))
end

-- The two that ran together for longest: the one that began first, the other, and how long.
local function longest_pair(ours, theirs)
    local first, second, longest_us = nil, nil, 0
    for _, a in ipairs(ours) do
        for _, b in ipairs(theirs) do
            local us = math.min(a.end_us, b.end_us) - math.max(a.start_us, b.start_us)
            if a ~= b and us > longest_us then
                first, second, longest_us = a, b, us
                if b.start_us < a.start_us then first, second = b, a end
            end
        end
    end
    return first, second, longest_us
end

-- Of two selections that are to run one after the other: which two did not, and what would make
-- them; nil where there are none.
function tap.together_text(tl, a, b, op)
    local spans = as(op, tl.spans, tl)
    local first, second, us = longest_pair(selected(spans, tl, a, op), selected(spans, tl, b, op))
    if not first then return nil end
    return format("%s in %s ran beside %s in %s for %s: nothing puts the two in order\n"
                  .. "-> Record an event directly after the one that has to come first, and let "
                  .. "the other one's stream wait for it: s:wait_event(e), before that is issued",
                  named(second), stream_text(second), named(first), stream_text(first),
                  duration(us))
end
