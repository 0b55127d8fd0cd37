-- 20-endings.t.lua - what a recorder leaves of long programs, and of programs that are killed at
-- moments that nobody chose, end in a handler, or meet a full disk: with the played program
-- (10-record.t.lua).
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played, sh = require "played" "played_program"

local function record(options, command)
    return sh(('"$P" record --quiet %s -- %s/played_program %s'):format(options, played, command))
end

local is_sanitized = (os.getenv "STREAMLAB_SANITIZE" or "") ~= ""

-- ---- long programs ------------------------------------------------------------------------------

-- Ten minutes of a program with 5,000 launches a second, where the lane has the time.
local launches = tap.sized(30000, 3000000)
local alone = sh(("%s/played_program launches %d peak"):format(played, launches))
local recorded = record("--spools launches", ("launches %d peak"):format(launches))
local memory_kib = tonumber(recorded) - tonumber(alone)
tap.ok(memory_kib > 0 and (is_sanitized or memory_kib <= 64 * 1024),
    "the recorder takes at most 64 MiB", memory_kib .. " KiB")
local bytes = tonumber((sh "cat launches/*.spool | wc -c"))
local tl = lab.load(folder .. "/launches")
tap.is(tl.span_count, launches + launches // 100, "all operations are there")
tap.ok(bytes / tl.span_count <= 40, "in at most 40 bytes each", bytes / tl.span_count)
tap.is(#tl.doubts, 0, "and nothing is in doubt")

-- ---- programs that are killed -------------------------------------------------------------------

-- A buffer is handed over after 5000 launches, or when it is full. One of each hundred launches has
-- a copy behind it.
local BUFFER <const> = 5000

-- On a busy machine a program may be killed before it hands over its first one.
local function kernels_of(path)
    local is_loaded, tl = pcall(lab.load, path)
    if not is_loaded and tostring(tl):find("it has no operations", 1, true) then return 0 end
    assert(is_loaded, tl)
    local n, last = 0, nil
    for _, span in ipairs(tl:spans()) do
        if span.kind == "kernel" then
            n, last = n + 1, span
        end
    end
    return n, last
end

math.randomseed(20261129)
local kills = tap.sized(2, 20)
local lost, wrong = {}, {}
for i = 1, kills do
    local us = math.random(20000, tap.sized(50000, 200000))
    local _, _, code = record("--spools killed-" .. i,
        ("count kill_in %d launches 3000000"):format(us))
    local n, last = kernels_of(folder .. "/killed-" .. i)
    local issued = string.unpack("<I4", shell.read(folder .. "/issued"))
    -- The nth kernel is launched at 200 us times n - 1, and the first at 0.
    local begins = n == 0 or last.host_start_us == 200 * (n - 1)
    if issued - n > BUFFER then
        lost[#lost + 1] = ("after %d us: %d of %d"):format(us, issued - n, issued)
    end
    if code ~= 128 + 9 or not begins then
        wrong[#wrong + 1] = ("after %d us: status %d, %d kernels"):format(us, code, n)
    end
    sh("rm -rf killed-" .. i)
end
tap.is(table.concat(lost, "\n"), "",
    kills .. " times a program is killed: a buffer is lost at most")
tap.is(table.concat(wrong, "\n"), "", "and nothing before it")

-- ---- programs that end in the handler of a signal ----------------------------------------------

local _, _, code = record("--spools handler", "kernels 250 handler 5")
tl = lab.load(folder .. "/handler")
tap.is(code, 5, "a handler that ends the program does so")
tap.is(("%d, %d"):format(tl.span_count, #tl.doubts), "250, 0", "and all is recorded")
if tap.sized(false, true) then
    _, _, code = record("--spools held", "kernels 250 held 6")
    tl = lab.load(folder .. "/held")
    tap.is(code, 6, "also where it has interrupted what the recorder needs")
    tap.is(("%d %s"):format(tl.span_count, tl.doubts[1].kind), "200 ends_early",
        "then the last buffer is lost")
end

-- The recorder's own thread must not keep alive what would have ended without it.
_, _, code = record("--spools threads", "kernels 250 threads_end")
tl = lab.load(folder .. "/threads")
tap.is(code, 0, "a program ends with the last of its own threads")
tap.is(("%d, %d"):format(tl.span_count, #tl.doubts), "250, 0", "and all of it is recorded")

-- ---- a full disk -------------------------------------------------------------------------------

-- 64 KiB, which not everybody may mount, as long as it takes. A hundred launches have 1.5 KiB.
if sh "unshare -rm mount -t tmpfs -o size=64k none . && echo can" == "can\n" then
    local out, err
    out, err, code = sh(([[mkdir disk copy; unshare -rm sh -c '
        mount -t tmpfs -o size=64k none disk
        "$1" record --quiet --spools disk/full -- %s/played_program kernels 10000 exit 7
        echo $?; cp disk/full/* copy' - "$P"]]):format(played))
    tl = lab.load(folder .. "/copy")
    tap.is(out .. err, "7\n", "on a disk that is full a program goes on")
    tap.ok(tl.span_count > 3000 and tl.span_count % 100 == 0, "the spool has whole parts",
        tl.span_count)
    tap.like(tl.doubts[1].sentence, "cannot be written %(No space left on device%)", "and says why")
end

shell.remove(folder)
tap.done()
