-- predicted.lua FOLDER [odd|even|all] - what a folder of pairs.sh holds beside what is predicted
-- from the recordings before: a row for each pair, then medians. FOLDER has walls.tsv and the
-- unpacked spools; without a word the odd pairs are shown, which may be looked at while the model
-- is adjusted.
--
-- The truth is the untraced time after the change as a part of that before, medians of the turns;
-- traced is the same of the loops as they were recorded. Predicted is what lab.whatif says with the
-- edits of pairs.lua, where that is there; else ending the cause that leads, by tl:verdict.
-- An error is predicted/truth - 1.
local folder <const> = assert(arg[1], "usage: predicted.lua FOLDER [odd|even|all]")
local half <const> = arg[2] or "odd"
local pairs_of <const> = dofile "tests/record/programs/pairs.lua"

local function quantile(list, q)
    table.sort(list)
    return list[math.max(1, math.ceil(#list * q))]
end

-- Of an even number the mean of the two in the middle.
local function median(list)
    return (quantile(list, 0.5) + list[#list // 2 + 1]) / 2
end

-- ---- what was measured ---------------------------------------------------------------------

-- {pair = {side = {seconds of each turn}}}
local function read_seconds(path, column)
    local all = {}
    local file <close> = io.open(path)
    for line in file and file:lines() or function() end do
        local cells = {}
        for cell in line:gmatch "[^\t]+" do
            cells[#cells + 1] = cell
        end
        local of = all[cells[1]] or {}
        all[cells[1]] = of
        of[cells[2]] = of[cells[2]] or {}
        table.insert(of[cells[2]], tonumber(cells[column]))
    end
    return all
end

local walls <const> = read_seconds(folder .. "/walls.tsv", 5)
local recorded <const> = read_seconds(folder .. "/spools/recorded.tsv", 5)

-- The recordings that there are, of the process with the most of each: {path =, tl =}.
local function read_spools()
    local all = {}
    for path in io.popen(("ls -d '%s'/spools/*/"):format(folder)):lines() do
        local found <close> = io.popen(("ls -S '%s'/*.spool 2>/dev/null"):format(path))
        local largest = found:read "l"
        if largest then
            all[#all + 1] = { path = largest, tl = lab.load(largest) }
        end
    end
    return all
end

local spools <const> = read_spools()

-- Both sides are in one process, or each in one of its own.
local function trace_of(number, side)
    for _, spool in ipairs(spools) do
        local alone <const> = spool.path:find("-%a+/") ~= nil
        if not alone or spool.path:find("-" .. side .. "/", 1, true) then
            local step <const> = number + (side == "after" and not alone and 100 or 0)
            local fine, part = pcall(spool.tl.part, spool.tl, { step = step })
            if fine then
                return part
            end
        end
    end
end

-- ---- what is predicted ---------------------------------------------------------------------

-- As a pattern of Lua's.
local function pattern_of(glob)
    return "^" .. glob:gsub("[%^%$%(%)%%%.%[%]%+%-]", "%%%0"):gsub("%*", ".*"):gsub("?", ".") .. "$"
end

local function kernel_us(tl, glob)
    local chosen, all, pattern = 0, 0, pattern_of(glob)
    for _, span in ipairs(tl:spans()) do
        if span.kind == "kernel" then
            local us = span.end_us - span.start_us
            all = all + us
            chosen = chosen + (span.name:find(pattern) and us or 0)
        end
    end
    return chosen, all
end

-- By what the chosen kernels' time is multiplied, if the others' is unchanged.
local function measured_factor(before, after, glob)
    local chosen, all = kernel_us(before, glob)
    local _, all_after = kernel_us(after, "*")
    return (all_after - (all - chosen)) / chosen
end

local function apply(w, edits, before, after)
    for _, edit in ipairs(edits) do
        local word, selection, value = table.unpack(edit)
        if value == "measured" then
            value = measured_factor(before, after, selection)
        end
        w[word](w, selection, value)
    end
end

-- The place of the first edit among single remedies: the first of its kind.
local function place_of(w, edit)
    for place, remedy in ipairs(w:rank()) do
        local text = type(remedy.edit) == "table" and table.concat(remedy.edit, " ")
            or tostring(remedy.edit)
        if text:gsub("[-_]", ""):find(edit[1]:gsub("_", ""), 1, true) then
            return place
        end
    end
end

local function by_whatif(row, before, after)
    local w = lab.whatif(before)
    local answer = { identity = w:identity().error, how = "edits" }
    local fine, problem = pcall(function()
        apply(w, { table.unpack(row, 2) }, before, after)
        local predicted = w:predict()
        answer.before_us, answer.after_us = predicted.before_us, predicted.after_us
        answer.range_us, answer.refused = predicted.range_us, predicted.refused
    end)
    answer.problem = not fine and tostring(problem) or nil
    local ranked, place = pcall(function() return place_of(lab.whatif(before), row[2]) end)
    answer.place = ranked and place or nil
    return answer
end

local function by_verdict(before)
    local verdict = before:verdict()
    local span_us = before.makespan_us - (verdict.recording_us or 0)
    local gain_us = verdict.gain_us or 0
    local lead = before:causes()[1]
    if verdict.cause == "host_issuing" and lead and lead.as_graph_us then
        gain_us = math.max(gain_us, span_us - lead.as_graph_us)
    end
    return { before_us = span_us, after_us = span_us - gain_us, how = verdict.cause or "nothing" }
end

-- ---- the table -----------------------------------------------------------------------------

local layout <const> = "%2s %-22s %9s %7s %7s %9s %8s %14s %9s  %s"
local errors, absolutes, identities, places = {}, {}, {}, {}
local signs, in_range, ranged, shown = { right = 0, all = 0 }, 0, 0, 0

local function percent(x) return x and ("%+.1f%%"):format(100 * x) or "" end

local function judge(row, truth, answer)
    local predicted = answer.after_us / answer.before_us
    local wrong = predicted / truth - 1
    errors[#errors + 1] = math.abs(wrong)
    absolutes[#absolutes + 1] = math.abs(answer.after_us / 1e6 / median(walls[row[1]].after) - 1)
    if math.abs(truth - 1) > 0.03 then
        signs.all = signs.all + 1
        signs.right = signs.right + ((truth < 1) == (predicted < 1) and predicted ~= 1 and 1 or 0)
    end
    local range = answer.range_us
    if not range then
        return predicted, wrong, ""
    end
    local low, high = range.low / answer.before_us, range.high / answer.before_us
    ranged = ranged + 1
    in_range = in_range + (low <= truth and truth <= high and 1 or 0)
    return predicted, wrong, ("%.3f to %.3f"):format(low, high)
end

local function print_pair(number, row)
    local name = row[1]
    local before, after = trace_of(number, "before"), trace_of(number, "after")
    local wall = walls[name]
    if not before or not after or not wall or not wall.after then
        print(("%2d %s: it was not recorded or not timed"):format(number, name))
        return
    end
    local truth = median(wall.after) / median(wall.before)
    local answer = lab.whatif and by_whatif(row, before, after) or by_verdict(before)
    local predicted, wrong, range, note = nil, nil, nil, answer.how
    if answer.after_us then
        predicted, wrong, range = judge(row, truth, answer)
        shown = shown + 1
    end
    if answer.identity then
        identities[#identities + 1] = math.abs(answer.identity)
        places[#places + 1] = answer.place
        note = answer.place and ("place " .. answer.place) or "no place"
    end
    if answer.problem then
        note = note .. ", " .. answer.problem
    elseif answer.refused then
        note = note .. ", refused: " .. answer.refused
    end
    local of = recorded[name]
    local traced = of and of.before and of.after and of.after[1] / of.before[1]
    print(layout:format(number, name, ("%.1f ms"):format(1000 * median(wall.before)),
        ("%.3f"):format(truth), traced and ("%.3f"):format(traced) or "",
        predicted and ("%.3f"):format(predicted) or "", percent(wrong),
        range or "", percent(answer.identity), note))
end

print(layout:format("", "pair", "before", "truth", "traced", "predicted", "error", "range",
    "identity", lab.whatif and "its edit in rank()" or "the cause that leads"))
for number, row in ipairs(pairs_of) do
    local odd <const> = number % 2 == 1
    if half == "all" or odd == (half == "odd") then
        print_pair(number, row)
    end
end
if shown == 0 then
    return
end
print(("error of after/before: median %.1f %%, p90 %.1f %%, worst %.1f %% of %d; of the time after "
    .. "itself %.1f %%, %.1f %%"):format(100 * median(errors), 100 * quantile(errors, 0.9),
    100 * quantile(errors, 1), #errors, 100 * median(absolutes), 100 * quantile(absolutes, 0.9)))
print(("sign right in %d of %d that change by more than 3 %%; in the range %d of %d"):format(
    signs.right, signs.all, in_range, ranged))
if #identities > 0 then
    local first = 0
    for _, place in ipairs(places) do
        first = first + (place <= 3 and 1 or 0)
    end
    print(("identity: median %.1f %%, p90 %.1f %%; the edit is among the first three in %d of %d")
        :format(100 * median(identities), 100 * quantile(identities, 0.9), first, #identities))
end
