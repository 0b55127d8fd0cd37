-- 57-plot.t.lua - r:plot: what is drawn, and what cannot be.

local T = require "tap"
local ideal = require "lua.ideal"
local lab = require "streamlab"

local function refuses(f, code, pattern, name)
    ideal.refuses(T, f, code, pattern, name)
end

local table_of_copies = lab.table({
    { kib = 1, pinned = false, us = 8, what = "a" },
    { kib = 4, pinned = false, us = 16, what = "b" },
    { kib = 1, pinned = true, us = 4, what = "a" }, { kib = 4, pinned = true, us = 8, what = "b" },
    { kib = 0, us = nil, what = "c", n = 1 },
}, { title = "copies" })

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

-- A new empty folder, from which a plot is drawn: `sh` quotes for the shell.
local folder <const> = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))

local function files()
    local pipe <close> = assert(io.popen("ls -b " .. folder))
    return (pipe:read("a"):gsub("\n$", ""))
end

-- The drawing as an SVG's text.
local function svg(r, options)
    options.file = folder .. "/x.svg"
    r:plot(options)
    local text = read(options.file)
    os.remove(options.file)
    return text
end

local function count(text, pattern)
    local _, n = text:gsub(pattern, "")
    return n
end

-- ---- refused -------------------------------------------------------------------------------

local function refused()
    local function fails(code, pattern, name, options)
        refuses(function() table_of_copies:plot(options) end, code, pattern, name)
    end
    fails("SL_EINVAL", "option 'x' is needed: which column of kib, n, pinned, us, what",
          "x is needed")
    fails("SL_EINVAL", "option 'y' is needed", "y is needed", { x = "kib" })
    fails("SL_EINVAL", "'y': there is no column 'uss'; there are: .*did you mean us",
          "columns are those of the table", { x = "kib", y = "uss" })
    fails("SL_EINVAL", "'by': there is no column", "by is one, too",
          { x = "kib", y = "us", by = "z" })
    fails("SL_EINVAL", "column 'what' has a string", "texts have no height",
          { x = "kib", y = "what" })
    fails("SL_EINVAL", "column 'what' has texts", "texts have no logarithm",
          { x = "what", y = "us", log = "x" })
    fails("SL_EINVAL", "column 'kib' has 0, which has no place on a logarithmic y", "nor has 0",
          { x = "what", y = "kib", log = "y" })
    fails("SL_EINVAL", "'log' must be.*, got \"z\"$", "log names axes",
          { x = "kib", y = "us", log = "z" })
    fails("SL_EINVAL", "'file' must be.*%.svg, got \"x.png\"$", "files are SVG",
          { x = "kib", y = "us", file = "x.png" })
    fails("SL_EINVAL", "'y' must be", "y is a name or names", { x = "kib", y = {} })
    fails("SL_EINVAL", "in it twice", "each once", { x = "kib", y = { "us", "us" } })
    fails("SL_EINVAL", "'facet': there is no column 'z'", "facets are those of a column",
          { x = "kib", y = "us", facet = "z" })
    fails("SL_EINVAL", "'range' must be a list of two", "a range has two columns",
          { x = "kib", y = "us", range = { "us" } })
    fails("SL_EINVAL", "'range': there is no column 'z'", "which the table has",
          { x = "kib", y = "us", range = { "us", "z" } })
    fails("SL_EINVAL", "'range' is for one column 'y', got 2", "and one curve",
          { x = "kib", y = { "us", "kib" }, range = { "us", "kib" } })
    fails("SL_EINVAL", "column 'kib' has 0, which", "and is on a logarithmic axis, too",
          { x = "what", y = "n", log = "y", range = { "kib", "n" } })
    fails("SL_EINVAL", "'theme' is for a file", "themes are for files",
          { x = "kib", y = "us", theme = "dark" })
    fails("SL_EINVAL", "'width_px' must be.* from 200 to 20000, got 20", "widths have limits",
          { x = "kib", y = "us", width_px = 20, file = "x.svg" })
    fails("SL_EINVAL", "unknown option 'colour'", "a typo cannot pass", { colour = 1 })
    fails("SL_EIO", "cannot write '/nonexistent/x.svg'", "a file that cannot be written",
          { x = "kib", y = "us", file = "/nonexistent/x.svg" })
    refuses(function() lab.table{ { a = 1 }, { b = 1 } }:plot{ x = "a", y = "b" } end, "SL_EINVAL",
            "no point", "something must be drawn")
end

-- ---- as SVG --------------------------------------------------------------------------------

local function curves()
    local text = svg(table_of_copies, { x = "kib", y = "us", by = "pinned" })
    T.like(text, "^<%?xml.*<svg.*</svg>%s*$", "a plot is an SVG file")
    T.ok(text:find("pinned=no") and text:find("pinned=yes"), "each value of `by` has a curve")
    T.ok(text:find(">copies<", 1, true), "the table's title stands above")
    T.is(count(svg(table_of_copies, { x = "kib", y = { "us", "kib" }, title = "mine" }), ">us<"), 1,
         "several columns have a curve each")
    text = svg(table_of_copies, { x = "what", y = "us", by = "pinned", log = "y" })
    T.ok(text:find(">a<") and text:find(">b<"), "texts are ticks")
    T.lives(function()
        svg(lab.table{ { a = 0, b = 0 } }, { x = "a", y = "b" })
        svg(lab.table{ { a = -1, b = -5 } }, { x = "a", y = "b" })
        svg(lab.table{ { a = 3, b = 7 } }, { x = "a", y = "b", log = "xy" })
        svg(lab.table{ { a = true, b = 7 } }, { x = "a", y = "b" })
    end, "a single point is a plot")
end

-- Where the points of the drawing are.
local function points_of(drawing)
    local places = {}
    for place in drawing:gmatch('translate%(([^)]*)%)" d="[^"]*"><title>') do
        places[#places + 1] = place
    end
    return table.concat(places, ", ")
end

-- A label of one digit is 0.57 * 11 = 6.27 pixels wide, so that the panel begins at 28.27 and ends
-- at 384; the points are 10 pixels inside, and the panel goes from 32 to 272.
local function places()
    local r = lab.table{ { n = 1, us = 2 }, { n = 3, us = 0 }, { n = 2, us = 1 } }
    T.is(points_of(svg(r, { x = "n", y = "us", width_px = 400 })), "38.3 42, 206.1 152, 374 262",
         "points lie where their values are, in the order of x")
    r = lab.table{ { n = 1, us = 1 }, { n = 100, us = 100 }, { n = 10, us = 10 } }
    T.is(points_of(svg(r, { x = "n", y = "us", log = "xy", width_px = 400 })):match(", ([^,]*),"),
         ("%.1f 152"):format((6.27 * 3 + 22 + 384) / 2), "on logarithmic axes, too")
    r = lab.table{ { n = 1, us = 2, least = 1, most = 4 }, { n = 2, us = 3, least = 3 } }
    local text = svg(r, { x = "n", y = "us", range = { "least", "most" }, width_px = 400 })
    T.like(text, 'd="M35.3 207h6m%-3 0V42m%-3 0h6"',
           "a range is a bar from its least value to its most")
    T.like(text, "us\nn 1: 2 %(1 to 4%)</title>", "and in the point's description")
    r = lab.table{ { n = 1, median_us = 2, min_us = 1, max_us = 4 } }
    T.is(count(svg(r, { x = "n", y = "median_us" }), "h6m%-3 0V"), 1,
         "that of lab.measure is known")
    T.is(count(svg(r, { x = "n", y = "median_us", range = false }), "h6m%-3 0V"), 0,
         "and can be left out")
end

local function facets()
    local rows = {}
    for i = 1, 4 do
        for _, by in ipairs{ 1, 2.5, "1" } do
            rows[#rows + 1] = { n = i, us = i, by = by, gpu = i > 2 and "b" or "a" }
        end
    end
    local text = svg(lab.table(rows), { x = "n", y = "us", by = "by", facet = "gpu" })
    T.ok(text:find(">gpu=a</text>", 1, true) and text:find(">gpu=b</text>", 1, true),
         "each value of `facet` has a panel")
    T.is(count(text, ">by=2.5</text>"), 1, "whose curves have one legend")
    T.is(count(text, ">by=1</text>"), 2, "in which a number and the same text are two curves")
    T.is(count(text, 'stroke="#d55e00"'), 3, "with the same colour in all panels")
end

local function axes()
    local rows = {}
    for i = 0, 10 do rows[#rows + 1] = { kib = 1 << i, bytes = 1000 * i, n = 3 ^ i } end
    local r = lab.table(rows)
    local text = svg(r, { x = "kib", y = "n", log = "xy" })
    T.ok(text:find(">64 KiB<", 1, true) and text:find(">1 MiB<", 1, true),
         "sizes are powers of two with a unit")
    T.ok(text:find(">1000<", 1, true) and not text:find(">1024<", 1, true),
         "other logarithms are powers of ten")
    text = svg(r, { x = "n", y = "bytes" })
    T.ok(text:find(">8 KiB<", 1, true) and text:find(">0 B<", 1, true), "on linear axes, too")
    text = svg(lab.table{ { n = 256, us = 1 }, { n = 1024, us = 2 } },
               { x = "n", y = "us", log = "x" })
    T.ok(text:find(">512<", 1, true), "powers of two that are no sizes have them without a unit")
    T.ok(not text:find(">1%.%d<"), "whole numbers have no ticks between them")
    T.lives(function()
        for _, value in ipairs{ 5e-324, 1e-300, 0.1, 1e16, 1e300, 1.7e308, -1.7e308 } do
            for _, other in ipairs{ value, value * 2 < math.huge and value * 2 or value, -value } do
                local pair = lab.table{ { x = value, y = value }, { x = other, y = other } }
                local log = value > 0 and other > 0 and "xy" or nil
                local text = svg(pair, { x = "x", y = "y" })
                    .. svg(pair, { x = "x", y = "y", log = log })
                assert(not text:find('"[^"]*[ "]%-?nan') and not text:find('"[^"]*[ "]%-?inf'),
                       value .. " " .. other)
            end
        end
    end, "no number is too large, too small or too near to another one")
end

-- Colours of the class in the dark style of a picture.
local function dark_of(text, class)
    return text:match("%.sl%-" .. class .. "{[a-z]+:(#%x+)}")
end

local function themes()
    local options = { x = "kib", y = "us", by = "pinned" }
    local auto = svg(table_of_copies, options)
    ideal.textbook()
    local tl = lab.profile(lab.spin, 1)
    tl:save(folder .. "/tl.svg")
    local timeline = read(folder .. "/tl.svg")
    os.remove(folder .. "/tl.svg")
    for _, class in ipairs{ "page", "ink", "dim", "track", "grid", "frame" } do
        T.is(dark_of(auto, class), dark_of(timeline, class),
             "a plot is dark as a timeline is: " .. class)
    end
    options.theme = "dark"
    local dark = svg(table_of_copies, options)
    T.ok(dark:find(dark_of(auto, "page"), 1, true) and not dark:find("<style>", 1, true),
         "a dark one is dark for everybody")
    options.theme = "light"
    T.ok(not svg(table_of_copies, options):find(dark_of(auto, "page"), 1, true),
         "a light one light")
end

-- Texts of the drawing, as they are read.
local function texts_of(drawing)
    local found = {}
    for text in drawing:gmatch("<text[^>]*>(.-)</text>") do
        text = text:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"')
        found[text:gsub("&amp;", "&")] = true
    end
    return found
end

-- What is written, and what is read of it.
local odd_texts <const> = {
    { "ratio 1.5 of 2-3" }, { 'say "1"2' }, { "it's 3\\4\\n5" }, { "line\n6", "line\\n6" },
    { "tab\t7 \0278", "tab\\t7 \\x1b8" }, { "\u{9b}9 \u{7f}1", "\\u{9b}9 \\x7f1" },
    { "100%5d %s 50%" }, { "größe 東京2" }, { "\xff3\xc34", "\\xff3\\xc34" },
    { "\u{ffff}5", "\u{fffd}5" }, { "<b>&amp;6" }, { "-7" },
}

-- Each as the title, as a tick and in the legend, with the next two at the axes.
local function texts()
    local numbers, missing, ill = { { 1.5, "1.5" }, { -2, "-2" }, { 30, "30" } }, {}, 0
    local drawings = {}
    for i, odd in ipairs(odd_texts) do
        local x, y = odd_texts[i % #odd_texts + 1], odd_texts[(i + 1) % #odd_texts + 1]
        local number = numbers[i % #numbers + 1]
        local drawing = svg(lab.table{ { [x[1]] = odd[1], [y[1]] = 1, by = odd[1] },
                                       { [x[1]] = "1", [y[1]] = 2, by = number[1] } },
                            { x = x[1], y = y[1], by = "by", title = odd[1] })
        local found, shown = texts_of(drawing), odd[2] or odd[1]
        for _, text in ipairs{ shown, x[2] or x[1], y[2] or y[1], "by=" .. shown,
                               "by=" .. number[2] } do
            if not found[text] then missing[#missing + 1] = text end
        end
        ill = ill + (utf8.len(drawing) and not drawing:find("[\0-\8\x0b-\x1f]") and 0 or 1)
        drawings[i] = drawing
    end
    T.is(table.concat(missing, ", "), "", "title, axes, ticks and legend say what was given")
    T.is(ill, 0, "in well-formed UTF-8 without control characters")
    if not os.execute("command -v python3 >/dev/null") then
        return T.skip("there is no python3", 1)
    end
    for i, drawing in ipairs(drawings) do
        local file <close> = assert(io.open(folder .. "/" .. i .. ".svg", "w"))
        file:write(drawing)
    end
    T.ok(os.execute("python3 -c 'import sys, xml.dom.minidom as d; "
                    .. "[d.parse(f) for f in sys.argv[1:]]' " .. folder .. "/*.svg"),
         "which Python's parser of XML takes")
    os.execute("rm " .. folder .. "/*.svg")
end

-- What a shell could take for a command.
local function hostile_names()
    local name = ("`touch %s/a` $(touch %s/b) '\"; !touch %s/c\nset print \"%s/d\"\n@x \\ "
        .. "_y{/Bold}"):format(folder, folder, folder, folder)
    local by = "`touch e`{/Bold}"
    local r = lab.table({ { [name] = 1, y = 1, by = by }, { [name] = 2, y = 3, by = by } },
                        { title = name })
    local text = svg(r, { x = name, y = "y", by = "by" })
    T.ok(count(text, "Bold") >= 3, "names are shown as they are, as title, axis and curve")
    T.is(files(), "", "and nothing in them is run")
    text = svg(lab.table{ { x = name, y = 1 }, { x = "END\n", y = 2 } }, { x = "x", y = "y" })
    T.ok(text:find("END\\n", 1, true) and files() == "", "nor in values")
    local file = folder .. "/it's \"$(touch x)\" `touch y`\n|%d.svg"
    r:plot{ x = name, y = "y", file = file }
    T.like(read(file), "</svg>", "files have the names that were given")
    os.remove(file)
    T.is(files(), "", "and no other file has come")
end

-- Names that mean something to a shell are files in the current folder.
local function special_files()
    local script = folder .. "/script.lua"
    local file = assert(io.open(script, "w"))
    file:write([[
local r = lab.table{{a = 1, b = 2}}
r:plot{x = "a", y = "b", file = "|touch piped.svg"}
r:plot{x = "a", y = "b", file = "~.svg"}
]])
    file:close()
    local program = os.getenv("STREAMLAB")
    local here = assert(io.popen("pwd")):read("l")
    program = program:find("^/") and program or here .. "/" .. program
    os.execute(("cd %s && '%s' --norc script.lua && rm script.lua"):format(folder, program))
    T.is(files(), "|touch\\ piped.svg\n~.svg", "a name that begins with | is no command")
    os.execute(("cd %s && rm -f '|touch piped.svg' '~.svg' piped.svg"):format(folder))
end

-- ---- in the terminal ------------------------------------------------------------------------

local function printed(text, through)
    local _, out = ideal.run_text(text, { through = "env COLUMNS=20 LC_ALL=" .. through })
    local lines = {}
    for line in out:gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
    return lines
end

-- 20 columns: the label, a blank, the edge and 17 cells; 16 rows. In ASCII the line goes from cell
-- 0, row 15 to cell 16, row 0: a step in all but one of its columns.
local function in_the_terminal()
    local lines = printed('lab.table({{n = 1, us = 0}, {n = 2, us = 2}}, {title = "two"})'
                          .. ':plot{x = "n", y = "us"} print "behind"', "C")
    T.is(lines[1] .. "," .. lines[2], "two,us", "the title and the name of y stand above")
    T.is(lines[3], "2 +" .. (" "):rep(16) .. "*", "the greatest value is at the top right")
    T.is(lines[11], "1 +" .. (" "):rep(7) .. "..", "the line goes through the middle")
    T.is(lines[18], "0 +*", "and the least value is at the bottom left")
    T.is(lines[19] .. lines[20], "  ++" .. ("-"):rep(15) .. "+   1" .. (" "):rep(15) .. "2",
         "the ticks below say where")
    T.is(lines[21] .. "," .. lines[22], "         n,behind", "and the name of x, of what")
    lines = printed('lab.table{{n = 1, us = 5}, {n = 2, us = 5}}:plot{x = "n", y = "us"}',
                    "C.UTF-8")
    T.is(lines[2], "5 ┤●" .. ("⠉"):rep(15) .. "●", "in Unicode lines are of dots")
    lines = printed([[local r = lab.table{{n = 1, us = 2, a = 0, b = 4}}
r:plot{x = "n", y = "us", range = {"a", "b"}}]], "C")
    T.is(lines[2] .. "|" .. lines[10] .. "|" .. lines[17],
         "4 +        .|2 +        *|0 +        .", "a range is a line through the point")
end

local function several_in_the_terminal()
    local _, text = ideal.run_text([[
local r = lab.table{{n = 1, us = 5, by = "aaa"}, {n = 1, us = 6, by = "größe"}, {n = 2, us = 7, by = "aaa"}}
r:plot{x = "n", y = "us", by = "by"}
r:plot{x = "n", y = "us", facet = "by"}]], { through = "env COLUMNS=70 LC_ALL=C" })
    T.like(text, "%| +%.+A A by=aaa\n", "a line has its letter and its name at its end")
    T.like(text, "6 %+B +%.* +B by=gr%?%?e\n", "without Unicode what is not ASCII is a ?")
    T.like(text, "\n +by=aaa +by=gr%?%?e\n", "panels stand side by side")
    T.is(count(text, "\27"), 0, "without colours outside of a terminal")
    local widest = 0
    for line in text:gmatch("[^\n]*") do widest = math.max(widest, #line) end
    T.ok(widest > 60 and widest <= 70, "all is as wide as the terminal at most")
    _, text = ideal.run_text('lab.table{{n = 1, us = 5}}:plot{x = "n", y = "us"}',
                             { through = "env COLUMNS=70 CLICOLOR_FORCE=1" })
    T.is(count(text, "\27%[36m"), 1, "where there are colours, lines have them")
end

refused()
curves()
places()
facets()
axes()
themes()
texts()
hostile_names()
special_files()
in_the_terminal()
several_in_the_terminal()
os.execute("rm -r " .. folder)
T.done()
