-- 51-values-tensors.t.lua - how the REPL shows tensors, and that this changes no experiment.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local lines = require "lines"
local shown = lines.run

local function is(text, want, name, environment)
    tap.is((shown(text, environment)), want, name)
end

-- What it is ----------------------------------------------------------------------------

is("t = lab.ones(2, 3); lab.synchronize()\nt",
    "tensor 2x3 float32 on cuda, 24 bytes\n  1.  1.  1.\n  1.  1.  1.\n",
    "shape, dtype, place, size and values")
is("lab.full(2, 3, {device = 'cpu'})",
    "tensor 3 float32 on cpu, pageable, 12 bytes\n  2.  2.  2.\n",
    "host memory is pageable")
is("lab.full(2, 3, {device = 'cpu', pinned = true})",
    "tensor 3 float32 on cpu, pinned, 12 bytes\n  2.  2.  2.\n", "or pinned")
is("t = lab.ones(3); t:free()\nt", "tensor 3 float32 on cuda (freed)\n",
    "a freed tensor")
is("lab.tensor(7)", "tensor scalar float32 on cuda, 4 bytes\n  7.\n", "a scalar")
is("lab.empty(0, 4)", "tensor 0x4 float32 on cuda, 0 bytes\n  no elements\n", "no elements")
is("lab.empty(512, 1024, 8, {dtype = 'bfloat16'}):nbytes()", "8388608\n", "its methods are as ever")

-- Numbers -------------------------------------------------------------------------------

is("lab.tensor{1, -2.5, 1000}", "tensor 3 float32 on cuda, 12 bytes\n     1.00    -2.50  1000.00\n",
    "numbers are aligned")
is("lab.tensor{0.5, -0.25}", "tensor 2 float32 on cuda, 8 bytes\n   0.5000  -0.2500\n",
    "with few digits")
is("lab.tensor{1e10, 0, 3e-7}",
    "tensor 3 float32 on cuda, 12 bytes\n  1.0000e+10  0.0000e+00  3.0000e-07\n",
    "with exponents where they differ much")
is("lab.tensor{1/0, -1/0, 0/0, 0.5}",
    "tensor 4 float32 on cuda, 16 bytes\n     inf    -inf     nan  0.5000\n", "inf and nan")
is("lab.tensor({-1, 2^31 - 1}, {dtype = 'int32'})", "tensor 2 int32 on cuda, 8 bytes\n"
    .. "          -1  2147483647\n", "whole numbers of a whole type have all their digits")
is("lab.tensor({1, 255}, {dtype = 'uint8'})", "tensor 2 uint8 on cuda, 2 bytes\n    1  255\n",
    "and no point")

-- Corners -------------------------------------------------------------------------------

is("t = {} for i = 1, 8 do t[i] = {} for j = 1, 9 do t[i][j] = 10 * i + j end end\nlab.tensor(t)",
    [[tensor 8x9 float32 on cuda, 288 bytes
  11.  12.  13.  ...  17.  18.  19.
  21.  22.  23.  ...  27.  28.  29.
  31.  32.  33.  ...  37.  38.  39.
  ...  ...  ...  ...  ...  ...  ...
  61.  62.  63.  ...  67.  68.  69.
  71.  72.  73.  ...  77.  78.  79.
  81.  82.  83.  ...  87.  88.  89.
]], "three rows and columns at each end")
is("t = lab.ones(7, 2); lab.synchronize()\nt", [[tensor 7x2 float32 on cuda, 56 bytes
   1.   1.
   1.   1.
   1.   1.
  ...  ...
   1.   1.
   1.   1.
   1.   1.
]], "short numbers stand below the dots")
is("t = {} for i = 1, 7 do t[i] = i end\nlab.tensor(t)",
    "tensor 7 float32 on cuda, 28 bytes\n  1.  2.  3.  ...  5.  6.  7.\n", "of a vector, too")
is("lab.tensor{1, 2, 3, 4, 5, 6}", "tensor 6 float32 on cuda, 24 bytes\n  1.  2.  3.  4.  5.  6.\n",
    "six are all shown")
is("lab.tensor{{{1, 2}}, {{3, 4}}, {{5, 6}}}",
    "tensor 3x1x2 float32 on cuda, 24 bytes\n[1, :, :]\n  1.  2.\n[2, :, :]\n  3.  4.\n... 1 "
        .. "more\n",
    "of more dimensions the first two matrices")
is("lab.tensor{{{{1}, {2}}, {{3}, {4}}}}",
    "tensor 1x2x2x1 float32 on cuda, 16 bytes\n[1, 1, :, :]\n  1.\n  2.\n[1, 2, :, :]\n  3.\n  "
        .. "4.\n",
    "which are counted in reading order")
local out = shown("lab.tensor{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5}", "COLUMNS=40")
tap.ok(lines.widest(out) <= 40, "a narrow terminal")
tap.like(out, "  0%.5000  1%.5000  %.%.%.  5%.5000  6%.5000\n", "has fewer columns")
out = shown("lab.tensor{-1e20, 1e20, 1e-20, -5e10, 7, 8, 9, 10}", "COLUMNS=20")
tap.is(out:match("\n(.*)"), "  -1.0000e+20  ...   1.0000e+01\n", "and one at each end at least")
tap.like(shown("t = lab.ones(2); lab.synchronize()\nt", "", "--color=always"),
    "^\27%[34mtensor.-\27%[0m\n  \27%[36m1%.  1%.\27%[0m\n",
    "values have the colour of numbers")

-- When they are looked at ---------------------------------------------------------------

tap.like(shown "t = lab.rand(100000, 100000); lab.synchronize()\nt", "37%.25 GiB\n  0%.%d+",
         "random numbers cost nothing")
tap.like(shown "a = lab.randn(8192, 8192)\nb = lab.matmul(a, a); lab.synchronize()\nb",
    "256 MiB\n  values not computed yet: t:get%(1, 1%) computes them\n",
    "what would take long is not computed")
tap.like(shown "a = lab.rand(100000, 10000):mul(2); lab.synchronize()\na", "not computed yet",
         "nor what is large")
out = shown "a = lab.randn(512, 512)\nb = lab.matmul(a, a); lab.synchronize()\nb"
tap.like(out, "1 MiB\n +%-?%d+%.%d+", "a product of 512 is")
tap.like(shown "tl = lab.record()\na = lab.ones(2); lab.synchronize()\na\ntl:stop();\na",
    "8 bytes\n  values are not read while a recording runs\ntensor 2 float32 on cuda, 8 bytes\n  "
        .. "1%.  1%.",
    "nothing is read in a recording")
is([[a, h = lab.ones(4), lab.zeros(4, {device = "cpu", pinned = true})
s = lab.stream{non_blocking = true}
lab.synchronize()
lab.spin(10, {stream = s}); h:copy_(a, {non_blocking = true, stream = s});
h
lab.synchronize()
h]], [[tensor 4 float32 on cpu, pinned, 16 bytes (1 operation in flight)
  lab.synchronize() waits for its values
tensor 4 float32 on cpu, pinned, 16 bytes
  1.  1.  1.  1.
]], "of host memory that a copy writes, that it is in flight")
is([[t = lab.tensor{1, 2, 3, 4}
t:view(2, 2)
lab.zeros(4, {device = "cpu", pinned = true}):narrow(1, 1, 2)]], [[tensor 2x2 float32 on cuda, a view, 16 bytes
  1.  2.
  3.  4.
tensor 2 float32 on cpu, pinned, a view, 8 bytes
  0.  0.
]], "a view says that it is one")
is([[a = lab.zeros(2)
lab.synchronize()
s = lab.stream{non_blocking = true}
lab.spin(10, {stream = s}); a:fill_(5, {stream = s});
a
s:synchronize()
a]], [[tensor 2 float32 on cuda, 8 bytes (1 operation in flight)
  lab.synchronize() waits for its values
tensor 2 float32 on cuda, 8 bytes
  5.  5.
]], "and of device memory that another stream writes")
is([[a = lab.ones(1); lab.synchronize()
lab.default_stream():launch_host_func(function() error("in vain", 0) end)
for i = 1, 20 do lab.stream() end
a
a]], "tensor 1 float32 on cuda, 4 bytes\n  no values: a host function failed: in vain\n"
    .. "tensor 1 float32 on cuda, 4 bytes\n  1.\n", "an error that looking meets is reported once")
is([[lab.spin(10); a = lab.ones(2); a:mul(3, {out = a}); b = lab.add(a, 1)
a
b
lab.live().ops > 3]], [[tensor 2 float32 on cuda, 8 bytes (3 operations in flight)
  lab.synchronize() waits for its values
tensor 2 float32 on cuda, 8 bytes (1 operation in flight)
  lab.synchronize() waits for its values
true
]], "each operation on its memory counts, and nobody waits for it")
-- That it changes nothing ---------------------------------------------------------------

local folder = shell.folder()
local program <const> = [[s = lab.stream{name = "a"}; x = lab.randn(300, 300)
y = lab.empty(300, 300)
h = lab.empty(300, 300, {device = "cpu"}); e = lab.event(); d = lab.device();
%s
lab.matmul(x, x, {out = y, stream = s}); e:record(s); h:copy_(x);
%s
lab.host_work(0.01); y:add(y);
%s
tl = lab.profile(function() for i = 1, 4 do lab.matmul(x, x, {out = y, stream = s}) end; lab.add(y, x); h:copy_(y) end)
%s
tl2 = lab.profile(function() lab.add(y, x) e:record() end)
tl:save(%q); tl2:save(%q);]]

local function timelines(look)
    local one, two = folder .. "/one.json", folder .. "/two.json"
    os.remove(one)
    local _, err = shown(program:format(look, look, look, look, one, two))
    return (shell.read(one) or err) .. (shell.read(two) or err)
end

local plain = timelines "1"
tap.like(plain, "matmul_f32", "a script without a look at anything has timelines")
for _, look in ipairs { "x", "y", "h", "s, e, d", "who()", "lab, _G, x, y", "{x, y, s}", "tl" } do
    tap.is(timelines(look) == plain, true, "they are the same to the byte after a look at " .. look)
end
tap.is(timelines "y:get(1, 1)" == plain, false, "but not after t:get, which is a copy")
shell.remove(folder)

local clock = shown "x = lab.ones(4); lab.synchronize(); a = lab.now_us();\nx\na == lab.now_us()"
tap.like(clock, "true\n$", "a look at an idle tensor takes no virtual time")
clock = shown [[x = lab.ones(4); lab.synchronize(); lab.spin(10, {stream = lab.stream()})
a = lab.now_us();
x
a == lab.now_us(), lab.live().ops]]
tap.like(clock, "true\t1\n$", "also while other work goes on")

tap.done()
