-- match.lua - which operation of one timeline is which of another one of the same script.
--
-- By the order of issue, which both sides share. Where the numbers of operations differ, or
-- their kinds in that order, by stream, kind and number within these; streams are numbered in
-- the order in which they are first given work.

local match = {}

-- The operations of a timeline, of which each also has `ordinal`, its stream's number.
function match.spans(tl)
    local spans, ordinals, n = tl:spans(), {}, 0
    for _, span in ipairs(spans) do
        if not ordinals[span.stream_id] then
            n = n + 1
            ordinals[span.stream_id] = n
        end
        span.ordinal = ordinals[span.stream_id]
    end
    return spans
end

local function same_kinds(a, b)
    if #a ~= #b then
        return false
    end
    for i, span in ipairs(a) do
        if span.kind ~= b[i].kind or span.ordinal ~= b[i].ordinal then
            return false
        end
    end
    return true
end

-- The operations by a key that both sides have.
local function by_key(spans)
    local counts, keys = {}, {}
    for i, span in ipairs(spans) do
        local lane = span.ordinal .. " " .. span.kind
        counts[lane] = (counts[lane] or 0) + 1
        keys[lane .. " " .. counts[lane]] = i
    end
    return keys
end

-- A list of pairs {span of a, span of b} in a's order of issue, and how many operations of a and
-- of b have no partner.
function match.pairs(a, b)
    local list = {}
    if same_kinds(a, b) then
        for i, span in ipairs(a) do
            list[i] = { span, b[i] }
        end
        return list, 0, 0
    end
    local partners = by_key(b)
    for key, i in pairs(by_key(a)) do
        if partners[key] then
            list[#list + 1] = { a[i], b[partners[key]], i }
        end
    end
    table.sort(list, function(x, y) return x[3] < y[3] end)
    return list, #a - #list, #b - #list
end

-- Of several such lists with the same a: its operations that have a partner in each, in the order
-- of issue, as {span, partners}; partners[n] is that of the n-th list.
function match.common(lists)
    local partners, common = {}, {}
    for _, list in ipairs(lists) do
        for _, both in ipairs(list) do
            partners[both[1]] = partners[both[1]] or {}
            table.insert(partners[both[1]], both[2])
        end
    end
    for _, both in ipairs(lists[1]) do
        if #partners[both[1]] == #lists then
            common[#common + 1] = { span = both[1], partners = partners[both[1]] }
        end
    end
    return common
end

return match
