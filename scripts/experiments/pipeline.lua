-- How much quicker is a pipeline in several streams than the same steps one after the other?
--
-- An article copies each of many tensors to the GPU, multiplies it by itself and copies the result
-- back: 292 ms in one stream, 122 with one for each ("2.4x faster"), where the GPU's peak memory is
-- higher; transfers "consume >50%" of the time, none beside another the same way. Expected: so it
-- is, but 3 streams do as well. Pageable copies hold the host, which then issues nothing.
local lab = require "streamlab"
local items <const>, n <const>, peak = 20, 2048, 0
local streams = {}
for i = 1, items do streams[i] = lab.stream() end
local function pipeline(host, used, non_blocking)
    peak = 0                                    -- of the GPU's memory in use, in bytes
    for i = 1, items do
        local opts = { non_blocking = non_blocking, stream = streams[(i - 1) % used + 1] }
        local gpu = host[i]:to("cuda", opts)
        local product = lab.matmul(gpu, gpu, { stream = opts.stream })
        host[i]:copy_(product, opts)
        peak = math.max(peak, lab.live().device_bytes)
        gpu:free() product:free()               -- for what comes next in the stream
    end
end

local function beside_us(tl, kind)              -- how long copies of it ran beside others of it
    local sum = 0
    for _, span in ipairs(tl:spans()) do
        if span.kind == kind then sum = sum + span.end_us - span.start_us end
    end
    return sum - tl:busy_us(kind)               -- that is, less their union
end
local rows, by = {}, { [true] = {}, [false] = {} }
for _, pinned in ipairs{ true, false } do
    local host = {}
    for i = 1, items do host[i] = lab.rand(n, n, { device = "cpu", pinned = pinned }) end
    for _, used in ipairs{ 0, 1, 2, 3, 4, items } do    -- 0: one stream, and copies that block
        pipeline(host, math.max(used, 1), used > 0)     -- warm-up
        local tl = lab.profile(pipeline, host, math.max(used, 1), used > 0)
        local copies_us = tl:busy_us("h2d") + tl:busy_us("d2h")
        local beside = (beside_us(tl, "memcpy_h2d") + beside_us(tl, "memcpy_d2h")) / copies_us
        local row = { pinned = pinned, streams = math.max(used, 1), non_blocking = used > 0,
            makespan_ms = tl.makespan_us / 1000, copies = 100 * copies_us / tl.makespan_us,
            same_way = (100 * beside + 0.5) // 1, peak_mib = peak >> 20 }
        row.speed_up = (by[pinned][0] or row).makespan_ms / row.makespan_ms
        rows[#rows + 1], by[pinned][used] = row, row
    end
end
lab.table(rows, { columns = { "pinned", "streams", "non_blocking", "makespan_ms", "speed_up",
    "copies", "same_way", "peak_mib" },
    title = "copies: % of the time; same_way: % of them" }):show()
local plain, quick, slow = by[true][0], by[true][items], by[false][items].speed_up
local function verdict(word, ...) print("Verdict: " .. word .. ": " .. string.format(...)) end
verdict(slow > 2 and "holds" or quick.speed_up > 1.2 and "depends" or "no longer holds",
    "streams are 2.4x faster: %.2f times, 3 of them %.2f, from pageable memory %.2f",
    quick.speed_up, by[true][3].speed_up, slow)
verdict(plain.copies > 50 and "holds" or "depends", "copies take most of the time: %.0f %% of it, "
    .. "pageable %.0f %%", plain.copies, by[false][0].copies)
verdict(quick.same_way < 5 and "holds" or "no longer holds", "no copies at once the same way: %.0f "
    .. "%% of their time", quick.same_way)
verdict(quick.peak_mib > 2 * plain.peak_mib and "holds" or "no longer holds", "streams take more "
    .. "memory: %d MiB, one alone %d, with copies that block %d", quick.peak_mib,
    by[true][1].peak_mib, plain.peak_mib)
