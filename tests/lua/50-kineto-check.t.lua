-- The validator of traces itself (kineto_check.lua): a small good trace, written by hand,
-- and what it says to that trace with one sin each.

local T = require "tap"
local check = require "kineto_check"

local good <const> = [[
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "G", "numSms": 4}],
"distributedInfo": {"rank": 0}, "displayTimeUnit": "ms", "baseTimeNanoseconds": 0,
"traceEvents": [
{"ph":"M","name":"process_name","pid":9,"tid":0,"ts":0,"args":{"name":"host"}},
{"ph":"M","name":"thread_name","pid":9,"tid":9,"ts":0,"args":{"name":"script"}},
{"ph":"M","name":"process_name","pid":0,"tid":0,"ts":0,"args":{"name":"GPU"}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"ts":0,"args":{"name":"stream 7"}},
{"ph":"M","name":"thread_name","pid":0,"tid":100,"ts":0,"args":{"name":"sync"}},
{"ph":"X","cat":"user_annotation","name":"all","pid":9,"tid":9,"ts":0.000,"dur":90.000},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1.000,"dur":2.000,"args":{"External id":1,"correlation":1}},
{"ph":"s","id":1,"pid":9,"tid":9,"ts":1.000,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5.000,"dur":10.000,"args":{"device":0,"context":1,"correlation":1,"stream":7,"queued":0,"grid":[1,1,1],"block":[32,1,1]}},
{"ph":"f","bp":"e","id":1,"pid":0,"tid":7,"ts":5.000,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":9,"tid":9,"ts":3.000,"dur":1.000,"args":{"External id":2,"correlation":2}},
{"ph":"s","id":2,"pid":9,"tid":9,"ts":3.000,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":16.000,"dur":2.000,"args":{"device":0,"context":1,"correlation":2,"stream":7,"bytes":8,"memory bandwidth (GB/s)":0.004}},
{"ph":"f","bp":"e","id":2,"pid":0,"tid":7,"ts":16.000,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","pid":9,"tid":9,"ts":20.000,"dur":1.000,"args":{"correlation":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaEventSynchronize","pid":9,"tid":9,"ts":21.500,"dur":3.000,"args":{"correlation":4}},
{"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":100,"ts":21.500,"dur":3.000,"args":{"correlation":4,"stream":-1,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3}},
{"ph":"X","cat":"cpu_op","name":"host_work","pid":9,"tid":9,"ts":30.000,"dur":0.270,"args":{"External id":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":9,"tid":9,"ts":40.000,"dur":2.000,"args":{"External id":6,"correlation":6,"graph id":1}},
{"ph":"s","id":6,"pid":9,"tid":9,"ts":40.000,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":50.000,"dur":4.000,"args":{"device":0,"context":1,"correlation":6,"stream":7,"queued":0,"grid":[1,1,1],"block":[32,1,1],"graph id":1,"graph node id":4294967296,"issue":7}},
{"ph":"f","bp":"e","id":6,"pid":0,"tid":7,"ts":50.000,"cat":"ac2g","name":"ac2g"},
{"ph":"i","s":"t","cat":"graph_edge","name":"cudaEventRecord","pid":0,"tid":7,"ts":54.000,"args":{"External id":8,"launched by":6}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":55.000,"dur":4.000,"args":{"device":0,"context":1,"correlation":6,"stream":7,"queued":0,"grid":[1,1,1],"block":[32,1,1],"graph id":1,"graph node id":4294967297,"issue":9}},
{"ph":"f","bp":"e","id":6,"pid":0,"tid":7,"ts":55.000,"cat":"ac2g","name":"ac2g"}
], "traceName": "t"}
]]

T.is_deeply(check.complaints(good), {}, "a good trace gives no cause for complaint")

-- What is changed (a plain text, once), into what, and what is then said.
local sins <const> = {
    { "text behind the end", '"t"}', '"t"}}', "no JSON" },
    { "a number that is none", '"dur":10.000', '"dur":nan', "no JSON" },
    { "no events", '"traceEvents"', '"events"', "no traceEvents" },
    { "a rank without a blank", '"rank": 0', '"rank":0', "its blank" },
    { "another unit", '"ms"', '"ns"', "displayTimeUnit" },
    { "a schema that is no integer", '"schemaVersion": 1', '"schemaVersion": 1.0',
      "schemaVersion" },
    { "no device", '"deviceProperties": [{"id"', '"deviceProperties": [{"di"', "deviceProperties" },
    { "a correlated event at the front", '{"name":"host"}', '{"name":"host","correlation":1}',
      "number 0" },
    { "metadata that has a time", '"tid":0,"ts":0,', '"tid":0,"ts":1,', "not at 0" },
    { "a row without a name", '"tid":7,"ts":0,', '"tid":8,"ts":0,', "row has no name" },
    { "a process without a name", '"process_name","pid":0', '"process_name","pid":1',
      "process has no name" },
    { "a pid as a text", '"pid":9,"tid":9,"ts":20', '"pid":"9","tid":9,"ts":20', "not integers" },
    { "a tid with decimals", '"tid":9,"ts":20', '"tid":9.0,"ts":20', "not integers" },
    { "a ts as a text", '"ts":20.000', '"ts":"20.000"', "ts is no number" },
    { "a negative duration", '"dur":0.270', '"dur":-0.270', "not at least 0" },
    { "an unknown category", '"cat":"cpu_op"', '"cat":"op"', "category" },
    { "an unknown phase", '"ph":"s","id":2', '"ph":"S","id":2', "ph is unknown" },
    { "a slice that laps over its neighbour", '"ts":20.000,"dur":1.000', '"ts":20.000,"dur":2.000',
      "ends after the slice" },
    { "a slice that ends after its parent", '"dur":90.000', '"dur":30.200',
      "ends after the slice" },
    { "rows out of order", '"ts":20.000', '"ts":29.000', "starts before the slice above" },
    { "a stream as a text", '"stream":7,"queued"', '"stream":"7","queued"', "the row's number" },
    { "a stream that is not its row's", '"stream":7,"queued"', '"stream":8,"queued"',
      "the row's number" },
    { "a device that is not its process", '"device":0,"context":1,"correlation":1',
      '"device":1,"context":1,"correlation":1', "the row's process" },
    { "a correlation with decimals", '"correlation":3', '"correlation":3.0',
      "no integer of at least" },
    { "two calls with one correlation", '"correlation":3}', '"correlation":2}', "is taken" },
    { "two operations with one correlation", '"correlation":2,"stream":7',
      '"correlation":1,"stream":7', "is taken" },
    { "a copy whose name HTA cannot read", '"Memcpy HtoD', '"copy HtoD', "by its name" },
    { "a kernel that HTA takes for a copy", '"name":"k"', '"name":"Memcpy"', "something else" },
    { "a grid of two", '[1,1,1]', '[1,1]', "grid" },
    { "bytes with decimals", '"bytes":8', '"bytes":8.5', "bytes" },
    { "a bandwidth as a text", '0.004', '"0.004"', "bandwidth" },
    { "a call with a stream", '"External id":2,', '"External id":2,"stream":7,',
      "takes it for the device's" },
    { "work of the host with a correlation", '"External id":5', '"correlation":5',
      "a stream or a correlation" },
    { "a copy that a kernel's launch started", '"cudaMemcpyAsync"', '"cudaLaunchKernel"',
      "not the call that launches" },
    { "a launch without an operation", '"cudaEventRecord"', '"cudaLaunchKernel"',
      "has no operation" },
    { "a flow without an end", '{"ph":"f","bp":"e","id":2', '{"ph":"f","bp":"e","id":9',
      "launch 2 has no flow" },
    { "a flow that is not bound", '"ph":"f","bp":"e","id":2', '"ph":"f","id":2', "not bound" },
    { "a flow that starts elsewhere", '"id":2,"pid":9,"tid":9,"ts":3.000',
      '"id":2,"pid":9,"tid":9,"ts":3.001', "does not start where" },
    { "a flow that ends elsewhere", '"id":2,"pid":0,"tid":7,"ts":16.000',
      '"id":2,"pid":0,"tid":7,"ts":16.001', "does not end where" },
    { "a flow from no launch", '"ph":"s","id":2', '"ph":"s","id":3', "starts at no launch" },
    { "two starts of one flow", '"ph":"s","id":2', '"ph":"s","id":1', "another one" },
    { "a synchronisation of no such name", '"Event Sync"', '"Event sync"', "no such" },
    { "a synchronisation of the wrong stream", '"stream":-1', '"stream":7', "nor -1" },
    { "a synchronisation without a call", '"cudaEventSynchronize"', '"cudaStreamSynchronize"',
      "no call of its own" },
    { "a node that is in another graph", '"graph node id":4294967297', '"graph node id":8589934593',
      "not in its graph" },
    { "a node without a number of its own", '"issue":7', '"number":7', "no number of its own" },
    { "nodes that no graph's launch ran", '"cudaGraphLaunch"', '"cudaFree"', "none of a graph" },
    { "a node without a flow", '"id":6,"pid":0,"tid":7,"ts":55.000',
      '"id":9,"pid":0,"tid":7,"ts":55.000',
      "not a flow to each" },
    { "a node's flow that ends elsewhere", '"id":6,"pid":0,"tid":7,"ts":55.000',
      '"id":6,"pid":0,"tid":7,"ts":55.001', "does not end where its node" },
    { "an instant that is no edge", '"cat":"graph_edge"', '"cat":"event"', "no edge" },
    { "an edge without a launch", '"launched by":6', '"launch":6', "no launch" },
    { "a wait for no record", '"wait_on_cuda_event_record_corr_id":3',
      '"wait_on_cuda_event_record_corr_id":2', "no record before" },
}

-- The text with the first `old` in it replaced.
local function with(old, new)
    local from, to = good:find(old, 1, true)
    assert(from, old)
    return good:sub(1, from - 1) .. new .. good:sub(to + 1)
end

for _, sin in ipairs(sins) do
    local said = table.concat(check.complaints(with(sin[2], sin[3])), "; ")
    T.like(said, sin[4]:gsub("%p", "%%%0"), "noticed: " .. sin[1])
end

-- 203.442 + 0.270 is more than 203.712 as doubles, and 4.004 * 1000 less than 4004.
local at = '"ts":20.000,"dur":1.000'
local function touching(from, duration, to)
    local text = with(at, ('"ts":%s,"dur":%s'):format(from, duration))
    text = text:gsub('"ts":21.500,"dur":3.000', ('"ts":%s,"dur":0.001'):format(to))
    text = text:gsub('"ts":30.000', '"ts":230.000'):gsub('"dur":90.000', '"dur":900.000')
    text = text:gsub('"ts":40.000', '"ts":240.000')
    return table.concat(check.complaints(text), "; ")
end
T.is(touching("203.442", "0.250", "203.712"), "", "slices apart are fine")
T.like(touching("203.442", "0.270", "203.712"), "in doubles, before the end",
       "noticed: slices that lap over as doubles")
T.like(touching("4.002", "0.002", "4.004"), "^event %d+ %(%a+%): starts, cut to ns[^;]*$",
       "noticed: slices that lap over when cut")
T.done()
