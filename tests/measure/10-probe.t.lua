-- 10-probe.t.lua - streamlab probe: what it prints, its JSON, the profiles that it saves, and
-- what it refuses.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh, read = shell.sh, shell.read

local folder = shell.folder()

local function probe(line)
    return sh('"$P" probe ' .. line)
end

local function json_of(line)
    local out, err, code = probe(line .. " --json")
    if err .. code ~= "0" then
        tap.diag(err)
    end
    return json.read(out)
end

-- ---- the answers -------------------------------------------------------------------------

-- What the textbook profile's figures and CUDA's rules give, for blocking and for exempt streams:
-- H the host waits, A the kernels run apart without that, - neither. By call, memory and stream.
local answers = {
    ["cudaMalloc"] = "--", ["cudaFree"] = "HH", ["cudaMallocHost"] = "--",
    ["cudaFreeHost"] = "HH", ["cudaHostRegister"] = "--", ["cudaHostUnregister"] = "HH",
    ["cudaMallocAsync first"] = "--", ["cudaFreeAsync first"] = "--",
    ["cudaMemset device NULL"] = "A-", ["cudaMemset pinned NULL"] = "H-",
    ["cudaMemsetAsync device first"] = "--",
    ["cudaMemcpy pinned to device NULL"] = "H-", ["cudaMemcpy device to pinned NULL"] = "H-",
    ["cudaMemcpy device to pageable NULL"] = "H-", ["cudaMemcpy device to device NULL"] = "A-",
    ["cudaMemcpyAsync pinned to device first"] = "--",
    ["cudaMemcpyAsync device to pinned first"] = "--",
    ["cudaMemcpyAsync device to pageable first"] = "HH",
    ["cudaMemcpyAsync device to device first"] = "--",
    ["cudaLaunchKernel NULL"] = "A-", ["cudaLaunchKernel first"] = "--",
    ["cudaLaunchHostFunc first"] = "--", ["cudaEventCreate"] = "--", ["cudaEventDestroy"] = "--",
    ["cudaEventRecord NULL"] = "A-", ["cudaEventRecord first"] = "--", ["cudaEventQuery"] = "--",
    ["cudaEventSynchronize"] = "HH", ["cudaStreamWaitEvent second"] = "AA",
    ["cudaStreamCreate"] = "--", ["cudaStreamDestroy"] = "--", ["cudaStreamQuery first"] = "--",
    ["cudaStreamSynchronize first"] = "HH", ["cudaDeviceSynchronize"] = "HH",
    ["cudaMemGetInfo"] = "--", ["cudaFuncSetCacheConfig"] = "--", ["cudaDeviceSetLimit"] = "--",
    ["cublasCreate"] = "--", ["cublasDestroy"] = "HH",
}

local function letter(row)
    if row.host_blocked then
        return row.serialised and "H" or "?"
    end
    return row.serialised and "A" or "-"
end

local function name_of(row)
    local words = { row.call }
    for _, key in ipairs { "memory", "into" } do
        if row[key] ~= json.null then
            words[#words + 1] = row[key]
        end
    end
    return table.concat(words, " ")
end

local staged = "pageable to device"

local function check_answers(rows)
    local seen = {}
    for i = 1, #rows, 2 do
        local row, exempt = rows[i], rows[i + 1]
        assert(row.streams == "blocking" and exempt.streams == "nonblocking"
            and name_of(row) == name_of(exempt) and row.bytes == exempt.bytes)
        local name, got = name_of(row), letter(row) .. letter(exempt)
        seen[name] = true
        if row.memory == staged then
            -- Up to 2 MiB an asynchronous copy only fills the staging buffers; cudaMemcpy waits
            -- for its stream first.
            local long = row.bytes > 2 * 1024 * 1024
            local wanted = row.into == "first" and (long and "HH" or "--") or "H-"
            tap.is(got, wanted, ("%s, %d bytes"):format(name, row.bytes))
        else
            tap.is(got, answers[name], name)
        end
    end
    for name in pairs(answers) do
        if not seen[name] then
            tap.ok(false, name .. " is probed")
        end
    end
end

local rows = json_of("--profile textbook")
check_answers(rows)

local keys = { "call", "memory", "bytes", "into", "streams", "host_us", "total_us",
    "host_blocked", "serialised" }
local odd = 0
for _, row in ipairs(rows) do
    local n = 0
    for _ in pairs(row) do
        n = n + 1
    end
    for _, key in ipairs(keys) do
        odd = odd + (row[key] == nil and 1 or 0)
    end
    odd = odd + (n == #keys and 0 or 1)
end
tap.is(odd, 0, "each object has the nine keys and no other")

local function row_of(list, call, bytes, streams, memory)
    for _, row in ipairs(list) do
        if row.call == call and row.streams == streams
            and (not bytes or row.bytes == bytes) and (not memory or row.memory == memory) then
            return row
        end
    end
end

-- 40 us + 0.3 us for each of 4 MiB; cudaFree waits for the rest of a kernel of 10 ms.
local row = row_of(rows, "cudaMalloc", 4194304, "blocking")
tap.is(("%.1f"):format(row.host_us), "41.2", "host_us is the call's time")
row = row_of(rows, "cudaFree", 65536, "blocking")
tap.ok(row.host_us > 10000 and row.host_us < 10100, "with the wait in it")
tap.ok(row.total_us > 20000 and row.total_us < 20200, "and total_us both kernels, one by one")
row = row_of(rows, "cublasCreate", nil, "blocking")
tap.ok(row.host_us == 16000 and not row.host_blocked and not row.serialised,
    "a call that takes 16 ms by itself is not one that waits")

-- Of each function of lab.cuda there is a row, but for those that the program names itself.
local text, err, code = probe("--profile textbook")
tap.is(err .. code, "0", "the table is printed")
local missing = {}
for _, entry in ipairs(dofile("docs/api/cuda.lua").entries) do
    local name = (entry.cuda or entry.name):match("^[^,]+")
    local left_out = text:match("not asked.*")
    if not row_of(rows, name, nil, "blocking") and not left_out:find(name, 1, true) then
        missing[#missing + 1] = name
    end
end
tap.is(table.concat(missing, " "), "",
    "every function of lab.cuda is asked about, or reported as left out")

-- ---- the table ---------------------------------------------------------------------------

local widest = 0
for line in text:gmatch("[^\n]+") do
    widest = math.max(widest, #line)
end
tap.ok(widest <= 80, "the table fits in 80 columns")
local function has(part, name)
    tap.ok(text:find(part, 1, true), name)
end
has("textbook GPU (simulated, profile textbook)", "the device is named")
has([[
cudaMalloc
  64 KiB          40.0 us       together 10.0 ms  40.0 us       together 10.0 ms
  4 MiB           41.2 us       together 10.0 ms  41.2 us       together 10.0 ms
  old list:  allocating device memory keeps streams apart       DOES NOT HOLD
]], "a call, by sizes, with what the old list says")
has([[
  64 KiB          2.50 us       APART    20.0 ms  2.50 us       together 10.0 ms
  4 MiB           2.50 us       APART    20.0 ms  2.50 us       together 10.0 ms
  old list:  setting device memory keeps streams apart          holds in 2 of 4
  old guide: asynchronous: the host goes on                     holds
]], "a claim that holds on blocking streams only")
-- CUDA 12 and 13, "API synchronization behavior": such copies "might be synchronous", and "the
-- driver may synchronize with the stream and stage".
has([[
  CUDA:      may wait for its stream, to be staged              left open

]], "of staged copies in a stream CUDA promises nothing")
has([[
  old guide: asynchronous: the host goes on                     DOES NOT HOLD
  CUDA:      may be synchronous                                 left open
]], "in neither direction")
has("cudaEventQuery    0.30 us       together 10.0 ms  0.30 us       together 10.0 ms\n",
    "a call without sizes has one line")
has([[
cudaEventSynchronize
                  10.0 ms WAITS APART    20.0 ms  10.0 ms WAITS APART    20.0 ms
]], "unless its name is long")
-- The old list: of allocations (2), the L1 switch, cudaMemsetAsync and cudaMemcpyAsync nothing
-- holds; of cudaMemset, cudaMemcpy, a launch and a record in the NULL stream half.
has("old list:  of  9 claims  0 hold,  4 in part,  5 do not", "what is left of the old list")
tap.is(probe("--profile textbook"), text, "the same every time")
tap.is(sh('"$P" --backend sim --profile=textbook probe'), text, "the device may be named before it")
tap.is(sh('STREAMLAB_PROFILE=textbook "$P" probe --backend sim'), text, "or by the environment")

-- Where 64 KiB is the size at which pageable copies change.
local small = assert(io.open(folder .. "/small.lua", "w"))
small:write 'return { base = "t4", h2d_async_bytes = 65536 }'
small:close()
local rows_of_small = json_of("--profile " .. folder .. "/small.lua")
local function waits(bytes)
    return row_of(rows_of_small, "cudaMemcpyAsync", bytes, "blocking", staged).host_blocked
end
tap.ok(not waits(65536) and waits(65537),
    "64 KiB and one byte more differ where the profile says so")

-- ---- files ------------------------------------------------------------------------------

local out
out, err, code = probe("--profile textbook -o " .. folder .. "/table.txt")
tap.is(out .. err .. code, "0", "-o prints nothing")
tap.is(read(folder .. "/table.txt"), text, "and writes the table")
probe("--profile textbook --json --output=" .. folder .. "/rows.json")
tap.is(#json.read(read(folder .. "/rows.json")), #rows, "or the array")

-- Host and streams, row by row; "" where both answer the same.
local function different(a, b)
    local list = {}
    for i, row in ipairs(a) do
        if letter(row) ~= letter(b[i]) or row.call ~= b[i].call then
            list[#list + 1] = name_of(row)
        end
    end
    return #a == #b and table.concat(list, ", ") or "other rows"
end

-- Saves a profile of what `from` answers, and gives both answers.
local function saved(from, more)
    local path = folder .. "/saved.lua"
    local before = json_of(("--profile %s --save %s %s"):format(from, path, more or ""))
    return before, json_of("--profile " .. path), path
end

for _, name in ipairs { "textbook", "a100", "v100", "t4", "rtx4060_laptop" } do
    local before, after = saved(name)
    tap.is(different(before, after), "", name .. ": the saved profile gives the same answers")
    local worst = 0
    for i, entry in ipairs(before) do
        worst = math.max(worst, math.abs(entry.host_us - after[i].host_us) / (entry.host_us + 0.1))
    end
    tap.ok(worst < 0.01, name .. ": and the same times, within one per cent")
end
local before, after = saved("t4", "--base textbook")
tap.is(different(before, after), "", "on another base, too")
before, after = saved("textbook", "--base t4")
tap.is(different(before, after), "", "also where pageable copies have to be changed")

local textbook = read("scripts/profiles/textbook.lua")
local function edited(name, ...)
    local text = textbook
    for _, pair in ipairs { ... } do
        local from, to = text:find(pair[1], 1, true)
        text = text:sub(1, from - 1) .. pair[2] .. text:sub(to + 1)
    end
    return shell.write(folder .. "/" .. name, text)
end
local malloc, free = "us_per_mib = 0.3, waits = false",
    "cudaFree = { us = 40, us_per_mib = 0, waits = true"
local hand = edited("hand.lua", { malloc, "us_per_mib = 0.3, waits = true" },
    { free, "cudaFree = { us = 40, us_per_mib = 0, waits = false" })
before, after = saved(hand)
tap.ok(row_of(before, "cudaMalloc", 65536, "nonblocking").host_blocked,
    "a changed profile: cudaMalloc waits")
tap.ok(not row_of(before, "cudaFree", 65536, "blocking").host_blocked, "and cudaFree does not")
tap.is(different(before, after), "", "which the saved one says, too")
hand = edited("hand.lua",
    { malloc, 'us_per_mib = 0.3, waits = "stream", from_bytes = 1048576' },
    { free, [[cudaMemcpy = { h2d_pageable = { waits = "stream" } },
        cudaLaunchHostFunc = { serialises = true },
        cudaEventCreate = { serialises = "blocking" }, ]] .. free })
before, after = saved(hand)
tap.is(letter(row_of(before, "cudaMalloc", 4194304, "blocking"))
    .. letter(row_of(before, "cudaMalloc", 4194304, "nonblocking"))
    .. letter(row_of(before, "cudaMalloc", 65536, "blocking")), "H--",
        "waits of a size and of some streams")
tap.is(letter(row_of(before, "cudaLaunchHostFunc", nil, "nonblocking"))
    .. letter(row_of(before, "cudaEventCreate", nil, "blocking"))
    .. letter(row_of(before, "cudaEventCreate", nil, "nonblocking")), "AA-", "barriers")
tap.is(different(before, after), "", "are saved as well")
local written = read(folder .. "/saved.lua")
tap.like(written,
    "^%-%- textbook GPU, as the simulator sees it%.\n%-%- Calls measured by streamlab probe; "
    .. "all else from the profile hand%.\nreturn {\n", "a saved profile says where it comes from")
tap.like(written, "waits = \"stream\",    %-%- measured", "and what was measured")
widest = 0
for line in written:gmatch("[^\n]+") do
    widest = math.max(widest, #line)
end
tap.ok(widest <= 110, "in lines of some length")

-- A record that waits for its stream waits in the NULL stream only for blocking ones; a profile
-- has one entry for both.
hand = edited("hand.lua", { free, 'cudaEventRecord = { waits = "stream" }, ' .. free })
out, err, code = probe("--profile " .. hand .. " --json --save " .. folder .. "/saved.lua")
tap.is(code, 0, "what a profile cannot say is no failure")
tap.is(err,
    "streamlab: probe: the profile cannot say what cudaEventRecord did with nonblocking streams\n",
    "but reported")

-- ---- wrong use --------------------------------------------------------------------------

local function refused(line, want, sentence, name)
    local o, e, c = probe(line)
    tap.is(o .. c, tostring(want), name .. " is refused")
    tap.like(e, "^streamlab: probe: " .. sentence, name .. " has a sentence")
end
refused("cudaFree", 2,
    "no files are needed, got 'cudaFree'\nusage: streamlab probe %[options%]\n", "a file")
refused("--nosuch", 2, "unrecognized option '%-%-nosuch'", "an unknown option")
refused("--json=1", 2, "%-%-json takes no value", "a value for --json")
refused("--backend gpu", 2, "%-%-backend needs cuda or sim, got 'gpu'", "an unknown backend")
refused("--device x", 2, "%-%-device needs a whole number from 0 to 1023, got 'x'",
    "a word as device")
refused("--backend sim --device 64", 2, "there is no device 64: backend sim has 64 devices",
    "a missing device")
refused("--backend cuda --profile t4", 2, "a profile is for the simulator",
    "a profile of a real GPU")
refused("--profile nosuch", 2, "there is no profile \"nosuch\"", "an unknown profile")
refused("--save x.txt", 2, "%-%-save needs a file that ends in %.lua, got 'x%.txt'",
    "a profile of another name")
refused("--save .lua", 2, "%-%-save needs a file that ends in %.lua",
    "a name that is only a suffix")
refused("--base t4", 2, "%-%-base goes with %-%-save", "a base for nothing")
refused("--backend sim --save " .. folder .. "/x.lua --base nosuch", 2,
    "there is no profile \"nosuch\"",
    "an unknown base")
tap.is(read(folder .. "/x.lua"), nil, "and leaves no file")
refused("--backend sim -o " .. folder .. "/no/x.json", 1,
    "cannot write [^\n]*/no/x%.json': No such file",
    "a file that cannot be written")
refused("--backend sim --save " .. folder .. "/no/x.lua", 1,
    "cannot write [^\n]*/no/x%.lua': No such file",
    "a profile that cannot be written")

out, err, code = probe("--help")
tap.is(err .. code, "0", "--help is no error")
tap.like(out, "^usage: streamlab probe %[options%]\n", "and explains")
widest = 0
for line in out:gmatch("[^\n]+") do
    widest = math.max(widest, #line)
end
tap.ok(widest <= 80, "in 80 columns")
shell.write(folder .. "/probe", "print('a script', ...)")
tap.is(sh("P=$(realpath \"$P\"); cd " .. folder .. ' && "$P" --backend sim -- probe x'),
    "a script\tx\n",
    "a script of that name runs behind --")

shell.remove(folder)
tap.done()
