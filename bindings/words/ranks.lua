-- ranks.lua - what lab.ranks found, for people, for scripts and as JSON: how far clocks are apart,
-- who waited for whom, and what collectives moved. Times come in ns (l_ranks.c).

local _, core = ...
local duration, units = core.duration, core.words.units

local words = {}

local shown_sizes <const> = 12          -- rows of the table of collectives
local drift_matters <const> = 10000     -- ns
local other_run <const> = 1000000000    -- ns between two files that were not recorded together

local function time(ns) return ns == 0 and "0" or duration(ns) end
local function count(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

-- ---- figures -------------------------------------------------------------------------------

-- Of a rank: time in collectives behind the last rank's start, and all time in collectives beside
-- which nothing is computed.
local function exchange_of(rank) return rank.comm - rank.wait end
local function exposed_of(rank) return rank.comm - rank.covered end

-- GB/s of one that took so long; nil where the size is not known.
local function bandwidth(size, ns)
    return size.bytes > 0 and ns > 0 and size.bytes / ns or nil
end

-- Most and mean of what the ranks compute.
local function imbalance(found)
    local sum, most = 0, 0
    for _, rank in ipairs(found.ranks) do
        sum = sum + rank.compute
        most = math.max(most, rank.compute)
    end
    return sum > 0 and most * #found.ranks / sum or nil
end

-- The rank that was last most often, and how often of how many: of steps where they are known.
local function straggler(found)
    local by_step = #found.steps > 0
    local times, late = by_step and "last_steps" or "last", by_step and "late_in_step" or "late"
    local worst = found.ranks[1]
    for _, rank in ipairs(found.ranks) do
        if rank[times] * rank[late] > worst[times] * worst[late] then worst = rank end
    end
    return worst, worst[times], by_step and #found.steps or found.collectives, worst[late],
           by_step and "step" or "collective"
end

-- ---- sentences -----------------------------------------------------------------------------

local sources <const> = {
    name = "Ranks are numbered as the files' names say, since not all files say it themselves.",
    order = "Ranks are numbered in the order of the files: neither files nor names say which they "
        .. "are.",
}

local function head(found)
    local some = count(#found.ranks, "rank")
    if found.world and found.world > #found.ranks then
        some = ("%d of %d ranks"):format(#found.ranks, found.world)
    end
    local total = 0
    for _, rank in ipairs(found.ranks) do total = math.max(total, rank.collectives) end
    return ("%s, with %s in common"):format(some, count(found.collectives, "collective"))
        .. (total > found.collectives and (" of at most %d on a rank."):format(total) or ".")
end

-- "rank 1 is 3.00 ms ahead of rank 0, rank 2 1.50 ms behind"
local function offsets(found)
    local parts, others = {}, 0
    for i = 2, #found.ranks do
        local rank = found.ranks[i]
        if #parts == 4 then
            others = others + 1
        else
            parts[#parts + 1] = ("rank %d%s %s %s%s"):format(rank.rank, #parts == 0 and " is" or "",
                time(math.abs(rank.offset)), rank.offset < 0 and "behind" or "ahead",
                #parts == 0 and (" of rank %d"):format(found.ranks[1].rank) or "")
        end
    end
    return table.concat(parts, ", ") .. (others > 0 and (", and %d more"):format(others) or "")
end

local function clocks(found)
    local most, spread = 0, 0
    for _, rank in ipairs(found.ranks) do
        most, spread = math.max(most, math.abs(rank.offset)), math.max(spread, rank.spread)
    end
    if most == 0 and spread == 0 then return "The clocks agree." end
    if not found.is_apart then
        return ("The clocks agree, as on one host: by the ends of collectives they are at most %s "
            .. "apart, which is taken off. Then nine in ten ends agree within %s.")
            :format(time(most), time(spread))
    end
    return ("By the ends of collectives the clock of %s. Times are moved by that; then nine in ten "
        .. "ends agree within %s."):format(offsets(found), time(spread))
end

local function drift(found)
    local worst = found.ranks[1]
    for _, rank in ipairs(found.ranks) do
        if math.abs(rank.drift) > math.abs(worst.drift) then worst = rank end
    end
    if math.abs(worst.drift) < drift_matters then return nil end
    return ("The clock of rank %d drifts: it is %s further %s at the end than at the beginning, "
        .. "by which waits there are wrong."):format(worst.rank, duration(math.abs(worst.drift)),
        worst.drift > 0 and "ahead" or "behind")
end

function words.late(found)
    local rank, times, of, by_ns, noun = straggler(found)
    if times == 0 or by_ns == 0 then return "No rank waited for another." end
    -- Where several collectives of a step waited, the step need not be longer by their sum.
    local most = noun == "step" and rank.most_in_step or by_ns
    return ("The others waited for rank %d in %d of %s, for %s in the median of these%s.")
        :format(rank.rank, times, count(of, noun), duration(by_ns), most < 0.95 * by_ns
            and (", the longest time for %s"):format(duration(most)) or "")
end

local function balance(found)
    local most = imbalance(found)
    return most and ("Computation: the rank with the most has %.2f x the mean."):format(most)
end

local function misfit(m)
    if m.at > 0 then
        return ("A group of ranks is left out: its collective %d is of another kind or size in two "
            .. "of the files."):format(m.at)
    end
    return ("Of a group of ranks one file has %d collectives and another %d: only those that both "
        .. "have are matched, as far as kinds and sizes tell."):format(m.least, m.most)
end

-- "2", "2 and 3", "2, 3 and 14 more", of n of which the list may have only the first.
local function numbers(list, n)
    if n == 1 then return ("%d"):format(list[1]) end
    if n == 2 then return ("%d and %d"):format(list[1], list[2]) end
    return ("%d, %d and %d more"):format(list[1], list[2], n - 2)
end

local function missing(found)
    local list, n = found.missing, found.missing.n
    if n == 0 then return nil end
    return ("There is no file of rank%s %s: whether the others waited for %s is not known."):format(
        n == 1 and "" or "s", numbers(list, n), n == 1 and "it" or "them")
end

-- Two ranks of which one had ended a second before the other began, by the clocks of their files.
local function other_times(found)
    local first, final = found.ranks[1], found.ranks[1]
    for _, rank in ipairs(found.ranks) do
        if rank.epoch == 0 then return nil end      -- a file without a clock
        if rank.epoch + rank.makespan < first.epoch + first.makespan then first = rank end
        if rank.epoch > final.epoch then final = rank end
    end
    local apart = final.epoch - first.epoch - first.makespan
    if apart < other_run then return nil end
    return ("By the clocks in the files, rank %d had ended %s before rank %d began: the files may "
        .. "be of different runs."):format(first.rank, duration(apart), final.rank)
end

-- What is in doubt about the files: sentences that differ in numbers alone are said once, of the
-- first rank.
local function of_files(found, list)
    local by_form, order = {}, {}
    for _, rank in ipairs(found.ranks) do
        for _, doubt in ipairs(rank.doubts or {}) do
            local form = doubt.sentence:gsub("%d[%d.,]*", "0")
            local same = by_form[form]
            if not same then
                same = { first = rank, sentence = doubt.sentence, ranks = {}, is_equal = true }
                by_form[form], order[#order + 1] = same, same
            end
            same.ranks[#same.ranks + 1] = rank.rank
            same.is_equal = same.is_equal and doubt.sentence == same.sentence
        end
    end
    for _, same in ipairs(order) do
        local who = #same.ranks == #found.ranks and "All ranks"
            or ("Rank%s %s"):format(#same.ranks == 1 and "" or "s",
                numbers(same.ranks, #same.ranks))
        local alike = same.is_equal and ""
            or (", each with its own figures; of rank %d"):format(same.first.rank)
        list[#list + 1] = ("%s%s: %s"):format(who, alike, same.sentence)
    end
end

-- What is in doubt.
function words.doubts(found)
    local list = {}
    for _, file in ipairs(found.left_out) do
        list[#list + 1] = ("'%s' is left out: %s."):format(core.safe(file.path), file.why)
    end
    list[#list + 1] = sources[found.source]
    list[#list + 1] = missing(found)
    list[#list + 1] = other_times(found)
    for _, m in ipairs(found.misfits) do list[#list + 1] = misfit(m) end
    if found.pairwise > 0 then
        list[#list + 1] = count(found.pairwise, "send and receive kernel")
            .. " of two ranks each are not matched."
    end
    if found.early > 0 then
        list[#list + 1] = ("In %d of %s a rank ends before another one starts: the files may be of "
            .. "different runs, or parts."):format(found.early,
            count(found.collectives, "collective"))
    end
    list[#list + 1] = drift(found)
    of_files(found, list)
    return list
end

-- ---- tables --------------------------------------------------------------------------------

-- The file's name without its folder. Where that is too long its ending goes first, so that what
-- tells ranks apart, mostly at the end, is not cut.
local function name_of(path, room)
    local name = path:match("([^/]+)/*$") or path
    if #name > room then name = name:gsub("%.gz$", ""):gsub("(.)%.%l+$", "%1") end
    return core.clip(core.safe(name), room)
end

local function put_ranks(put, found, room)
    put(("%4s  %7s  %7s  %8s  %7s  %7s  %5s  %s"):format("rank", "compute", "waited", "exchange",
        "covered", "exposed", "last", "file"))
    for _, rank in ipairs(found.ranks) do
        put(("%4d  %7s  %7s  %8s  %7s  %7s  %5d  %s"):format(rank.rank, time(rank.compute),
            time(rank.wait), time(exchange_of(rank)), time(rank.covered), time(exposed_of(rank)),
            rank.last, name_of(rank.path, room)))
    end
end

local function rate(value) return value and ("%.4g"):format(value) or "-" end

local function put_sizes(put, found)
    put(("%-14s  %10s  %5s  %7s  %7s  %6s  %8s"):format("collective", "size", "count", "median",
        "best", "GB/s", "bus GB/s"))
    for i = 1, math.min(#found.sizes, shown_sizes) do
        local size = found.sizes[i]
        local alone = bandwidth(size, size.median)
        put(("%-14s  %10s  %5d  %7s  %7s  %6s  %8s"):format(size.kind,
            size.bytes == 0 and "-" or units.bytes(size.bytes), size.count,
            time(size.median), time(size.best), rate(alone),
            rate(alone and alone * size.factor)))
    end
    if #found.sizes > shown_sizes then
        put(("and %d more kinds and sizes (--json has all)"):format(#found.sizes - shown_sizes))
    end
end

local legend <const> = "waited: inside collectives, for the last rank to start; exchange: from "
    .. "there on; covered: kernels compute during either; exposed: none does; last: collectives "
    .. "in which this rank started last."

-- A table on a terminal that may be too narrow for it.
local function table_text(put_rows, found, columns)
    local lines = {}
    put_rows(function(text) lines[#lines + 1] = text end, found, math.max(8, columns - 60))
    return core.words.narrow(table.concat(lines, "\n") .. "\n", columns)
end

function words.text(found, columns)
    local parts = {}
    local function say(text)
        if text then parts[#parts + 1] = core.fold(text, 0, columns):gsub("\n?$", "\n") end
    end
    say(head(found))
    say(clocks(found))
    for _, sentence in ipairs(words.doubts(found)) do say(sentence) end
    say(words.late(found))
    say(balance(found))
    parts[#parts + 1] = "\n" .. table_text(put_ranks, found, columns)
    say(legend)
    parts[#parts + 1] = "\n" .. table_text(put_sizes, found, columns)
    return table.concat(parts)
end

-- ---- for scripts ---------------------------------------------------------------------------

local function us(ns) return ns / 1000 end

function words.ranks(found)
    local list = {}
    for i, rank in ipairs(found.ranks) do
        list[i] = {
            rank = rank.rank, file = rank.path, operations = rank.operations,
            makespan_us = us(rank.makespan),
            compute_us = us(rank.compute), waited_us = us(rank.wait),
            exchange_us = us(exchange_of(rank)), covered_us = us(rank.covered),
            exposed_us = us(exposed_of(rank)), collectives = rank.collectives,
            matched = rank.matched, last = rank.last, late_us = us(rank.late),
            last_steps = rank.last_steps, late_in_step_us = us(rank.late_in_step),
            most_in_step_us = us(rank.most_in_step),
            clock_us = us(rank.offset), spread_us = us(rank.spread), drift_us = us(rank.drift),
        }
    end
    return list
end

function words.steps(found)
    local list = {}
    for i, step in ipairs(found.steps) do
        list[i] = { step = step.step, rank = found.ranks[step.rank].rank, late_us = us(step.late),
                    most_us = us(step.most) }
    end
    return list
end

function words.collectives(found)
    local list = {}
    for i, size in ipairs(found.sizes) do
        local median, best = bandwidth(size, size.median), bandwidth(size, size.best)
        list[i] = {
            kind = size.kind, bytes = size.bytes, ranks = size.ranks, count = size.count,
            median_us = us(size.median), best_us = us(size.best), gb_per_s = median,
            bus_gb_per_s = median and median * size.factor, best_gb_per_s = best,
            best_bus_gb_per_s = best and best * size.factor,
        }
    end
    return list
end

-- ---- for programs --------------------------------------------------------------------------

local function value_json(name, value)
    if type(value) == "string" then return core.json_string(value) end
    if name:find("_us$") then return core.json_milli(math.floor(value * 1000 + 0.5)) end
    return math.type(value) == "integer" and ("%d"):format(value) or ("%.6g"):format(value)
end

-- A list of tables of values, with their names in order.
local function list_json(list)
    local rows = {}
    for i, row in ipairs(list) do
        local members = {}
        for _, name in ipairs(core.arguments.sorted_keys(row)) do
            members[#members + 1] = ("%s: %s"):format(core.json_string(name),
                value_json(name, row[name]))
        end
        rows[i] = "    {" .. table.concat(members, ", ") .. "}"
    end
    return #rows > 0 and "[\n" .. table.concat(rows, ",\n") .. "\n  ]" or "[]"
end

function words.json(found)
    local doubts = {}
    for i, sentence in ipairs(words.doubts(found)) do doubts[i] = core.json_string(sentence) end
    local most = imbalance(found)
    return ('{\n  "collectives_in_common": %d,\n  "clocks_apart": %s,\n  "imbalance": %s,\n'
        .. '  "doubts": [%s],\n  "ranks": %s,\n  "steps": %s,\n  "collectives": %s\n}\n')
        :format(found.collectives, found.is_apart and "true" or "false",
            most and ("%.6g"):format(most) or "null", table.concat(doubts, ", "),
            list_json(words.ranks(found)), list_json(words.steps(found)),
            list_json(words.collectives(found)))
end

return words
