-- plotting.lua - a table of results as curves, by gnuplot: a child process that gets its
-- commands and the data on its stdin.
--
-- Nothing of the user's reaches a shell. Texts reach gnuplot between double quotes, with
-- everything but letters and blanks in octal, so that no text can end the quotes or the line, or
-- run a command in backquotes. Digits are in octal, too: gnuplot would read a digit behind an
-- octal number as part of it. Names are shown as they are ("noenhanced").

local _, core = ...

local raise, refuse, type_name = core.raise, core.refuse, core.type_name
local no_more, check_options = core.arguments.no_more, core.arguments.check_options
local did_you_mean, is_text = core.arguments.did_you_mean, core.arguments.is_text
local results = core.results

-- When gnuplot ends early, or is missing, the shell reads the rest, so that we never write into
-- a closed pipe. -d: without the user's own start file.
local command <const> = "rest() { while read -r line; do :; done; }; "
    .. "command -v gnuplot >/dev/null 2>&1 || { rest; exit 127; }; "
    .. "gnuplot -d; status=$?; rest; exit $status"
local lines_of_terminal <const> = 22

-- Texts ----------------------------------------------------------------------------------

local function quote(text)
    return '"' .. text:gsub("[^%a ]", function(character)
        return ("\\%03o"):format(character:byte())
    end) .. '"'
end

-- What a plot can show: an SVG is XML in UTF-8, which has no U+FFFE.
local function shown(value)
    return (results.cell_text(value):gsub("\xef\xbf[\xbe\xbf]", "\xef\xbf\xbd"))
end

-- What names a curve or an axis.
local function label(value) return quote(shown(value)) end

-- The name of a tick is a format: % is written twice.
local function tick_label(value) return quote((shown(value):gsub("%%", "%%%%"))) end

-- A file name that gnuplot takes literally: "|command" and "~/" have a meaning for it.
local function quote_file(file)
    return quote(file:sub(1, 1) == "/" and file or "./" .. file)
end

-- Options --------------------------------------------------------------------------------

local function is_name_or_names(value)
    return is_text(value) or not results.no_list(value) and #value > 0
end

local plot_options = {
    {"x", "a column's name", is_text},
    {"y", "a column's name, or a list of such", is_name_or_names},
    {"by", "a column's name", is_text},
    {"log", "\"x\", \"y\" or \"xy\"",
     function(value) return value == "x" or value == "y" or value == "xy" end},
    {"title", "a string", is_text}, {"file", "a file's name that ends in .svg", function(value)
        return is_text(value) and value:find("%.[sS][vV][gG]$") ~= nil
    end},
}

local function check_column(r, name, option)
    local known = {}
    for _, column in ipairs(r.columns) do known[column] = true end
    if known[name] then return end
    refuse("plot", "option '%s': there is no column '%.60s'; there are: %s%s", option, name,
           table.concat(r.columns, ", "), did_you_mean(name, known))
end

-- The options, `y` as a list.
local function read_options(r, opts)
    opts = check_options(opts, plot_options, "plot")
    for _, name in ipairs{"x", "y"} do
        if opts[name] == nil then
            refuse("plot", "option '%s' is needed: which column of %s", name,
                   table.concat(r.columns, ", "))
        end
    end
    local y = type(opts.y) == "table" and opts.y or {opts.y}
    results.check_names(y, "option 'y'", "plot")
    check_column(r, opts.x, "x")
    for _, name in ipairs(y) do check_column(r, name, "y") end
    if opts.by then check_column(r, opts.by, "by") end
    return {x = opts.x, y = y, by = opts.by, log_x = (opts.log or ""):find("x") ~= nil,
            log_y = (opts.log or ""):find("y") ~= nil, title = opts.title or r.title,
            file = opts.file}
end

-- Points ---------------------------------------------------------------------------------

local function is_number(value)
    return type(value) == "number" and value == value and math.abs(value) ~= math.huge
end

-- Positions on the x axis for values that are not numbers: value -> 0, 1, 2 ..., and the list of
-- the values; nil if all are numbers.
local function places_of(rows, x)
    local places, list, numbers = {}, {}, true
    for _, row in ipairs(rows) do
        local value = row[x]
        numbers = numbers and (value == nil or type(value) == "number")
        if value ~= nil and value == value and not places[value] then
            places[value] = #list
            list[#list + 1] = value
        end
    end
    if not numbers then return places, list end
end

local function check_log(value, name, axis)
    if value > 0 then return end
    refuse("plot", "option 'log': column '%.60s' has %s, which has no place on a logarithmic %s "
           .. "axis", name, results.cell_text(value), axis)
end

-- The curve of that name for that value of `by`; made at its first use.
local function curve_of(plot, name, by)
    local key = name .. "\0" .. type(by) .. "\0" .. tostring(by)
    if not plot.curves[key] then
        local words = {}
        if #plot.y > 1 or not plot.by then words[1] = results.cell_text(name) end
        if plot.by then
            words[#words + 1] = results.cell_text(plot.by) .. "=" .. results.cell_text(by)
        end
        local curve = {title = table.concat(words, ", "), points = {}}
        plot.curves[key] = curve
        plot.curves[#plot.curves + 1] = curve
    end
    return plot.curves[key]
end

local function add_point(plot, row, name)
    local x, y = plot.places and plot.places[row[plot.x]] or row[plot.x], row[name]
    if y ~= nil and type(y) ~= "number" then
        refuse("plot", "option 'y': column '%.60s' has a %s in it; y values are numbers", name,
               type_name(y))
    end
    if not is_number(x) or not is_number(y) then return end
    if plot.log_x then check_log(x, plot.x, "x") end
    if plot.log_y then check_log(y, name, "y") end
    local points = curve_of(plot, name, plot.by and row[plot.by]).points
    points[#points + 1] = {x, y, #points}
    for i, value in ipairs{x, y} do
        plot.least[i] = math.min(plot.least[i], value)
        plot.most[i] = math.max(plot.most[i], value)
    end
end

-- Fills plot.curves, plot.least and plot.most (of x, of y).
local function collect(r, plot)
    plot.curves, plot.least, plot.most = {}, {math.huge, math.huge}, {-math.huge, -math.huge}
    plot.places, plot.ticks = places_of(r.rows, plot.x)
    if plot.places and plot.log_x then
        refuse("plot", "option 'log': column '%.60s' has texts or true and false, which have no "
               .. "logarithm", plot.x)
    end
    for _, name in ipairs(plot.y) do
        for _, row in ipairs(r.rows) do add_point(plot, row, name) end
    end
    if #plot.curves == 0 then refuse("plot", "there is no point to draw") end
    for _, curve in ipairs(plot.curves) do
        table.sort(curve.points, function(a, b)
            if a[1] ~= b[1] then return a[1] < b[1] end
            return a[3] < b[3]
        end)
    end
end

-- Commands -------------------------------------------------------------------------------

-- A linear axis begins at 0 unless a value is below; its length is never 0.
local function range(plot, axis, log, from_zero)
    local least, most = plot.least[axis], plot.most[axis]
    local low, high = "*", "*"
    if not log and from_zero and least >= 0 then
        low = "0"
        if most == 0 then high = "1" end
    elseif least == most then
        local some = least == 0 and 1 or math.abs(least) / 2
        low, high = ("%.17g"):format(least - some), ("%.17g"):format(most + some)
    end
    return "[" .. low .. ":" .. high .. "]"
end

local function tick_line(plot)
    local parts = {}
    for i, value in ipairs(plot.ticks) do parts[i] = ("%s %d"):format(tick_label(value), i - 1) end
    return "set xtics (" .. table.concat(parts, ", ") .. ")\nset xrange [-0.5:"
        .. ("%.1f"):format(#parts - 0.5) .. "]"
end

local function add_settings(lines, plot)
    local function add(text) lines[#lines + 1] = text end
    if plot.file then
        add "set terminal svg size 800,500 noenhanced background rgb \"white\""
    else
        add(("set terminal dumb noenhanced mono size %d,%d"):format(core.columns(),
            lines_of_terminal))
        add "set border back"       -- in characters it would hide the points that lie on it
    end
    add("set output " .. quote_file(plot.output))
    -- It warns where the locale has another one; an SVG is UTF-8 in any case.
    if core.unicode() then add "set encoding utf8" end
    add("set xlabel " .. label(plot.x))
    if #plot.y == 1 then add("set ylabel " .. label(plot.y[1])) end
    local title = plot.title
    if not plot.file and #plot.y == 1 then     -- there is no upright text in a terminal
        title = (title and title .. ": " or "") .. plot.y[1]
    end
    if title then add("set title " .. label(title)) end
    if plot.log_x then add "set logscale x" end
    if plot.log_y then add "set logscale y" end
    add(plot.ticks and tick_line(plot) or "set xrange " .. range(plot, 1, plot.log_x, false))
    add("set yrange " .. range(plot, 2, plot.log_y, true))
    add((plot.by or #plot.y > 1) and "set key outside bottom center horizontal width 2"
        or "unset key")
    if plot.file then add "set grid" end
end

local function script_of(plot)
    local lines, commands = {}, {}
    add_settings(lines, plot)
    for i, curve in ipairs(plot.curves) do
        lines[#lines + 1] = ("$curve%d << END"):format(i)
        for _, point in ipairs(curve.points) do
            lines[#lines + 1] = results.exact_number(point[1]) .. " "
                .. results.exact_number(point[2])
        end
        lines[#lines + 1] = "END"
        commands[i] = ("$curve%d using 1:2 with linespoints title %s"):format(i,
            label(curve.title))
    end
    lines[#lines + 1] = "plot " .. table.concat(commands, ", ")
    return table.concat(lines, "\n") .. "\n"
end

local function check_written(written, reason)
    if not written then raise("SL_EIO", "plot", reason) end
end

local function run_gnuplot(script)
    local pipe, reason = io.popen(command, "w")
    if not pipe then raise("SL_EIO", "plot", "cannot start gnuplot: " .. tostring(reason)) end
    pipe:write(script)
    local fine, how, code = pipe:close()
    if fine then return end
    if how == "exit" and code == 127 then
        raise("SL_ENOTFOUND", "plot", "plots need gnuplot, which is not here: install it (apt-get "
              .. "install gnuplot-nox, dnf install gnuplot-minimal, brew install gnuplot), or take "
              .. "r:csv() elsewhere")
    end
    raise("SL_EIO", "plot", how == "signal" and ("gnuplot was ended by signal %d"):format(code)
          or ("gnuplot failed with status %d; what it says is on stderr"):format(code))
end

-- What gnuplot drew. It draws into a temporary file, which is always removed.
local function drawing(plot)
    plot.output = os.tmpname()
    local _ <close> = setmetatable({}, {__close = function() os.remove(plot.output) end})
    run_gnuplot(script_of(plot))
    local handle, reason = io.open(plot.output, "rb")
    if not handle then raise("SL_EIO", "plot", "cannot read the plot: " .. reason) end
    local text = handle:read("a") or ""
    handle:close()
    return text
end

-- Without the form feed and the blanks around it.
local function print_drawing(text)
    local lines = {}
    for line in text:gsub("\f", ""):gmatch("([^\n]*)\n?") do
        lines[#lines + 1] = line:gsub(" +$", "")
    end
    io.write((table.concat(lines, "\n"):gsub("^\n+", ""):gsub("\n*$", "\n")))
end

-- r:plot{x =, y =, by =, log =, title =, file =}
function core.plot(r, opts, ...)
    results.check_self(r, "plot")
    no_more(2, "plot", ...)
    local plot = read_options(r, opts)
    collect(r, plot)
    if not (io and io.popen and os) then
        raise("SL_EUNSUPPORTED", "plot", "there is no io or os library to start gnuplot with")
    end
    if plot.file then
        check_written(core.try_file(plot.file))
        local svg = drawing(plot)
        if not svg:find("</svg>%s*$") then     -- a disk that is full is no failure to gnuplot
            raise("SL_EIO", "plot", "gnuplot's drawing is not whole; what it says is on stderr")
        end
        check_written(core.write_files {{path = plot.file, text = svg}})
    else
        print_drawing(drawing(plot))
    end
end
