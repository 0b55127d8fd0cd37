-- diff.lua - streamlab diff A B: two trace files side by side.

local command = import "repl/run/command.lua"

local options, files = command.read(import "repl/usage/diff.lua", { ... })
command.check_range(options)
if #files ~= 2 then
    command.refuse(#files < 2 and "two trace files are needed"
        or ("two trace files, got also '%s'"):format(files[3]))
end

if files[1] == "-" and files[2] == "-" then
    command.refuse("stdin can be read once, got - twice")
end

local a, b = command.load(files[1]), command.load(files[2])
command.warn_of_doubts(files[1] .. ": ", a)
command.warn_of_doubts(files[2] .. ": ", b)
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

if options.json then
    print_json()
elseif options["no-chart"] then
    try(a.diff, a, b, { names = files })
else
    print_chart("A", files[1], a, b)
    print_chart("B", files[2], b, a)
    try(a.diff, a, b)
end
