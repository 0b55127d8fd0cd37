-- 40-options.t.lua - the command line: what is accepted, what is refused and how.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run, sh = shell.run, shell.sh

-- ---- as lua5.4 ---------------------------------------------------------------

local out, err, code = run { "-e", "x = 1", "-e", "print(x)" }
tap.is(out .. err .. code, "1\n0", "-e chunks run in order and share globals")
out = run { "-eprint(7)" }
tap.is(out, "7\n", "-e takes its text without a space")
out = run { "-l", "s=string", "-e", "print(s == string)" }
tap.is(out, "true\n", "-l g=mod puts the module into the global")
out = run { "-lmath", "-e", "print(math.pi > 3)" }
tap.is(out, "true\n", "-l mod requires it")
_, err, code = run { "-l", "no.such.module" }
tap.is(code, 1, "-l of a missing module is an error of the script")
tap.like(err, "module 'no.such.module' not found", "its message names the module")
out, err, code = run { "-v" }
tap.like(out, "^streamlab [%d.]+ %(Lua 5%.4", "-v prints the version")
tap.is(err .. code, "0", "and ends with success")
out = run { "-v", "-e", "print(2)" }
tap.like(out, "%)\n2\n$", "-v goes on with what else was asked for")
out = run({ "-", "a", "b" }, "print(arg[0], arg[1], ...)")
tap.is(out, "-\ta\ta\tb\n", "- runs stdin as a script, with arguments")
_, err, code = shell.sh "\"$P\" - < /"
tap.like(err, "cannot read stdin: Is a directory", "a stdin that cannot be read is an error")
tap.is(code, 1, "of the program")
out = run({}, "print(#arg, lab ~= nil)")
tap.is(out, "0\ttrue\n", "without arguments stdin is the script when it is no terminal")
_, err = run { "-W", "-e", "warn('careful')" }
tap.like(err, "careful", "-W turns warnings on")

local folder = shell.folder()
local script = shell.write(folder .. "/s.lua",
    "print(arg[0], arg[1], arg[2], select('#', ...), ...)"
    .. " print(arg[-1], arg[-2], arg[-3] ~= nil, arg[-4])")
out = run { "-e", "y=1", script, "one", "-v" }
tap.is(out, script .. "\tone\t-v\t2\tone\t-v\ny=1\t-e\ttrue\tnil\n",
    "a script has its arguments in arg and ..., options below 0")
out = run { "--", script }
tap.like(out, "s.lua\tnil\tnil\t0", "-- ends the options")
shell.write(folder .. "/-odd.lua", "print('odd')")
out = sh("cd " .. folder .. " && \"$P\" -- -odd.lua")
tap.is(out, "odd\n", "a script's name may start with a dash after --")

out = sh("LUA_INIT='z = 5' \"$P\" -e 'print(z)'")
tap.is(out, "5\n", "LUA_INIT runs first")
out = sh("LUA_INIT='z = 5' LUA_INIT_5_4='z = 6' \"$P\" -e 'print(z)'")
tap.is(out, "6\n", "LUA_INIT_5_4 goes before LUA_INIT")
out = sh("LUA_INIT='z = 5' \"$P\" -E -e 'print(z)'")
tap.is(out, "nil\n", "-E ignores LUA_INIT")
out = sh("STREAMLAB_PROFILE=t4 \"$P\" -E -e 'print(lab.device().profile)'")
tap.is(out, "h200\n", "and the profile that the environment names")
out = sh("STREAMLAB_PROFILE=t4 \"$P\" -e 'print(lab.device().profile)'")
tap.is(out, "t4\n", "which counts without it")

-- The host's part of another profile.
local host = shell.write(folder .. "/slow.lua", "return {host = {launch_us = 70}}")
local print_profile = " -e 'print(lab.device().profile)'"
out = sh("\"$P\" --host " .. host .. print_profile)
tap.is(out, "textbook with host slow\n", "--host asks for a simulated GPU with that host")
out = sh("\"$P\" --profile a100 --host=t4" .. print_profile)
tap.is(out, "a100 with host t4\n", "also together with --profile")
out = sh("STREAMLAB_HOST=t4 \"$P\"" .. print_profile)
tap.is(out, "textbook with host t4\n", "STREAMLAB_HOST names one as well")
out = sh("STREAMLAB_HOST=t4 \"$P\" -E" .. print_profile)
tap.is(out, "h200\n", "unless -E ignores it")
out = sh("STREAMLAB_HOST=t4 \"$P\" -e 'print(lab.open{profile = \"l4\"}.profile)'")
tap.is(out, "l4\n", "or the script names its profile")
_, err, code = sh("\"$P\" --host " .. shell.write(folder .. "/none.lua", "return {sm_count = 1}")
    .. print_profile)
tap.is(code, 2, "a host without a host's figures is wrong usage")
tap.like(err, "host none: it has no figure of a host, such as host.launch_us", "and says so")
_, err, code = sh("\"$P\" --host ''" .. print_profile)
tap.is(code, 2, "an empty name as well")
out = sh("LUA_INIT=@" .. script .. " \"$P\" -e 'print(9)'")
tap.like(out, "9\n$", "LUA_INIT may name a file")
_, err, code = sh("LUA_INIT='error(\"bad init\")' \"$P\" -e 'print(1)'")
tap.is(code, 1, "an error in LUA_INIT ends the program")
tap.like(err, "LUA_INIT:1: bad init", "and is named")

-- A script's arguments are whatever -e has made of `arg`.
local counted = shell.write(folder .. "/n.lua", "print(select('#', ...), (...))")
local function with_arg(text)
    return run { "-e", text, counted, "one", "two" }
end
tap.is(with_arg "arg = {'x'}", "1\tx\n", "-e may change the script's arguments")
local length = "arg = setmetatable({}, {__len = function() return %s end})"
tap.is(with_arg(length:format "3"), "3\tnil\n", "also by a length of its own")
tap.is(with_arg(length:format "-50000"), "0\tnil\n", "a negative length means no arguments")
for _, huge in ipairs { "1 << 31", "1 << 40", "math.maxinteger" } do
    _, err, code = with_arg(length:format(huge))
    tap.is(code, 1, "too many arguments are an error: " .. huge)
    tap.like(err, "^streamlab: [^\n]*too many arguments to script", "with a sentence: " .. huge)
end
_, err, code = with_arg "arg = nil"
tap.is(code .. err, "1streamlab: 'arg' is not a table\n", "so is arg being no table")
_, err, code = with_arg "arg = setmetatable({}, {__len = function() error('bad length') end})"
tap.like(err, "command line%):1: bad length\n 1 | arg = ",
    "an error in its length has its line")

-- ---- the laboratory's options ------------------------------------------------

local show = "local d = lab.device() print(d.backend, d.name)"
out, err, code = run { "--backend", "sim", "--profile", "a100", "-e", show }
tap.like(out, "^sim\t.*A100", "--backend and --profile choose the simulated GPU")
tap.is(err .. code, "0", "without a word on stderr")
out = run { "--backend=sim", "--profile=t4", "-e", show }
tap.like(out, "^sim\t.*T4", "options take their value after = too")
out, err = run { "-e", show }
tap.like(out, "^sim\t", "without --backend the simulator stands in")
tap.like(err, "^streamlab: [^\n]+\n$", "and one line on stderr says so")
-- A program that has no plugin beside it, whatever this build has.
local alone = "cp \"$P\" " .. folder .. "/alone && cd " .. folder
    .. " && env -u STREAMLAB_CUDA_PLUGIN -u STREAMLAB_PROFILE ./alone "
out, err = sh(alone .. "-e 'print(lab.device().backend)'")
tap.is(out .. err, "sim\nstreamlab: simulating NVIDIA H200 (profile h200): this build has no CUDA"
    .. " backend\n", "in a build without a CUDA backend it says that")
_, err = sh(alone .. "--backend cuda -e 'print(1)'")
tap.like(err, "streamlab: this build has no CUDA backend: streamlab_cuda%.so is not beside",
    "and --backend cuda says where one is missing")
shell.write(folder .. "/streamlab_cuda.so", "no plugin")
out, err = sh(alone .. "-e 'print(lab.device().backend)'")
tap.like(err, "^streamlab: simulating [^\n]*: the CUDA backend cannot be loaded: [^\n]+\n$",
    "a plugin that cannot be loaded is no error, but reported with the whole reason")
tap.is(out, "sim\n", "while the simulator stands in")
out, err = run { "-e", "" }
tap.is(out .. err, "", "no device is opened before a script needs one")
local rand = "print(lab.rand(2, {device='cpu'}):get(1))"
local first = run { "--backend=sim", "--seed=7", "-e", rand }
tap.is(run { "--backend=sim", "--seed", "7", "-e", rand }, first,
    "the same seed gives the same numbers")
tap.isnt(run { "--backend=sim", "--seed", "8", "-e", rand }, first, "another seed gives others")
local clock = "lab.spin(1) lab.synchronize() print(lab.now_us(), lab.stream{}.id, lab.rand(1).id)"
tap.is(run { "--profile", "textbook", "--device", "0", "-e", clock }, (run { "-e", clock }),
    "naming the device beforehand changes neither the clock nor any number")
local traced = folder .. "/two.json"
sh("\"$P\" --profile t4 --trace " .. traced .. " -e 'lab.open{profile = \"a100\"}'")
tap.like(shell.read(traced), "A100", "a trace is of the device that the script opens")
tap.is(shell.read(folder .. "/two.2.json"), nil, "and of no other")

-- ---- what is refused -----------------------------------------------------------

-- Returns what it wrote to stderr.
local function refused(arguments, pattern, name)
    local o, e, c = run(arguments)
    tap.is(c, 2, name .. " is wrong usage")
    tap.is(o, "", name .. " runs nothing")
    tap.like(e, pattern, name .. " has a sentence")
    return e
end

local go = "print('ran')"
refused({ "--nosuch", "-e", go }, "unrecognized option '%-%-nosuch'", "an unknown long option")
refused({ "-x", "-e", go }, "unrecognized option '%-x'", "an unknown short option")
refused({ "-ix", "-e", go }, "unrecognized option '%-ix'", "a joined short option")
refused({ "-e" }, "%-e needs a value", "-e without text")
refused({ "-l" }, "%-l needs a value", "-l without a module")
refused({ "--seed" }, "%-%-seed needs a value", "--seed without a number")
refused({ "--trace", "--check", "-e", go },
    "%-%-trace needs a value, and '%-%-check' is an option; %-%-trace=%-%-check takes it",
    "an option where a value is needed")
out = run { "-e", "-- a comment\nprint(3)" }
tap.is(out, "3\n", "but what -e runs may begin like an option")
refused({ "--seed", "x", "-e", go },
    "%-%-seed needs a whole number from 0 to %d+, got 'x'", "a word as seed")
refused({ "--seed=-1", "-e", go }, "got '%-1'", "a negative seed")
refused({ "--seed=1.5", "-e", go }, "got '1.5'", "a fraction as seed")
refused({ "--seed= 1", "-e", go }, "got ' 1'", "a seed with a space")
refused({ "--seed=", "-e", go }, "got ''", "an empty seed")
refused({ "--seed=99999999999999999999", "-e", go }, "from 0 to 9223372036854775807, got",
    "a huge seed")
refused({ "--devices=65", "-e", go }, "from 1 to 64, got '65'", "a machine with too many GPUs")
refused({ "--devices=0", "-e", go }, "from 1 to 64, got '0'", "or none")
refused({ "--device=5000", "-e", go }, "a whole number from 0 to 1023, got '5000'", "a huge device")
refused({ "--backend=gpu", "-e", go }, "needs cuda or sim, got 'gpu'", "an unknown backend")
refused({ "--profile=", "-e", go }, "%-%-profile needs", "an empty profile")

-- Devices that cannot be opened are reported before anything runs, in one sentence.
local function no_device(arguments, pattern, name)
    arguments[#arguments + 1] = "-e"
    arguments[#arguments + 1] = go
    local sentence = refused(arguments, pattern, name)
    tap.like(sentence, "^streamlab: [^\n]+\n$", name .. " has one line")
end

no_device({ "--profile=nosuch" }, 'no profile "nosuch"; known: a10, a100, .*%.lua\n$',
    "an unknown profile")
no_device({ "--profile=v10O" }, "did you mean v100%?\n$", "a profile that is nearly one")
for typed, nearest in pairs { b100 = "b200", a10g = "a10", ["RTX 3090"] = "a10", rtx5090 = "b200",
    ["NVIDIA L40S"] = "l4", gh200 = "h200", p100 = "v100", h100_pcie = "h100", h200_nvl = "h200",
    ["GeForce RTX 4080"] = "rtx4090" } do
    no_device({ "--profile=" .. typed }, "; the nearest is " .. nearest .. "\n$",
              "a GPU of a generation: "
        .. typed)
end
no_device({ "--profile=h200_calibrated" }, "; the measured GPU is now h200\n$", "the name before")
no_device({ "--profile=T4" }, "did you mean t4%?\n$", "a profile in capitals")
no_device({ "--profile=rtx4060" }, "did you mean rtx4060_laptop%?\n$", "half a profile's name")
no_device({ "--profile=./nosuch.lua" }, "cannot read profile %./nosuch%.lua: No such file",
    "a profile's file that is not there")
local broken = shell.write(folder .. "/broken.lua", "return {\n")
no_device({ "--profile", broken }, "broken profile: .*broken%.lua:2:", "a broken profile")
shell.write(broken, "return { name = 'X', sm_count = -1 }")
no_device({ "--profile", broken }, "sm_count", "a profile with a wrong figure")
shell.write(broken, ("return { base = %q }"):format(broken))
no_device({ "--profile", broken }, "profile broken: 'base' leads back to itself: broken, broken\n$",
    "a profile that is its own base")
local other = shell.write(folder .. "/other.lua", ("return { base = %q }"):format(broken))
shell.write(broken, ("return { base = %q }"):format(other))
no_device({ "--profile", broken },
    "profile broken: 'base' leads back to itself: broken, other, broken\n$",
    "two profiles each of which is the other's base")
local third = shell.write(folder .. "/third.lua", ("return { base = %q }"):format(broken))
no_device({ "--profile", third },
    "profile third: 'base' leads back to itself: broken, other, broken\n$",
    "a profile whose base is in a circle")
shell.write(broken, "return { base = 'h2000' }")
no_device({ "--profile", other }, "profile broken: 'base': there is no profile \"h2000\"; known: "
    .. ".*; the nearest is h200\n$", "a base that there is not names the profile that asks for it")
shell.write(broken, "return { base = './nosuch.lua' }")
no_device({ "--profile", broken },
    "profile broken: 'base': cannot read profile %./nosuch%.lua: No such",
    "a base's file that is not there")
shell.write(broken, "return { base = 'h200', sm_counts = 3 }")
no_device({ "--profile", broken },
    "profile has an unknown key 'sm_counts'; did you mean 'sm_count'%?\n$",
    "a figure that nobody knows, in a profile with a base")
-- These ran until the time limit, or until there was no memory left in the machine.
local function unbounded(text, pattern, name)
    shell.write(broken, text)
    no_device({ "--profile", broken }, "broken profile: " .. pattern, name)
end
unbounded("local x = 1\nwhile true do end", "%S*broken%.lua:2: it does not come to an end",
    "a profile that loops for ever")
unbounded("local function f() return f() end return f()", "%S*broken%.lua:1: it does not come",
    "one that calls itself for ever")
unbounded("local t = {} while true do t[#t + 1] = { t } end",
    "%S*broken%.lua takes more than 16 MB of memory", "one that takes all memory")
unbounded("local s = 'x' while true do s = s .. s end", "%S*broken%.lua takes more than 16 MB",
    "one that does so with a few instructions")
unbounded("local s = 'x'\nfor i = 1, 21 do s = s .. s end\nfor i = 1, 3000000 do local t = s .. i "
    .. "end",
    "%S*broken%.lua:3: it does not come to an end", "one whose instructions take long")
unbounded("return (''):rep(1 << 62)", "%S*broken%.lua:1: attempt to call",
    "one that calls what has no bound")
unbounded(("-"):rep(5 << 20), "%S*broken%.lua has more than 4 MB", "one of 5 MB")
no_device({ "--backend=cuda" }, "the CUDA backend is switched off: STREAMLAB_CUDA_PLUGIN",
    "--backend cuda without a plugin")
no_device({ "--device=3" }, "there is no device 3", "a device that is not there")
local on_third <const> = "print(lab.ones(4, {device = 'cuda:2'}).device_index)"
tap.is(run { "--profile=t4", "--devices=3", "-e", on_third }, "2\n",
    "a simulated machine has as many GPUs as --devices says")
_, err = run { "--profile=t4", "--devices=2", "-e", on_third }
tap.like(err, "there is no device 2: the simulated machine has 2; %-%-devices 3 gives it as many\n",
         "and no more")

-- README's row on several GPUs, as a reader copies it.
local readme <const> = io.open("README.md"):read("a")
local makes_comm, option =
    readme:match("`(comm = lab%.comm[^`]*)`, in `build/streamlab (%S+ %d+) script%.lua`")
tap.ok(makes_comm, "README says how to use several GPUs")
local devices, number = (option or ""):match("(%S+) (%d+)")
out, err = run { "--profile=t4", devices, number, "-e", makes_comm .. " print(comm.size)" }
tap.is(out, "2\n", "and that works as it is written")
_, err = run { "--profile=t4", "-e", makes_comm }
tap.like(err, "comm: there is no device 1: the simulated machine has 1; streamlab %-%-devices 2 "
    .. "SCRIPT gives it as many",
    "without that option the error names it")

_, err = run { "--profile=t4", "--device=3", "-e", go }
tap.ok(not err:find("did you mean", 1, true), "a missing device gets no profile suggested")
_, err = run { "--profile=zzzzzz", "-e", go }
tap.ok(not err:find("did you mean", 1, true), "nor does a name that is like none")

-- A pipe can be read only once, so the run alone reads it.
out, err, code = sh("cat scripts/profiles/t4.lua |"
    .. " \"$P\" --profile /dev/stdin -e 'print(lab.device().name)'")
tap.is(code .. err, "0", "a profile may come through a pipe")
tap.like(out, "T4", "and is the one that is used")
out, err, code = sh("LUA_PATH='" .. folder .. "/?.lua'"
    .. " \"$P\" -E --profile t4 -e 'print(package.path)'")
tap.is(code .. err, "0", "-E goes with a named device")
tap.ok(not out:find(folder, 1, true), "and ignores LUA_PATH all the same")

refused({ "--check=on", "-e", go }, "%-%-check needs warn or error, got 'on'",
    "a mode of --check that there is not")
refused({ "--check=", "-e", go }, "needs warn or error, got ''", "an empty one")
refused({ "--check", "error", "-e", go }, "behind '=', as %-%-check=error %(", "one without =")
refused({ "--trace=x", "-e", go }, "ends in .json, .json.gz, .svg, .html, .et or .goal, got 'x'",
        "a trace without suffix")
refused({ "--trace=.svg", "-e", go }, "got '.svg'", "a trace without a name")
refused({ "--trace=x.png", "-e", go }, "got 'x.png'", "a trace of another kind")
refused({ "--help=yes" }, "takes no value", "a value for --help")

out, err, code = run { "--help" }
tap.like(out, "^usage: streamlab", "--help explains")
for _, name in ipairs { "-e", "-i", "-l", "-v", "--backend", "--device", "--profile", "--seed",
    "--trace", "--spread", "--host", "lab", "probe", "calibrate", "compare", "predict",
    "record", "show", "diff", "work", "merge", "sbatch" } do
    tap.ok(out:find(name, 1, true), "--help names " .. name)
end
tap.is(err .. code, "0", "--help is no error")
tap.like(out, "cuda, a real GPU, or sim", "and the backends")
out = run { "--version" }
tap.like(out, "^streamlab ", "--version prints the version")
for asked, shown in pairs { ["--help"] = "^usage: ", ["--version"] = "^streamlab " } do
    out, err, code = run { "--spread", "3", asked }
    tap.like(out, shown, asked .. " needs no script that other options need")
    tap.is(err .. code, "0", "and fails for none")
end

shell.remove(folder)
for typed, meant in pairs { shwo = "show", dif = "diff", hlep = "help" } do
    out, err, code = shell.run { typed, "x.json" }
    tap.is(out .. code, "1", typed .. " is no script")
    tap.is(err,
           ("streamlab: cannot open %s: No such file or directory\nhint: did you mean streamlab "
        .. "%s?\n"):format(typed, meant), "and the subcommand that is meant is named")
end
_, err = shell.run { "nosuch.lua" }
tap.ok(not err:find("did you mean", 1, true), "a script that is missing is no subcommand")

tap.done()
