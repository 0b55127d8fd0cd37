-- 10-record.t.lua - streamlab record with a played program and a played CUPTI: what reaches the
-- timeline, with times that played_program.c states and that are worked out by hand here; what the
-- program notices; and what is said where nothing can be recorded.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played, sh = require "played" "played_program"

local function record(options, command)
    return sh(('"$P" record %s -- %s/played_program %s'):format(options, played, command))
end

local function read(name)
    return shell.read(folder .. "/" .. name)
end

-- ---- what is recorded --------------------------------------------------------------------------

-- Each as "NAME STREAM START+LENGTH", in the order of issue.
local function operations(tl)
    local list = {}
    for _, span in ipairs(tl:spans()) do
        list[#list + 1] = ("%s/%s %g+%g%s"):format(span.name, span.stream, span.start_us,
            span.end_us - span.start_us, span.host_waited and " waited" or "")
    end
    return table.concat(list, "\n")
end

local streams <const> = [[
Memcpy HtoD (Pageable -> Device)/stream 13 20+30 waited
first/stream 13 80+100
second/stream 14 182+100
node/stream 13 320+10
node/stream 13 332+18
Memcpy DtoH (Device -> Pinned)/stream 14 370+20]]

-- "CALL STREAM", and of a wait the number of the call that made the record: "Stream Wait Event 12".
local function waits(path)
    local list = {}
    for event in read(path):gmatch "{[^\n]*}" do
        local name = event:match '"cat": ?"cuda_sync".-"name": ?"([^"]*)"'
            or event:match '"name": ?"([^"]*)".-"cat": ?"cuda_sync"'
        if name then
            list[#list + 1] = name .. " "
                .. (event:match '"wait_on_cuda_event_record_corr_id": ?(%d+)' or "")
        end
    end
    table.sort(list)
    return table.concat(list, ", ")
end

record("--quiet --spools grid", "grid 65537 kernels 1 grid 65538 kernels 1")
local spans = lab.load(folder .. "/grid"):spans()
tap.is(("%d %d"):format(spans[1].blocks, spans[2].blocks), "4294967295 0",
    "a grid of more blocks than 32 bits count is not known")

local out, err, code = record("-o t.json --spools streams", "streams")
tap.is(err .. code, "0", "the program runs, and nothing is said on stderr")
local title = "played_program streams: Played GPU, 6 operations in 2 streams"
tap.ok(out:find(title, 1, true), "the timeline has the command's name")
local tl = lab.load(folder .. "/streams")
tap.is(operations(tl), streams, "operations, in which streams and when")
tap.is(operations(lab.load(folder .. "/t.json")), streams, "the written file has them")
-- In the order of issue: copy 1, first 2, record 3, wait 4, second 5, records 6 and 7, wait of
-- the host for 6, graph's launch 9 with nodes 10 and 11, synchronisation 12, copy 13, 14.
tap.is(waits "t.json",
    "Context Sync , Event Sync 6, Stream Sync , Stream Wait Event 3",
    "each wait is for the record that it was for, not for a later one of the event")
tap.is(#tl.doubts, 0, "nothing is in doubt")
local first = tl:spans()[2]
tap.is(("%d %d %d %d"):format(first.blocks, first.threads, first.registers,
    first.shared_bytes), "12 256 40 1040", "grid, block, registers, shared memory")
tap.is(("%g %g"):format(first.host_start_us, first.host_end_us), "70 73.8",
    "its call is the run time's, not the driver's within it, without the 1.2 us of recording")
local node = tl:spans()[5]
tap.is(("%s %d"):format(node.graph, node.node), "graph 5 2",
    "what a graph ran says which node it was")
local names = {}
for _, call in ipairs(tl:calls()) do
    names[#names + 1] = call.name
end
tap.is(table.concat(names, " "), "cudaEventRecord cudaStreamWaitEvent cudaEventRecord "
    .. "cudaEventRecord cudaEventSynchronize cudaGraphLaunch cudaStreamSynchronize "
    .. "cudaDeviceSynchronize",
    "calls that give no work, without those that only tell something")

out = read "t.json"
tap.like(out, '"id":6,[^}]*"priority":0', "a stream's priority is that of its creation")
tap.like(out, '"id":7,[^}]*"priority":%-1,"non_blocking":true',
    "and so is whether it waits for the NULL stream")

-- ---- what the program notices ------------------------------------------------------------------

local _
_, err, code = record("--quiet", "exit 3")
tap.is(code, 3, "the exit status is the program's")
_, err, code = record("--quiet", "streams kill 15")
tap.is(code, 128 + 15, "or 128 and the signal that ended it")
out, err, code = sh(([[perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$P" record --quiet -- ]]
    .. '%s/played_program exit 3'):format(played))
tap.is(code, 3, "also where whoever started it does not want to know how children end")
out, err, code = sh '"$P" record -- ./nothing'
tap.is(out .. err .. code,
    "streamlab: record: cannot run './nothing': No such file or directory\n127",
    "a command that is not there")
out, err, code = sh 'echo x >y; "$P" record -- ./y'
tap.is(out .. err .. code, "streamlab: record: cannot run './y': Permission denied\n126",
    "a command that cannot be run")
out = sh '"$P" record --quiet -- sh -c "cat; echo $? >&2" <<END\nhello\nEND'
tap.is(out, "hello\n", "stdin and stdout are the program's")

local typed = ([[sh -c 'PLAYED/played_program "$@" # it'\''s' x kernels 1]]):gsub("PLAYED", played)
tap.ok(sh('"$P" record -- ' .. typed):find(typed .. ": Played GPU", 1, true),
    "the title quotes words as a shell needs it")

-- Ctrl-C goes to all processes of a terminal's foreground: here of a group.
out = sh(([[
    perl -e 'setpgrp; $SIG{INT} = "DEFAULT"; exec @ARGV' "$P" record --spools ctrl -- \
        PLAYED/played_program kernels 300 sleep 20000 >out 2>&1 &
    while [ "$(cat ctrl/*.spool 2>/dev/null | wc -c)" -lt 4000 ]; do sleep 0.02; done
    perl -e 'kill "INT", -$ARGV[0]' $!
    wait $!; echo "status $?"; cat out]]):gsub("PLAYED", played))
tap.like(out, "^status 130\n", "Ctrl-C ends the program")
tap.like(out, "300 operations in 1 stream", "and what it did is shown")
tap.like(out:gsub("%s+", " "), "The recording ends early: the program did not end by itself",
    "with a notice that the last second may be missing")

-- ---- where nothing is recorded -----------------------------------------------------------------

out, err, code = record("", "none")
tap.is(out .. err .. code,
    "streamlab: record: nothing is recorded: the program did not use CUDA, or not in "
        .. "processes that it started itself (docker, ssh)\n0",
    "a program that does not use CUDA")
local reasons = {
    busy = "another profiler %(Nsight, PyTorch's profiler%) uses CUPTI, which serves one at a time "
        .. "%(cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED%)",
    forbidden = "this user may not profile: .* %(cuptiActivityEnable: "
        .. "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES%)",
    old = "CUPTI's release 130000 crashes some programs",
}
for how, reason in pairs(reasons) do
    out, err, code = sh(('PLAYED_CUPTI=%s "$P" record -- %s/played_program streams exit 4')
        :format(how, played))
    tap.like(err, reason, how .. ": why nothing is recorded")
    tap.is(out .. code, "4", how .. ": the program runs as it would")
end
out, err, code = sh(('STREAMLAB_CUDA_LIB=/nowhere PATH=/usr/bin:/bin "$P" record -- '
    .. '%s/played_program streams'):format(played))
tap.ok(err:find("process %d+: libcupti.so.11.4 to .14 is not found: it comes with CUDA's toolkit")
    or err:find("CUPTI .*%(cuptiSubscribe: "),
    "no CUPTI, or one without a driver, is told")
tap.is(out .. code, "0", "and the program runs")
out, err, code = sh('CUDA_INJECTION64_PATH=/x.so "$P" record -- true')
tap.like(err, "another tool is to be loaded into the program already", "another tool's library")
tap.is(code, 1, "the program is then not run")

-- ---- programs that end badly --------------------------------------------------------------------

-- 250 kernels, a buffer handed over after every 100: 200 are written when the process is killed.
record("--quiet --spools killed", "kernels 250 kill 9")
_, err = record("--by kernel", "kernels 250 kill 9")
tap.like(err, "^streamlab: record: The recording ends early: ",
    "that a recording ends early is said on stderr where a table is asked for")
tl = lab.load(folder .. "/killed")
tap.is(tl.span_count, 200, "of a program that is killed all buffers are there but the last")
tap.is(tl.doubts[1] and tl.doubts[1].kind, "ends_early", "and the timeline says that it ends early")
record("--quiet --spools left", "kernels 250 leave 0")
tap.is(lab.load(folder .. "/left").span_count, 200, "so it is where it leaves without its handlers")
record("--quiet --spools full", "kernels 250 exit 0")
tap.is(lab.load(folder .. "/full").span_count, 250, "one that ends by itself leaves all")

-- 20 KiB: a kernel and its call have about 15 bytes.
_, err, code = sh(('ulimit -f 40; "$P" record --quiet --spools limited -- %s/played_program '
    .. 'kernels 2500 exit 5'):format(played))
tap.is(code, 5, "a program whose spool may not grow goes on, without SIGXFSZ")
tl = lab.load(folder .. "/limited")
tap.ok(tl.span_count > 1000 and tl.span_count < 2000 and tl.span_count % 100 == 0,
    "and the spool has whole parts", tl.span_count)
tap.like(tl.doubts[1].sentence, "ends early: its file cannot be written %(File too large%)",
    "and says why")

-- A part that is cut or damaged: the ones before are read.
local spool = sh("ls full"):match "%S+"
local text = read("full/" .. spool)
shell.write(folder .. "/cut.spool", text:sub(1, -200))
tl = lab.load(folder .. "/cut.spool")
tap.is(tl.span_count, 200, "a spool that is cut is read up to its last whole part")
tap.like(tl.doubts[1].sentence, "its last part is cut off", "and says so")
shell.write(folder .. "/bad.spool", text:sub(1, #text // 2) .. "\0\1" .. text:sub(#text // 2 + 3))
tl = lab.load(folder .. "/bad.spool")
tap.is(tl.span_count, 100, "one that is damaged is read up to there")
tap.like(tl.doubts[1].sentence, "a part of it is damaged", "and says so")
shell.write(folder .. "/later.spool", text:sub(1, 20) .. "\9" .. text:sub(22))
tap.throws_like(function() lab.load(folder .. "/later.spool") end, "has no operations: .*damaged",
    "one without a whole part is refused")

-- The spool's descriptor is among those that the program closes.
record("--quiet --spools closed", "kernels 250 close kernels 250")
tap.is(#read "own", 0, "nothing is written to a file that has got the spool's descriptor")
tap.is(lab.load(folder .. "/closed").span_count, 500, "and the recording goes on")
_, err, code = record("--quiet", "kernels 10 unload exit 6")
tap.is(code, 6, "who lets go of the library does not unload it: it has a thread")
record("--quiet --for 500ms --spools some", "kernels 100 ended kernels 50")
tl = lab.load(folder .. "/some")
tap.is(tl.span_count, 100, "--for: what comes later is not recorded")
tap.is(#tl.doubts, 0, "--for: and nothing is in doubt")
_, err = record("--for 20ms", "sleep 200 kernels 5")
tap.like(err, "process %d+: the program gave the GPU nothing to do while it was recorded\n$",
    "--for: what came later is not denied")

record("--quiet --spools dropped", "kernels 10 drop 3")
tl = lab.load(folder .. "/dropped")
tap.like(tl.doubts[1].sentence, "3 records are missing, since there was no room for them",
    "records that CUPTI has dropped are told")

record("--quiet --spools one -o one.html", "kernels 10")
tap.like(sh("cat one.html"), "<title>played_program – ", "a page is of the program, not of a spool")
sh '"$P" show -o kept.html one'
tap.like(sh("cat kept.html"), "<title>one – ", "that of a kept recording has its folder's name")

-- ---- several processes ------------------------------------------------------------------------

record("--quiet --spools forked", "kernels 10 fork")
tap.is(select(2, sh("ls forked"):gsub("%.spool", "")), 1,
    "a child that is forked leaves no spool, and does not end its parent's")
tap.is(lab.load(folder .. "/forked").span_count, 10, "which is whole")
local both = ("%s/played_program kernels 10 & %s/played_program kernels 20; wait"):format(played,
    played)
out = sh(('"$P" record -- sh -c "%s"'):format(both))
tap.like(out, "20 operations in 1 stream", "of two processes the one with more operations is shown")
tap.like(out:gsub("\n", " "), "Several processes used the GPU: .* there is %d+ %(10 operations%)",
    "and the other one is named")
out = sh(('"$P" record --children -- sh -c "%s"'):format(both))
tap.like(out, "30 operations in 2 streams", "--children: both in one timeline")
local big, small = out:gsub("\n", " "):match "GPU: (%d+) %(20 operations%), (%d+) %(10 oper"
tap.ok(big and out:find(big .. " stream 7", 1, true) and out:find(small .. " stream 7", 1, true),
    "where the streams of each process say whose they are", out)
shell.write(folder .. "/no.spool", "SLP2")
out, err, code = sh('mkdir scratch; TMPDIR=$PWD/scratch "$P" record --children -- '
    .. "sh -c 'cp full/*.spool no.spool $STREAMLAB_RECORD'; echo $?; ls scratch")
tap.like(err, "it is no recording of streamlab record", "--children: one that cannot be read")
tap.is(out, "1\n", "the scratch folder is removed where that ends the command")
_, err, code = record("--spools forked", "exit 3")
tap.is(err .. code, "streamlab: record: 'forked' has a recording already, and a folder of spools "
    .. "is read as one timeline: name another one\n1", "a folder that has spools takes no others")

shell.remove(folder)
tap.done()
