-- 41-hints.t.lua - each hint, by the code that it is for; and code that is for none.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

-- The hint of a script that fails, or nil.
local function hint_of(text)
    local path = shell.write(folder .. "/s.lua", text)
    local _, err, code = shell.run { "--backend=sim", path }
    tap.is(code, 1, "it is an error: " .. text)
    return err:match("\nhint: ([^\n]*)\n"), err
end

local loop <const> = "a loop over numbers is written for i = 1, 10 do ... end"
local conditional <const> = "a conditional value is written: cond and a or b"
local blocks <const> =
    "blocks have words: if ... then ... end, for ... do ... end, while ... do ... end"
local functions <const> = "a function is written function f(x) ... end"
local library <const> =
    "a library is loaded by local name = require \"name\"; lab is there already"
local list <const> = "table.insert(list, x), or list[#list + 1] = x"

local arithmetic <const> = "tensors are added, subtracted, multiplied and divided (+ - * /), and "
    .. "raised to a power (^)"
local comparison <const> = "tensors are not compared element by element; lab.allclose(a, b) "
    .. "compares two, a:item() gives a number"
local clock <const> =
    "lab.now_us() reads the host's clock, lab.host_work(ms) keeps the host busy"
local listed <const> = "t:totable() gives the values to Lua: for i, x in ipairs(t:totable()) do"
local part <const> = "a part of a tensor is t:narrow(dim, start, length), an element t:get(1, 2)"

local launch <const> = "a kernel is launched by %s(blocks, threads, x, ...), with { stream = s } "
    .. "last; %s = lab.kernel{ source = ... } compiles it"
local arrow <const> = "-> is written . for a field and : for a method: x:size()"
local colons <const> = "there is no ::; fields and functions are reached by a dot: lab.stream"
local memory <const> = "there are no addresses: lab.empty(n) makes a tensor, "
    .. "lab.cuda.malloc(bytes) gives plain memory"
local choice <const> = "there is no switch; if ... then ... elseif ... then ... end chooses"
local no_types <const> =
    "there are no types: a table holds what belongs together, p = { x = 1, y = 2 }"

local cases <const> = {
    -- C++
    { "x->size()", arrow },
    { "y = x->size", arrow },
    { "lab::stream()", colons },
    { "y = std::sqrt(2)", colons },
    { "cout << 1", "print(x, y) prints" },
    { "using namespace std;",
        "lab has what it needs under PyTorch's names: lab.zeros, lab.matmul, lab.stream" },
    { "x = 1\n#include <cstdio>", "there are no headers: lab is there already" },
    { "x = 1\n#define N 3", "constants are declared by local n <const> = 1" },
    { "template <typename T>", functions },
    { "void f() {", functions },
    { "dim3 g(1)", "a grid of several dimensions is a table: k({ 4, 4 }, 256, ...)" },
    { "x = sizeof(3)", "x:nbytes() of a tensor, #x of a text or a list" },
    { "__syncthreads()", "there is no __syncthreads here: in a script CUDA C++ is a text, "
        .. "lab.kernel{ source = [[ ... ]] }: there it is as in CUDA, and the simulated GPU checks "
        .. "that all threads of a block reach it" },
    { "threadIdx.x()", "there is no threadIdx here: CUDA C++ is a text in a script: "
        .. "lab.kernel{ source = [[ __global__ ... ]] }" },
    { "new Stream()", "a value is made by a call: s = lab.stream()" },
    { "struct A {", no_types },
    { "typedef int x", no_types },
    { "enum x", no_types },
    { "switch (x) {", choice },
    { "case 1:", choice },
    { "if (x) {", blocks },
    { "do {", "a loop with its condition at the end is written repeat ... until x" },
    { "};", "blocks end with end" },
    -- Python
    { "async def f()",
        "every function can be run as a coroutine: coroutine.wrap(f); lab.thread(f) runs beside" },
    { "await x", "waits are calls: s:synchronize(), t:join()" },
    { "yield x", "coroutine.yield(x), within coroutine.wrap" },
    { "local x: int = 3", "values have types, variables have none: local x = 1" },
    { "y = x[:, 0]", part },
    -- operators
    { "x := 3", "values are assigned by =: x = 3" },
    { "if x === 3 then end", "equality is written ==" },
    { "if x <> 3 then end", "not equal is written ~=" },
    { "if a != b then end", "not equal is written ~=" },
    { "x = !y", "not is a word: not x" },
    { "if a && b then end", "&& is written and" },
    { "if a || b then end", "|| is written or" },
    { "x++", "there is no ++; write x = x + 1" },
    { "x += 1", "there is no +=; write x = x + ..." },
    { "t.x *= 2", "there is no *=; write x = x * ..." },
    { "s ..= 'a'", "there is no ..=; write x = x .. y" },
    { "x = 2 ** 3", "a power is written x^2" },
    { "x = y ? 1 : 2", conditional },
    { "x = 1 if a else 2", conditional },
    { "print(1 if a else 2)", conditional },
    { "if x is None then end", "equality is ==, and None is nil: x == nil" },
    { "if x in t then end",
        "there is no in for conditions; t[x] ~= nil asks whether t has the key x" },
    { "if x = 1 then end", "= assigns; == compares" },
    { "while x = 1 do end", "= assigns; == compares" },
    { "x = a @ b", "the product of two matrices is lab.matmul(a, b)" },
    { "x = lab.ones(2) // 2", arithmetic },
    { "x = lab.ones(2) & 2", arithmetic },
    { "x = lab.ones(2) < 2", comparison },
    { "x = lab.ones(2) >= lab.ones(2)", comparison },
    { "x = y is None", "equality is ==, and None is nil: x == nil" },
    { "x = t[1:2]", part },
    { "x = t[1, 2]", part },
    -- comments and values
    { "x = 5 # five", "comments begin with --" },
    { "\n# a comment", "comments begin with --" },
    { "// a comment", "comments begin with --" },
    { "/* a comment */", "comments over several lines are --[[ ... ]]" },
    { "x = [1, 2]", "lists are written { 1, 2 }" },
    { "x = {\"a\": 1}", "fields are written { name = value }, or { [\"any text\"] = value }" },
    { "x = \"\"\"abc\"\"\"", "text over several lines is [[...]]" },
    -- blocks
    { "if x > 3:\n  y = 1", blocks },
    { "for i in range(3):\nprint(i)", blocks },
    { "if (x) {\n  y = 1\n}", blocks },
    { "while (x > 3) {\n}\nprint(1)", blocks },
    { "for i in range(3): print(i)", loop },
    { "for (int i = 0; i < 3; i++) {\n}", loop },
    { "for i = 1 to 3 do end", loop },
    { "if x then\n y = 1\nelif x > 3 then\n y = 2\nend", "elif is written elseif" },
    { "if x then\n y = 1\nelse if z then\n y = 2\nend", "\"else if\" in line 3 opens another if, "
        .. "which needs an end of its own; elseif does not" },
    { "x = 1 end", "this end closes nothing: there is one too many, or a then, do or function is "
        .. "missing before it" },
    { "for i = 1, 3 do continue end", "there is no continue; goto a label at the end of the loop: "
        .. "goto next ... ::next::" },
    -- functions and statements
    { "def f(x):\n  return x", functions },
    { "fun f(x)\nend", functions },
    { "function f() {\n}", functions },
    { "f = lambda x: x + 1", "a function is written function(x) return x + 1 end" },
    { "function f(x=1) end", "parameters have no defaults; begin with: x = x or 1" },
    { "s = lab.stream(priority=-1)",
        "named arguments go into a table: lab.stream{ priority = -1 }" },
    { "import numpy as np", library },
    { "from math import pi", library },
    { "lab.zeros((3, 4))", "there are no tuples: f(3, 4) with one pair of parentheses" },
    { "cudaStream_t s;", "variables are declared by local x = 1" },
    { "float *x;", "variables are declared by local x = 1" },
    { "cudaMalloc(&x, 4)", memory },
    { "float* x; cudaMalloc(&x, 4)", memory },
    { "cudaStreamCreate(&s)",
        "there are no addresses: what a function makes is its result, s = lab.stream()" },
    { "lab.randn(3, 3, device=\"cuda\")",
        "named arguments go into a table: lab.randn(3, 3, { device = \"cuda\" })" },
    { "lab.stream(name=\"a\")", "named arguments go into a table: lab.stream{ name = \"a\" }" },
    { "lab.stream(priority=-3)", "named arguments go into a table: lab.stream{ priority = -3 }" },
    { "f(x(1), n=3)", "named arguments go into a table: lab.stream{ priority = -1 }" },
    { "lab.rand([3,3])", "sizes are arguments of their own: lab.rand(3, 3)" },
    { "if (x) { y = 1; }", blocks },
    { "while (x) { y = 1 }", blocks },
    { "try: pass", "errors are caught by local fine, err = pcall(f)" },
    { "with lab.stream(s): print(1)",
        "a block with a stream current is written lab.with(s, function() ... end)" },
    { "lab.with(lab.device(), print)",
        "d:make_current() makes a device current; lab.with takes a stream" },
    { "k<<<1, 32, 0, s>>>(x)", launch:format("k", "k") },
    { "net.k<<<1, 32>>>(x)", launch:format("k", "k") },
    { "class Net:\n  pass", "there are no classes; a table holds what belongs together: "
        .. "net = { weights = w }" },
    { "assert x == 1", "assert takes parentheses: assert(x, \"text\")" },
    { "time.sleep(1)", clock },
    { "print x", "print takes parentheses: print(x)" },
    { "raise ValueError('x')", "an error is raised by error(\"text\")" },
    { "throw x", "an error is raised by error(\"text\")" },
    { "try:\n  x()\nexcept:\n  y()", "errors are caught by local fine, err = pcall(f)" },
    { "del x", "a value is dropped by x = nil" },
    { "let x = 1", "variables are declared by local x = 1" },
    { "int x = 1", "variables are declared by local x = 1" },
    { "const x = 1", "variables are declared by local x <const> = 1" },
    { "global x", "what is not declared local is global: x = 1" },
    -- names that are not there
    { "x = None.y", "nothing is written nil" },
    { "x = True.y", "true is lower case" },
    { "for i in range(3) do end", loop },
    { "n = len({})", "the length is #x; of a tensor, x:numel() or x:size(1)" },
    { "x = sqrt(2)", "it is in math: math.sqrt" },
    { "s = f\"abc {x}\"", "values are put into texts by (\"%d bytes\"):format(n)" },
    { "s = matmul(1)", "matmul is in lab: lab.matmul" },
    { "torch.zeros(3)", "torch.zeros is lab.zeros here" },
    { "s = torch.cuda.Event()", "torch.cuda.Event is lab.event here" },
    { "x = torch.ones_of(1, 2)",
        "PyTorch's functions are in lab: lab.zeros, lab.matmul, lab.stream" },
    -- names of CUDA's and PyTorch's that are not here
    { "x = torch.nn.Linear(1, 2)", "there is no torch.nn.Linear here: there are no layers; "
        .. "lab.matmul(x, w, { bias = b }) multiplies by weights and adds a bias" },
    { "x = nn.Linear(1, 2)", "there is no nn.Linear here: there are no layers; "
        .. "lab.matmul(x, w, { bias = b }) multiplies by weights and adds a bias" },
    { "x = F.softmax(y)", "F.softmax is lab.softmax here" },
    { "if lab.compile then print(1) end lab.compile()",
        "there is no lab.compile here: nothing is compiled; each call enqueues its operation" },
    { "lab:compile()",
        "there is no lab.compile here: nothing is compiled; each call enqueues its operation" },
    { "g = torch.cuda.graph(print)", "torch.cuda.graph is lab.graph here" },
    { "torch = lab torch.compile(print)",
        "there is no lab.compile here: nothing is compiled; each call enqueues its operation" },
    { "lab.nn.Linear()", "there is no lab.nn here: there are no layers; "
        .. "lab.matmul(x, w, { bias = b }) multiplies by weights and adds a bias" },
    { "lab.cuda.malloc_managed(4)", "there is no lab.cuda.malloc_managed here: there is no managed "
        .. "memory; a tensor lies on the GPU or on the CPU, and t:to copies it" },
    { "cudaMallocManaged(4)", "there is no cudaMallocManaged here: there is no managed "
        .. "memory; a tensor lies on the GPU or on the CPU, and t:to copies it" },
    { "ncclAllReduce()", "there is no ncclAllReduce here: lab.comm connects GPUs, and "
        .. "comm:all_reduce and others are collectives between them" },
    { "torch.cuda.empty_cache()", "there is no torch.cuda.empty_cache here: freed memory is kept "
        .. "for the next tensor; t:free() frees a tensor at once" },
    { "lab.cuda.stream_create()", "it is lab.stream" },
    { "lab.view(lab.ones(4), 2, 2)", "it is a method of tensors: t:view" },
    { "cudaEventRecord(e)", "cudaEventRecord is event:record here" },
    { "cudaMemcpyAsync(a, b)", "cudaMemcpyAsync is lab.cuda.memcpy_async here" },
    { "cudaStreamWaitEvent(s, e)", "cudaStreamWaitEvent is stream:wait_event here" },
    { "lab.cuda.stream()", "it is lab.with" },
    { "p = torch.cuda.get_device_properties(0)",
        "torch.cuda.get_device_properties is lab.device here" },
    { "cudaGetDeviceProperties(0)", "cudaGetDeviceProperties is lab.device here" },
    { "lab.Stream()", "it is lab.stream" },
    { "lab.memcpy()", "it is lab.cuda.memcpy" },
    { "lab.matmull()", "did you mean lab.matmul?" },
    { "print(lab.now())", "there is no lab.now here: lab.measure measures a function, "
        .. "lab.now_us() reads the host's clock" },
    { "lab.help()", "there is no lab.help here: at the prompt ?lab.matmul or help(lab.matmul), in "
        .. "the shell streamlab help lab.matmul" },
    { "prnt(1)", "did you mean print?" },
    { "x = flase.y", "did you mean false?" },
    { "string.formt('a')", "did you mean string.format?" },
    { "if true then local w = 1 end\nprint(w.x)",
        "the local w of line 1 ends with its block; declare it before the block" },
    { "t = {} t.append(1)", list },
    { "t = {} t:append(1)", list },
    -- values of the wrong kind
    { "tl = lab.profile(function() end) print(tl:makespan_us())",
        "makespan_us is a field: leave out the parentheses, x.makespan_us" },
    { "a = lab.ones(2) x = a.numel + 1", "numel is a function, which is called numel()" },
    { "t = {} x = t[0] + 1", "indices begin at 1" },
    { "s = 'a' + 'b'", "texts are joined by .. and not by +" },
    { "s = 'a %d' % 3", "texts are filled in by (\"%d bytes\"):format(n)" },
    { "s = 'a' * 3", "texts are repeated by (\"x\"):rep(n)" },
    { "s = 'a' .. true", "tostring(x) makes a text of it" },
    { "s = 'a' .. lab.ones(2)", "tostring(x) makes a text of it" },
    { "for x in {1} do end",
        "for i, value in ipairs(list) do goes through a list, pairs(t) through any table" },
    { "for x in lab.ones(2) do end", listed },
    { "for i, x in pairs(lab.ones(2)) do end", listed },
    { "if zzz > 3 then end", "zzz has no value" },
    { "local t = {} if t.x > 3 then end", "one side is nil: a name without a value, a field that "
        .. "is not there, or a function that returns nothing" },
    -- the laboratory
    { "lab.device 't4'", "lab.open{ profile = \"t4\" } opens a device" },
    { "lab.device('cpu')",
        "tensors are put on the host by the option { device = \"cpu\" }, or by t:cpu()" },
    { "lab.device('cuda')", "lab.open{ backend = \"cuda\" } opens a device" },
    { "lab.device('cuda:1')", "lab.open{ backend = \"cuda\", index = 1 } opens a device" },
    { "require 'torch'",
        "lab has what it needs under PyTorch's names: lab.zeros, lab.matmul, lab.stream" },
    { "require 'numpy'", "numbers are in tensors: lab.tensor({ { 1, 2 }, { 3, 4 } })" },
    { "!ls", "commands of the shell are run by os.execute(\"ls\")" },
}
for _, case in ipairs(cases) do
    tap.is(hint_of(case[1]), case[2], "the hint for " .. case[1])
end

-- Code that resembles the above, whose mistake is another one.
for _, text in ipairs {
    "x = 1 2", "local a = { 1, 2", "x = 5 // // 2", "print('#' 5)", "error('x += 1')",
    "local t = {} t.x.y = 1", "local t = {} t:go()", "local x x()", "error('a nil value')",
    "return 1 return 2", "x = y z", "local a <const> = 1 a = 2", "lab.spin('x')",
    "lab.device(1)", "if x then", "local n n = n + 1", "local t = {} t[1].x = 1",
    "lab.foo()", "lab.cuda.foo()", "fooBar()", "local t = {} t.graph()",
    "ls -la", "local a = {} x = a & 1", "f((1)", "print((1 == 2), x..y)", "t[1 2]",
    "for i = 1, 'x' do end", "goto nowhere", "string.rep()", "error(nil)",
} do
    local hint, err = hint_of(text)
    if not tap.is(hint, nil, "no hint for " .. text) then
        tap.diag(err)
    end
end

-- What is typed at the prompt, and the hint that it gets there.
local function hint_at_prompt(entries)
    local _, err = shell.run({ "-i", "--norc", "--backend=sim" }, entries .. "\n")
    return err:match("hint: ([^\n]*)\n$")
end

local prompts <const> = "a prompt is no part of the entry: paste what stands behind it"
local no_folder <const> =
    "there is no folder to change here: start streamlab there; !cd changes nothing"
local for_shells <const> =
    "that is for the shell; here .load FILE runs a script, and .quit leaves"
for _, case in ipairs {
    { "lab.matmul?", "help is written ?lab.matmul" },
    { "t:to ??", "help is written ?t:to" },
    { "help torch.nn.Linear", "help takes a text or a value: help \"torch.nn.Linear\"; or write "
        .. "?torch.nn.Linear" },
    { "import torch", "lab has what it needs under PyTorch's names: lab.zeros, lab.matmul, "
        .. "lab.stream" },
    { "from torch import nn",
        "lab has what it needs under PyTorch's names: lab.zeros, lab.matmul, lab.stream" },
    { "help pinned", "help takes a text or a value: help \"pinned\"; or write ?pinned" },
    { "lab[1]> x = 1", prompts },
    { ">>> x", prompts },
    { "$ build/streamlab x.lua", for_shells },
    { "build/streamlab x.lua", for_shells },
    { "%timeit f()", ".help lists the console's commands, and timeit(f) measures" },
    { "dir(lab)", "Tab behind \"x.\" or \"x:\" lists what x has, and ?x tells about it" },
    { "with s: pass", "a block with a stream current is written lab.with(s, function() ... end)" },
    { "cudaStreamCreate()", "cudaStreamCreate is lab.stream here" },
    { "#lab.ones(3)", "its sizes are t:size(), and t:numel() counts its elements" },
    { "lab.record(function() end)", "lab.profile(f) records what f does" },
    { "lab.ones{3, 4}", "sizes stand before the options: lab.ones(3, 4, {dtype = \"float16\"})" },
    { "for i = 1, 9 do lab.spin(1e9) lab.synchronize() end", "lab.open{ profile = \"h200\" } opens "
        .. "another simulated GPU, whose clock begins at 0" },
    { "local tl = 5\ntl", "tl was local in lab[1], and a local ends with its entry; leave local "
        .. "out at the prompt" },
    { "local tl = 5\n=tl", "tl was local in lab[1], and a local ends with its entry; leave local "
        .. "out at the prompt" },
    { "local a = lab.ones(2)\nlab.sum(a)", "a was local in lab[1], and a local ends with its "
        .. "entry; leave local out at the prompt" },
    { "local l = {}\ntable.insert(l, 1)", "l was local in lab[1], and a local ends with its "
        .. "entry; leave local out at the prompt" },
    { "local a = lab.ones(2, 2)\nb = lab.ones(2, 2)\nb:matmul(a)", "a was local in lab[1], and a "
        .. "local ends with its entry; leave local out at the prompt" },
    { "local a = lab.ones(2)\nlab.sum(nil)", nil },
    { "local a = lab.ones(2)\nlocal a = nil lab.sum(a)", nil },
    { "local a = lab.ones(2)\nlocal function f(a) lab.sum(a) end f()", nil },
    { "local a = lab.ones(2)\nlab.sum(lab.a)", nil },
    { "lab.sum(a)", nil },
    { "local tl = 5\ntl = false\ntl", nil },
    { "tl", "tl has no value" },
    { "ls", "ls is for the shell: !ls runs it there" },
    { "ls -la", "ls is for the shell: !ls runs it there" },
    { "cd ..", no_folder },
    { "cd build", no_folder },
    { "cd", "cd has no value: " .. no_folder },
    { "--help", "-- begins a comment; help shows what there is, .help the console's commands" },
    { "--helpful", nil },
    { "streamlab --trace x.html y.lua",
        "that is for the shell: !streamlab --trace x.html y.lua runs it there" },
    { "show x.json.gz",
        "in the shell: streamlab show FILE; here lab.load(\"FILE\"):show() does it" },
    { "pwd", "pwd is for the shell: !pwd runs it there" },
    { "nvidia-smi", "nvidia-smi is for the shell: !nvidia-smi runs it there" },
    { "nvidia-smi -l 1", "nvidia-smi is for the shell: !nvidia-smi runs it there" },
    { "find . -name x", "find is for the shell: !find runs it there" },
    { "compute-sanitizer a",
        "compute-sanitizer is for the shell: !compute-sanitizer runs it there" },
    { "./a.out", "that is for the shell: !./a.out runs it there" },
    { "scripts/puzzler.lua", ".load scripts/puzzler.lua runs the script" },
    { "load x.lua", "a script is run by .load FILE" },
    { "run x.lua", "a script is run by .load FILE" },
    { "x || y", "|| is written or" },
    { "x && y", "&& is written and" },
    { "k<<<1, 256>>>(x)", launch:format("k", "k") },
    { "find = 3 find -", nil },
    { "cat = nil cat - 1", nil },
    { "# comment", "comments begin with --" },
    { "# a comment", "comments begin with --" },
    { "time.sleep(1)", clock },
    -- Lua would read on behind the colon
    { "for i in range(3):", loop },
    { "while True:", blocks },
    { "for x in xs:  ", blocks },
    { "try:", "errors are caught by local fine, err = pcall(f)" },
    { "stream", "stream is in lab: lab.stream" },
    { "a = True", "True has no value: true is lower case" },
    { "a = 1\nb = a", nil },
    { "lab.compile",
        "there is no lab.compile here: nothing is compiled; each call enqueues its operation" },
    { "a = nil", nil },
    { "with torch.cuda.stream(s):",
      "a block with a stream current is written lab.with(s, function() ... end)" },
    { "s = lab.stream()\nlab.stream(s)", "a block with a stream current is written lab.with(s, "
        .. "function() ... end)" },
    { "lab.cuda.Stream()", "it is lab.stream" },
    { "lab.with(lab.stream(), lab.zeros(2))", "`lab.zeros` without parentheses is the function "
        .. "itself; with them it is called before, and not in the stream" },
    { "lab.with(lab.stream(), 3)", nil },
    { "with torch.no_grad():", "there are no gradients; leave it out" },
    { "with torch.profiler.profile() as p:", "lab.profile(function() ... end) records what the "
        .. "function does" },
    { "local tl = 5\ntl, tl", nil },
} do
    tap.is(hint_at_prompt(case[1]), case[2], "at the prompt: " .. case[1]:gsub("\n", " / "))
end

-- A trace in place of a script.
local trace <const> = shell.write(folder .. "/e.json.gz", "\31\139\8\0\0")
local _, of_trace = shell.run { "--backend=sim", trace }
tap.like(of_trace, "hint: streamlab show .-/e%.json%.gz prints what a trace has\n",
         "a trace is no script")

-- A hint that the script could look into runs none of the user's code.
local _, err = hint_of("setmetatable(_G, {__index = function(t, k) print('asked') end})\n"
    .. "lab.zzz.y()")
tap.ok(not err:find("asked"), "looking for names asks no metamethod")
local out = shell.run { "-e", "setmetatable(_G, {__index = function(t, k) print(k) end})",
    "-e", "zzz()" }
tap.is(out, "zzz\n", "but what the script itself asks")

shell.remove(folder)
tap.done()
