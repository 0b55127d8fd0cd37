-- 53-words.t.lua - what sentences are made with (bindings/words/): durations, names cut and
-- folded for a terminal, and the variable that a script's line is about.
local tap = require "tap"
local lab = require "streamlab"

local core = debug.getregistry()["streamlab.internals"]

-- ---- texts -----------------------------------------------------------------------------

for _, case in ipairs {
    { 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { 316449, "316 us" },
    { 56749999.6, "56.8 ms" }, { 12345 * 1000000000, "12300 s" },
} do
    tap.is(core.duration(case[1]), case[2], ("%.10g ns are %s"):format(case[1], case[2]))
end
tap.throws_like(function() core.duration(-1) end, "no duration", "no duration is negative")
tap.throws_like(function() core.duration(0 / 0) end, "no duration", "or not a number")

tap.is(core.clip("matmul_f32", 10), "matmul_f32", "a name that fits stays")
tap.is(core.clip("abcdefghijklmnop", 12), "abcdef...nop", "a longer one loses its middle")
tap.is(core.clip("abcdefghijkl", 12), "abcdefghijkl", "one that just fits does not")
tap.is(core.clip("", 12), "", "nor does none")
tap.is(core.clip("a\tb\27[31mc\n", 20), "a?b?[31mc?", "control characters become ?")
tap.is(core.clip("a\xff\xc3", 20), "a??", "so does what is no UTF-8")
tap.is(core.clip("äöü", 8), "äöü", "what is UTF-8 stays")
tap.is(core.clip("日日日日日", 8), "日日...", "wide characters are counted as two columns")
tap.is(core.clip_end("abcdefghijklmnop", 12), "abcdefghi...", "or its end")
tap.is(core.clip("a\27[31mred\r\n\x80\u{202e}b", 40), "a?[31mred????b",
    "nothing that a terminal obeys passes")
tap.is(core.clip("日本語日本語日本語", 12), "日本語...語",
    "characters of two columns count as two, and none is halved")
tap.is(core.fold("one two three", 2, 9), "one two\n  three\n", "a sentence is folded at blanks")
tap.is(core.fold("it took 3.5 ms, then", 0, 11), "it took\n3.5 ms,\nthen\n",
    "and not between a number and its unit")
tap.is(core.fold(("x"):rep(7), 1, 6), "xxxxx\n xx\n", "a word that is too long, anywhere")
tap.is(core.short_kernel("void at::native::add<float>(float*, int)"), "add<float>",
    "a kernel is shown without return type, namespaces and arguments")

-- ---- files -----------------------------------------------------------------------------

tap.is(type(core.words.operand), "function", "core.words has what a file there returns")
tap.is(core.words.operand, core.words.operand, "which runs once")
tap.throws_like(function() return core.words.nothing end,
    "built without bindings/words/nothing.lua", "a file that is not there is named")

-- ---- operands --------------------------------------------------------------------------

local operand = core.words.operand
for _, case in ipairs {
    { 'local x = c:to("cpu", {stream = first})', "c" },
    { "total = total + loss:cpu():item()", "loss" },
    { 'self.data[i][j + 1]:cuda()', "self.data" },
    { "x:to'cpu'", "x" }, { "x:cuda{stream = s}", "x" },
    { "f(x:cuda())", "x" }, { 'print("y:cuda()", x:cuda())', "x" },
    { "x:cuda() -- y:cpu()", "x" }, { [[print('it\'s y:cpu()', x:cuda())]], "x" },
    { "dst:copy_(src.grad, {non_blocking = true})", "src.grad", "dst" },
    { "dst[1]:copy_( src[2] )", "src", "dst" },
    { "dst:copy_(f(x))", nil, "dst" }, { "dst:copy_(a + b)", nil, "dst" },
    { "dst:copy_{x}", nil, "dst" }, { "a..b:copy_(c)", "c" },
    { "data_on_cpu[i]:to(\"cuda\", {non_blocking = true})", "data_on_cpu" },
    { "local y <const> = x:cuda()", "x" }, { "y=x:to('cuda')", "x" },
    { "return self.weights[k][j + 1]:cpu()", "self.weights" }, { 't[index[i]]:to "cuda"', "t" },
    { "dst:copy_(src, {non_blocking = true})", "src", "dst" },
    { "on_gpu[i]:copy_( on_cpu[i] )", "on_cpu", "on_gpu" }, { "dst:copy_{src}", nil, "dst" },
    { "local t = {x:cpu(), 1}", "x" }, { "f(1, x:cpu())", "x" },
    { [[print("it's \" x:cpu()") y:cpu()]], "y" }, { "log('a') x:cpu()", "x" },
    { "y:copy_(", nil, "y" },
    { 'x : to("cuda")' },                               -- rare: better nothing
    { 'a:to("cuda") b:to("cuda")' }, { 'x:to("cuda"):cpu()' }, { "dst:copy_(src:cpu())" },
    { "lab.rand(4, 4):cuda()" }, { "(a + b):cpu()" }, { '("x"):to("cpu")' }, { "-- x:cpu()" },
    { 'print("x:cpu()")' }, { '"unfinished x:cpu()' }, { "s = [[ x:cpu() ]]" }, { "x:to_host()" },
    { 'x.to("cuda")' }, { "::to::" }, { 'nil:to("cuda")' }, { '2:to("cuda")' }, { ":to(" },
    { "x]:to(" }, { "x[:to(" }, { "x:" },
    { "x:cuda(); y:cuda()" }, { "f(x):cuda()" }, { "a[1].b:cuda()" }, { "(x):cuda()" },
    { "x:cudaMalloc()" }, { "x:totable()" }, { "x:cuda() [[" }, { 'x:cuda() "' },
    { "goto ::to::" }, { ":to(x)" }, { "not:cuda()" }, { "a.:cuda()" }, { "a..b:cuda()" },
    { ("n"):rep(49) .. ":cuda()" }, { ("n"):rep(48) .. ":cuda()", ("n"):rep(48) },
    { "x:cuda()" .. (" "):rep(504) }, { "" },
} do
    local line, read, written = table.unpack(case, 1, 3)
    local shown = #line > 60 and line:sub(1, 57) .. "..." or line
    tap.is(operand(line, false), read, ("%s reads %s"):format(shown, read or "what is not certain"))
    tap.is(operand(line, true), written,
        ("%s writes %s"):format(shown, written or "nothing that it names"))
end

-- ---- without words -----------------------------------------------------------------------

local ideal = require "lua.ideal"
local page_path = ideal.temporary(".html")

-- The page of a timeline whose host waited, as far as words are in it.
local function words_of_page()
    lab.open { backend = "sim" }
    local tl = lab.profile(function()
        lab.spin(0.1)
        lab.synchronize()
        lab.spin(0.1)
    end)
    tl:save(page_path)
    local page = ideal.read(page_path)
    os.remove(page_path)
    return page:match('"host_blocked":{"title":"(.-)"'),
        page:match('"verdict":{.-"sentence":"(.-)"'),
        page:match('"cause":"host_blocked".-"sentence":"(.-)"'), page
end

local title, verdict, sentence, whole = words_of_page()
tap.is(title, "Host blocked", "a page has a title for each cause")
tap.like(verdict, "^Little to gain: ", "a verdict")
tap.like(sentence, "^No kernel ran for .*: the host was blocked in cudaDeviceSynchronize at "
    .. "53%-words",
    "and a sentence for each finding")
local page = core.words.page
core.words.page = function() error("not enough memory", 0) end
local codes
title, verdict, sentence, codes = words_of_page()
core.words.page = page
tap.is(title, "host_blocked",
       "a page is saved where no sentences can be made, with codes as titles")
tap.is(verdict .. sentence, "", "and without sentences")
tap.is(codes:match("</html>%s*$") ~= nil and #codes > #whole - 10000, true, "but whole")

-- ---- completeness ------------------------------------------------------------------------

local causes = core.words.causes
for _, code in ipairs(core.cause_codes()) do
    local entry, missing = causes[code] or {}, {}
    local needed = code == "none" and { "part" }
                   or { "title", "short", "total", "part", "clause", "sentence" }
    for _, what in ipairs(needed) do
        if not entry[what] then missing[#missing + 1] = what end
    end
    tap.is(table.concat(missing, ", "), "", ("causes.lua has all words for %s"):format(code))
end

local reference, untold = ideal.read("docs/reference/timelines.md"), {}
for _, code in ipairs(core.cause_codes()) do
    local row = ("\n| `%s` | "):format(code)
    if code ~= "none" and not reference:find(row, 1, true) then untold[#untold + 1] = code end
end
tap.is(table.concat(untold, ", "), "", "the reference says of each cause what kept the operation")

tap.done()
