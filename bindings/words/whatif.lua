-- whatif.lua - what a program with changes takes, as text and as JSON.
--
-- Facts come as {measured_us =, identity = as w:identity(), changes = as w:changes(),
-- prediction = as w:predict(), next = the verdict of w:timeline(), or remedies and pairs = as
-- w:rank() and slopes = as w:derivative()}.

local _, core = ...

local words = {}

local function duration(us) return core.duration(math.tointeger(us * 1000 // 1)) end

local function identity(facts)
    local id = facts.identity
    return ("Played unchanged, it takes %s; measured were %s (%+.1f %%).\n"):format(
        duration(id.replayed_us), duration(id.measured_us), 100 * id.error)
end

local function plural(n, one) return ("%d %s%s"):format(n, one, n == 1 and "" or "s") end

-- "move 'Memcpy*' copies"
function words.change(edit)
    local selection = edit.selection and (" '%s'"):format(core.safe(edit.selection)) or ""
    local argument = math.type(edit.argument) and (" %.14g"):format(edit.argument)
        or edit.argument and " " .. core.safe(edit.argument) or ""
    return edit.name:gsub("_", "-") .. selection .. argument
end

local function predicted(p)
    local ratio = p.after_us > 0 and p.before_us / p.after_us or 1
    return ("%s instead of %s (%.2f x), between %s and %s"):format(duration(p.after_us),
        duration(p.before_us), ratio, duration(p.range_us.low), duration(p.range_us.high))
end

-- A change, and the one that goes with it.
local function remedy(row)
    local also = row.also and " and " .. row.also:gsub("_", "-") or ""
    local argument = row.argument and " " .. core.safe(tostring(row.argument)) or ""
    local selection = row.selection and " '" .. core.safe(row.selection) .. "'" or ""
    return row.edit:gsub("_", "-") .. also .. selection .. argument
end

words.remedy = remedy

local function shell_word(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The command line that tries it.
function words.command(row)
    local argument = type(row.argument) == "string" and " " .. shell_word(row.argument)
        or row.argument and " " .. row.argument or ""
    local selection = row.selection and " " .. shell_word(row.selection) or ""
    local function option(name) return " --" .. name:gsub("_", "-") .. selection end
    return core.safe("streamlab whatif" .. option(row.edit) .. argument
        .. (row.also and option(row.also) or "") .. " FILE")
end

local most_rows <const>, most_under <const> = 12, 2

local function add_row(lines, row, text)
    lines[#lines + 1] = ("%9s %9s %9s  %s"):format(duration(row.after_us),
        duration(row.range_us.low), duration(row.range_us.high), text)
end

-- Changes of the order, of which the records do not say whether the program can do without it.
local unorders <const> = {
    async = true, batch = true, move = true, prefetch = true, drop_wait = true, drop_sync = true,
    threads = true,
}
local unknown <const> = "Which data an operation needs is not in the records: check that what "
    .. "comes earlier now may, and that no buffer is read or written too early."
local gone <const> = "What is removed may be needed: a copy of the same data each time can go, one "
    .. "of new data cannot."

-- What is to be checked of changes with these names; "": nothing.
local function cautions(names, knows_needs)
    local unordered, removes = false, false
    for _, name in ipairs(names) do
        unordered = unordered or unorders[name]
        removes = removes or name == "remove"
    end
    return (unordered and not knows_needs and core.fold(unknown, 0, 80) or "")
        .. (removes and core.fold(gone, 0, 80) or "")
end

local function heading(text)
    return { text, "", ("%9s %9s %9s  %s"):format("after", "at best", "at worst", "change") }
end

-- The first three of rows of w:rank().
function words.best(rows)
    local lines = heading "The best changes that can be tried; streamlab whatif has more of them:"
    for i = 1, math.min(#rows, 3) do add_row(lines, rows[i], remedy(rows[i])) end
    return table.concat(lines, "\n") .. "\n"
end

local function ranking(rows, both)
    if #rows == 0 then return "No single change that can be tried gains anything.\n" end
    local lines = heading "Single changes, by what they would gain:"
    local names = {}
    for i = 1, math.min(#rows, most_rows) do
        local row = rows[i]
        names[i] = row.edit
        add_row(lines, row, remedy(row))
        for k = 1, math.min(row.more and #row.more or 0, most_under) do
            add_row(lines, row.more[k], "  or " .. remedy(row.more[k]))
        end
    end
    if #both > 0 then
        lines[#lines + 1] = "\nTwo of them, which gain more than the better one alone:\n"
        for i = 1, math.min(#both, 5) do
            add_row(lines, both[i], remedy(both[i].first) .. ", " .. remedy(both[i].second))
        end
    end
    local check = cautions(names)
    return table.concat(lines, "\n") .. "\n" .. (check ~= "" and "\n" .. check or "")
end

local function small(sentence) return sentence:sub(1, 1):lower() .. sentence:sub(2) end

local least_gain <const> = 0.005 -- what rounds to 0.01 %

local function follows(slopes)
    local lines = {}
    for _, row in ipairs(slopes) do
        if row.gain < least_gain or #lines == 8 then break end
        local name = row.host and "what the host does" or row.name and core.safe(row.name)
            or "operations of which nothing is known"
        lines[#lines + 1] = ("  %5.2f %%  %s (%d x, %s)\n"):format(row.gain, name, row.count,
            duration(row.time_us))
    end
    if #lines == 0 then return "" end
    return "\nBy how much it is shorter where these take 1 % less time:\n\n" .. table.concat(lines)
end

function words.text(facts)
    local lines = { identity(facts) }
    if facts.identity.problem then
        local why = ("No change is predicted: %s."):format(facts.identity.problem)
        lines[#lines + 1] = core.fold(why, 0, 80)
        return table.concat(lines)
    elseif facts.remedies then
        return lines[1] .. "\n" .. ranking(facts.remedies, facts.pairs)
            .. follows(facts.slopes)
    end
    local names = {}
    for i, edit in ipairs(facts.changes) do
        lines[#lines + 1] = ("%s: %s\n"):format(words.change(edit), plural(edit.changed, "change"))
        names[i] = edit.name
    end
    lines[#lines + 1] = predicted(facts.prediction) .. ".\n"
    lines[#lines + 1] = core.fold("After that: " .. small(facts.next.sentence), 0, 80)
    lines[#lines + 1] = cautions(names, facts.identity.knows_needs)
    return table.concat(lines)
end

local function number(us) return ("%.3f"):format(us) end

local function quoted(text) return core.json_string(text) end

local function set(list, key, value)
    if value ~= nil then list[#list + 1] = ("%s: %s"):format(quoted(key), value) end
end

local function add_prediction(list, p)
    set(list, "before_us", number(p.before_us))
    set(list, "after_us", number(p.after_us))
    set(list, "range_us", ("[%s, %s]"):format(number(p.range_us.low), number(p.range_us.high)))
end

local function object(list) return "{" .. table.concat(list, ", ") .. "}" end

-- What the verdict of the changed program says is to gain then.
local function next_json(verdict)
    local list = {}
    set(list, "cause", verdict.cause and quoted(verdict.cause) or "null")
    set(list, "gain_us", verdict.gain_us and number(verdict.gain_us) or "null")
    set(list, "sentence", quoted(verdict.sentence))
    return object(list)
end

local function add_edit(list, edit)
    set(list, "edit", quoted(edit.name or edit.edit))
    set(list, "also", edit.also and quoted(edit.also))
    set(list, "selection", edit.selection and quoted(edit.selection))
    set(list, "argument", edit.argument and (type(edit.argument) == "number"
                                             and ("%.14g"):format(edit.argument)
                                             or quoted(edit.argument)))
end

local function edit_json(edit)
    local list = {}
    add_edit(list, edit)
    set(list, "changed", edit.changed and ("%d"):format(edit.changed))
    if edit.after_us then add_prediction(list, edit) end
    set(list, "how", edit.how and quoted(edit.how))
    if edit.more then
        local more = {}
        for i, row in ipairs(edit.more) do more[i] = edit_json(row) end
        set(list, "more", "[" .. table.concat(more, ", ") .. "]")
    end
    return object(list)
end

local function pair_json(pair)
    local list, changes = {}, {}
    for i, row in ipairs { pair.first, pair.second } do
        changes[i] = {}
        add_edit(changes[i], row)
        changes[i] = object(changes[i])
    end
    set(list, "edits", "[" .. table.concat(changes, ", ") .. "]")
    add_prediction(list, pair)
    return object(list)
end

local function slope_json(row)
    local list = {}
    set(list, "name", row.name and quoted(row.name))
    set(list, "host", row.host and "true")
    set(list, "count", ("%d"):format(row.count))
    set(list, "time_us", number(row.time_us))
    set(list, "gain", ("%.4f"):format(row.gain))
    return object(list)
end

local function array(rows, json_of)
    local list = {}
    for i, row in ipairs(rows) do list[i] = "\n    " .. json_of(row) end
    return "[" .. table.concat(list, ",") .. (#list > 0 and "\n  ]" or "]")
end

-- Rows of w:rank().
function words.array(rows) return array(rows, edit_json) end

function words.json(facts)
    local list, id = {}, facts.identity
    set(list, "measured_us", number(id.measured_us))
    set(list, "identity_us", number(id.replayed_us))
    if facts.prediction and not id.problem then add_prediction(list, facts.prediction) end
    set(list, "edits", array(facts.changes, edit_json))
    if facts.next then set(list, "next", next_json(facts.next)) end
    set(list, "refused", id.problem and quoted(id.problem) or "null")
    if facts.remedies then
        set(list, "remedies", array(facts.remedies, edit_json))
        set(list, "pairs", array(facts.pairs, pair_json))
        set(list, "derivative", array(facts.slopes, slope_json))
    end
    if facts.code then set(list, "code", core.words.code.json(facts.code)) end
    return "{\n  " .. table.concat(list, ",\n  ") .. "\n}\n"
end

return words
