-- loop.lua FOLDER - what a folder of loop.sh holds: a row for each change of the training loop,
-- with what was predicted from the recording before it, and what was measured, untraced. The
-- recordings are unpacked before.
--
-- Times are of one step; of walls the median of the turns. Predicted is the wall before by what
-- lab.whatif says of after/before, as a recorded host is slower; "alone" is what it says of the
-- time after by itself.
local folder <const> = assert(arg[1], "usage: loop.lua FOLDER")
local first <const>, last <const> = 80, 109 -- the steps, as in loop.sh

local function median(list)
    table.sort(list)
    return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

local walls <const> = {}
for line in io.lines(folder .. "/walls.tsv") do
    local state, steps, seconds = line:match "^(%a+)\t%d+\t(%d+)\t([%d.]+)$"
    walls[state] = walls[state] or {}
    table.insert(walls[state], tonumber(seconds) / tonumber(steps) * 1000)
end

-- The edits of a line, as {method, selection}.
local function edits_of(text)
    local edits = {}
    for name, selection in text:gmatch "%-%-([%a-]+) '(.-)'" do
        edits[#edits + 1] = { name:gsub("-", "_"), selection }
    end
    return edits
end

local function predicted(path, edits)
    local w = lab.whatif(lab.load(path):part { step = first, last_step = last })
    for _, edit in ipairs(edits) do
        w[edit[1]](w, edit[2])
    end
    return w:predict()
end

local layout <const> = "%-8s %10s %10s %16s %10s %8s %10s"
print(layout:format("change", "before", "predicted", "range", "measured", "off by",
    "alone"))
local n, state = 0, "before"
for line in io.lines "tests/record/programs/training_loop.txt" do
    local change, edits = line:match "^(%a+) (.+)$"
    if not change then break end
    local before, after = median(walls[state]), median(walls[change])
    local path = ("%s/spools/%d-%s.spool"):format(folder, n, state)
    local fine, p = pcall(predicted, path, edits_of(edits))
    local problem = not fine and tostring(p) or p.refused
    local ms, range, off, alone = "", problem, "", ""
    if not problem then
        local factor = before / p.before_us
        local predicted_ms = p.after_us * factor
        alone = ("%.2f ms"):format(p.after_us / 1000 / (last - first + 1))
        ms, off = ("%.2f ms"):format(predicted_ms),
            ("%+.1f %%"):format(100 * (predicted_ms / after - 1))
        range = ("%.2f to %.2f"):format(p.range_us.low * factor, p.range_us.high * factor)
    end
    print(layout:format(change, ("%.2f ms"):format(before), ms, range,
        ("%.2f ms"):format(after), off, alone))
    n, state = n + 1, change
end
print(("all: %.2f of the time before"):format(median(walls[state]) / median(walls.before)))
