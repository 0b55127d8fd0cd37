-- 57-plot.t.lua - r:plot: what gnuplot is asked for and draws, and what cannot be drawn.

local T = require "tap"
local ideal = require "lua.ideal"
local lab = require "streamlab"

local function refuses(f, code, pattern, name)
    ideal.refuses(T, f, code, pattern, name)
end

local table_of_copies = lab.table({
    {kib = 1, pinned = false, us = 8, what = "a"}, {kib = 4, pinned = false, us = 16, what = "b"},
    {kib = 1, pinned = true, us = 4, what = "a"}, {kib = 4, pinned = true, us = 8, what = "b"},
    {kib = 0, us = nil, what = "c"},
}, {title = "copies"})

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

-- ---- without gnuplot -----------------------------------------------------------------------

local function refused()
    local function fails(code, pattern, name, options)
        refuses(function() table_of_copies:plot(options) end, code, pattern, name)
    end
    fails("SL_EINVAL", "option 'x' is needed: which column of kib, pinned, us, what", "x is needed")
    fails("SL_EINVAL", "option 'y' is needed", "y is needed", {x = "kib"})
    fails("SL_EINVAL", "'y': there is no column 'uss'; there are: .*did you mean us",
          "columns are those of the table", {x = "kib", y = "uss"})
    fails("SL_EINVAL", "'by': there is no column", "by is one, too",
          {x = "kib", y = "us", by = "z"})
    fails("SL_EINVAL", "column 'what' has a string", "texts have no height",
          {x = "kib", y = "what"})
    fails("SL_EINVAL", "column 'what' has texts", "texts have no logarithm",
          {x = "what", y = "us", log = "x"})
    fails("SL_EINVAL", "column 'kib' has 0, which has no place on a logarithmic y", "nor has 0",
          {x = "what", y = "kib", log = "y"})
    fails("SL_EINVAL", "'log' must be.*, got \"z\"$", "log names axes",
          {x = "kib", y = "us", log = "z"})
    fails("SL_EINVAL", "'file' must be.*%.svg, got \"x.png\"$", "files are SVG",
          {x = "kib", y = "us", file = "x.png"})
    fails("SL_EINVAL", "'y' must be", "y is a name or names", {x = "kib", y = {}})
    fails("SL_EINVAL", "in it twice", "each once", {x = "kib", y = {"us", "us"}})
    fails("SL_EINVAL", "unknown option 'colour'", "a typo cannot pass", {colour = 1})
    fails("SL_EIO", "cannot write '/nonexistent/x.svg'", "a file that cannot be written",
          {x = "kib", y = "us", file = "/nonexistent/x.svg"})
    refuses(function() lab.table{{a = 1}, {b = 1}}:plot{x = "a", y = "b"} end, "SL_EINVAL",
            "no point", "something must be drawn")
end

-- A path on which there is nothing.
local function without_gnuplot()
    local program = os.getenv("STREAMLAB")
    local pipe = assert(io.popen(("PATH=%s/nowhere '%s' --norc -e '%s' 2>&1"):format(folder,
        program:find("^/") and program or "./" .. program,
        "print(select(2, pcall(function() lab.table{{a = 1}}:plot{x = \"a\", y = \"a\"} end)).code)"
        .. " print(lab.table{{a = 1}})")))
    T.is(pipe:read("a"), "SL_ENOTFOUND\na\n1\n", "without gnuplot only plots are not to be had")
    pipe:close()
end

-- A gnuplot that keeps what it is asked for. Gnuplot reads as many octal digits as there are.
local function asked_for()
    local program, fake = os.getenv("STREAMLAB"), folder .. "/gnuplot"
    local file = assert(io.open(fake, "w"))
    file:write("#!/bin/sh\nexec cat > " .. folder .. "/asked\n")
    file:close()
    os.execute(("chmod +x %s && PATH=%s:$PATH '%s' --norc -e '%s'"):format(fake, folder,
        program:find("^/") and program or "./" .. program,
        "lab.table({{[\"t 1.5\"] = 1, y = 1, by = 2.5}}, {title = \"ratio 1.5 of 2-3\"}):plot{"
        .. "x = \"t 1.5\", y = \"y\", by = \"by\", file = \"" .. folder .. "/x.svg\"}")
        .. " 2>" .. folder .. "/said")
    T.like(read(folder .. "/said"), "drawing is not whole", "a plot that is not drawn is an error")
    T.is(io.open(folder .. "/x.svg"), nil, "and no file")
    local asked = read(folder .. "/asked")
    os.execute(("rm -f %s %s/asked %s/said"):format(fake, folder, folder))
    local title = asked:match('set title "([^"]*)"'):gsub("\\([0-7]+)", function(digits)
        return utf8.char(tonumber(digits, 8))
    end)
    T.is(title, "ratio 1.5 of 2-3", "a digit behind another sign is no part of its octal number")
    T.is(count(asked, "\\%d%d%d%d"), 0, "nor in any other text")
end

-- ---- with it -------------------------------------------------------------------------------

local function curves()
    local text = svg(table_of_copies, {x = "kib", y = "us", by = "pinned"})
    T.like(text, "^<%?xml.*<svg.*</svg>%s*$", "a plot is an SVG file")
    T.ok(text:find("pinned=no") and text:find("pinned=yes"), "each value of `by` has a curve")
    T.ok(text:find(">copies<", 1, true), "the table's title stands above")
    T.is(count(svg(table_of_copies, {x = "kib", y = {"us", "kib"}, title = "mine"}), ">us<"), 1,
         "several columns have a curve each")
    text = svg(table_of_copies, {x = "what", y = "us", by = "pinned", log = "y"})
    T.ok(text:find(">a<") and text:find(">b<"), "texts are ticks")
    T.lives(function()
        svg(lab.table{{a = 0, b = 0}}, {x = "a", y = "b"})
        svg(lab.table{{a = -1, b = -5}}, {x = "a", y = "b"})
        svg(lab.table{{a = 3, b = 7}}, {x = "a", y = "b", log = "xy"})
        svg(lab.table{{a = true, b = 7}}, {x = "a", y = "b"})
    end, "a single point is a plot")
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
    {"ratio 1.5 of 2-3"}, {'say "1"2'}, {"it's 3\\4\\n5"}, {"line\n6", "line\\n6"},
    {"tab\t7 \0278", "tab\\t7 \\x1b8"}, {"\u{9b}9 \u{7f}1", "\\u{9b}9 \\x7f1"},
    {"100%5d %s 50%"}, {"größe 東京2"}, {"\xff3\xc34", "\\xff3\\xc34"},
    {"\u{ffff}5", "\u{fffd}5"}, {"<b>&amp;6"}, {"-7"},
}

-- Each as the title, as a tick and in the legend, with the next two at the axes.
local function texts()
    local numbers, missing, ill = {{1.5, "1.5"}, {-2, "-2"}, {30, "30"}}, {}, 0
    for i, odd in ipairs(odd_texts) do
        local x, y = odd_texts[i % #odd_texts + 1], odd_texts[(i + 1) % #odd_texts + 1]
        local number = numbers[i % #numbers + 1]
        local drawing = svg(lab.table{{[x[1]] = odd[1], [y[1]] = 1, by = odd[1]},
                                      {[x[1]] = "1", [y[1]] = 2, by = number[1]}},
                            {x = x[1], y = y[1], by = "by", title = odd[1]})
        local found, shown = texts_of(drawing), odd[2] or odd[1]
        for _, text in ipairs{shown, x[2] or x[1], y[2] or y[1], "by=" .. shown,
                              "by=" .. number[2]} do
            if not found[text] then missing[#missing + 1] = text end
        end
        ill = ill + (utf8.len(drawing) and not drawing:find("[\0-\8\x0b-\x1f]") and 0 or 1)
    end
    T.is(table.concat(missing, ", "), "", "title, axes, ticks and legend say what was given")
    T.is(ill, 0, "in well-formed UTF-8 without control characters")
end

-- What a shell or gnuplot could take for a command.
local function hostile_names()
    local name = ("`touch %s/a` $(touch %s/b) '\"; !touch %s/c\nset print \"%s/d\"\n@x \\ "
        .. "_y{/Bold}"):format(folder, folder, folder, folder)
    local by = "`touch e`{/Bold}"
    local r = lab.table({{[name] = 1, y = 1, by = by}, {[name] = 2, y = 3, by = by}},
                        {title = name})
    local text = svg(r, {x = name, y = "y", by = "by"})
    T.ok(count(text, "Bold") >= 3, "names are shown as they are, as title, axis and curve")
    T.is(files(), "", "and nothing in them is run")
    text = svg(lab.table{{x = name, y = 1}, {x = "END\n", y = 2}}, {x = "x", y = "y"})
    T.ok(text:find("END\\n", 1, true) and files() == "", "nor in values")
    local file = folder .. "/it's \"$(touch x)\" `touch y`\n|%d.svg"
    r:plot{x = name, y = "y", file = file}
    T.like(read(file), "</svg>", "files have the names that were given")
    os.remove(file)
    T.is(files(), "", "and no other file has come")
end

-- Names that mean something to gnuplot are files in the current folder.
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

local function in_the_terminal()
    local status, text = ideal.run_text([[
lab.table({{n = 1, us = 10}, {n = 2, us = 20}}, {title = "two points"}):plot{x = "n", y = "us"}
print "behind"]], {through = "env COLUMNS=60"})
    T.is(status, 0, "without a file the plot is printed")
    T.like(text, "two points.*%*%*%*.*behind\n$", "before what is printed next")
    local widest = 0
    for line in text:gmatch("[^\n]*") do widest = math.max(widest, #line) end
    T.is(count(text, "\f"), 0, "without a form feed")
    T.ok(widest > 40 and widest <= 60, "it is as wide as the terminal")
    _, text = ideal.run_text[[
lab.table{{n = 1, us = 5}, {n = 2, us = 5}, {n = 3, us = 5}}:plot{x = "n", y = "us"}]]
    T.like(text, "5 A%*+A%*+A\n", "points on the border are drawn over it")
    _, text = ideal.run_text[[
local r = lab.table{{n = 1, us = 5, by = "aaaaaaa"}, {n = 1, us = 6, by = "b"}}
r:plot{x = "n", y = "us", by = "by"}]]
    T.like(text, "by=aaaaaaa %*%*%*A%*%*%* +by=b ###B###", "the curves' names stand apart")
end

refused()
without_gnuplot()
asked_for()
if os.execute("command -v gnuplot >/dev/null 2>&1") then
    curves()
    texts()
    hostile_names()
    special_files()
    in_the_terminal()
else
    T.skip("gnuplot is not here", 20)
end
os.execute("rm -r " .. folder)
T.done()
