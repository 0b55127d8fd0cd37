-- 20-python.t.lua - streamlab record --python: at which lines of a program its calls are made.
-- Python is real, each release that this machine has; CUDA is played (played_launch.c).
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local sanitized = require "sanitized"
local shell = require "shell"

local folder, played, _, build = require "played" "played_launch.so"
local prefix = sanitized.prefix(build .. "/libstreamlab_record.so")

local function sh(command)
    return shell.sh(("cd %s; export PLAYED=%s/played_launch.so STREAMLAB_CUDA_LIB=%s "
        .. "LC_ALL=C.UTF-8; %s"):format(folder, played, played, command))
end

-- ---- which Pythons ------------------------------------------------------------------------------

-- One of each release, "3.12" = its path: those on the PATH and those of pyenv.
local function find_pythons()
    local found = {}
    local listed = sh [[
        for p in /usr/bin/python3 ${PYENV_ROOT:-$HOME/.pyenv}/versions/3.*/bin/python3; do
            [ -x $p ] && $p -Ic 'import ctypes, sys; print("%d.%d" % sys.version_info[:2],
                sys.executable)'
        done 2>/dev/null]]
    for release, path in listed:gmatch "(%d%.%d+) (%S+)" do
        found[release] = path
    end
    return found
end

local read <const> = { ["3.10"] = true, ["3.11"] = true, ["3.12"] = true, ["3.13"] = true,
                       ["3.14"] = true }
local pythons, known, other = find_pythons(), {}, nil
for release, path in pairs(pythons) do
    if read[release] then
        known[#known + 1] = release
    else
        other = path
    end
end
table.sort(known)
if #known == 0 then
    tap.skip_all "there is no CPython 3.10 to 3.14 with ctypes"
end

-- ---- programs -----------------------------------------------------------------------------------

local function program(name, text)
    shell.write(folder .. "/" .. name, text)
end

local head <const> = [[
import ctypes, os, sys
free = ctypes.CDLL(os.environ["PLAYED"])  # without the interpreter's lock, as PyTorch launches
held = ctypes.PyDLL(os.environ["PLAYED"])
free.launch_often.restype = ctypes.c_double
]]

-- "NAME WHERE" of each operation and then of each call, in the order of issue.
local function lines(tl)
    local list = {}
    for _, kind in ipairs { tl:spans(), tl:calls() } do
        for _, one in ipairs(kind) do
            list[#list + 1] = one.name .. " " .. one.where
        end
    end
    return table.concat(list, "\n")
end

local function record(release, name, options)
    local out, err, code = sh(('rm -rf s; "$P" record --quiet --spools s %s -- %s%s %s'):format(
        options or "--python", prefix, pythons[release], name))
    return lab.load(folder .. "/s"), out .. err .. code
end

-- ---- lines --------------------------------------------------------------------------------------

program("train.py", head .. [[

def forward():
    free.launch(b"free")
    held.launch(b"held")

class Model:
    def step(self, times):
        forward()
        for _ in range(times):
            free.launch(
                b"many")
        def inner(): free.launch(b"inner")
        inner()

Model().step(2)
[free.launch(b"list") for _ in range(1)]
next(free.launch(b"generator") or 1 for _ in range(1))
list(map(free.launch, [b"map"]))
sorted([1, 2], key=lambda x: free.launch(b"lambda") or x)
exec("\nfree.launch(b'text')")
free.launch_apart(b"apart")
free.synchronize()
]])

-- Python 3.10 has no names of classes there, and 3.12 puts the loop of a list into its function.
local function expected(release)
    local step = release == "3.10" and "step" or "Model.step"
    local inlined = release ~= "3.10" and release ~= "3.11"
    return ([[
free train.py:7 in forward
held train.py:8 in forward
many train.py:14 in STEP
many train.py:14 in STEP
inner train.py:16 in inner
list train.py:20LIST
generator train.py:21 in <genexpr>
map train.py:22
lambda train.py:23 in <lambda>
lambda train.py:23 in <lambda>
text <string>:2
apart train.py:25 (other thread)
cudaDeviceSynchronize train.py:26]]):gsub("STEP", step):gsub("LIST",
        inlined and "" or " in <listcomp>")
end

for _, release in ipairs(known) do
    local tl, said = record(release, "train.py")
    tap.is(said, "0", release .. ": the program runs, and nothing is said")
    tap.is(lines(tl), (expected(release)), release .. ": each call is at its line")
    tap.is(#tl.doubts, 0, release .. ": and nothing is in doubt")
end
local newest = known[#known]
tap.is(lines(record(newest, "train.py", "")):gsub(" [^\n]*", ""),
    expected(newest):gsub(" [^\n]*", ""), "without --python there are no lines")
tap.is(record(newest, "train.py", ""):spans()[1].where, "", "none at all")

-- ---- whose line ---------------------------------------------------------------------------------

sh "mkdir -p site-packages/layer own"
program("site-packages/layer/__init__.py", [[
def linear(f, name, depth=20):
    return linear(f, name, depth - 1) if depth > 0 else f(name)]])
program("own/größe.py", "def länge(f, name):\n    f(name)\n")
program("whose.py", head .. [[
import threading
sys.path[:0] = ["site-packages", "own"]
import layer, größe
layer.linear(free.launch, b"package")
größe.länge(free.launch, b"wide")
free.launch_apart(b"apart")
free.launch_apart(b"apart")
layer.linear(free.launch_apart, b"apart")
def work():
    free.launch(b"thread")
    layer.linear(free.launch_apart, b"apart")
t = threading.Thread(target=work)
t.start()
t.join()
held.launch(b"main")
t = threading.Thread(target=work)
t.start()
t.join()
free.launch_apart(b"apart from one that has ended")
t = threading.Thread(target=layer.linear, args=(free.launch, b"of a package"))
t.start()
t.join()
free.launch_apart(b"apart")
for i in range(3):
    exec("\n" * i + "def f(): free.launch(b'made')\nf()\ndel f")
if os.fork() == 0:
    free.launch(b"child")
    os._exit(0)
os.wait()
free.launch(b"parent")
]])
local whose <const> = [[
package whose.py:8
wide own/größe.py:2 in länge
apart whose.py:10 (other thread)
apart whose.py:11 (other thread)
apart whose.py:12 (other thread)
thread whose.py:14 in work
apart whose.py:15 in work (other thread)
main whose.py:19
thread whose.py:14 in work
apart whose.py:15 in work (other thread)
apart from one that has ended whose.py:23 (other thread)
of a package layer/__init__.py:2 in linear
apart whose.py:27 (other thread)
made <string>:1 in f
made <string>:2 in f
made <string>:3 in f
parent whose.py:34]]
for _, release in ipairs(known) do
    tap.is(lines((record(release, "whose.py"))), whose,
        release .. ": the program's own function counts, not a package's")
end

tap.like(sh('"$P" show --explain s'):gsub("%s+", " "),
    "issuing thread in stream 7 at whose.py:14 in work, and the GPU had to wait for that "
    .. "| free.launch%(b\"thread\"%) ", "an explanation names the line, and quotes it")

-- ---- why not ------------------------------------------------------------------------------------

local function doubt(tl)
    return tl.doubts[1] and tl.doubts[1].kind .. ": " .. tl.doubts[1].sentence
end

sh(('rm -rf s; "$P" record --quiet --python --spools s -- %s/played_program kernels 10'):format(
    played))
tap.is(doubt(lab.load(folder .. "/s")), "no_lines: The program's lines are not known: there was no "
    .. "CPython in it when it first used CUDA.", "a program that has no Python")
if other then
    pythons.other = other
    local tl, said = record("other", "train.py")
    tap.is(said, "0", "a Python that is not known runs as it would")
    tap.like(doubt(tl), "they are read of CPython 3.10 to 3.14, built with its lock, and this is "
        .. "Python %d%.%d+%.%d+", "and the timeline says why it has no lines")
    tap.is(tl:spans()[1].where, "", "which it has not")
end

shell.remove(folder)
tap.done()
