-- 56-table.t.lua - lab.table: as text, as CSV, as JSON lines; and what embedders without io get.

local T = require "tap"
local ideal = require "lua.ideal"
local lab = require "streamlab"

local function refuses(f, code, pattern, name)
    ideal.refuses(T, f, code, pattern, name)
end

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

local function as_text()
    local r = lab.table({
        { kib = 1, pinned = true, us = 1.23456, what = "first" },
        { kib = 1024, pinned = false, us = 12345.678, what = "line\nbreak" },
        { kib = 16, us = 20.0, what = "ü" },
        { kib = 2, pinned = true, what = "" },
    }, { title = "copies" })
    T.is(tostring(r), table.concat({
        "copies",
        " kib  pinned         us  what",
        "   1  yes         1.235  first",
        "1024  no      12346      line\\nbreak",
        "  16  -          20      ü",
        "   2  yes         -" }, "\n"), "columns are aligned, numbers by their points")
    T.is_deeply(r.columns, { "kib", "pinned", "us", "what" }, "the columns are sorted by name")
    T.is(tostring(lab.table({ { a = 1, b = 2 } }, { columns = { "b" } })), "b\n2",
         "columns chooses and orders")
    T.is(tostring(lab.table{ { a = 1e-5 }, { a = 0 / 0 }, { a = math.huge }, { a = 0.0 },
                             { a = 1 << 62 } }),
         table.concat({
        "                      a",
        "                  1e-05",
        "                nan",
        "                inf",
        "                  0",
        "4611686018427387904" }, "\n"), "odd numbers")
    T.is(tostring(lab.table{}), "\n(no rows)", "no rows are said to be none")
    T.is(tostring(lab.table{ { a = 1, t = {} }, { a = 2, t = 3 } }), "a\n1\n2",
         "what does not fit a cell is no column by itself")
    T.is(tostring(lab.table{ { ["a\27[2J"] = "\27[2J" } }), "a\\x1b[2J\n\\x1b[2J",
         "nothing reaches the terminal's controls")
    T.is(tostring(lab.table{ { a = "\u{9b}31m\127 \u{a0}ü" } }), "a\n\\u{9b}31m\\x7f \u{a0}ü",
         "nor those that UTF-8 has")
end

local function as_csv()
    local r = lab.table({ { a = 1 / 3, b = 'say "x"', c = true }, { a = 3, b = "x,y\n" },
                          { a = 2.0, b = "" } }, { columns = { "b", "a", "c" } })
    local want = 'b,a,c\r\n"say ""x""",0.3333333333333333,true\r\n"x,y\n",3,\r\n"",2,\r\n'
    T.is(r:csv(), want, "CSV as RFC 4180 has it")
    T.is(lab.table({ { a = 1 }, { b = 1 } }, { columns = { "a" } }):csv(), 'a\r\n1\r\n""\r\n',
         "a row with nothing in it is no empty line, which readers skip")
    local path = os.tmpname()
    T.is(r:csv(path), nil, "into a file nothing is returned")
    T.is(read(path), want, "the file has the same")
    r:jsonl(path)
    T.is(read(path), r:jsonl(), "JSON lines go into a file as well")
    os.remove(path)
    T.is(tonumber(lab.table{ { a = 0.1 + 0.2 } }:csv():match("\n([^\r]*)")), 0.1 + 0.2,
         "a number that is read again is the same")
    refuses(function() r:csv("/nonexistent/x.csv") end, "SL_EIO", "cannot write '/nonexistent",
            "a file that cannot be written")
    refuses(function() r:csv(3) end, "SL_EINVAL", "file's name, got number", "3 is no file")
    refuses(function() r:csv("x", 1) end, "SL_EINVAL", "one too many", "one argument is enough")
end

local function as_jsonl()
    local r = lab.table({ { a = 0.5, b = "q\"\\\n\1", c = false }, { a = 0 / 0, b = "\xff\u{fc}" },
                          { a = -math.huge } }, { columns = { "c", "a", "b" } })
    T.is(r:jsonl(), '{"c": false, "a": 0.5, "b": "q\\"\\\\\\n\\u0001"}\n'
         .. '{"c": null, "a": null, "b": "\u{fffd}\u{fc}"}\n{"c": null, "a": null, "b": null}\n',
         "an object a row, in the order of the columns")
end

local function refused()
    local function fails(pattern, name, ...)
        local arguments = table.pack(...)
        refuses(function() lab.table(table.unpack(arguments, 1, arguments.n)) end, "SL_EINVAL",
                pattern, name)
    end
    fails("rows%) must be a list of tables, got nothing", "there must be rows")
    fails("got a table with named values", "one row is no list of them", { a = 1 })
    fails("got a table with a metatable", "a list ends, which one of a metatable's need not",
          setmetatable({}, { __index = function() return { a = 1 } end }))
    fails("got a list with gaps", "a list has no gaps", { { a = 1 }, nil, { a = 3 } })
    fails("got a list with gaps", "wherever they are", { { a = 1 }, [4] = { a = 3 } })
    fails("row 2 must be a table of named values, got number", "each row is a table",
          { { a = 1 }, 3 })
    fails("row 1: the values must be named.*got the key 1", "with names", { { 1, 2 } })
    fails("column 'kibb' is in no row; there are: kib; did you mean kib", "a column is somewhere",
          { { kib = 1 } }, { columns = { "kibb" } })
    fails("'a' is in it twice", "once", { { a = 1 } }, { columns = { "a", "a" } })
    fails("'columns' must be a list of names, got \"a\"$", "columns are a list", { { a = 1 } },
          { columns = "a" })
    fails("'title' must be .*, got an empty table$", "a title is a text", {}, { title = {} })
    fails("'columns' must be a list of names, got string$",
          "a long text is not shown", { { a = 1 } },
          { columns = ("a"):rep(41) })
    fails("row 1: 't' is a table", "what is no cell is refused where it is asked for",
          { { t = {} } }, { columns = { "t" } })
    fails("unknown option 'colums'", "a typo cannot pass", {}, { colums = {} })
    local r = lab.table{ { a = 1 } }
    refuses(function() return r.colums end, "SL_EINVAL", "'colums'; did you mean 'columns'",
            "a field that there is not")
    refuses(function() r.show() end, "SL_EINVAL", "call it as r:show", "a method without its table")
    refuses(function() r.csv({}) end, "SL_EINVAL", "lab.table or lab.sweep", "or with another one")
    T.is(r.title, nil, "the title may be missing")
end

-- A script may change rows, columns and title, also to what makes no table.
local function changed()
    local r = lab.table({ { a = 1 } }, { title = "t" })
    r.rows[2], r.columns[2], r.title = { a = 2, b = 3 }, "b", "new"
    T.is(tostring(r), "new\na  b\n1  -\n2  3", "rows, columns and title can be changed")
    local function fails(pattern, name)
        for _, method in ipairs{ "show", "csv", "jsonl" } do
            refuses(function() r[method](r) end, "SL_EINVAL", method .. ": " .. pattern, name)
        end
        refuses(function() return tostring(r) end, "SL_EINVAL", pattern, name)
        refuses(function() r:plot{ x = "a", y = "a" } end, "SL_EINVAL", pattern, name)
    end
    r.rows[1].a = {}
    fails("row 1: 'a' is a table", "what is no cell is found then")
    r.rows[1] = 3
    fails("row 1 must be a table", "so is what is no row")
    r.rows = nil
    fails("rows must be a list of tables, got nothing", "and a table without rows")
    r.rows, r.columns = {}, { 1 }
    fails("columns: item 1 must be a name", "and what is no name")
    r.columns, r.title = {}, {}
    fails("title must be a string, got table", "and what is no title")
    T.is(getmetatable(r), "streamlab.results", "the metatable is out of reach")
    T.ok(not pcall(setmetatable, r, {}), "and stays")
end

-- Plain Lua with the module alone: what the host of an embedded state may have left out.
local function without_io()
    local so, lua = os.getenv("STREAMLAB_SO"), os.getenv("STREAMLAB_LUA") or ""
    if not so or lua == "" or os.getenv("STREAMLAB_SANITIZE") ~= "" and
        os.getenv("STREAMLAB_SANITIZE") ~= nil then
        T.skip("there is no lua5.4 to run the module in")
        return
    end
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write(([[
local open, out = package.loadlib(%q, "luaopen_streamlab"), print
io, os = nil, nil
local lab = open()
local r = lab.table{{a = 1, b = 2.5}}
out((r:csv():gsub("\r\n", "|")))
for _, f in ipairs{r.show, function() r:csv("x") end, function() r:plot{x = "a", y = "b"} end} do
    out(select(2, pcall(f, r)).code)
end
lab.open{backend = "sim"}
out(#lab.sweep({{"a", {1, 2}}}, function(point) return point.a end).rows)
]]):format(so))
    file:close()
    local pipe = assert(io.popen(("'%s' %s 2>&1"):format(lua, path)))
    T.is(pipe:read("a"), "a,b|1,2.5|\nSL_EUNSUPPORTED\nSL_EUNSUPPORTED\nSL_EUNSUPPORTED\n2\n",
         "without io tables still work, but for what needs it")
    pipe:close()
    os.remove(path)
end

as_text()
as_csv()
as_jsonl()
refused()
changed()
without_io()
-- A text of a megabyte takes neither a megabyte's line nor the square of it in time.
local long = lab.table{ { a = ("x"):rep(1 << 20) .. "\u{e9}", b = "y" },
                        { a = ("\u{e9}"):rep(1000), b = "  " } }
local lines = {}
for line in (tostring(long) .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
T.is(lines[2], ("x"):rep(1000) .. "... (1048578 bytes)  y", "a long text is cut where it is shown")
T.is(lines[3], ("\u{e9}"):rep(499) .. "... (2000 bytes)",
     "between characters, and without blanks at the line's end")
T.is(#long:csv(), 5 + 1048578 + 4 + 2000 + 5, "it is whole where it is exported")
T.done()
