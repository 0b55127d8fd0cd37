-- tap_waits.lua - which waits of a timeline were not needed. lab.tap reports them with a failed
-- assertion if it is known which operation touches which memory (core.keep_needs, for course
-- labs).
--
-- Operations that one line of the script has put into one stream, with no call of another line
-- between, count as one piece unless they are all alike: that line called a function, parts of
-- which cannot be moved. A piece needs those before it that touched the same bytes, one of the
-- two writing. It waited for more than it needs if all of these had ended and it was issued, and
-- it did not begin. A piece that touches no memory is left out, since its needs are unknown.

local _, core = ...

local as = core.as
local tap = core.assertions
local format, duration = string.format, tap.duration

local least_share <const> = 0.02        -- of the makespan: less is not reported

-- Pieces -----------------------------------------------------------------------------------

local touches_nothing <const> = { spin = true }

local function new_piece(spans, from, to)
    local piece = { first = spans[from], needs = {}, end_us = 0, is_known = false }
    for i = from, to do
        local span = spans[i]
        piece.end_us = math.max(piece.end_us, span.end_us)
        piece.is_known = piece.is_known
                         or span.kind ~= "host_func" and not touches_nothing[span.name]
    end
    return piece
end

local function is_alike(a, b) return a.name == b.name and a.bytes == b.bytes end

-- Where the run of spans ends that begins at `from`: same line, same stream, and no call of another
-- line in between. And whether all are alike.
local function run_at(spans, from, is_foreign)
    local first, to, all_alike = spans[from], from, true
    while first.where ~= "" and spans[to + 1] do
        local span = spans[to + 1]
        if span.where ~= first.where or span.stream_id ~= first.stream_id
            or is_foreign(spans[to], span) then break end
        all_alike = all_alike and is_alike(span, first)
        to = to + 1
    end
    return to, all_alike
end

-- A function that says whether a call of another line stands between two spans of one line, asked
-- in the order of the spans.
local function finder_of_calls(calls)
    local list, at = {}, 1
    for i, call in ipairs(calls) do list[i] = call end
    table.sort(list, function(a, b) return a.correlation < b.correlation end)
    return function(before, behind)
        local found = false
        while list[at] and list[at].correlation < behind.correlation do
            found = found or list[at].correlation > before.correlation
                             and list[at].where ~= before.where
            at = at + 1
        end
        return found
    end
end

-- A table from a span's correlation to its piece, {first = a span, end_us =, needs = a list of
-- pieces, is_known = whether it touches memory}. Spans that are alike are a loop of the script:
-- each is a piece.
local function cut_into_pieces(spans, calls)
    local piece_of, at, is_foreign = {}, 1, finder_of_calls(calls)
    while at <= #spans do
        local to, all_alike = run_at(spans, at, is_foreign)
        for from = at, to, all_alike and 1 or to - at + 1 do
            local piece = new_piece(spans, from, all_alike and from or to)
            for i = from, all_alike and from or to do piece_of[spans[i].correlation] = piece end
        end
        at = to + 1
    end
    return piece_of
end

local function by_correlation(items)
    local found = {}
    for _, item in ipairs(items) do found[item.correlation] = item end
    return found
end

-- The correlation after which hardly any work was issued: waits from there on read results.
local function last_issued(spans, makespan_us)
    local us = 0
    for i = #spans, 1, -1 do
        us = us + spans[i].end_us - spans[i].start_us
        if us >= least_share * makespan_us then return spans[i].correlation end
    end
    return 0
end

-- The host's waits in the order of the calls, those before that one, each with what the host
-- touched between it and the next one: needed_us, when all of that was there, and need, the piece
-- that came last.
local function host_waits(calls, last)
    local list = {}
    for _, call in ipairs(calls) do
        if string.find(call.kind, "_sync$") and not call.of_stop
            and call.correlation < last then
            list[#list + 1] = { call = call, needed_us = 0 }
        end
    end
    table.sort(list, function(a, b) return a.call.correlation < b.call.correlation end)
    return list
end

local function note_host_need(known, us, piece)
    local list = known.host_waits
    while list[known.at + 1] and list[known.at + 1].call.host_end_us <= us do
        known.at = known.at + 1
    end
    local wait = list[known.at]
    if wait and piece.end_us > wait.needed_us then
        wait.needed_us, wait.need = piece.end_us, piece
    end
end

-- What is known of the timeline: spans and calls by their correlation, pieces, and the host's
-- waits; nil if needs were not kept.
local function look_at(tl, op)
    local needs = core.needs(tl)
    if not needs then return nil end
    local spans, calls = as(op, tl.spans, tl), as(op, tl.calls, tl)
    table.sort(spans, function(a, b) return a.correlation < b.correlation end)
    local known = { spans = by_correlation(spans), calls = by_correlation(calls),
                    piece_of = cut_into_pieces(spans, calls), makespan_us = tl.makespan_us, at = 0,
                    host_waits = host_waits(calls, last_issued(spans, tl.makespan_us)) }
    for _, need in ipairs(needs) do
        local on, piece = known.piece_of[need.on], known.piece_of[need.correlation]
        if on and piece and on ~= piece then
            table.insert(piece.needs, on)
        elseif on and need.host_us then
            note_host_need(known, need.host_us, on)
        end
    end
    return known
end

-- Waits ------------------------------------------------------------------------------------

-- When all was there that the piece needs, and the piece that came last; nil if it needs none.
local function ready(piece)
    local last
    for _, other in ipairs(piece.needs) do
        if not last or other.end_us > last.end_us then last = other end
    end
    return math.max(piece.first.host_end_us, last and last.end_us or 0), last
end

-- The causes that are waits which the script asked for, or caused without meaning to.
local by_order <const> = { event_wait = true, stream_order = true, null_stream = true }

-- How long one wait lasted beyond what was needed, and the piece that was needed. Calls that only
-- wait are counted apart.
local function needless_us(known, finding, wait)
    if by_order[finding.cause] then
        local piece = known.piece_of[wait.waiter]
        if not piece or not piece.is_known then return 0 end
        if piece.first.correlation ~= wait.waiter then return 0 end
        local ready_us, need = ready(piece)
        return wait.to_us - math.max(wait.from_us, ready_us), need
    elseif finding.cause == "host_blocked" then
        local call = known.calls[wait.by]
        return call and string.find(call.kind, "_sync$") and 0 or wait.to_us - wait.from_us
    end
    return 0
end

-- The example is the longest one; of those of which some need nothing, as first rounds do, the
-- longest of the others.
local function count(sum, us, example, need)
    if us <= 0 then return end
    sum.us, sum.count = sum.us + us, sum.count + 1
    local is_better = us > sum.longest_us
    if (need ~= nil) ~= (sum.need ~= nil) then is_better = need ~= nil end
    if is_better or not sum.example then
        sum.longest_us, sum.example, sum.need = us, example, need
    end
end

local function new_sum() return { us = 0, count = 0, longest_us = 0 } end

-- Words ------------------------------------------------------------------------------------

local function named(item)
    local name = item.name ~= "" and item.name or item.kind
    return item.where ~= "" and format("%s at %s", name, item.where) or name
end

local function times(sum)
    return sum.count > 1 and format(" (%d times, %s in all)", sum.count, duration(sum.us)) or ""
end

-- What was needed, beside what was waited for.
local function needed(need, by)
    if not need then return "nothing that ran before" end
    local text = named(need.first)
    return format("only %s, which had ended", by and text == named(by) and "an earlier one of these"
                  or text)
end

local function out_of_default(span)
    return format("Keep %s out of the default stream: call it within lab.with(stream, ...), and "
                  .. "if it has no stream take a call that has one. A stream with non_blocking = "
                  .. "true is exempt from that rule, but then each order that the rule gave needs "
                  .. "a wait", named(span))
end

-- The needs of the waiter are not all known, for example those of work before the recording: so
-- each remedy keeps the waits that are needed.
local function of_event(waiter, by, need)
    local needed_id = need and need.first.stream_id
    local record = "record the event directly after the one operation whose result is used: "
                   .. "wait_stream() waits for all that the other stream holds at that moment"
    if by and needed_id == by.stream_id then
        return (string.gsub(record, "^r", "R"))
    elseif not need or needed_id == waiter.stream_id then
        return "Issue it before that wait if it depends on nothing that the wait is for; else "
               .. record
    end
    return "Let it wait for an event that is recorded directly after that, and issue it before any "
           .. "wait for work on which it does not depend"
end

local function remedy(finding, waiter, by, need)
    if finding.cause == "null_stream" then
        return out_of_default(by and by.stream_id == 0 and by or waiter)
    elseif finding.cause == "event_wait" then
        return of_event(waiter, by, need)
    end
    return "Put the two into different streams, with an event where one needs the other's result"
end

-- What was waited for: an operation; of an event's record the one before it in its stream, if any.
local function waited_for(known, correlation)
    local call = known.calls[correlation]
    for at = call and call.stream_id and correlation or 0, 1, -1 do
        local span = known.spans[at]
        if span and span.stream_id == call.stream_id then return span end
    end
    return known.spans[correlation] or call
end

-- "... could have begun 86.0 us earlier: it waited for B, and needs only C, ..."
local function order_text(known, sum, finding)
    local piece = known.piece_of[sum.example.waiter]
    local by = waited_for(known, sum.example.by)
    local need = sum.need
    return format("%s could have begun %s earlier%s: it waited for %s, and needs %s\n-> %s",
                  named(piece.first), duration(sum.longest_us), times(sum),
                  by and named(by) or "other work", needed(need, by),
                  remedy(finding, piece.first, by, need))
end

local function host_text(sum)
    local call, need = sum.example.call, sum.example.need
    return format("%s held the host %s longer than needed%s: %s\n-> %s",
                  named(call), duration(sum.longest_us), times(sum), need
                  and "what the host touches next was ready with " .. named(need.first)
                  or "what the host does next needs nothing of the GPU's", need
                  and "Wait for an event that is recorded directly after that"
                  or "Issue what is to run next before the host waits; for order on the GPU "
                     .. "s:wait_event(e) does not hold the host")
end

-- Needless waits -----------------------------------------------------------------------------

-- Of the host, by the line and the call that waited.
local function host_sums(known)
    local sums, list = {}, {}
    for _, wait in ipairs(known.host_waits) do
        local key = named(wait.call)
        if not sums[key] then
            sums[key] = new_sum()
            list[#list + 1] = sums[key]
        end
        local call = wait.call
        count(sums[key], call.host_end_us - math.max(call.host_start_us, wait.needed_us), wait)
    end
    for _, sum in ipairs(list) do sum.text = function() return host_text(sum) end end
    return list
end

-- Of a finding of tl:causes.
local function sum_of(known, finding)
    local sum = new_sum()
    for _, wait in ipairs(finding.waits) do
        local us, need = needless_us(known, finding, wait)
        count(sum, us, wait, need)
    end
    sum.key = format("%s|%s|%s", finding.cause, finding.by_where or "",
                     finding.cause ~= "host_blocked" and finding.waiter_where or "")
    function sum.text()
        return finding.cause == "host_blocked" and tap.loss_text(finding)
               or order_text(known, sum, finding)
    end
    return sum
end

-- The longest first, one for each pair of lines, without those too short to report.
local function worth_telling(sums, least_us)
    local list, seen = {}, {}
    table.sort(sums, function(a, b)
        if a.us ~= b.us then return a.us > b.us end
        return a.place < b.place
    end)
    for _, sum in ipairs(sums) do
        if sum.us >= least_us and sum.us > 0 and not (sum.key and seen[sum.key]) then
            list[#list + 1] = sum
        end
        if sum.key then seen[sum.key] = true end
    end
    return list
end

-- Work that only waited behind other work in its stream is reported only if there is nothing
-- else: the script may have meant that order.
local function needless(known, tl, op)
    local sums, in_stream = host_sums(known), {}
    for _, finding in ipairs(as(op, tl.causes, tl, { waits = true })) do
        local list = finding.cause == "stream_order" and in_stream or sums
        list[#list + 1] = sum_of(known, finding)
    end
    for _, list in ipairs{ sums, in_stream } do
        for i, sum in ipairs(list) do sum.place = i end
    end
    local least_us = least_share * known.makespan_us
    local list = worth_telling(sums, least_us)
    return #list > 0 and list or worth_telling(in_stream, least_us)
end

-- Lines about the waits that were not needed, at most so many; nil if there are none, or if
-- needs were not kept.
function tap.wait_lines(tl, op, most)
    local known = look_at(tl, op)
    if not known then return nil end
    local lines = {}
    for i, sum in ipairs(needless(known, tl, op)) do
        if i > most then break end
        lines[i] = sum.text()
    end
    return #lines > 0 and table.concat(lines, "\n") or nil
end
