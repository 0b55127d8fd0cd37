-- plotting.lua - a table of results as curves: which column is what, and the points. Both drawings
-- are made of that: pictures/plot.lua for files, pictures/plot_cells.lua for a terminal.

local _, core = ...

local raise, refuse, type_name = core.raise, core.refuse, core.type_name
local no_more, check_options = core.arguments.no_more, core.arguments.check_options
local did_you_mean, is_text = core.arguments.did_you_mean, core.arguments.is_text
local is_count = core.arguments.is_count
local results = core.results
local axis = core.need("pictures/axis")

-- Options --------------------------------------------------------------------------------

local function is_name_or_names(value)
    return is_text(value) or not results.no_list(value) and #value > 0
end

local function is_range(value)
    return value == false or not results.no_list(value) and #value == 2
        and is_text(value[1]) and is_text(value[2])
end

local plot_options = {
    { "x", "a column's name", is_text },
    { "y", "a column's name, or a list of such", is_name_or_names },
    { "by", "a column's name", is_text },
    { "facet", "a column's name", is_text },
    { "range", "a list of two columns' names, or false", is_range },
    { "log", "\"x\", \"y\" or \"xy\"",
      function(value) return value == "x" or value == "y" or value == "xy" end },
    { "title", "a string", is_text }, { "file", "a file's name that ends in .svg", function(value)
        return is_text(value) and value:find("%.[sS][vV][gG]$") ~= nil
    end },
    { "theme", "\"auto\", \"light\" or \"dark\"",
      function(value) return value == "auto" or value == "light" or value == "dark" end },
    { "width_px", "a whole number from 200 to 20000",
      function(value) return is_count(value) and value >= 200 and value <= 20000 end },
}

local function columns_of(r)
    local known = {}
    for _, column in ipairs(r.columns) do known[column] = true end
    return known
end

local function check_column(r, name, option)
    local known = columns_of(r)
    if known[name] then return end
    refuse("plot", "option '%s': there is no column '%.60s'; there are: %s%s", option, name,
           table.concat(r.columns, ", "), did_you_mean(name, known))
end

-- The columns of a point's least and greatest value, if there are any: lab.measure's own for its
-- median.
local function range_of(r, opts, y)
    if opts.range == false then return nil end
    if not opts.range then
        local known = columns_of(r)
        return #y == 1 and y[1] == "median_us" and known.min_us and known.max_us
            and { "min_us", "max_us" } or nil
    end
    if #y > 1 then refuse("plot", "option 'range' is for one column 'y', got %d", #y) end
    for _, name in ipairs(opts.range) do check_column(r, name, "range") end
    return opts.range
end

-- The options, `y` as a list.
local function read_options(r, opts)
    opts = check_options(opts, plot_options, "plot")
    for _, name in ipairs{ "x", "y" } do
        if opts[name] == nil then
            refuse("plot", "option '%s' is needed: which column of %s", name,
                   table.concat(r.columns, ", "))
        end
    end
    for _, name in ipairs{ "theme", "width_px" } do
        if opts[name] and not opts.file and not core.show_plot then
            refuse("plot", "option '%s' is for a file; give 'file', too", name)
        end
    end
    local y = type(opts.y) == "table" and opts.y or { opts.y }
    results.check_names(y, "option 'y'", "plot")
    check_column(r, opts.x, "x")
    for _, name in ipairs(y) do check_column(r, name, "y") end
    for _, option in ipairs{ "by", "facet" } do
        if opts[option] then check_column(r, opts[option], option) end
    end
    return { x = opts.x, y = y, by = opts.by, facet = opts.facet, range = range_of(r, opts, y),
             log_x = (opts.log or ""):find("x") ~= nil, log_y = (opts.log or ""):find("y") ~= nil,
             title = opts.title or r.title, file = opts.file, theme = opts.theme or "auto",
             width_px = opts.width_px or 800 }
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

local function check_log(value, name, letter)
    if value > 0 then return end
    refuse("plot", "option 'log': column '%.60s' has %s, which has no place on a logarithmic %s "
           .. "axis", name, results.cell_text(value), letter)
end

local function check_y(value, name)
    if value ~= nil and type(value) ~= "number" then
        refuse("plot", "option 'y': column '%.60s' has a %s in it; y values are numbers", name,
               type_name(value))
    end
end

local function named(name, value)
    return results.cell_text(name) .. "=" .. results.cell_text(value)
end

-- The member of the list with that key; made at its first use.
local function member(list, key, make)
    key = type(key) .. "\0" .. tostring(key)
    if not list[key] then
        list[key] = make()
        list[#list + 1] = list[key]
    end
    return list[key]
end

-- The curve of that name for that row, in its panel. `number` is the same in all panels.
local function curve_of(plot, name, row)
    local by = plot.by and row[plot.by]
    local panel = member(plot.panels, plot.facet and row[plot.facet], function()
        return { title = plot.facet and named(plot.facet, row[plot.facet]), curves = {} }
    end)
    local key = name .. "\0" .. type(by) .. "\0" .. tostring(by)
    local kind = member(plot.kinds, key, function()
        local words = {}
        if #plot.y > 1 or not plot.by then words[1] = results.cell_text(name) end
        if plot.by then words[#words + 1] = named(plot.by, by) end
        return { number = #plot.kinds + 1, title = table.concat(words, ", ") }
    end)
    return member(panel.curves, key, function()
        return { number = kind.number, title = kind.title, points = {} }
    end)
end

-- The least and greatest value there, or nothing.
local function read_range(plot, row)
    if not plot.range then return end
    local low, high = row[plot.range[1]], row[plot.range[2]]
    if not is_number(low) or not is_number(high) then return end
    if plot.log_y then
        check_log(low, plot.range[1], "y")
        check_log(high, plot.range[2], "y")
    end
    return low, high
end

local function add_point(plot, row, name)
    local x, y = plot.places and plot.places[row[plot.x]] or row[plot.x], row[name]
    check_y(y, name)
    if not is_number(x) or not is_number(y) then return end
    if plot.log_x then check_log(x, plot.x, "x") end
    if plot.log_y then check_log(y, name, "y") end
    local points = curve_of(plot, name, row).points
    local low, high = read_range(plot, row)
    points[#points + 1] = { x = x, y = y, low = low, high = high, order = #points }
    plot.xs[#plot.xs + 1] = x
    for _, value in ipairs{ y, low or y, high or y } do plot.ys[#plot.ys + 1] = value end
end

local function sort_points(curve)
    table.sort(curve.points, function(a, b)
        if a.x ~= b.x then return a.x < b.x end
        return a.order < b.order
    end)
end

-- Fills plot.panels, whose curves have the points; plot.kinds, the curves of all panels; and the
-- axes.
local function collect(r, plot)
    plot.panels, plot.kinds, plot.xs, plot.ys = {}, {}, {}, {}
    local values
    plot.places, values = places_of(r.rows, plot.x)
    if plot.places and plot.log_x then
        refuse("plot", "option 'log': column '%.60s' has texts or true and false, which have no "
               .. "logarithm", plot.x)
    end
    for _, name in ipairs(plot.y) do
        for _, row in ipairs(r.rows) do add_point(plot, row, name) end
    end
    if #plot.panels == 0 then refuse("plot", "there is no point to draw") end
    for _, panel in ipairs(plot.panels) do
        for _, curve in ipairs(panel.curves) do sort_points(curve) end
    end
    plot.x_axis = axis.new(plot.x, plot.xs, { log = plot.log_x, places = values })
    plot.y_axis = axis.new(#plot.y == 1 and plot.y[1] or "", plot.ys,
                           { log = plot.log_y, from_zero = true })
end

-- r:plot{x =, y =, by =, facet =, range =, log =, title =, file =, theme =, width_px =}
function core.plot(r, opts, ...)
    results.check_self(r, "plot")
    no_more(2, "plot", ...)
    local plot = read_options(r, opts)
    collect(r, plot)
    if not io then raise("SL_EUNSUPPORTED", "plot", "there is no io library") end
    if not plot.file then
        local text = core.need("pictures/plot_cells").draw(plot)
        -- A program that shows pictures (core.show_plot) has the text beside it.
        if core.show_plot then
            core.show_plot(core.need("pictures/plot").draw(plot), (text:gsub("%s*$", "")))
        else io.write(text) end
        return
    end
    local written, reason = core.write_files { { path = plot.file,
                                                 text = core.need("pictures/plot").draw(plot) } }
    if not written then raise("SL_EIO", "plot", reason) end
end
