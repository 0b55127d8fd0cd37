-- 39-kept-hosts.t.lua - the host's part that recordings show: the factors that a simulated host is
-- given are found again, and kept by day in a file.

local T = require "tap"

local core = debug.getregistry()["streamlab.internals"]
local kept, parts, profiles = core.need("kept_hosts"), core.need("host_part"), core.need("profiles")
local figures = profiles.figures("h200")

-- A recording with a host whose figures are h200's times these factors.
local function recording(seen)
    lab.open{ backend = "sim", profile = "h200", host = parts.profile(figures, seen) }
    local s, a, host = lab.stream(), lab.rand(64, 64), lab.ones(1 << 22, { device = "cpu" })
    local large = lab.ones(1 << 26, { device = "cpu" })
    local device, target = lab.zeros(1 << 22), lab.zeros(1 << 26)
    local function work()
        for _ = 1, 20 do lab.pow(a, 2, { out = a, stream = s }) end
        for _ = 1, 3 do
            target:copy_(large)
            host:copy_(device)
        end
        lab.synchronize()
    end
    work()
    return lab.profile(work)
end

local function factors(calls, uploads, downloads)
    return { calls = { factor = calls, calls = 1 }, uploads = { factor = uploads, calls = 1 },
             downloads = { factor = downloads, calls = 1 } }
end

local function near(value, wanted) return value and math.abs(value / wanted - 1) < 0.06 end

-- The factors that were given come out again, to 6 %: whether an upload's memory is in a cache is
-- guessed.
local function finds_factors()
    for _, given in ipairs{ { 1, 1, 1 }, { 1.3, 0.8, 0.9 }, { 0.7, 1.2, 1.1 } } do
        local found, base = kept.seen(recording(factors(table.unpack(given))))
        T.is(base, "h200", "the factors are of the GPU's profile")
        for i, id in ipairs{ "calls", "uploads", "downloads" } do
            T.ok(near(found[id] and found[id].factor, given[i]),
                 ("%s of a host at %g are found"):format(id, given[i]))
            T.diag(("%s %.3f"):format(id, found[id] and found[id].factor or 0))
        end
    end
end

-- Runs the program with this file, and gives what it prints.
local folder = os.tmpname()
os.remove(folder)
local path <const> = folder .. "/a/hosts"
local program <const> = os.getenv("STREAMLAB") or "build/streamlab"

local function run(words, file)
    local pipe = assert(io.popen(("STREAMLAB_HOSTS='%s' '%s' %s 2>&1"):format(file or path, program,
        words)))
    local text = pipe:read("a")
    pipe:close()
    return text
end

-- A day of 100 launches at 1 and 2: of the same weight, since no more than 100 earlier ones count.
local keep <const> = [[
local core = debug.getregistry()["streamlab.internals"]
local kept = core.need("kept_hosts")
local function item(factor, calls)
    return { gpu = "NVIDIA H200", found = { calls = { factor = factor, calls = calls } } }
end
kept.add{ item(1, 100), item(4, 100) }
kept.add{ { gpu = "NVIDIA H200", found = { downloads = { factor = 0.5, calls = 3 } } } }
for _ = 1, LINES do
    kept.add{ { gpu = "another", found = { uploads = { factor = 0.9, calls = 2 } } } }
end]]

local function keeps_by_day()
    T.like(run("hosts"), "^nothing is kept in ", "at first nothing is kept")
    run(("-e '%s'"):format(keep:gsub("LINES", "0")))
    local text = run("hosts")
    T.like(text, "^%* %d+%-%d+%-%d+ %d+:%d+  %S+  NVIDIA H200, 3 recordings  relative to h200: ",
           "a day and machine have one line")
    T.like(text, "calls 2%.00 x %(200%), downloads 0%.50 x %(3%)\n$",
           "whose factor is the geometric mean by calls")
    local file = assert(io.open(path, "a"))
    file:write('junk\n2026-11-30 16:02 host="x" gpu="y" base=h200 recordings=1 calls=nan/2\n\0\n')
    file:close()
    run(("-e '%s'"):format(keep:gsub("LINES", "2")))
    text = run("hosts")
    T.like(text, "  2026%-11%-30 16:02  x  y, 1 recording  relative to h200: nothing\n",
           "what is no line and no factor is left out")
    T.like(text, "another, 2 recordings", "another GPU has its own")
end

local measured <const> = "--profile h200 --host measured "

-- Of a factor counts what is beyond the spread: 0.83 to 1.2 of calls, 0.8 to 1.15 of uploads, 0.9
-- to 1.08 of downloads.
local function believes_what_is_beyond_the_spread()
    local believed = parts.believed(factors(1.5, 0.7, 1.07))
    T.ok(math.abs(believed.calls.factor - 1.25) < 1e-9, "calls at 1.5 count as 1.5 / 1.2")
    T.ok(math.abs(believed.uploads.factor - 0.875) < 1e-9, "uploads at 0.7 as 0.7 / 0.8")
    T.is(believed.downloads, nil, "downloads at 1.07 do not count")
    T.is(parts.believed(factors(1.2, 0.8, 1)), nil, "nor do factors within the spread")
    T.is(parts.believed{}, nil, "nor does nothing")
end

-- The launches of the file are twice as dear: what counts of it is 2 / 1.2.
local function uses_what_is_kept()
    local launch_us <const> = dofile("scripts/profiles/h200.lua").host.launch_us
    local own <const> = ("%.3f\n"):format(launch_us)
    local twice <const> = ("%.3f\n"):format(launch_us * 2 / 1.2)
    local script <const> = "-e 'local a = lab.rand(64, 64) for i = 1, 9 do lab.pow(a, 2) end "
        .. "local tl = lab.profile(function() for i = 1, 9 do lab.pow(a, 2, {out = a}) end end) "
        .. "local s = tl:spans() print((\"%.3f\"):format(s[9].host_start_us - s[8].host_start_us))'"
    T.is(run("--profile h200 " .. script), own, "a simulated GPU has the profile's host")
    run("hosts --forget")
    T.like(run(measured .. script), "host measured: no recording on a real GPU of this machine has "
        .. "been kept in ", "without recordings there is nothing to use")
    run(("-e '%s'"):format(keep:gsub("LINES", "0")))
    T.is(run(measured .. script), twice, "--host measured has what counts of what they showed")
    T.is(run("--profile h200 " .. script), own, "and nothing else has")
    T.like(run(measured .. script, ""), "has been kept\n", "an empty path keeps nothing")
    run("hosts --forget")
    run(("-e '%s'"):format(keep:gsub("LINES", "0"):gsub("4, 100", "1.1, 100")))
    T.is(run(measured .. script), own, "nor does what is within the spread count")
end

local function reads_recordings()
    local tl, trace = recording(factors(1.3, 0.8, 0.9)), folder .. "/run.json"
    tl:save(trace)
    T.like(run("hosts '" .. trace .. "'"), "relative to h200: calls 1%.30 x %(%d+%), uploads "
        .. "0%.%d+ x %(3%), downloads 0%.%d+ x %(3%)\n", "a saved recording shows the same")
    T.is(run("--profile h200 --host '" .. trace .. "' -e 'print(lab.device().profile)'"),
         "h200 with host " .. trace .. "\n", "and is a host")
    lab.profile(lab.synchronize):save(trace)
    T.like(run("--host '" .. trace .. "' -e 'lab.device()'"), "too few of its calls show what the "
        .. "host takes: 10 launches or 2 copies of pageable memory of 128 KiB are needed",
        "one without calls is none")
    T.like(run("--host nope.json -e 'lab.device()'"), "cannot read 'nope.json'", "nor is no file")
    T.like(run("hosts --forget x.json"), "%-%-forget takes no trace", "--forget takes no trace")
end

-- STREAMLAB_HOSTS may name anything: what is no file of hosts is not written over.
local function leaves_other_files()
    local other <const> = folder .. "/precious.lua"
    local file = assert(io.open(other, "w"))
    file:write("return 5\n")
    file:close()
    local said <const> = "^streamlab: hosts: %S+/precious%.lua is no file of hosts: it has none of "
        .. "the lines that recordings add\n$"
    T.like(run("hosts", other), said, "what is no file of hosts is said to be none")
    T.like(run("hosts --forget", other), said, "nor is it emptied")
    run("hosts --forget", folder .. "/none/hosts")
    T.is(io.open(folder .. "/none/hosts", "w"), nil, "what is not there is not made to be emptied")
    run(("-e '%s'"):format(keep:gsub("LINES", "0")), other)
    file = assert(io.open(other))
    T.is(file:read("a"), "return 5\n", "and recordings leave it as it is")
    file:close()
    T.like(run("hosts", folder), "^streamlab: hosts: cannot read %S+: Is a directory\n$",
           "a folder cannot be read")
end

finds_factors()
keeps_by_day()
leaves_other_files()
believes_what_is_beyond_the_spread()
uses_what_is_kept()
reads_recordings()
os.execute("rm -r '" .. folder .. "'")
T.done()
