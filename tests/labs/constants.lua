-- constants.lua - who writes for the visible tests alone gets 30 points at most: in each lab a
-- submission that is right for what these ask for, and the starter's for all else; some that return
-- constants, or have formulas that fit the visible sizes (constants/LAB*.lua); and solutions that
-- are narrowed (changed.lua). Solutions that race get 25 at most.
local tap = require "tap"
local shell = require "shell"
local changed = require "changed"

local constants = {}
local most <const>, most_racing <const> = 30, 25

-- For each function of a lab: whether a visible test calls it so.
local visible <const> = {
    ["02-events-and-ordering"] = {
        fan = "#select(2, ...) == 3", time_each = "#(...) == 20",
        relay = "#(...) == 2 and select(2, ...) == 6",
        hand_over = "false",            -- what it is given shows nothing
    },
    ["03-pinned-and-pageable"] = {
        feed = "(...):numel() == 4 << 18 and (select(2, ...) == 1 or select(2, ...) == 24)",
        stage = "(...) == 8 and select(2, ...) == 4 << 18",
        collect = "(...) == 8 and select(2, ...) == 1 << 18",
    },
    ["04-pipelining-a-batch"] = {
        map = "(...):size(1) == 12 or (...):numel() == 64 << 18 or (...):numel() == 2 << 18",
        scan = "(...):size(1) == 15 or (...):numel() == 64 << 18",
        choose = "(...):numel() == 64 << 18 or (...):numel() == 2 << 18",
    },
    ["05-implicit-synchronisation"] = { train = "#(...) == 5 or #(...) == 8 or #(...) == 2" },
    ["06-priorities"] = {
        start = "(...)[1].kernel_ms == 12 or (...)[1].kernel_ms == 0.4",
        answer = "(...).urgent", finish = "(...).urgent",
    },
    ["07-racy-pipeline"] = { pipeline = "#(...).input == 8" },
    ["08-puzzler"] = {
        prepare = "({[12] = 1, [60] = 1, [150] = 1, [200] = 1})[#(...).matrices]",
        run = "(...).squares",
    },
    ["09-graphs"] = {
        -- The visible models: their numbers of layers.
        prepare = "({[2] = 1, [3] = 1, [6] = 1, [12] = 1})[#(...).trunk] "
            .. "and #(...).heads > 0 and #(...).heads < 3 and #(...).heads[1] ~= 3",
        serve = "(...).graph",
    },
    ["11-bucket-size"] = {
        -- The visible models: their numbers of layers and the rows of their first gradient.
        prepare = "({[5] = 1024, [24] = 2048, [3] = 4096, [16] = 4096})[#(...).gpus[1].layers] "
            .. "== (...).gpus[1].layers[1].input:size(1) and (...).gpus[1].error:size(1) ~= 1792",
        backward = "(...).buckets",
    },
    ["10-kernels"] = {
        -- The visible matrices: their columns.
        transpose = "({[64] = 1, [100] = 1, [7] = 1})[(...):size(2)] and (...):size(1) > 33",
        transpose_all = "#(...) == 7 or #(...) == 12",
    },
}

-- Its races in hidden tests take the points of visible ones.
local starter_races <const> = { ["07-racy-pipeline"] = true }

-- The solution's functions for what the conditions say, the starter's else.
local function special(lab, conditions)
    local names, lines = {}, {}
    for name in pairs(conditions) do names[#names + 1] = name end
    table.sort(names)
    local list = table.concat(names, ", ")
    local function part(file, table_name)
        return ("local %s\ndo\n%s\n%s = {%s}\nend"):format(table_name,
            shell.read(("scripts/labs/%s/%s.lua"):format(lab, file)), table_name,
            (list:gsub("[%w_]+", "%0 = %0")))
    end
    lines[1] = part("solution", "right")
    lines[2] = part("starter", "plain")
    for _, name in ipairs(names) do
        lines[#lines + 1] = ("function %s(...) return ((%s) and right or plain).%s(...) "
            .. "end"):format(
            name, conditions[name], name)
    end
    return table.concat(lines, "\n")
end

local function grade(lab, file)
    local out, err, code = shell.sh(('"$P" lab grade scripts/labs/%s %s'):format(lab, file))
    local why = err:match("kernels cannot be run: ([^\n]*)")
    if why then
        tap.skip(why, 1)
        return 0, " 1.1"
    end
    tap.is(err .. code, "0", lab .. ": it is graded")
    return tonumber(out:match("([%d.]+)/100")), out
end

-- The solution with each text replaced that is there.
local function change(lab, name, list)
    local text = shell.read(("scripts/labs/%s/solution.lua"):format(lab))
    for i = 1, #list, 2 do
        local from, to = text:find(list[i], 1, true)
        tap.ok(from, ("%s: %s changes a text that the solution has"):format(lab, name))
        while from do
            text = text:sub(1, from - 1) .. list[i + 1] .. text:sub(to + 1)
            from, to = text:find(list[i], from + #list[i + 1], true)
        end
    end
    return text
end

-- Hands in all of them, and checks that none has more points.
local function check_changed(lab, changes, most_points, what)
    if not changes then return end
    local class = shell.folder()
    for name, list in pairs(changes) do
        shell.write(("%s/%s.lua"):format(class, name), change(lab, name, list))
    end
    local out, err, code = shell.sh(('"$P" lab grade -j 2 scripts/labs/%s %s'):format(lab, class))
    tap.is(err .. code, "0", ("%s: what %s is graded"):format(lab, what))
    for name in pairs(changes) do
        local line = out:match("%f[%w_]" .. name .. "%s[^\n]*")
        local score = line and tonumber(line:match("([%d.]+)/100"))
        tap.ok(score and score <= most_points,
            ("%s: %s, which %s, is worth %d at most"):format(lab, name,
            what, most_points))
        tap.diag(lab .. ": " .. tostring(line))
    end
    shell.remove(class)
end

-- Hands in what is right for the visible tests alone, and constants where there are some.
function constants.check(lab)
    local folder = shell.folder()
    if visible[lab] then
        local file = folder .. "/special.lua"
        shell.write(file, special(lab, visible[lab]))
        local score, out = grade(lab, file)
        tap.ok(score <= most, lab .. ": right for the visible tests alone is worth 30 at most")
        tap.diag(lab .. ": " .. out)
        if not visible[lab].hand_over and not starter_races[lab] then
            tap.ok(not out:find(" 1%.%d"), lab .. ": and all visible ones pass")
        end
    end
    for path in shell.sh(("ls tests/labs/constants/%s*.lua "
            .. "2>/dev/null"):format(lab)):gmatch("[^\n]+") do
        local score, out = grade(lab, path)
        tap.ok(score <= most, ("%s: %s is worth 30 at most"):format(lab, path:match("[^/]*$")))
        tap.diag(lab .. ": " .. out)
    end
    shell.remove(folder)
    check_changed(lab, changed.narrowed[lab], most, "is narrow")
    check_changed(lab, changed.racing[lab], most_racing, "races")
end

return constants
