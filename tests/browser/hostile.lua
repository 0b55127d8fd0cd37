-- hostile.lua - names that would be markup, attributes, scripts or styles if they were not escaped,
-- in whatever names there are: a page and a picture of a timeline and of a trace, and a plot, as
-- files in $HOSTILE for a browser; `values` is what a notebook is to show.

local lab = require "streamlab"
local folder = os.getenv "HOSTILE"
local bad = table.concat({
    "<img src=x onerror=\"window.pwned=1\">", "</script><script>window.pwned=1</script>",
    "\"'><svg onload=window.pwned=1>",
    "javascript:window.pwned=1", "]]><script>window.pwned=1</script>", "--><!--",
    "</title></style><script>window.pwned=1</script>", "&lt;b&gt;",
}, " ")

local function write(name, text)
    local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
    file:write(text)
end

lab.open{ backend = "sim" }
local stream = lab.stream{ name = bad }
local x = lab.ones(16)
local work = assert(load("local lab, stream, x = ... lab.spin(1, {stream = stream}) x:to('cpu', "
    .. "{stream = stream})",
    "@" .. bad .. ".lua"))
local tl = lab.profile(function() work(lab, stream, x) end)
tl:save(folder .. "/timeline.html")
tl:save(folder .. "/timeline.svg")

-- A trace of another program, whose every text is hostile, but for those that say what an event is.
local function event(fields, args)
    local parts = {}
    for key, value in pairs(fields) do parts[#parts + 1] = ("%q:%s"):format(key, value) end
    return "{" .. table.concat(parts, ",") .. ",\"args\":{" .. args .. "}}"
end
local text = '"' .. bad:gsub('"', '\\"') .. '"'
local events = {
    event({ name = '"process_name"', ph = '"M"', pid = 0, tid = 0 }, '"name":' .. text),
    event({ name = '"thread_name"', ph = '"M"', pid = 0, tid = 7 }, '"name":' .. text),
    event({ name = text, ph = '"X"', cat = '"user_annotation"', pid = 1, tid = 1, ts = 0,
            dur = 90 }, '"x":' .. text),
    event({ name = text, ph = '"X"', cat = '"cpu_op"', pid = 1, tid = 1, ts = 1, dur = 20 },
          '"Call stack":' .. text),
    event({ name = '"cudaLaunchKernel"', ph = '"X"', cat = '"cuda_runtime"', pid = 1, tid = 1,
            ts = 2, dur = 3 },
        '"correlation":1'),
    event({ name = text, ph = '"X"', cat = '"kernel"', pid = 0, tid = 7, ts = 9, dur = 50 },
        '"correlation":1,"stream":7,"device":0,"grid":[1,1,1],"block":[32,1,1],"note":' .. text),
    event({ name = text, ph = '"X"', cat = '"gpu_memcpy"', pid = 0, tid = 7, ts = 70, dur = 5 },
        '"correlation":2,"stream":7,"device":0,"bytes":64'),
}
write("trace.json", '{"deviceProperties":[{"id":0,"name":' .. text
    .. '}],"schemaVersion":1,"traceName":' .. text
    .. ',"traceEvents":[' .. table.concat(events, ",\n") .. "]}")
local trace = lab.load(folder .. "/trace.json")
assert(trace.span_count > 0)
trace:save(folder .. "/trace.html")
trace:save(folder .. "/trace.svg")

local r = lab.table({ { [bad] = 1, y = 2, z = bad }, { [bad] = 2, y = 3, z = bad } },
                    { title = bad })
r:plot{ x = bad, y = "y", by = "z", file = folder .. "/plot.svg" }
rawset(_G, "values", { r, { { name = bad:sub(1, 35), b = 1 }, { name = bad:sub(1, 35), b = 2 } } })
