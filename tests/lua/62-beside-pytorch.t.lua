-- 62-beside-pytorch.t.lua - the pairs that PyTorch's stream sanitizer and the race checker are
-- compared with (tests/bench/cuda/csan): the Lua half on the simulator, and how output is read.

local T = require "tap"
local judge = require "bench.cuda.csan.judge"
local programs = require "bench.cuda.csan.programs"
local compare = require "bench.cuda.csan.compare"

local function output(command)
    local pipe <close> = assert(io.popen(command))
    return (pipe:read("a"):gsub("\n$", ""))
end

local program = os.getenv("STREAMLAB") or "build/streamlab"
if not program:find("^/") then program = output("pwd") .. "/" .. program end
local sources = arg[0]:match("^(.*)/lua/[^/]*$") .. "/bench/cuda/csan"
local folder = output("mktemp -d")

-- ---- the programs -----------------------------------------------------------------------

local function every_pair_is_listed()
    local names, listed = {}, {}
    for file in output("ls " .. sources .. "/programs"):gmatch("[%w_]+%.%a+") do
        names[#names + 1] = file
    end
    for _, pair in ipairs(programs) do
        listed[#listed + 1] = pair.name .. ".lua"
        listed[#listed + 1] = pair.name .. ".py"
    end
    table.sort(listed)
    T.is_deeply(names, listed, "each program in the folder is in the list, and has its pair")
end

local function the_simulator_says_what_the_rules_say()
    local sim = compare.tools(program, "python3")[3]
    compare.ask(sim, folder)
    T.is(sim.name, "as an NVIDIA H200", "the tool is asked for its name")
    for _, pair in ipairs(programs) do
        local answer = compare.run(sim, pair, folder)
        local cell, right = judge.cell(pair.rules, answer)
        T.ok(right, ("%s, %s: %s"):format(pair.name, pair.rules, cell))
        if not right then T.diag(answer.said) end
    end
end

local function python_compiles()
    if output("command -v python3") == "" then return T.skip("no python3", 1) end
    local compile = [=[import sys; [compile(open(f).read(), f, "exec") for f in sys.argv[1:]]]=]
    T.is(output(("python3 -c '%s' %s/programs/*.py 2>&1"):format(compile, sources)), "",
         "the Python halves compile")
end

-- ---- what they say ----------------------------------------------------------------------

local marks <const> = { A = 12, B = 14 }

-- As the sanitizer prints it: the stacks of the current, of the previous access and of the
-- allocation, each with PyTorch's own frames behind the program's.
local function csan(file, current, previous)
    local function stack(line)
        return ('  File "/home/me/%s", line %d, in <module>\n    y = x * 2\n'
            .. '  File "/lib/torch/cuda/_sanitizer.py", line 14, in __torch_dispatch__\n\n')
            :format(file, line)
    end
    return "============================\n"
        .. "CSAN detected a possible data race on tensor with data pointer 1402\n"
        .. "Access by stream 9432 during kernel:\naten::mul.Tensor(Tensor self) -> Tensor\n"
        .. "reading from argument(s) self\nWith stack trace:\n" .. stack(current)
        .. "Previous access by stream 77 during kernel:\naten::fill_.Scalar(Tensor(a!) self)\n"
        .. "writing to argument(s) self, and to the output\nWith stack trace:\n" .. stack(previous)
        .. "Tensor was allocated with stack trace:\n" .. stack(4) .. "\n"
end

local traceback <const> = "Traceback (most recent call last):\n"
    .. '  File "x.py", line 14, in <module>\n'
    .. "torch.cuda._sanitizer.CUDASanitizerErrors: detected 1 errors\n"

local function lab_report(kind, first, second)
    return ("streamlab: %s: stream \"b\" reads at x.lua:%d what stream \"a\" may still\n"
        .. "    be writing\n  first   x.lua:%d  fill_f32 writes\n          | x:fill_(7)\n"
        .. "  second  x.lua:%d  mul_f32 reads\n  memory  tensor 1, made at x.lua:4\n")
        :format(kind, second, first, second)
end

local function says(tool, rules, status, out, err)
    local file = tool == "pytorch" and "x.py" or "x.lua"
    return (judge.cell(rules, judge.answer(tool, { status = status, out = out, err = err,
                                                   file = file, marks = marks })))
end

local function pytorch_is_read()
    local function torch(...) return says("pytorch", ...) end
    local hit, other = csan("x.py", 14, 12), csan("x.py", 14, 10)
    T.is(torch("race", 1, "", hit .. traceback), "finds it", "the marked lines are reported")
    T.is(torch("ordered", 1, "", hit .. traceback), "**false alarm**", "though they are in order")
    T.is(torch("race", 0, "result 14 of 14\n", ""), "**misses it**", "a race is passed over")
    T.is(torch("ordered", 0, "result 14 of 14\n", "a warning\n"), "silent", "an order is passed")
    T.is(torch("race", 1, "", other .. traceback), "**reports lines 14 and 10**",
         "a race of other lines is not the one")
    T.is(torch("race", 1, "", other .. hit .. traceback), "finds it",
         "of several reports one may be it")
    T.is(torch("race", 1, "", csan("xx.py", 14, 12)), "**reports lines 0 and 0**",
         "lines of other files do not count")
end

local function streamlab_is_read()
    local function lab(...) return says("streamlab", ...) end
    local hit, other = lab_report("race", 12, 14), lab_report("race", 9, 14)
    T.is(lab("race", 0, "result\t14.0\n", hit), "finds it", "the marked lines are reported")
    T.is(lab("race", 0, "result\t14.0\n", other .. hit .. "streamlab: 2 races\n"), "finds it",
         "of several reports one may be it")
    T.is(lab("race", 0, "result\t14.0\n", other), "**reports lines 9 and 14**", "others are not")
    T.is(lab("ordered", 0, "result\t14.0\n", hit), "**false alarm**", "though they are in order")
    T.is(lab("race", 0, "result\t14.0\n", lab_report("accident", 12, 14)),
         "**calls it an accident**", "a race is no accident")
    T.is(lab("accident", 0, "result\t14.0\n", lab_report("accident", 12, 14)), "finds it",
         "an accident is one")
    T.is(lab("accident", 0, "result\t14.0\n", hit), "**calls it a race**", "and no race")
    T.is(lab("race", 0, "result\t14.0\n", "streamlab: no GPU answers\n"), "**misses it**",
         "another line of the program's is no report")
end

local function what_failed_is_no_answer()
    for _, tool in ipairs { "pytorch", "streamlab" } do
        for _, rules in ipairs { "race", "ordered" } do
            local function cell(...) return says(tool, rules, ...) end
            T.is(cell(1, "", "it broke\n"), "failed, exit status 1", tool .. ": it broke")
            T.is(cell(139, "result 14\n", ""), "failed, exit status 139", "it crashed at its end")
            T.is(cell(0, "", ""), "failed, exit status 0", "it did not get to its end")
            T.is(cell(124, "", ""), "ran out of time", "it did not end")
        end
    end
    local cell, right = judge.cell("race", nil, "no PyTorch here")
    T.is(cell, "no PyTorch here", "a tool that is missing has a cell that says so")
    T.is(right, nil, "and is neither right nor wrong")
end

local function a_line_is_marked_once()
    T.is_deeply(judge.marks("a\nb  # A\n  c(d) # B\n"), { A = 2, B = 3 }, "marks of Python")
    T.is_deeply(judge.marks("b -- B\na -- Ab\nc -- A\n"), { A = 3, B = 1 }, "marks of Lua")
    T.throws_like(function() judge.marks("a # A\nb # A\nc # B\n") end, "two lines are marked A",
                  "a mark that is there twice")
    T.throws_like(function() judge.marks("a # A\n") end, "a line is not marked", "one is missing")
end

-- ---- the tables -------------------------------------------------------------------------

local function tables()
    local tools = compare.tools("no/such/streamlab", "no/such/python3")
    for _, tool in ipairs(tools) do compare.ask(tool, folder) end
    T.is(tools[1].missing, "PyTorch does not work here", "a Python that does not start")
    T.is(tools[2].missing, "no GPU here", "a GPU that does not answer")
    local race, ordered = { name = "one", rules = "race", what = "w", reads = "reports" },
        { name = "two", rules = "ordered", what = "v", reads = "silent" }
    local rows = { { program = race, answers = { sim = { state = "race", status = 0 } } },
                   { program = ordered, answers = { sim = { state = "race", status = 0 } } } }
    local text, counts = compare.table(tools, rows)
    T.is(text:match("\n(| `one`[^\n]*)"), "| `one` | w | race | PyTorch does not work here |"
        .. " no GPU here | finds it |", "a row")
    T.is(text:match("\n(| | %*[^\n]*)"), "| | **right** |  |  |  | 1 of 2 |", "the last row")
    T.is_deeply(counts.cuda, { right = 0, wrong = 0, open = 2 }, "what did not run is not counted")
    T.is(compare.page("a\n<!-- table -->\nold\n<!-- end of table -->\nb\n", "new\n"),
         "a\n<!-- table -->\nnew\n<!-- end of table -->\nb\n", "a page gets the new table")
    rows[1].answers.pytorch = { state = "silent" }
    rows[2].answers.pytorch = { state = "silent" }
    T.is_deeply(compare.misread(rows), { "one: silent, not reports" },
                "what its source does not say is named")
end

every_pair_is_listed()
the_simulator_says_what_the_rules_say()
python_compiles()
pytorch_is_read()
streamlab_is_read()
what_failed_is_no_answer()
a_line_is_marked_once()
tables()
os.execute("rm -r " .. folder)
T.done()
