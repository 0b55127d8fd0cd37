-- difference.lua - by how much the figures of two profiles differ, the largest difference first.
--
-- Only figures that were measured in at least one of them; of tables each point that both have.
-- Times that differ by less than the clock's resolution count as near. The summary counts the
-- near ones, the device's and the host's apart, because a host may be slow for minutes.

local flat = import "scripts/measure/calibrate/flat.lua"
local report = import "scripts/measure/calibrate/report.lua"
local reference = import "scripts/measure/calibrate/reference.lua"
local context = import "scripts/measure/calibrate/context.lua"
local lists = import "repl/run/lists.lua"

local difference = {}

local near <const>, about <const> = 0.03, 0.1
local short_us <const>, tick_us <const> = 3, 0.1    -- shorter times are compared to within a tick

-- Numbers by name: a table gives one a row ("gemm_us.float32 at 1024", "gemm_grid_us.float32 at
-- 1024 x 64").
local function figures(profile)
    local numbers, texts = {}, {}
    for name, value in pairs(flat.of(profile)) do
        if type(value) == "number" then
            numbers[name] = value
        elseif type(value) ~= "table" then
            texts[name] = tostring(value)
        elseif type(value[1]) == "table" then
            for _, row in ipairs(value) do
                numbers[name .. " at " .. table.concat(row, " x ", 1, #row - 1)] = row[#row]
            end
        else
            texts[name] = table.concat(value, ".")
        end
    end
    for _, name in ipairs { "name", "note", "profile" } do
        texts[name] = nil
    end
    return numbers, texts
end

-- The key of a table's point: "gemm_us.float32".
local function key_of(name) return (name:gsub(" at .*", "")) end

local function apart(a, b)
    local larger = math.max(math.abs(a), math.abs(b))
    return larger > 0 and math.abs(a - b) / larger or 0
end

-- By its key: host.launch_us, kernel_us.add at 256, calls.cudaFree.us_per_mib.
local function is_time(name)
    local dotted = "." .. key_of(name) .. "."
    return dotted:find("[._]us%.") ~= nil or dotted:find("%.us_per_mib%.") ~= nil
end

-- Those that the host's speed changes.
local function is_host(name)
    return name:find("^host[._]") ~= nil or name:find("^calls%.") ~= nil
        or name:find("_staging_", 1, true) ~= nil or name == "submit_us" or name == "wake_us"
end

-- So short that a relative difference says nothing, and no further apart than the clock's ticks.
local function within_tick(name, a, b)
    return is_time(name) and math.max(math.abs(a), math.abs(b)) < short_us
        and math.abs(a - b) <= tick_us
end

-- Sentences about the figures that only `some` has; of a table of which the others have none
-- one sentence.
local function add_missing(into, some, others, which)
    local has, said = {}, {}
    for name in pairs(others) do
        has[key_of(name)] = true
    end
    for _, name in ipairs(flat.names(some)) do
        local key = key_of(name)
        local shown = has[key] and name or key
        if not others[name] and not said[shown] then
            said[shown] = true
            into[#into + 1] = ("%s is not in %s"):format(shown, which)
        end
    end
end

-- Rows {name, a, b, apart} of what both have, and sentences about what differs otherwise.
local function compare(a, b)
    local numbers_a, texts_a = figures(a)
    local numbers_b, texts_b = figures(b)
    local rows, others = {}, {}
    local function counts(name)
        return not (report.is_unmeasured(a, key_of(name))
            and report.is_unmeasured(b, key_of(name)))
    end
    for _, name in ipairs(flat.names(numbers_a)) do
        local x, y = numbers_a[name], numbers_b[name]
        if y and counts(name) then
            local off, tick = apart(x, y), within_tick(name, x, y)
            rows[#rows + 1] = { name = name, a = x, b = y, apart = off, host = is_host(name),
                                tick = tick and off > near, near = tick or off <= near,
                                about = tick or off <= about }
        end
    end
    add_missing(others, numbers_a, numbers_b, "B")
    add_missing(others, numbers_b, numbers_a, "A")
    for _, name in ipairs(flat.names(texts_a)) do
        if texts_b[name] and texts_b[name] ~= texts_a[name] then
            others[#others + 1] = ("%s is %s in A, %s in B"):format(name, texts_a[name],
                                                                  texts_b[name])
        end
    end
    return rows, others
end

-- Headings in order of name, with their figures that count as near and the worst of the others.
local function add_sections(out, rows)
    local sections = lists.group(rows, function(row) return report.heading(key_of(row.name)) end)
    table.sort(sections, function(x, y) return x.key < y.key end)
    for _, section in ipairs(sections) do
        local others = lists.select(section, function(row) return not row.near end)
        out[#out + 1] = ("%d of %d near: %s%s"):format(#section - #others, #section,
            section.key:gsub("%.$", ""), others[1] and (" (worst: %s, %.1f %%)"):format(
                others[1].name, 100 * others[1].apart) or "")
    end
end

local function row_text(row)
    return ("%-44s %14.6g %14.6g %6.1f %%%s"):format(row.name, row.a, row.b, 100 * row.apart,
        row.tick and "  near" or "")
end

-- One line about the rows that `wanted` selects.
local function add_summary(out, rows, what, wanted)
    local some = lists.select(rows, wanted)
    if #some > 0 then
        local median = context.median(lists.map(some, function(row) return row.apart end))
        out[#out + 1] = ("%s%d figures, apart by %.1f %% in the median; %d within %d %%, %d within "
            .. "%d %%"):format(what, #some, 100 * median,
            #lists.select(some, function(row) return row.near end), 100 * near,
            #lists.select(some, function(row) return row.about end), 100 * about)
    end
end

-- Which file it is, and how fast the host was.
local function source_text(which, name, profile)
    local host = reference.in_note(profile.note)
    return ("%s: %s%s"):format(which, name, host and "; " .. host or "")
end

function difference.text(a, b, names)
    local rows, others = compare(a, b)
    rows = lists.sorted(rows, function(row) return { -row.apart, row.name } end)
    local out = {}
    out[1] = ("%-44s %14s %14s %8s"):format("", "A", "B", "apart")
    lists.append(out, lists.map(rows, row_text))
    lists.append(out, others)
    out[#out + 1] = ""
    add_sections(out, rows)
    out[#out + 1] = ""
    out[#out + 1] = source_text("A", names[1], a)
    out[#out + 1] = source_text("B", names[2], b)
    if #rows == 0 then
        out[#out + 1] = "No figure is measured in either."
    else
        out[#out + 1] = ("Times below %g us are near within %g us, as the clock ticks."):format(
            short_us, tick_us)
        add_summary(out, rows, "Device: ", function(row) return not row.host end)
        add_summary(out, rows, "Host: ", function(row) return row.host end)
        add_summary(out, rows, "All: ", function() return true end)
    end
    return table.concat(out, "\n") .. "\n"
end

return difference
