-- 30-orders.t.lua - which record of an event each wait of a recorded program is for, and in which
-- stream it is, where the recorder knows it from the calls' parameters alone. The calls and their
-- times are those of played_orders.c.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played, sh = require "played" "played_program"

local out, err, code = sh(('PLAYED_DRIVER=13000 LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH "$P" record '
    .. "--quiet --spools spools -o t.json -- %s/played_program orders"):format(played, played))
tap.is(out .. err .. code, "0", "the program runs")

-- By the time at which it begins: "KIND STREAM", and of a wait the time of the record it is for.
local tl = lab.load(folder .. "/spools")
local calls, times = {}, {}
for _, call in ipairs(tl:calls()) do
    local at = math.tointeger(call.host_start_us)
    times[call.correlation] = at
    calls[at] = (call.kind .. " " .. (call.stream or ""):gsub("^stream ", ""))
end
for event in shell.read(folder .. "/t.json"):gmatch '{[^\n]*"cat":"cuda_sync"[^\n]*}' do
    local id = tonumber(event:match '"correlation":(%d+)')
    local record = tonumber(event:match '"wait_on_cuda_event_record_corr_id":(%d+)')
    calls[times[id]] = calls[times[id]] .. " for " .. (record and times[record] or "none")
end

for _, case in ipairs {
    { 10, "event_record 13", "a record is in the stream that the call names" },
    { 14, "stream_wait 14 for 12", "a wait is for the last record before it" },
    { 20, "event_sync  for 12", "and not for one that another thread makes while the host waits" },
    { 22, "event_record 14", "which is in the stream of that call" },
    { 32, "stream_wait 13 for 22", "but a later wait is for that one" },
    { 44, "stream_wait 14", "an event with the handle of a destroyed one has no record" },
    { 46, "event_record 14", "until it is recorded, here with flags" },
    { 48, "stream_wait 13 for 46", "for which a wait then is" },
    { 50, "stream_wait 13", "nor has an event that was never recorded" },
    { 54, "plain ", "a record that fails is none" },
    { 56, "stream_wait 14 for 52", "and the one before it stays the last" },
    { 58, "plain ", "a wait that fails is none" },
    { 62, "event_record 13", "another stream's record during a capture counts" },
    { 64, "plain ", "that of the captured stream does not" },
    { 66, "stream_wait 14 for 62", "so that a wait is for the other" },
    { 68, "plain ", "nor does a wait of the captured stream" },
    { 72, "event_record 20", "NULL is the thread's own stream in programs compiled so" },
    { 74, "event_record 20", "which cudaStreamPerThread names in all" },
    { 76, "event_record 7", "and cudaStreamLegacy the one of all threads" },
    { 78, "event_record 21", "another thread has another one" },
    { 80, "event_record 7", "NULL is that of all threads in other programs" },
    { 84, "stream_wait 14 for 82", "the driver's functions are known, too" },
    { 86, "plain ", "a wait for a value is for no event" },
    { 88, "plain ", "a record on another GPU is not one of this" },
    { 90, "event_record 16", "a stream's number is CUPTI's" },
    { 94, "event_record 116", "and another one where a destroyed stream's handle comes again" },
    { 100, "stream_wait 114 for 96", "a context that ends leaves events of others" },
    { 104, "stream_wait 114", "and ends its own" },
    { 106, "event_record 113", "an event may be recorded in the next one" },
    { 110, "stream_wait 214", "a green context that ends ends its own" },
    { 114, "event_record 213", "and handles of its streams come again, too" },
    { 124, "stream_wait 214", "a record in all streams of a context is none of one stream" },
    { 126, "device_sync  for none", "a wait for a context is for that which is named" },
    { 128, "plain ", "also where it is not the thread's" },
    { 170, "stream_wait 214 for 162", "a record that is also in a graph counts" },
    { 174, "stream_wait 214", "until a graph is launched, which may have recorded the event" },
    { 176, "stream_wait 214", "also one that was captured for waits outside" },
    { 178, "stream_wait 214 for 166", "while other events keep their records" },
    { 182, "stream_wait 214 for 180", "as does one that is recorded again" },
} do
    tap.is(calls[case[1]], case[2], ("%s (at %d us)"):format(case[3], case[1]))
end

local unknown
for _, doubt in ipairs(tl.doubts) do
    if doubt.kind == "unknown_waits" then unknown = doubt.count end
end
tap.is(unknown, 1, "only the wait for a value is not known, and none that is captured")

-- ---- what is left out --------------------------------------------------------------------------

-- How many calls of a kind are known in a recording without some notes. What a wait of the host was
-- for, times alone may say.
local function count(kind, without)
    sh(('STREAMLAB_RECORD_WITHOUT=%s "$P" record --quiet --spools %s -- %s/played_program streams')
        :format(without, without, played))
    local n = 0
    for _, call in ipairs(lab.load(folder .. "/" .. without):calls()) do
        n = n + (call.kind == kind and 1 or 0)
    end
    return n
end
tap.is(("%d %d"):format(count("event_record", "sync"), count("stream_wait", "sync")), "3 0",
    "waits can be left out, and records are there")
tap.is(("%d %d"):format(count("event_record", "event"), count("stream_wait", "event")), "1 1",
    "and so can records")

-- ---- many events -------------------------------------------------------------------------------

if tap.sized(false, true) then
    local most <const> = 1 << 18
    sh(('"$P" record --quiet --spools many -- %s/played_program kernels 1 events %d'):format(played,
        most + 5))
    tl = lab.load(folder .. "/many")
    tap.is(#tl:calls(), most + 5, "records of events are calls, however many there are")
    tap.like(tl.doubts[1] and tl.doubts[1].sentence, "^5 records are missing",
        "of more events than are kept, what is not known is counted")
end

shell.remove(folder)
tap.done()
