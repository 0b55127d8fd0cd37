-- predicted.lua FOLDER [all|first|second] - what a folder of pairs.sh holds beside what is
-- predicted from the recordings before: a row for each pair, then figures of each set. FOLDER has
-- walls.tsv and the unpacked spools. The first set is that of pairs.lua, which was looked at while
-- the model was adjusted; the second that of pairs_more.lua, which was not.
--
-- The truth is the untraced time after the change as a part of that before, medians of the turns;
-- traced is the same of the loops as they were recorded. Predicted is what lab.whatif says with the
-- edits of these lists. An error is predicted/truth - 1: with the untraced time before it is that
-- of the time after. "From the recording alone" is the predicted time after, of which nothing but
-- the recording is known, beside the untraced one.
local folder <const> = assert(arg[1], "usage: predicted.lua FOLDER [all|first|second]")
local wanted <const> = arg[2] or "all"
local pairs_of <const> = {}
for _, set in ipairs { { "first", "pairs" }, { "second", "pairs_more" } } do
    for _, row in ipairs(dofile(("tests/record/programs/%s.lua"):format(set[2]))) do
        row.set = set[1]
        pairs_of[#pairs_of + 1] = row
    end
end

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
        local list = ("ls -S '%s'/*.spool '%s'/*.json 2>/dev/null"):format(path, path)
        local found <close> = io.popen(list)
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

-- The place among the single changes that lab.whatif tries itself: each edit has one row there. Of
-- the first edit of a pair, or of another that gains as much, to a tenth of the time after.
local function place_of(ranked, edit, after_us)
    local same
    for place, remedy in ipairs(ranked) do
        local rows = table.move(remedy.more or {}, 1, #(remedy.more or {}), 2, { remedy })
        for _, row in ipairs(rows) do
            local is_near = after_us and math.abs(row.after_us / after_us - 1) < 0.1
            if row.edit == edit[1] and is_near then
                return place, place
            end
        end
        same = same or remedy.edit == edit[1] and place or nil
    end
    return same, nil
end

local function by_whatif(row, before, after)
    local w = lab.whatif(before)
    local answer = { identity = w:identity().error }
    local fine, problem = pcall(function()
        apply(w, { table.unpack(row, 2) }, before, after)
        local predicted = w:predict()
        answer.before_us, answer.after_us = predicted.before_us, predicted.after_us
        answer.range_us, answer.refused = predicted.range_us, predicted.refused
    end)
    answer.problem = not fine and tostring(problem) or answer.refused
    local ranked, remedies = pcall(function() return (lab.whatif(before):rank()) end)
    if ranked then
        answer.place, answer.near = place_of(remedies, row[2], answer.after_us)
    end
    return answer
end

-- ---- the table -----------------------------------------------------------------------------

local layout <const> = "%2s %-23s %9s %6s %6s %9s %8s  %-14s  %s"

local function percent(x) return ("%+.1f%%"):format(100 * x) end

local function new_figures()
    return { errors = {}, alone = {}, widths = {}, identities = {}, measured = 0, in_range = 0,
             changing = 0, right = 0, first = 0, near = 0 }
end

local function judge(f, truth, answer, after_us)
    local predicted = answer.after_us / answer.before_us
    f.errors[#f.errors + 1] = math.abs(predicted / truth - 1)
    f.alone[#f.alone + 1] = math.abs(answer.after_us / after_us - 1)
    if math.abs(truth - 1) > 0.03 then
        f.changing = f.changing + 1
        f.right = f.right + ((truth < 1) == (predicted < 1) and predicted ~= 1 and 1 or 0)
    end
    local range, before_us = answer.range_us, answer.before_us
    local low, high = range.low / before_us, range.high / before_us
    f.widths[#f.widths + 1] = (high - low) / predicted
    f.in_range = f.in_range + (low <= truth and truth <= high and 1 or 0)
    return ("%.3f"):format(predicted), percent(predicted / truth - 1),
        ("%.3f to %.3f"):format(low, high)
end

-- Where the pair's edit is, and why nothing is predicted.
local function notes_of(answer)
    local place = answer.place and ("place %d"):format(answer.place) or "no place"
    if answer.place and not answer.near then
        place = place .. ", of another gain"
    end
    return answer.problem and place .. ", " .. answer.problem or place
end

local function print_pair(f, number, row)
    local name, wall = row[1], walls[row[1]]
    local before, after = trace_of(number, "before"), trace_of(number, "after")
    if not before or not after or not wall or not wall.after then
        print(("%2d %s: it was not recorded or not timed"):format(number, name))
        return
    end
    f.measured = f.measured + 1
    local truth = median(wall.after) / median(wall.before)
    local answer = by_whatif(row, before, after)
    f.identities[#f.identities + 1] = math.abs(answer.identity)
    f.first = f.first + (answer.place and answer.place <= 3 and 1 or 0)
    f.near = f.near + (answer.near and answer.near <= 3 and 1 or 0)
    local predicted, wrong, range = "", "", ""
    if answer.after_us then
        predicted, wrong, range = judge(f, truth, answer, 1e6 * median(wall.after))
    end
    local of = recorded[name]
    local traced = of and of.before and of.after and of.after[1] / of.before[1]
    print(layout:format(number, name, ("%.1f ms"):format(1000 * median(wall.before)),
        ("%.3f"):format(truth), traced and ("%.3f"):format(traced) or "", predicted, wrong, range,
        notes_of(answer)))
end

local function spread(list)
    return ("median %.1f %%, p90 %.1f %%, worst %.1f %%"):format(100 * median(list),
        100 * quantile(list, 0.9), 100 * quantile(list, 1))
end

local function print_figures(title, f)
    print(("\n%s: %d pairs measured, %d predicted"):format(title, f.measured, #f.errors))
    if #f.errors == 0 then
        return
    end
    print("time after against untraced walls: " .. spread(f.errors))
    print("  from the recording alone:        " .. spread(f.alone))
    print(("sign right in %d of %d that change by more than 3 %%"):format(f.right, f.changing))
    print(("truth in the range in %d of %d; widths, of the time after: %s"):format(f.in_range,
        #f.errors, spread(f.widths)))
    print(("among the first three changes tried: in %d of %d, with that gain in %d"):format(f.first,
        f.measured, f.near))
    print("played unchanged: " .. spread(f.identities))
end

-- Of a set that FOLDER has none of, nothing is said.
local function is_there(set)
    for _, row in ipairs(pairs_of) do
        if row.set == set and walls[row[1]] then
            return true
        end
    end
end

print(layout:format("", "pair", "before", "truth", "traced", "predicted", "error", "range",
    "its edit in rank()"))
local figures <const> = {}
for _, set in ipairs { "first", "second" } do
    if is_there(set) and (wanted == "all" or wanted == set) then
        local f = new_figures()
        for number, row in ipairs(pairs_of) do
            if row.set == set then
                print_pair(f, number, row)
            end
        end
        figures[#figures + 1] = { set, f }
    end
end
for _, of in ipairs(figures) do
    print_figures(of[1] .. " set", of[2])
end
