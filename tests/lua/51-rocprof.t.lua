-- 51-rocprof.t.lua - the JSON of AMD's rocprofv3. The file has the form of its schema and of its
-- writer (rocprofv3-schema.json, generateJSON.cpp of ROCm 7); its values were made up by hand.
local T = require "tap"
local foreign_sums = require "lua.foreign_sums"

local path <const> = "tests/timeline/data/rocprof.json"
local tl = lab.load(path)

local function row_of(key, name, of)
    for _, row in ipairs((of or tl):by(key)) do
        if row.full_name == name or row.name == name then return row end
    end
    return {}
end

-- ---- operations ----

local copy, first, second, side, back = table.unpack(tl:spans())
T.is(tl.span_count, 5, "the GPU with the most operations is taken")
T.is(tl.devices[1].name, "AMD Instinct MI250X", "its name is that of the product")
T.is(lab.load(path, { device = 1 }).span_count, 1, "the other one has its own")
T.is(copy.kind, "memcpy_h2d", "a copy goes from the host's agent to the GPU's")
T.is(copy.bytes, 1048576, "with its bytes")
T.is(copy.host_start_us, 0, "the call with its correlation launched it, the first of all")
T.is(copy.host_end_us, 3, "and ended 3 us later: times are ns")
T.is(copy.start_us, 2.5, "before the copy did")
T.is(first.name, "transpose(float*, float*, int)", "a kernel has the name of its symbol")
T.is(first.blocks, 4 * 128, "1024 x 512 threads in blocks of 256 x 4")
T.is(first.threads, 1024, "which have that many")
T.is(first.host_start_us, 4, "its launch is hipLaunchKernel's call")
T.is(second.name, "Cijk_Ailk_Bljk_SB_MT64x64x8", "without a formatted name it has its own")
T.is(side.stream, "stream 3", "streams have rocprofv3's numbers")
T.is(first.stream_id, 0, "and 0 is the NULL stream")
T.is(back.kind, "memcpy_d2h", "a copy back is one")
T.is(back.host_waited, true, "and hipMemcpyWithStream waits for it")
T.is(tl:busy_us("kernel"), 90, "busy times follow: 50 and 40, with 30 beside them")
T.is(row_of("kernel", "transpose(float*, float*, int)").time_us, 80, "sums by kernel, too")

local names = {}
for _, call in ipairs(tl:calls()) do names[#names + 1] = call.name or call.kind end
T.is(table.concat(names, " "), "hipLaunchKernel cudaDeviceSynchronize",
    "calls within a launch are left out; a launch on the other GPU is a call")

-- ---- ranges, and another GPU ----

local other = lab.load(path, { device = 1 })
T.is(other:spans()[1].kind, "collective", "a kernel of RCCL is a collective")
T.is(other:by("step")[1].name, "step 1", "a range of ROCTx with such a name is a step")
T.is(other:by("step")[1].wall_us, 72, "as long as its range, not as the call that begins it")

-- ---- other files ----

local file <const> = os.tmpname()
local function changed(change)
    local text = change(io.open(path):read("a"))
    local out <close> = io.open(file, "w")
    out:write(text)
    out:close()
    return pcall(lab.load, file)
end

local _, older = changed(function(text)
    return (text:gsub(',%s*"stream_id": {%s*"handle": %d+%s*}', ""))
end)
local rows = {}
for _, row in ipairs(older:by("stream")) do rows[#rows + 1] = row.name end
table.sort(rows)
T.is_deeply(rows, { "memcpy_d2h", "memcpy_h2d", "queue 1", "queue 4" },
    "before ROCm 7 kernels are in queues, and copies in rows of their own")
local _, large = changed(function(text)
    return (text:gsub('"stream_id": {%s*"handle": %d+%s*}', '"z": 0')
        :gsub('("queue_id": {%s*"handle": )1', "%118446744073709551600")
        :gsub('("agent_id": {%s*"handle": )9001', "%118446744073709551501")
        :gsub('("id": {%s*"handle": )9001', "%118446744073709551501")
        :gsub('"kernel_id": (%d),%s*"code_object_id"', '"code_object_id"'))
end)
T.is(row_of("stream", "queue 4096", large).count, 2, "a queue may have an address for a handle")
T.is(large.devices[1].name, "AMD Instinct MI250X", "and a GPU any number of 64 bits")
T.is(large:spans()[2].name, "transpose(float*, float*, int)",
    "a kernel's number is its place in the list, where it has none")
local _, cut = changed(function(text)
    return text:sub(1, text:find('"memory_copy"', 1, true) - 1)
end)
T.is(cut.span_count, 3, "of a file that is cut off the part before that is read")
T.like(cut.notice, "cannot be read to its end", "which is said")
local _, single = changed(function(text)
    return (text:gsub('^{%s*"rocprofiler%-sdk%-tool": %[', '{"rocprofiler-sdk-tool": ')
        :gsub("%]%s*}%s*$", "}"))
end)
T.is(single.span_count, 5, "a process alone need not be in a list")
local _, twice = changed(function(text)
    local process = text:match('^{%s*"rocprofiler%-sdk%-tool": %[(.*)%]%s*}%s*$')
    return '{"rocprofiler-sdk-tool": [' .. process .. "," .. process:gsub("4001", "4002") .. "]}"
end)
T.is(twice.span_count, 10, "processes are read one behind the other")
T.is(#twice:by("stream"), 4, "each with its own streams")
local is_read, why = changed(function(text)
    return (text:gsub('"kernel_dispatch": .*', '"kernel_dispatch": []}}]}'))
end)
T.ok(not is_read, "one without operations is refused")
T.like(why.message, "rocprofv3 %-%-runtime%-trace", "with the command that records them")
local _, early = changed(function(text) return (text:gsub('"end_timestamp": %d+', "%0e999", 1)) end)
T.is(early.span_count, 4, "a record without times is left out")
T.like(early.notice, "record 1 %(kernel_dispatch%): its times are none", "and named")
os.remove(file)

-- ---- an independent program ----

foreign_sums(path, row_of, 6)
T.done()
