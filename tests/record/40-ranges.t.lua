-- 40-ranges.t.lua - streamlab record of programs that mark ranges with NVTX. The marks are made
-- with NVTX's own headers (played_ranges.c); CUDA is played, so that times are worked out by hand.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played, sh, build = require "played"("played_ranges",
    "this build has no recorder, or not NVTX's headers")

local function record(options, command)
    return sh(('"$P" record --quiet %s -- %s/played_ranges %s'):format(options, played, command))
end

-- Each as "NAME START END" in us, in the order of starts.
local function listed(tl)
    local list = {}
    for _, range in ipairs(tl:ranges "nvtx") do
        list[#list + 1] = ("%s %g %g"):format(range.name, range.start_us, range.end_us)
    end
    return table.concat(list, "\n")
end

-- ---- all sorts of ranges -----------------------------------------------------------------------

local out, err, code = record("--spools mixed", "mixed")
tap.is(err .. code, "0", "a program that marks ranges runs, and nothing is said on stderr")
tap.is(out, "first 0\nsecond 1\ndomain 0 0 1\npop 1\n",
    "NVTX tells it the level of each range, in each domain")
local tl = lab.load(folder .. "/mixed")
tap.is(tl.span_count, 6, "its kernels are recorded")
-- The first call, at 2 us of the clock, is the beginning of the timeline; what was open before CUDA
-- was used begins with the recording, at 0.
tap.is(listed(tl), [[
before CUDA -2 11
epoch 1 5
lib:work 1.5 3
wide é😀 5.5 7
across 7.5 9
 9.5 11
mark 9.5 9.5]], "ranges have their names, of a domain behind its name, and their times")
tl:save(folder .. "/mixed.json.gz")
tap.is(listed(lab.load(folder .. "/mixed.json.gz")), listed(tl), "a saved trace has the same ones")
tap.throws_like(function() tl:ranges "nvidia" end,
    'kinds of ranges are "operator", .*"nvtx", not "nvidia"', "a kind that there is not is refused")

-- The host launches each kernel when the one before has ended: what is lost is said of the second.
local shown = sh '"$P" show mixed':gsub("%s+", " ")
tap.like(shown, 'to issue second in stream 7 in range "lib:work" and other operations',
    "a sentence names the innermost range in which an operation was launched")
tap.like(shown, "host to issue sixth in stream 7 1.00 us", "but not one without a name")

-- ---- a part ------------------------------------------------------------------------------------

local function names(options)
    local part_out, part_err, part_code = record("-o part.json " .. options, "mixed")
    if part_code ~= 0 then
        return part_code .. " " .. part_err
    end
    local list = {}
    for i, span in ipairs(lab.load(folder .. "/part.json"):spans()) do
        list[i] = span.name
    end
    return table.concat(list, " "), part_out
end

tap.is(names "--range epoch", "second third", "--range: what was launched in it")
tap.is(names "--range 'lib:*'", "second", "or in ranges whose names begin like that")
tap.is(names "--skip 4", "fifth sixth", "--skip: without the first four operations")
tap.is(names "--skip 1 --count 2", "second third", "--count: and two that follow")
tap.like(names "--range epochs", '^1 .*no range of the host named "epochs"; it .* "epoch"',
    "a range that there is not is refused, and some are named that there are")
tap.like(names "--skip 6", "^1 .*has 6 operations, so that none is left", "so is to skip all of it")
tap.like(names "--skip 1 --range epoch", "^2 .*does not go with", "and both at once")

-- ---- many --------------------------------------------------------------------------------------

record("--spools names", "names 20000")
tl = lab.load(folder .. "/names")
local ranges, n_right = tl:ranges "nvtx", 0
for i, range in ipairs(ranges) do
    local start_us = i == 1 and -2 or 2 * i - 3
    if range.name == ("iteration %d"):format(i - 1) and range.start_us == start_us
        and range.end_us == 2 * i - 1 then
        n_right = n_right + 1
    end
end
tap.is(#ranges, 20000, "none of many ranges is lost")
tap.is(n_right, 20000, "each has its own name and times, also when names are forgotten meanwhile")

record("--spools threads", "threads 40")
tl = lab.load(folder .. "/threads")
local of = { even = 0, odd = 0 }
for _, range in ipairs(tl:ranges()) do
    of[range.name] = of[range.name] + 1
end
tap.is(("%d %d"):format(of.even, of.odd), "1600 1600", "two threads at once each have their ranges")

-- 4096 levels of a thread, and 65536 that are started, have room.
for _, case in ipairs { { "deep", 5000, 4096, 904 }, { "started", 65540, 65536, 5 } } do
    record("--spools " .. case[1], case[1] .. " " .. case[2])
    tl = lab.load(folder .. "/" .. case[1])
    tap.is(#tl:ranges "nvtx", case[3], case[1] .. ": as many ranges are there as have room")
    tap.is(tl.notice, "The recorder had no room for " .. case[4] .. " ranges of NVTX and lines of "
        .. "calls: tables by range and by line lack them.", "and how many are missing is said")
end

record("--spools left", "left")
tap.is(listed(lab.load(folder .. "/left")), "left 1.5 3",
    "a range that is not popped ends with its thread")

record("--spools forked", "fork")
tap.is(listed(lab.load(folder .. "/forked")), "parent -2 3\ninside 1.5 3\nlib:work 1.5 3",
    "a child that is forked before it uses CUDA has the ranges that it was forked in, and its own; "
    .. "it may end what its parent started")

-- ---- NCCL ------------------------------------------------------------------------------------

-- What the trace says of each collective's kernel: kind, elements of a byte, ranks, group.
local function exchanges(path)
    local list, text = {}, shell.read(path)
    for event in text:gmatch '"cat":"kernel".-}}' do
        local name = event:match '"Collective name":"([^"]*)"'
        list[#list + 1] = name and ("%s %s %s %s"):format(name,
            event:match '"In msg nelems":(%d+)' or "-", event:match '"Group size":(%d+)' or "-",
            event:match '"Process Group Name":"([^"]*)"') or "-"
    end
    return table.concat(list, "\n"), text
end

if record("--spools nccl", "nccl") ~= "no payloads\n" then
    tl = lab.load(folder .. "/nccl")
    tl:save(folder .. "/nccl.json")
    local found, text = exchanges(folder .. "/nccl.json")
    tap.is(found, [[
-
all_reduce 4096 2 5f3759df
all_reduce 1024 2 5f3759df
all_gather 1024 2 5f3759df
other - 2 5f3759df
-
-]], "a kernel of NCCL's has what was asked for since the one before, as NCCL says it with NVTX")
    tap.like(listed(tl), "^NCCL:ncclAllReduce 1 3\n", "the ranges have the functions' names alone")
    tap.like(text, '"rank": ?1, ?"world_size": ?2', "the rank is known by its communicator's end")
    lab.load(folder .. "/nccl.json"):save(folder .. "/again.json")
    tap.is(exchanges(folder .. "/again.json"), found, "all of this is kept in a saved trace")
end

-- ---- who else uses NVTX ------------------------------------------------------------------------

out, err, code = sh(('NVTX_INJECTION64_PATH=/no/such "$P" record --quiet --spools other -- '
    .. '%s/played_ranges mixed'):format(played))
tap.is(err .. code, "0", "a program's own tool for NVTX stays")
tap.is(#lab.load(folder .. "/other"):ranges(), 0, "and gets the ranges")
out, err, code = sh(('NVTX_INJECTION64_PATH=%s/libstreamlab_record.so %s/played_ranges mixed')
    :format(build, played))
tap.is(code, 0, "the recorder does nothing where nobody records")
record("--spools unused", "none")
tap.is(sh("ls unused"), "", "nor where CUDA is not used")

-- ---- by ----------------------------------------------------------------------------------------

-- Behind what the program prints.
local function printed(options)
    local text, problem = sh(('"$P" record %s -- %s/played_ranges mixed'):format(options, played))
    return text:match("\npop 1\n(.*)"), problem
end

-- Two of the six kernels, each of which runs alone for 1 us.
out, err = printed "--by kernel --range epoch"
tap.is(out, [[
   time   share   count    mean covered   alone  by kernel
1.00 us  50.0 %       1 1.00 us    0 ns 1.00 us  second
1.00 us  50.0 %       1 1.00 us    0 ns 1.00 us  third
covered: operations of another kernel ran at the same time
]], "--by: a table, of the part, in place of all others")
tap.is(err, "", "and nothing on stderr")
tap.is(sh '"$P" show --by stream mixed', printed "--by stream",
    "which is what show --by prints of the recording")
for options, reason in pairs { ["--by color"] = "%-%-by needs kernel, operator, .*'color'",
                               ["--by line --quiet"] = "do not go together" } do
    out, err, code = sh('"$P" record ' .. options .. " -- touch ran")
    tap.like(out .. code .. err, "^2streamlab: record: .*" .. reason, options .. " is refused")
end
tap.ok(not io.open(folder .. "/ran"), "before the program runs")

shell.remove(folder)
tap.done()
