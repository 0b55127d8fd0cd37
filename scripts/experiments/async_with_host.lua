-- Which calls return before their work is done?
--
-- An often-read answer to a puzzle on streams lists what is asynchronous "with respect to the
-- host": kernel launches, copies within a device, "Memory copy from host to device of a memory
-- block if 64KB or less", functions "suffixed with Async", and memory sets. A kernel of 5 ms runs
-- in front of each call; how long is the host held? Expected: of pageable memory only copies to the
-- GPU return, while the driver's buffers have room; Async or not, those to the host never do.

local lab = require "streamlab"
local stream = lab.stream{ name = "work" }      -- a blocking one: the NULL stream waits for it
local sizes, most = { 1, 64, 128, 1024, 4096, 65536 }, 65536    -- KiB
local gpu, other = lab.empty(most, 256), lab.empty(most, 256)   -- of 4 bytes each
local pageable = lab.zeros(most, 256, { device = "cpu" })
local pinned = lab.zeros(most, 256, { device = "cpu", pinned = true })

local function async(dst, src) return function(n) lab.cuda.memcpy_async(dst, src, n, stream) end end
local function sync(dst, src) return function(n) lab.cuda.memcpy(dst, src, n) end end
local rows = {
    { call = "kernel launch", f = function() lab.spin(0.01, { stream = stream }) end },
    { call = "cudaMemcpy within the device", f = sync(other, gpu) },
    { call = "cudaMemset", f = function(n) lab.cuda.memset(gpu, 0, n) end },
    { call = "cudaMemcpy from pageable", f = sync(gpu, pageable) },
    { call = "cudaMemcpy from pinned", f = sync(gpu, pinned) },
    { call = "cudaMemcpyAsync from pageable", f = async(gpu, pageable) },
    { call = "cudaMemcpyAsync from pinned", f = async(gpu, pinned) },
    { call = "cudaMemcpyAsync to pageable", f = async(pageable, gpu) },
    { call = "cudaMemcpyAsync to pinned", f = async(pinned, gpu) },
}
local columns = { "call", "1 KiB", "64 KiB", "128 KiB", "1 MiB", "4 MiB", "64 MiB" }
for _, row in ipairs(rows) do
    row.returned, row.largest = 0, 0
    row.f(most * 1024)                          -- warm-up
    for i, kib in ipairs(sizes) do
        lab.synchronize() lab.spin(5, { stream = stream })
        local kernel, before = stream:record_event(lab.event{ timing = false }), lab.now_us()
        row.f(kib * 1024)
        row[columns[i + 1]] = lab.now_us() - before
        if not kernel:query() then row.returned, row.largest = row.returned + 1, kib end
    end
end
lab.table(rows, { columns = columns, title = "us that the call holds the host" }):show()
local function judge(claim, ...)                -- of the calls with these numbers in `rows`
    local returned, texts, all = 0, {}, select("#", ...) * #sizes
    for i, number in ipairs{ ... } do
        returned = returned + rows[number].returned
        texts[i] = ("%s %d of %d times"):format(rows[number].call, rows[number].returned, #sizes)
    end
    print(("Verdict: %s: %s: %s"):format(returned == all and "holds" or returned > 0 and "depends"
        or "no longer holds", claim, table.concat(texts, ", ")))
end
judge("kernel launches return at once", 1)
judge("copies within the device return at once", 2)
local plain <const>, async_plain <const> = rows[4].largest, rows[6].largest     -- 0: none
print(("Verdict: %s: pageable copies of up to 64 KB return at once: cudaMemcpy %s, cudaMemcpyAsync "
    .. "up to %d KiB"):format(plain == 64 and "holds" or async_plain < 64 and "no longer holds"
    or "depends", plain > 0 and "up to " .. plain .. " KiB" or "at no size", async_plain))
judge("functions suffixed with Async return at once", 6, 7, 8, 9)
judge("memory sets return at once", 3)
judge("copies of pinned memory can be asynchronous", 7, 9)
