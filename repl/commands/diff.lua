-- diff.lua - streamlab diff A B: two trace files side by side.

local command = import "repl/run/command.lua"
local junit = import "repl/run/junit.lua"

local options, files = command.read(import "repl/usage/diff.lua", { ... })
command.check_range(options)
if #files ~= 2 then
    command.refuse(#files < 2 and "two trace files are needed"
        or ("two trace files, got also '%s'"):format(files[3]))
end

if files[1] == "-" and files[2] == "-" then
    command.refuse("stdin can be read once, got - twice")
end

local has_charts = not (options.by or options.json or options["no-chart"])
local of_charts <const> = "the charts, which --by, --json and --no-chart leave out"
command.check_used(options, {
    { "from", has_charts, of_charts },
    { "to", has_charts, of_charts },
    { "rows", has_charts, of_charts },
    { "columns", not options.json and not options.markdown, "what is printed as text" },
})
if options.json and options.markdown then
    command.refuse("--json and --markdown do not go together")
elseif options.junit and not options.limit then
    command.refuse("--junit needs --fail-above")
end

local a, b = command.load(files[1]), command.load(files[2])
command.warn_of_doubts(files[1] .. ": ", a, options.by ~= nil)
command.warn_of_doubts(files[2] .. ": ", b, options.by ~= nil)
local try = command.try
command.check_start(options, math.max(a.makespan_us, b.makespan_us))

-- ---- as JSON ------------------------------------------------------------------------

local kinds = { "kernel", "collective", "memcpy_h2d", "memcpy_d2h", "memcpy_d2d", "memcpy_p2p",
                "memset", "host_func" }

local function change(was, is)
    return ("%.3f"):format(is - was == 0 and 0 or is - was)
end

local function object(fields)
    return "{" .. table.concat(fields, ", ") .. "}"
end

-- The differences of busy times and overlaps, of the kinds that either has.
local function changes_by_kind()
    local busy, overlap, has = {}, {}, {}
    for i, kind in ipairs(kinds) do
        local was, is = try(a.busy_us, a, kind), try(b.busy_us, b, kind)
        has[kind] = was > 0 or is > 0
        if has[kind] then
            busy[#busy + 1] = ('"%s": %s'):format(kind, change(was, is))
        end
        for j = 1, has[kind] and i - 1 or 0 do
            local other = kinds[j]
            if has[other] then
                overlap[#overlap + 1] = ('"%s&%s": %s'):format(other, kind,
                    change(try(a.overlap_us, a, other, kind), try(b.overlap_us, b, other, kind)))
            end
        end
    end
    return object(busy), object(overlap)
end

local function indented(json)
    return (json:gsub("%s+$", ""):gsub("\n", "\n  "))
end

local function print_json()
    local busy, overlap = changes_by_kind()
    local was, is = try(a.bounds, a), try(b.bounds, b)
    io.stdout:write('{\n  "a": ', indented(try(a.json, a)), ',\n  "b": ', indented(try(b.json, b)),
        ',\n  "change": {\n',
        '    "makespan_us": ', change(a.makespan_us, b.makespan_us), ',\n',
        '    "wall_us": ', change(a.wall_us, b.wall_us), ',\n',
        '    "lower_bound_us": ', change(was.lower_us, is.lower_us), ',\n',
        '    "busy_us": ', busy, ',\n',
        '    "overlap_us": ', overlap, '\n  }\n}\n')
end

-- ---- as text ------------------------------------------------------------------------

local function print_chart(letter, path, tl, other)
    print(letter .. "  " .. command.title(path, tl))
    try(tl.show, tl, { from_us = options.from, to_us = options.to, rows = options.rows,
                       columns = options.columns, beside = other })
    print()
end

-- ---- by kernel, operator, ... --------------------------------------------------------

local by = options.by

local function print_changes()
    if options.json or options.markdown then
        try(a.diff, a, b, { by = by, form = options.json and "json" or "markdown" })
        return
    end
    print("A  " .. command.title(files[1], a))
    print("B  " .. command.title(files[2], b))
    try(a.diff, a, b, { by = by, columns = options.columns })
end

-- ---- as a test -----------------------------------------------------------------------

-- What is longer than it may be, in words, or nil.
local function too_long(was_us, is_us)
    local longer_us = is_us - was_us
    if longer_us * 100 <= options.limit * a.makespan_us then return nil end
    return ("%.3f us -> %.3f us: longer by %.3f us, which is more than %.4g %% of A's makespan")
        :format(was_us, is_us, longer_us, options.limit)
end

local function case(name, was_us, is_us)
    local message = too_long(was_us, is_us)
    return { class = by or "makespan", name = name,
             properties = { { "a_us", ("%.3f"):format(was_us) },
                            { "b_us", ("%.3f"):format(is_us) } },
             failure = message and { message = message, text = message } or nil }
end

local function write_junit()
    local cases = { case("makespan", a.makespan_us, b.makespan_us) }
    for _, row in ipairs(try(a.changes, a, b, by)) do
        cases[#cases + 1] = case(row.name, row.time_a_us, row.time_b_us)
    end
    command.write(options.junit, junit.text("streamlab diff", {
        { name = ("%s -> %s by %s"):format(files[1], files[2], by), cases = cases },
    }))
end

local function judge()
    if options.junit then
        write_junit()
    end
    local message = too_long(a.makespan_us, b.makespan_us)
    if message then
        command.fail("makespan " .. message)
    end
end

if by then
    print_changes()
elseif options.json then
    print_json()
elseif options["no-chart"] then
    try(a.diff, a, b, { names = files, columns = options.columns })
else
    print_chart("A", files[1], a, b)
    print_chart("B", files[2], b, a)
    try(a.diff, a, b, { columns = options.columns })
end
if options.limit then
    judge()
end
