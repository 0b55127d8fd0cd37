-- tap_timeline.lua - the assertions of lab.tap about a timeline: what overlapped, how long it
-- took, how many of what there were, and what held the host.
--
-- Thresholds for times are for the simulated GPU. A real one uses those that begin with "gpu_";
-- if none is given, the assertion is skipped. Counts hold on both.

local _, core = ...

local as, raise, refuse, type_name = core.as, core.raise, core.refuse, core.type_name
local check_options, did_you_mean = core.arguments.check_options, core.arguments.did_you_mean
local is_count, sorted_keys = core.arguments.is_count, core.arguments.sorted_keys
local is_amount = core.arguments.is_amount
local tap = core.assertions
local duration, percent, number, check_name = tap.duration, tap.percent, tap.number, tap.check_name
local format = string.format

local chart_columns <const> = 76
local slack <const> = 1e-9          -- for what arithmetic with doubles loses

-- Arguments ------------------------------------------------------------------------------

local function check_timeline(tl, op)
    if type_name(tl) ~= "timeline" then
        refuse(op, "argument 2 (tl) must be a timeline, as lab.profile gives it, got %s",
               type_name(tl))
    end
    if tl.recording then
        raise("SL_ESTATE", op, "the timeline is still recording: call tl:stop() first")
    end
end

-- Defines t:NAME(tl, ...), as tap.assertion does.
local function assertion(name, n, f)
    tap.assertion(name, n, function(t, tl, ...)
        check_timeline(tl, name)
        return f(t, tl, ...)
    end)
end

local function is_share(value) return is_amount(value) and value <= 100 end
local function is_above_0(value) return is_amount(value) and value > 0 end

-- The checked options, of which one of `needed` must be there.
local function check_thresholds(opts, known, needed, arg, op)
    if type(opts) ~= "table" then
        refuse(op, "argument %d must be a table with a threshold, { %s = ... }, got %s", arg,
               needed[1], type_name(opts))
    end
    check_options(opts, known, op)
    for _, key in ipairs(needed) do
        if opts[key] ~= nil then return opts end
    end
    refuse(op, "needs a threshold: %s", table.concat(needed, " or "))
end

-- The thresholds that hold for the timeline's device, by the names of the simulator's; nil if
-- there are none.
local function thresholds(tl, opts, names)
    if tl.simulated then return opts end
    local found = {}
    for _, name in ipairs(names) do found[name] = opts["gpu_" .. name] end
    return next(found) and found
end

local function skip_on_gpu(t, op, name)
    return tap.skip(t, op, "this threshold is for the simulated GPU", name)
end

-- Where to look ----------------------------------------------------------------------------

local function chart_of(tl, op) return as(op, tl.text, tl, { columns = chart_columns }) end

local most_listed <const> = 3

-- A loss of time in words, and what to do about it.
function tap.loss_text(finding)
    local where = finding.by_where or finding.waiter_where
    local text = (where and where .. ": " or "") .. finding.sentence
    return finding.remedy and text .. "\n-> " .. finding.remedy or text
end

-- Whether a cause would gain less than half of what the first one would; if none would gain, the
-- same for what they lost.
local function is_lesser(finding, first)
    local gain, most = finding.gain_us or 0, first.gain_us or 0
    if most == 0 then return finding.lost_us < first.lost_us / 2 end
    return gain < most / 2
end

local least_part <const> = 0.05     -- of what is missing: a smaller loss is not why it is missing

-- Where the `missing_us` are that a test asks for: the waits that were not needed; if that is
-- unknown, or all were needed, `otherwise`, if it is given, or the causes that would gain most.
local function where_time_went(tl, op, missing_us, otherwise)
    local text = tap.wait_lines(tl, op, most_listed) or otherwise
    if text then return text end
    local findings, lines = as(op, tl.causes, tl), {}
    for i = 1, math.min(#findings, most_listed) do
        local finding = findings[i]
        if is_lesser(finding, findings[1]) then break end
        if math.max(finding.lost_us, finding.gain_us or 0) >= least_part * missing_us then
            lines[#lines + 1] = tap.loss_text(finding)
        end
    end
    return #lines > 0 and table.concat(lines, "\n") or nil
end

-- A line for each of the first calls: where, what, when, and how long it held the host.
local function list_calls(calls)
    local lines = {}
    for i = 1, math.min(#calls, most_listed) do
        local call = calls[i]
        lines[i] = format("%s%s at %s, for %s", call.where ~= "" and call.where .. ": " or "",
                          call.name, duration(call.start_us), duration(call.us))
    end
    if #calls > most_listed then lines[#lines + 1] = format("and %d more", #calls - most_listed) end
    return #lines > 0 and table.concat(lines, "\n") or nil
end

-- Overlaps ---------------------------------------------------------------------------------

local function stream_text(stream)
    local fine, name = pcall(function() return stream.name end)
    return fine and type(name) == "string" and name ~= "" and "stream " .. name
           or tostring(stream)
end

local function selection_text(sel)
    if type(sel) == "string" then return sel end
    if type_name(sel) == "stream" then return stream_text(sel) end
    local parts = {}
    for i, key in ipairs(sorted_keys(sel)) do
        local value = sel[key]
        parts[i] = type_name(value) == "stream" and stream_text(value)
                   or (key == "stream" and "stream " or "") .. tostring(value)
    end
    return #parts > 0 and table.concat(parts, " ") or "work"
end

-- What f gives for the selections; nil and the reason if the timeline has no stream of that
-- name, which is a mistake of the student, not of the test.
local function ask(op, f, tl, ...)
    local fine, answer = pcall(as, op, f, tl, ...)
    if fine then return answer end
    if type(answer) ~= "table" or rawget(answer, "code") ~= "SL_ENOTFOUND" then error(answer, 0) end
    return nil, answer.message
end

local overlap_options = {}
for i, name in ipairs{ "at_least_percent", "at_most_percent", "gpu_at_least_percent",
                       "gpu_at_most_percent" } do
    overlap_options[i] = { name, "a number from 0 to 100", is_share }
end

-- "at least 10 % and at most 90 %"
local function limits_text(rules, show)
    local least, most = rules.at_least_percent, rules.at_most_percent
    return (least and "at least " .. show(least) or "") .. (least and most and " and " or "")
           .. (most and "at most " .. show(most) or "")
end

local function short_percent(value) return number(value) .. " %" end

-- How long the shorter of both was busy; nil and which never was.
local function shorter_us(tl, a, b)
    local least_us = math.huge
    for _, sel in ipairs{ a, b } do
        local us = as("overlap", tl.busy_us, tl, sel)
        if us == 0 then return nil, format("no %s took any time", selection_text(sel)) end
        least_us = math.min(least_us, us)
    end
    return least_us
end

local function overlap_found(tl, a, b, both_us, why, rules)
    local found, least_us = { asked = limits_text(rules, percent), seen = why }, nil
    if both_us then least_us, found.seen = shorter_us(tl, a, b) end
    found.is_absent = not least_us
    if not least_us then return false, found end
    local share = 100 * both_us / least_us
    found.seen = format("%s (%s of %s)", percent(share), duration(both_us), duration(least_us))
    found.missing_us = (rules.at_least_percent or 0) / 100 * least_us - both_us
    local too_little = share < (rules.at_least_percent or 0) - slack
    local too_much = share > (rules.at_most_percent or 100) + slack
    if too_little then found.otherwise = tap.same_stream_text(tl, a, b, "overlap") end
    if too_much then found.look = tap.together_text(tl, a, b, "overlap") end
    return not too_little and not too_much, found
end

-- Adds the lines below a failed assertion about times. If nothing is missing, as where what was to
-- run did not, or where there is too much, where the time went is no answer.
local function conclude_times(t, op, tl, passed, name, found)
    if not passed then
        if not found.look and (found.missing_us or 0) > 0 then
            found.look = where_time_went(tl, op, found.missing_us, found.otherwise)
        end
        found.chart = chart_of(tl, op)
    end
    return tap.conclude(t, op, passed, name, found)
end

assertion("overlap", 6, function(t, tl, a, b, opts, name)
    check_thresholds(opts, overlap_options, { "at_least_percent", "at_most_percent" }, 5, "overlap")
    local both_us, why = ask("overlap", tl.overlap_us, tl, a, b)
    local rules = thresholds(tl, opts, { "at_least_percent", "at_most_percent" })
    name = check_name(name, 6, "overlap", format("%s and %s overlap by %s", selection_text(a),
                      selection_text(b), limits_text(rules or opts, short_percent)))
    if not rules then return skip_on_gpu(t, "overlap", name) end
    local passed, found = overlap_found(tl, a, b, both_us, why, rules)
    return conclude_times(t, "overlap", tl, passed, name, found)
end)

-- The makespan -----------------------------------------------------------------------------

local makespan_options = {
    { "within_percent", "a number from 0 on", is_amount },
    { "gpu_within_percent", "a number from 0 on", is_amount },
    { "of_us", "a number above 0", is_above_0 },
}

local function makespan_found(tl, within_percent, of_us)
    local bounds = as("makespan", tl.bounds, tl)
    local reference_us = of_us or bounds.busiest_engine_us
    if tl.makespan_us == 0 or reference_us == 0 then
        return false, { seen = "nothing ran", asked = "work on the device" }
    end
    local engine = of_us and "" or format(", the busy time of %s", bounds.busiest_engine)
    local limit_us = reference_us * (1 + within_percent / 100)
    return tl.makespan_us <= limit_us + 0.0005, {      -- half a nanosecond
        seen = format("%s, %s more than %s%s", duration(tl.makespan_us),
                      percent(100 * (tl.makespan_us / reference_us - 1)),
                      duration(reference_us), engine),
        asked = format("at most %s, %s more", duration(limit_us), percent(within_percent)),
        missing_us = tl.makespan_us - limit_us,
    }
end

assertion("makespan", 4, function(t, tl, opts, name)
    check_thresholds(opts, makespan_options, { "within_percent" }, 3, "makespan")
    local rules = thresholds(tl, opts, { "within_percent" })
    name = check_name(name, 4, "makespan", format("the makespan is within %s of %s",
                      short_percent((rules or opts).within_percent),
                      opts.of_us and duration(opts.of_us) or "what the busiest engine works"))
    if not rules then return skip_on_gpu(t, "makespan", name) end
    local passed, found = makespan_found(tl, rules.within_percent, opts.of_us)
    return conclude_times(t, "makespan", tl, passed, name, found)
end)

-- Counts -----------------------------------------------------------------------------------

local count_needed = { "exactly", "at_least", "at_most" }
local count_options = {}
for i, name in ipairs(count_needed) do
    count_options[i] = { name, "a whole number from 0 on", is_count }
end

-- "at least 2 and at most 4", and the number that decides whether the noun is plural.
local function count_text(opts)
    local parts, last = {}, nil
    for _, key in ipairs(count_needed) do
        if opts[key] then
            local words = string.gsub(key, "_", " ")
            parts[#parts + 1] = format("%s %d", words, math.tointeger(opts[key]))
            last = opts[key]
        end
    end
    return table.concat(parts, " and "), last
end

local function nouns(n, noun) return n == 1 and noun or noun .. "s" end

local function fits(n, opts)
    return (not opts.exactly or n == opts.exactly) and n >= (opts.at_least or 0)
           and n <= (opts.at_most or math.huge)
end

-- `named` is the name that was given, which argument that is, and what the one that is made has
-- behind the noun for what is counted.
local function assert_count(t, op, n, opts, named, noun, look)
    local text, last = count_text(opts)
    local name = check_name(named[1], named[2], op,
                            format("%s %s %s", text, nouns(last, noun), named[3]))
    return tap.conclude(t, op, fits(n, opts), name,
                        { seen = format("%d %s", n, nouns(n, noun)), asked = text, look = look })
end

-- A line for a span of each of the first streams.
local function list_streams(spans)
    local lines, seen, n = {}, {}, 0
    for _, span in ipairs(spans) do
        if not seen[span.stream_id] then
            n = n + 1
            if n <= most_listed then
                local where = span.where ~= "" and span.where .. ": " or ""
                lines[n] = format('%s%s in "%s"', where, span.name, span.stream)
            end
        end
        seen[span.stream_id] = true
    end
    if n > most_listed then lines[#lines + 1] = format("and %d more", n - most_listed) end
    return #lines > 0 and table.concat(lines, "\n") or nil
end

assertion("stream_count", 4, function(t, tl, opts, name)
    check_thresholds(opts, count_options, count_needed, 3, "stream_count")
    local look = list_streams(as("stream_count", tl.spans, tl))
    return assert_count(t, "stream_count", tl.stream_count, opts,
                        { name, 4, "with work" }, "stream", look)
end)

assertion("span_count", 5, function(t, tl, sel, opts, name)
    check_thresholds(opts, count_options, count_needed, 4, "span_count")
    local n, why = ask("span_count", core.count_spans, tl, sel)
    return assert_count(t, "span_count", n or 0, opts,
                        { name, 5, "of " .. selection_text(sel) }, "operation", why)
end)

-- Calls of the host ------------------------------------------------------------------------

-- The names that calls can have; a typo must not make t:no_call pass.
local known_names = { host_work = true, ["pinned allocation"] = true }
for name in string.gmatch([[
    cudaLaunchKernel cudaMemcpyAsync cudaMemsetAsync cudaLaunchHostFunc cudaEventRecord
    cudaStreamWaitEvent cudaStreamSynchronize cudaEventSynchronize cudaDeviceSynchronize
    cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMallocAsync cudaFreeAsync
    cudaHostRegister cudaHostUnregister cudaFuncSetCacheConfig cudaDeviceSetLimit cudaMemGetInfo
    cudaDeviceCanAccessPeer cudaDeviceEnablePeerAccess cudaDeviceDisablePeerAccess cublasCreate
    cublasDestroy cudaGraphLaunch]], "%a+") do
    known_names[name] = true
end

-- All calls in the order of issue, those that enqueue operations as well, without the one that
-- ends the recording: {name =, where =, start_us =, us =, kind =}. `name` nil: of any name. A
-- launch of a graph is one call, however many nodes it has.
local function host_calls(tl, name, op)
    local calls = {}
    local function add(item, item_name, kind)
        if name and item_name ~= name then return end
        calls[#calls + 1] = { name = item_name, where = item.where, kind = kind,
                              start_us = item.host_start_us, number = item.correlation,
                              us = item.host_end_us - item.host_start_us }
    end
    for _, span in ipairs(as(op, tl.spans, tl)) do
        if not span.launch then add(span, span.call, "enqueue") end
    end
    for _, call in ipairs(as(op, tl.calls, tl)) do
        if not call.of_stop then add(call, call.name, call.kind) end
    end
    table.sort(calls, function(a, b) return a.number < b.number end)
    return calls
end

-- The calls of that name, which is refused if there is no such call.
local function named_calls(tl, name, op)
    if type(name) ~= "string" then
        refuse(op, "argument 3 (call) must be the CUDA name of a call, got %s", type_name(name))
    end
    local calls = host_calls(tl, name, op)
    if #calls == 0 and not known_names[name] and not string.find(name, "^cu%u") then
        local near = did_you_mean(name, known_names)
        refuse(op, "no call is recorded as '%s'%s", tap.one_line(string.sub(name, 1, 60)),
               near ~= "" and near or "; they have the names that tl:calls() and tl:spans() show")
    end
    return calls
end

assertion("call_count", 5, function(t, tl, call, opts, name)
    check_thresholds(opts, count_options, count_needed, 4, "call_count")
    local calls = named_calls(tl, call, "call_count")
    return assert_count(t, "call_count", #calls, opts, { name, 5, "of " .. call }, "call",
                        list_calls(calls))
end)

assertion("no_call", 4, function(t, tl, call, name)
    local calls = named_calls(tl, call, "no_call")
    name = check_name(name, 4, "no_call", "no call of " .. call)
    return tap.conclude(t, "no_call", #calls == 0, name, {
        seen = format("%d %s", #calls, nouns(#calls, "call")), asked = "none",
        look = list_calls(calls),
    })
end)

local block_options = {
    { "at_most_us", "a number from 0 on", is_amount },
    { "at_most_percent", "a number from 0 on", is_amount },
    { "gpu_at_most_percent", "a number from 0 on", is_amount },
}
local block_needed = { "at_most_us", "at_most_percent" }

-- How long a call may last: the shorter of both limits; and that in words.
local function block_limit(tl, rules)
    local by_percent = rules.at_most_percent and tl.makespan_us * rules.at_most_percent / 100
    local limit_us = math.min(rules.at_most_us or math.huge, by_percent or math.huge)
    if limit_us == by_percent then
        return limit_us, format("%s, %s of the makespan", duration(limit_us),
                                percent(rules.at_most_percent))
    end
    return limit_us, duration(limit_us)
end

local function block_name(rules)
    local parts = {}
    if rules.at_most_us then parts[1] = duration(rules.at_most_us) end
    if rules.at_most_percent then
        parts[#parts + 1] = short_percent(rules.at_most_percent) .. " of the makespan"
    end
    return "no call holds the host longer than " .. table.concat(parts, " or ")
end

-- The calls that last too long, the longest first; host_work is no call of CUDA's.
local function holding_calls(tl, limit_us)
    local longer = {}
    for _, call in ipairs(host_calls(tl, nil, "host_block")) do
        if call.us > limit_us + 0.0005 and call.kind ~= "host_work" then
            longer[#longer + 1] = call
        end
    end
    table.sort(longer, function(a, b)
        if a.us ~= b.us then return a.us > b.us end
        return a.number < b.number
    end)
    return longer
end

assertion("host_block", 4, function(t, tl, opts, name)
    check_thresholds(opts, block_options, block_needed, 3, "host_block")
    local rules = thresholds(tl, opts, { "at_most_percent" })
    name = check_name(name, 4, "host_block", block_name(rules or opts))
    if not rules then return skip_on_gpu(t, "host_block", name) end
    local limit_us, asked = block_limit(tl, rules)
    local longer = holding_calls(tl, limit_us)
    return conclude_times(t, "host_block", tl, #longer == 0, name, {
        seen = longer[1] and format("%s in %s", duration(longer[1].us), longer[1].name),
        asked = "at most " .. asked, look = list_calls(longer),
    })
end)
