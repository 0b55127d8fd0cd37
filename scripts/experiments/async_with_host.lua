-- Which calls return before their work is done?
--
-- An often-read answer to a puzzle on streams lists what is asynchronous "with respect to the
-- host": kernel launches, copies within a device, "Memory copy from host to device of a memory
-- block if 64KB or less", functions "suffixed with Async", and memory sets. A kernel of 5 ms runs
-- in front of each call; how long is the host held? Expected: from pageable memory calls return as
-- long as the bytes fit into the driver's buffers, to pageable memory none does, Async or not.

local lab = require "streamlab"
local stream = lab.stream{name = "work"}        -- a blocking one: the NULL stream waits for it
local sizes, most = {1, 64, 128, 1024, 4096, 65536}, 65536      -- KiB
local gpu, other = lab.empty(most, 256), lab.empty(most, 256)   -- of 4 bytes each
local pageable = lab.zeros(most, 256, {device = "cpu"})
local pinned = lab.zeros(most, 256, {device = "cpu", pinned = true})

local function async(dst, src) return function(n) lab.cuda.memcpy_async(dst, src, n, stream) end end
local function sync(dst, src) return function(n) lab.cuda.memcpy(dst, src, n) end end
local rows = {
    {call = "kernel launch", f = function() lab.spin(0.01, {stream = stream}) end},
    {call = "cudaMemcpy within the device", f = sync(other, gpu)},
    {call = "cudaMemset", f = function(n) lab.cuda.memset(gpu, 0, n) end},
    {call = "cudaMemcpy from pageable", f = sync(gpu, pageable)},
    {call = "cudaMemcpy from pinned", f = sync(gpu, pinned)},
    {call = "cudaMemcpyAsync from pageable", f = async(gpu, pageable)},
    {call = "cudaMemcpyAsync from pinned", f = async(gpu, pinned)},
    {call = "cudaMemcpyAsync to pageable", f = async(pageable, gpu)},
    {call = "cudaMemcpyAsync to pinned", f = async(pinned, gpu)},
}
local columns = {"call", "1 KiB", "64 KiB", "128 KiB", "1 MiB", "4 MiB", "64 MiB"}
for _, row in ipairs(rows) do
    row.returned, row.largest = 0, 0
    row.f(most * 1024)                          -- the first time is different
    for i, kib in ipairs(sizes) do
        lab.synchronize()
        lab.spin(5, {stream = stream})
        local kernel = stream:record_event(lab.event{timing = false})
        local before = lab.now_us()
        row.f(kib * 1024)
        row[columns[i + 1]] = lab.now_us() - before
        if not kernel:query() then row.returned, row.largest = row.returned + 1, kib end
    end
end
lab.table(rows, {columns = columns, title = "us that the call holds the host"}):show()

local function judge(...)                       -- of the calls with these numbers in `rows`
    local returned, all, texts = 0, 0, {}
    for i, number in ipairs{...} do
        returned, all = returned + rows[number].returned, all + #sizes
        texts[i] = rows[number].call .. " " .. rows[number].returned
    end
    local word = returned == all and "holds" or returned == 0 and "no longer holds" or "depends"
    print(("Verdict: %s: of %d sizes so many returned before the kernel's end: %s."):format(word,
          #sizes, table.concat(texts, ", ")))
end
judge(1) judge(2)
print(string.format("Verdict: %s: cudaMemcpy from pageable memory returned up to %d KiB.",
                    rows[4].largest == 64 and "holds" or "no longer holds", rows[4].largest))
judge(6, 7, 8, 9)
judge(3)
