-- 55-complete.t.lua - what Tab offers, asked of repl/console/completion/complete.lua itself.
local T = require "tap"

-- ---- the module, in an environment as the program makes one ------------------------------

local user = {}                     -- the user's globals
local listed                        -- the folder that was looked into
local folders = { ["."] = { "lab.lua", "larger/", ".hidden", "notes.txt",
    "la\27[31m.lua", "la\u{202e}.lua" }, ["larger/"] = { "a.json" } }
local environment, loaded = setmetatable({ lab = lab, _G = user }, { __index = _G }), {}
function environment.import(path)
    if loaded[path] == nil then
        loaded[path] = assert(loadfile(path, "t", environment))()
    end
    return loaded[path]
end
function environment.embedded(prefix)
    local pipe = assert(io.popen("ls " .. prefix .. "*.lua"))
    local paths = {}
    for path in pipe:lines() do
        paths[#paths + 1] = path
    end
    pipe:close()
    return paths
end
environment.internals = {
    embedded_names = function()
        return { "bindings/prelude.lua", "scripts/profiles/h200.lua", "scripts/profiles/t4.lua" }
    end,
    columns = function() return 80 end, unicode = function() return false end,
    colour = function() return false end,
    safe = debug.getregistry()["streamlab.internals"].safe,
}
environment.program = {
    folder = function(folder)
        listed = folder
        return folders[folder]
    end,
}
local complete = environment.import("repl/console/completion/complete.lua").complete

-- What is offered for the text, in one: "POSITION: WORD WORD".
local function offered(text)
    local first, found = complete(text)
    return first .. ": " .. table.concat(found, " ")
end

local function has(text, word, name)
    local _, found = complete(text)
    for _, candidate in ipairs(found) do
        if candidate == word then
            return T.ok(true, name)
        end
    end
    T.ok(false, name)
    T.diag(offered(text))
end

-- ---- names -------------------------------------------------------------------------------

user.apple, user.apricot, user.data = 1, 2, { { x = 1, xy = 2 }, name = { first = 1 } }
user.lab, user.string = lab, string
T.is(offered "ap", "1: apple apricot", "globals that begin so")
T.is(offered "print(ap", "7: apple apricot", "also within a call")
T.is(offered "x = 1 + ap", "9: apple apricot", "and behind an operator")
T.is(offered "if x then\n  ap", "13: apple apricot", "and in a later line of an entry")
T.is(offered "whi", "1: while", "keywords")
T.is(offered "zebra", "1: ", "nothing for what is not there")
T.is(offered "data.na", "6: name", "fields of a table")
T.is(offered "data.name.", "11: first", "all of them behind the dot")
T.is(offered "data[1].x", "9: x xy", "also by an index")
T.is(offered "data[\"name\"].f", "14: first", "or by a text")
T.is(offered "a .. ap", "6: apple apricot", "behind two dots stands a name of its own")
T.is(offered "lab.matm", "5: matmul", "functions of the laboratory")
T.is(offered "lab.cuda.malloc_", "10: malloc_async malloc_host", "and of lab.cuda")
T.is(offered "data.name:f", "11: ", "behind a colon stand functions only")
T.is(offered "f().x", "5: ", "of what a call gives nothing is known")
T.is(offered "3.x", "4: ", "nor of a number")
T.is(offered "x = 12", "7: ", "a number is no name")
user.text = "abc"
has("text:up", "upper", "methods of strings")
user._hidden = 1
T.ok(not offered(""):find("_hidden"), "a name with _ is not offered unasked")
T.is(offered "_hid", "1: _hidden", "but when it was begun")

-- ---- objects ------------------------------------------------------------------------------

lab.open { backend = "sim" }
user.t, user.s, user.e = lab.ones(2, 2), lab.stream(), lab.event()
T.is(offered "t.dt", "3: dtype", "fields of a tensor")
T.is(offered "t:toto", "3: ", "nothing that it has not")
T.is(offered "t:tota", "3: totable", "methods of a tensor")
T.is(offered "s:wait_", "3: wait_event wait_stream wait_value", "methods of a stream")
T.is(offered "t.size", "3: ", "methods only behind a colon")

-- ---- what has not run yet -----------------------------------------------------------------

-- What is offered behind the text, as one text.
local function behind(text)
    local _, found = complete(text)
    return table.concat(found, " ")
end
T.is(behind "local q = lab.stream{name = 'q'}\nq:wait_", "wait_event wait_stream wait_value",
     "a name is what the text makes it")
T.is(behind "q = lab.stream()\nq:record_", "record_event", "also without local")
T.is(behind "local q <const> = lab.rand(2, 2)\nq:tota", "totable", "with an attribute")
T.is(behind "local q <const>, r <close> = lab.rand(2, 2), lab.stream()\nr:wait_e", "wait_event",
    "of several names each has its own expression")
T.is(behind "local q, r = lab.stream{name = f(1, 2)}, lab.event()\nr:elapsed_", "elapsed_time",
    "commas within an expression separate none")
T.is(behind "local x = lab.ones(2)\nlocal y = x:to('cuda')\ny:tota", "totable",
     "what a method gives is known")
T.is(behind "local q = lab.stream()\nlocal e = q:record_event()\ne:elapsed_",
     "elapsed_time", "step by step")
T.is(behind "local tl = lab.profile(function()\n lab.spin(1)\nend)\ntl:summ", "summary",
     "a call may have many lines")
T.is(behind "local tl = lab.load 'x.json'\ntl.makes", "makespan_us", "its fields behind a dot")
T.is(behind "local q = lab.stream()\nlocal q = lab.ones(1)\nq:wait_", "",
     "the last assignment counts")
T.is(behind "local q = lab.stream()\nlocal d = {q = 1}\nq:wait_",
     "wait_event wait_stream wait_value", "a key of a table is none")
T.is(behind "local q = 5\nq:", "", "of other values nothing is known")
T.is(behind "local q = q\nq:", "", "nor of a name that is made of itself")
T.is(behind "local q, r = lab.stream()\nr:", "", "nor of one that nothing is left for")
T.is(behind "local q = lab.stream(\nq:", "", "nor within the call that makes it")

-- ---- nothing of the user's runs --------------------------------------------------------------

local ran = false
local function run()
    ran = true
    return {}
end
user.trap = setmetatable({ known = 1 }, { __index = run, __pairs = run, __len = run,
    __metatable = run, __name = run, __tostring = run })
T.is(offered "trap.k", "6: known", "of a table with an __index function its own fields")
T.is(offered "trap.other.x", "12: ", "and the function is not asked")
setmetatable(user, { __index = run, __pairs = run })
T.is(offered "nowhere.x", "9: ", "nor that of the globals")
setmetatable(user, nil)
T.ok(not ran, "no function of the user's has run")
user.class = { method = run }
user.class.__index = user.class
user.object = setmetatable({}, user.class)
T.is(offered "object:m", "8: method", "methods by way of an __index table")
user.ring = {}
setmetatable(user.ring, { __index = user.ring })
T.is(offered "ring.x", "6: ", "a ring of __index tables ends")
local many = {}
for i = 1, 100000 do
    many["key" .. i] = i
end
user.many = many
local first, found = complete "many.key"
T.ok(first == 6 and #found <= 10000, "of a huge table not all is looked at")

-- ---- texts that are known --------------------------------------------------------------------

user.require = require
T.is(offered "require 'strea", "10: streamlab", "require knows what is loaded")
has("x = require \"", "lab", "and files of Lua here")
user.tl = lab.profile(lab.spin, 0)
T.is(offered "tl:overlap_us('memcpy_h", "16: memcpy_h2d", "selections of spans")
T.is(offered "tl:overlap_us('kernel', \"d2", "26: d2h", "also further ones")
T.is(offered "tl:overlap_us('a', 'b', 'c', 'mems", "31: memset", "as many as there are")

-- ---- options -------------------------------------------------------------------------------

T.is(offered "lab.event{ti", "11: timing = ", "options of a function called with a table")
has("lab.stream{", "priority = ", "all of them behind the brace")
T.is(offered "lab.matmul(a, b, {tf", "19: tf32 = ", "options in a table at the end")
T.is(offered "lab.matmul(t, t, {out = t, str", "28: stream =  string",
     "a second one, beside globals")
T.is(offered "lab.matmul(a, b, {out = t, ou", "28: ", "none that is there already")
T.is(offered "t:to(\"cpu\", {non", "14: non_blocking = ", "options of a method")
T.is(offered "x:to(\"cpu\", {non", "14: non_blocking = ", "also of an object that is not there yet")
T.is(offered "lab.event{timing = ap", "20: apple apricot", "behind = stands a value")
T.is(offered "f{non_b", "3: ", "a function of the user's has no known options")
T.is(offered "lab.matmul(a, b, {out = {tf", "26: ", "a table within the options is none of them")
T.is(offered "lab.matmul(a[1], b['x'], {tf", "27: tf32 = ", "indices are no tables of options")
T.is(offered "lab . event {ti", "14: timing = ", "blanks do not matter")
T.is(offered "lab.profile(function() lab.event{ti", "34: timing = ", "within a function as well")

-- ---- texts ---------------------------------------------------------------------------------

T.is(offered "io.open(\"la", "10: lab.lua larger/",
     "files in a text, but for names that a terminal would obey")
T.is(listed, ".", "from the folder that the program is in")
T.is(offered "io.open('larger/", "10: larger/a.json", "and from one that was typed")
T.is(offered "io.open(\"", "10: lab.lua larger/ notes.txt", "hidden ones are not offered unasked")
T.is(offered "io.open(\".h", "10: .hidden", "but when they were begun")
T.is(offered "lab.load \"no", "11: notes.txt", "a call without brackets is one")
T.is(offered "t:to(\"c", "7: cpu cuda", "what an argument may be")
T.is(offered "lab.open{backend = \"s", "21: sim", "what an option may be")
T.is(offered "lab.open{profile = \"", "21: h200 t4", "profiles")
T.is(offered "x = \"a\" .. ap", "12: apple apricot", "a text that has ended is over")
T.is(offered "x = \"a\\\"la", "6: ", "a quote behind a backslash ends none")
T.is(offered "x = \"a\nap", "8: apple apricot", "a text ends with its line at the latest")
T.is(offered "lab.to(f(x and \"la", "17: lab.lua larger/", "a word of Lua is no call")
T.is(offered "-- ap", "6: ", "nothing in a comment")
T.is(offered "--[[ x ]] ap", "11: apple apricot", "a long comment ends")
T.is(offered "[[ ap", "6: ", "nothing in a long text")

-- ---- lines for the console ---------------------------------------------------------------------

T.is(offered ".tim", "1: .timer", "commands")
T.is(offered ".timer o", "8: off on", "and what they take")
T.is(offered ".load la", "7: lab.lua larger/", "files")
T.is(offered ".device t", "9: t4", "profiles")
T.is(offered "?ap", "2: apple apricot", "names behind a question mark")
T.is(offered "?lab.matm", "6: matmul", "with their fields")
T.is(offered ".help lab.matm", "11: matmul", "and behind .help")
T.is(offered "?streams", "2: streams", "also a page, and the last part of a name")
T.is(offered "?cudaStreamSy", "2: cudaStreamSynchronize", "and a name of CUDA")
T.is(offered ".help cudaEventR", "7: cudaEventRecord cudaEventRecordExternal "
    .. "cudaEventRecordWithFlags", "after .help as well, also those that are not here")
T.is(offered "?cudaGraphi", "2: cudaGraphics", "of graphics, which are not here")
user.help = function() end
T.is(offered "help(\"cudaEventRecordW", "7: cudaEventRecordWithFlags",
    "and in a text for help")
T.is(offered "help \"tens", "7: tensor tensors", "without brackets, too")
user.help = nil
T.is(offered "?lab.cudaS", "6: ", "but not as fields")

user.t, user.s, user.e = nil, nil, nil
T.done()
