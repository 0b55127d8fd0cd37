-- 52-help.t.lua - help(), help(x), ?x and `streamlab help`: what is found, and how it looks.
package.path = "tests/repl/?.lua;" .. package.path
local T = require "tap"
local shell = require "shell"
local source = dofile "docs/generate/source.lua"
local data = require "repl.api_data"

-- What `streamlab help` prints; `setting` is put before the command.
local function asked(name, setting)
    return shell.sh((setting or "COLUMNS=80") .. " \"$P\" help " .. shell.quote(name))
end

-- What the lines print in the REPL, on a simulated GPU.
local function typed(lines)
    return shell.sh("printf %s " .. shell.quote(lines .. "\n")
        .. " | COLUMNS=80 \"$P\" --norc --backend=sim -i")
end

local function first_line(text)
    return text:match("^\n*([^\n]*)")
end

-- ---- an entry --------------------------------------------------------------------------

local record <const> = [[
e:record([stream]) (method of events)
records the event in a stream

Arguments
  stream  stream: the stream; the event happens when its work so far is done.
          Default: the current stream

Returns
  event  the event itself

Errors
  SL_ECLOSED  the event or the stream is closed
  SL_EDEVICE  the stream is another device's

If it is recorded again, the new record counts. Waits that were enqueued before
still wait for the record that was the latest then.

Example
  local s = lab.stream()
  local e = lab.event()
  lab.spin(1, { stream = s })
  e:record(s)
  print(e:query())  --> false
  s:synchronize()
  print(e:query())  --> true

CUDA      cudaEventRecord
PyTorch   torch.cuda.Event.record
See also  stream:record_event, stream:wait_event
]]

local function entries()
    local out, err, code = asked "event:record"
    T.is(out, record, "a method: from the signature to the names elsewhere")
    T.is(err .. code, "0", "and nothing else")
    T.is(typed "e = lab.event(); x = 1\n?event:record", record, "?x says the same")
    T.is(typed "help 'event:record'", record, "help 'x' too")
    T.is(typed "help(lab.event().record)", record, "help(x) of a method")
    T.is(typed "my = {e = lab.event()}\n?my.e:record", record, "?x of a variable's method")
    T.is(typed "my = {e = lab.event()}\n?my.e.record()", record, "also as it is called")
    T.is(first_line(asked "lab.event"), "lab.event{ timing =, enable_timing = }",
        "a function with options")
    out = asked "event.timing"
    T.is(out:gsub("\n+$", ""), "e.timing (field of events)\nboolean: whether it measures time",
        "a field has its type")
    T.is(asked "event:synchronize":match("\n\nBlocks\n.-\n\n"),
        "\n\nBlocks\n  until the latest record has completed; not at all if there is none\n\n",
        "whether it blocks")
    T.like(asked "lab.event", "\nOptions\n  timing         boolean: .- Default: true; after "
        .. "[^\n]*\n",
        "an option has its default")
end

-- ---- how it looks ------------------------------------------------------------------------

-- The longest line.
local function width(text)
    local widest = 0
    for line in text:gmatch("[^\n]+") do
        widest = math.max(widest, utf8.len(line) or #line)
    end
    return widest
end

local function narrow()
    local out = asked("event:record", "COLUMNS=40")
    T.is(out:match("Arguments\n(.-)\n\n"), [[
  stream  stream: the stream; the event
          happens when its work so far
          is done. Default: the current
          stream]], "40 columns: arguments stay in a column")
    out = asked("event", "COLUMNS=40")
    T.like(out, "\n  e:elapsed_time%(other%)\n      the time between two events\n",
        "and what is too wide for it stands above its text")
    local names = { "", "events", "event:close", "lab.event", "happened" }
    for _, name in ipairs(names) do
        out = asked(name, "COLUMNS=40")
        T.ok(width(out:gsub("\nExample\n.-\n\n", "")) < 40,
            ("help %s fits into 40 columns"):format(name))
    end
end

local function colours()
    local plain = asked("event:record", "COLUMNS=80")
    T.is(plain:find("\27"), nil, "no terminal, no colour")
    local out = asked("event:record", "CLICOLOR_FORCE=1 COLUMNS=80")
    T.like(out, "^\27%[1me:record%(%[stream%]%)\27%[0m", "the signature is bold")
    T.is(out:gsub("\27%[%d*m", ""), plain, "colours change nothing else")
    T.is(asked("event:record", "NO_COLOR=1 CLICOLOR_FORCE=1 COLUMNS=80"), plain,
        "NO_COLOR is obeyed")
    out = asked("lab.event", "CLICOLOR_FORCE=1 COLUMNS=80")
    T.like(out, "\27%[36menable_timing=True\27%[0m", "code has a colour instead of backticks")
end

-- ---- what is found ------------------------------------------------------------------------

local function names()
    T.is(first_line(asked "elapsed_time"), "e:elapsed_time(other) (method of events)",
        "the last part of a name is enough")
    T.is(first_line(asked "cudaEventElapsedTime"), "e:elapsed_time(other) (method of events)",
        "a name of CUDA")
    T.is(first_line(asked "torch.cuda.Event.elapsed_time"),
        "e:elapsed_time(other) (method of events)", "a name of PyTorch")
    T.is(first_line(asked "cuda.Event.elapsed_time"), "e:elapsed_time(other) (method of events)",
        "also without torch")
    T.is(first_line(asked "CUDAEVENTELAPSEDTIME"), "e:elapsed_time(other) (method of events)",
        "small and big letters are the same")
    T.is(first_line(typed "?cudaEventElapsedTime"), "e:elapsed_time(other) (method of events)",
        "?x finds it too")
    T.is(first_line(asked "t"), "t:t{ out =, stream = } (method of tensors)", "a letter is a name")
    local found = asked "x"
    T.like(found, "results:plot ", "or that of an argument")
    T.ok(not found:find "Also in the pages" and not found:find "more\n", "and not one of any text")
    T.like(asked "a stream", "lab.stream ", "beside other words it is one of them")
    for _, text in ipairs { "events", "Events", "event" } do
        T.is(first_line(asked(text)), "Events", "a page: " .. text)
    end
end

local function searching()
    local out, err, code = asked "happened"
    T.is(out:match("^(.-\n.-\n)"), '"happened" is found in:\n'
        .. "  event:query         asks whether the event has happened\n",
        "a word is searched for, the brief before other texts")
    T.is(err .. code, "0", "which is fine")
    T.like(asked "two events", "event:elapsed_time +the time between two events\n",
        "several words must all be there")
    T.like(asked "enable_timing", "lab.event +makes an event\n", "texts are searched too")
    out, _, code = asked "cudaEventRecrd"
    T.like(out:gsub("\n", " "), 'no help about "cudaEventRecrd", did you mean cudaEventRecord%?',
        "what is not found gets the nearest name")
    T.is(code, 1, "and the status 1")
    out = asked "xyzzyplugh"
    T.like(out, 'no help about "xyzzyplugh"; help%(%) lists', "or none")
    T.is(typed "?xyzzyplugh\n?event:recordx", (asked "xyzzyplugh" .. asked "event:recordx"),
        "?x says so too")
end

-- Words that people come with.
local function from_elsewhere()
    T.is(first_line(asked "torch.matmul"),
        "lab.matmul(a, b, { out =, stream =, tf32 =, bias =, activation = })",
        "torch.matmul")
    T.like(asked "matmul", "\nAlso +tensor:matmul\n$", "a function, and the method of its name")
    T.like(typed "?cudaMalloc", "^lab.cuda.malloc%(bytes%)", "?cudaMalloc")
    local out = asked "cudaMemcpyAsync"
    T.ok(out:find "\n  tensor:copy_ +copies" and out:find "\n  lab.cuda.memcpy_async ",
        "of several functions that CUDA calls so a list")
    T.like(asked "copy", '^"copy" is found in:\n  tensor:copy_ ', "a part of a name")
    T.like(asked "pinned", '^"pinned" is found in:\n  tensor.pinned .*\n  lab.zeros ',
        "the name of a field is a word, of options too")
    T.like(asked "out of memory", "\n  lab.cuda.malloc_host ", "words of a message")
    T.like(asked "STREAMLAB_RC", "^\"STREAMLAB_RC\" is found in the pages The program\n",
        "what only a page has")
    T.is(first_line(typed "t = lab.ones(2)\n?t:to"), first_line(asked "tensor:to"),
        "a method of a tensor in a global")
    T.is(asked "t:to", asked "tensor:to", "and of none, as signatures have it")
    T.is(first_line(typed "t = lab.ones(2)\n?t"), "Tensors", "a tensor in a global")
    T.is(asked "lab.matmul(a, b)", asked "lab.matmul", "a call")
    T.is(first_line(typed "?lab.cuda"), first_line(asked "cuda"), "the table lab.cuda")
    T.is(first_line(typed "help('query')"), '"query" is the name of:', "a name of two methods")
end

-- ---- values ----------------------------------------------------------------------------------

local function values()
    local events = asked "events"
    T.is(typed "help(lab.event())", events, "an object shows its page")
    T.is(typed "e = lab.event()\n?e", events, "?x of a variable too")
    T.is(typed "help(lab.event)", asked "lab.event", "a function of lab")
    local overview = asked ""
    T.like(overview, "\nEvents +lab.event\n +e:record query synchronize elapsed_time close\n",
        "the list of all has the pages' functions")
    local _, n_lines = overview:gsub("\n", "")
    T.ok(n_lines <= 70, "it is a tall screen long")
    T.is(typed "help()", overview, "help() gives it")
    local unexplained = {}
    for entry in data.api.each() do
        local letter = entry.kind == "method" and data.api.called(entry):match("^%a+")
        if letter and not overview:find("`" .. letter .. "`", 1, true) then
            unexplained[letter] = true
        end
    end
    T.is(next(unexplained), nil, "it says what each letter stands for")
    T.is(typed "?" .. typed "??" .. typed " ? ", overview .. overview .. overview,
        "and ? alone, and ??")
    T.is(typed "help(lab)" .. typed "?lab", overview .. overview, "and help(lab)")
    T.like(typed "help(3)", "^no help for a number; ", "a value without help is named")
    T.like(typed "help(nil)", "^no help for nil; ", "nil as well")
    T.like(typed "function f() end\nhelp(f)", "^no help for a function of lab%[1%]:1; ",
        "a function of the user with its place")
    T.like(typed "x = 'a'\n?x", "^`x` is a string; ", "?x of other values says what they are")
    T.like(typed "e = lab.event()\n?e.recordd", "^event has no field or method `recordd`, "
        .. "did you mean `record`%?", "a field that there is not")
end

-- ?x must not run anything: no metamethods, no fields of objects.
local function runs_nothing()
    local out, err = typed [[
setmetatable(_G, {__index = function(_, k) print("asked for", k) end})
t = setmetatable({}, {__index = function() print "index" end, __tostring = error, __name = 3})
?t
?t.a
?nothing
?t.a.b]]
    T.is(out:find("asked for") or out:find("index"), nil, "?x runs no metamethods")
    T.is(err, "", "and raises nothing")
    T.like(out, "`t` is a table; ", "a table is one")
    T.is(typed "lab = nil\n?lab.event", asked "lab.event", "it does not need the global lab")
    T.is(typed "event = 5\n?event:record", record, "a path that leads nowhere is a name")
end

-- ---- texts -------------------------------------------------------------------------------------

-- The environment of the program's Lua, with a terminal of that kind. What is written becomes
-- the second result's items.
local function on_terminal(columns, unicode, colour)
    local environment, parts = source.environment(""), {}
    local internals = debug.getregistry()["streamlab.internals"]
    environment.internals = {
        character_columns = internals.character_columns, safe = internals.safe,
        elsewhere = internals.elsewhere,
        columns = function() return columns end, colour = function() return colour end,
        unicode = function() return unicode end, nearest = function() end,
    }
    environment.io = { write = function(...)
        for _, part in ipairs { ... } do
            parts[#parts + 1] = part
        end
    end }
    return environment, parts
end

-- What a sheet prints of Markdown.
local function laid_out(text, columns, unicode, colour)
    local environment, parts = on_terminal(columns, unicode, colour)
    local page = environment.import "repl/console/help/sheet.lua".new()
    page:markdown(text)
    page:print()
    return table.concat(parts)
end

-- All that there is, on a narrow terminal without UTF-8. Code is not broken into lines.
local function everything()
    local environment, parts = on_terminal(40, false, false)
    local help = environment.import "repl/console/help/help.lua"
    local wide, foreign = {}, {}
    local function check(name)
        for i = #parts, 1, -1 do
            parts[i] = nil
        end
        help.about(name)
        local text = table.concat(parts)
        local code = text:match("\nExample\n(.-)\n\n") or ""
        for line in text:gsub("\n    [^\n]*", ""):gmatch("[^\n]+") do
            if #line >= 40 and not code:find(line:match("^%s*(.*)$"), 1, true)
                and not line:find("^%s*%-%-") then
                wide[#wide + 1] = name .. ": " .. line
            end
        end
        foreign[#foreign + 1] = text:find("[\128-\255]") and name or nil
    end
    for _, page in ipairs(data.api.pages()) do
        check(page.file)
    end
    for entry in data.api.each() do
        check(entry.name)
    end
    check "out of memory"
    T.is(table.concat(wide, "\n"), "", "every page and entry fits into 40 columns")
    T.is(table.concat(foreign, " "), "", "and is ASCII where there is nothing else")
end

-- Functions are known by what they are.
local function functions()
    local lab, methods, wrong = require "streamlab", data.methods(), {}
    for entry in data.api.each() do
        local place = entry.kind == "method" and methods[entry.class]
            or entry.kind == "function" and (entry.name:find "^lab%.cuda" and lab.cuda or lab)
        if place and data.api.name_of(place[entry.key]) ~= entry.name then
            wrong[#wrong + 1] = entry.name
        end
    end
    T.is(table.concat(wrong, " "), "", "every function is found by its value")
    T.is(data.api.name_of(print), nil, "and others are not")
    T.is(typed "function lab.mine() end\nlab.mine", "function <lab[1]:1>\n",
        "a user's own function in lab is theirs")
end

local function markdown()
    T.is(laid_out("One two\nthree.\n\nFour **five** `six`, [a link](x.md#y).\n", 80, true), [[
One two three.

Four five `six`, a link.
]], "paragraphs, strong words, code, links")
    T.is(laid_out("- one two three four\n  five\n- six\n  - seven\n1. eight", 20, true), [[
- one two three
  four five
- six
  - seven
1. eight
]], "lists")
    T.is(laid_out("A\n\n```lua\nlocal a  <const> = 1\n\nb()\n```\nB", 80, true), [[
A

    local a  <const> = 1

    b()

B
]], "code stays as it is")
    T.is(laid_out("| | |\n|---|---|\n| `a` | one \\| two |\n| `bc` | three |", 80, true), [[
a   one | two
bc  three
]], "a table of two columns has labels and texts")
    T.is(laid_out("| name | unit | |\n|:--|--:|---|\n| a | us | how `long` |", 80, true), [[
name  unit
a     us; how `long`
]], "one of more columns has them behind each other")
    T.is(laid_out("## Head\n\ntext <!-- hidden --> more", 80, true), "Head\n\ntext more\n",
        "headings and comments")
    T.is(laid_out("2 * 3 * 4 and a*b*c, *new*", 80, true), "2 * 3 * 4 and a*b*c, new\n",
        "a star is not always emphasis")
    T.is(laid_out("`a b` c", 80, true, true), "\27[36ma b\27[0m c\n", "code in colour")
    T.is(laid_out("`aaaa bbbb cccc`", 11, true, true),
        "\27[36maaaa bbbb\27[0m\n\27[36mcccc\27[0m\n", "which ends and begins with the line")
    T.is(laid_out("a – b → ≤ ü “x”", 80, false), 'a - b -> <= ? "x"\n',
        "a C locale gets ASCII")
    T.is(laid_out("äöü äöü äöü", 11, true), "äöü äöü\näöü\n", "characters are counted, not bytes")
    T.is(laid_out("日本語 日本語 日本語", 14, true), "日本語 日本語\n日本語\n",
        "those of two columns as two")
    T.is(laid_out(("日"):rep(7), 11, true), "日日日日日\n日日\n", "also where a word is cut")
    T.is(laid_out("e\u{301}a e\u{301}a e\u{5b0}a ab", 12, true),
        "e\u{301}a e\u{301}a e\u{5b0}a ab\n", "and those of none as none")
    T.is(laid_out("one → two three", 14, false), "one -> two\nthree\n",
        "what ASCII makes longer is as long")
    T.is(laid_out(("x"):rep(25), 11, true), "xxxxxxxxxx\nxxxxxxxxxx\nxxxxx\n",
        "a word that is too long is cut")
    T.is(laid_out("", 80, true), "", "no text is nothing")
end

local function usage()
    local out, err, code = shell.run { "help", "--help" }
    T.like(out, "^usage: streamlab help", "streamlab help --help")
    out, err, code = shell.run { "help", "--nope" }
    T.is(out .. code, "2", "an unknown option is refused")
    T.like(err, "streamlab: help: unrecognized option '%-%-nope'", "with a sentence")
    T.is((shell.sh "COLUMNS=80 \"$P\" help two events"), asked "two events", "words need no quotes")
    _, err, code = shell.sh("\"$P\" help >&-")
    T.is(code, 1, "a closed stdout is an error")
    T.like(err, "stdout", "that is reported")
end

entries()
narrow()
colours()
local function capitals()
    T.like(typed "?torch.cuda.Stream", "^lab.stream{", "torch.cuda.Stream is lab.stream")
    T.like(typed "?torch.cuda.stream", "^lab.with%(", "and torch.cuda.stream lab.with")
    T.like(typed "?TORCH.CUDA.EVENT", "^lab.event{", "capitals do not matter where one has it")
end

-- Names of CUDA's and PyTorch's that are not here.
local function not_here()
    local compile = "There is no `%s` here: nothing is compiled; each call enqueues "
        .. "its\noperation.\n"
    T.is(typed "?torch.compile", compile:format("torch.compile"), "?torch.compile says so")
    T.is(asked "lab.compile", compile:format("lab.compile"), "and the name that would be ours")
    T.is(typed "?lab.compile", compile:format("lab.compile"), "at the prompt as well")
    T.like(asked "cudaGraphLaunch", '^"cudaGraphLaunch" is found in:\n  graph:launch ',
        "a name that is here, as two functions, is not said to be missing")
    for _, words in ipairs { "record_stream", "MPS", "green context", "managed memory", "zero-copy",
                             "persistent kernel", "PDL", "unified memory" } do
        T.like(asked(words), "^There is no `" .. words:gsub("%-", "%%-") .. "` here: %S",
               words .. " is not here, and what is instead")
    end
    T.is(asked "torch.nn.Linear", "There is no `torch.nn.Linear` here: there are no layers; "
        .. "`lab.matmul(x, w, {\nbias = b })` multiplies by weights and adds a bias.\n",
        "help torch.nn.Linear")
    T.like(asked "mean", "^There is no `mean` here: the mean is .-\n\"mean\" is found in:\n",
        "a word is looked for in texts, too")
    T.like(typed "t = lab.ones(2)\n?t.shape",
        "^tensor has no field or method `shape`; its sizes are `t:size%(%)`",
        "a tensor's field")
    T.like(asked "elsewhere", "cudaMallocManaged.-there is no managed memory",
           "all of them are a page")
end

local function topics()
    for _, words in ipairs { "prefetch", "double buffering", "Double-Buffering",
                             "bandwidth", "atomics", "deadlocks", "Nsight", "bank conflicts",
                             "roofline", "time slicing",
        "warp", "thread block", "block", "grid", "dependency", "parallelism", "gradient bucket",
        "mixed precision", "fp16", "tensor core", "page-locked", "default stream",
        "context", "priority" } do
        local out = asked(words)
        T.like(out, "\nRead docs/guide/%d%d%-", words .. " is a topic, with a chapter of the guide")
    end
    T.like(asked "prefetch", "^prefetch, prefetching, data loading, DataLoader\nThe next batch is "
        .. "copied while .-\n  t:to  the tensor's values in another place or dtype\n",
        "it says what is meant, and what to call")
    T.like(typed "?overlap", "^overlap, .-Also     tap:overlap\n",
           "a topic goes before a method of that name")
    T.like(asked "lab.graph", "captures", "a whole name is no topic")
end

local function long_words()
    local out = typed("?" .. ("z"):rep(100000))
    T.is(out, "there is no help about\n\"" .. ("z"):rep(60) .. "...\"; help() lists\n"
        .. "all pages\n", "of a long word that is not known the beginning is shown")
end

names()
searching()
capitals()
not_here()
topics()
long_words()
from_elsewhere()
values()
runs_nothing()
markdown()
everything()
functions()
usage()
T.done()
