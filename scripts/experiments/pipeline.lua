-- How much quicker is a pipeline in several streams than the same steps one after the other?
--
-- An article copies each of many tensors to the GPU, multiplies it by itself and copies the result
-- back: 292 ms in one stream, 122 with one for each ("2.4x faster"). It says that "data transfers
-- consume >50%" of the time, and saw none side by side in the same direction. Expected: with pinned
-- memory copies of both directions and matmuls run side by side, on 3 streams as well as on one for
-- each. Pageable copies hold the host, which then issues nothing.

local lab = require "streamlab"
local items <const>, n <const> = 20, 2048
local gpu, product, streams = {}, {}, {}
for i = 1, items do
    gpu[i], product[i], streams[i] = lab.empty(n, n), lab.empty(n, n), lab.stream()
end

local function pipeline(host, used, non_blocking)
    for i = 1, items do
        local stream = streams[(i - 1) % used + 1]
        gpu[i]:copy_(host[i], {non_blocking = non_blocking, stream = stream})
        lab.matmul(gpu[i], gpu[i], {out = product[i], stream = stream})
        host[i]:copy_(product[i], {non_blocking = non_blocking, stream = stream})
    end
end

-- For how long copies of a kind ran beside others of the same kind: what they took less the union.
local function beside_us(tl, kind)
    local sum = 0
    for _, span in ipairs(tl:spans()) do
        if span.kind == kind then sum = sum + span.end_us - span.start_us end
    end
    return sum - tl:busy_us(kind)
end

local rows, by = {}, {[true] = {}, [false] = {}}
for _, pinned in ipairs{true, false} do
    local host = {}
    for i = 1, items do host[i] = lab.rand(n, n, {device = "cpu", pinned = pinned}) end
    for _, used in ipairs{0, 1, 2, 3, 4, items} do      -- 0: one stream, and copies that block
        pipeline(host, math.max(used, 1), used > 0)     -- the first time is different
        local tl = lab.profile(pipeline, host, math.max(used, 1), used > 0)
        local copies_us = tl:busy_us("h2d") + tl:busy_us("d2h")
        local beside = (beside_us(tl, "memcpy_h2d") + beside_us(tl, "memcpy_d2h")) / copies_us
        local row = {pinned = pinned, streams = math.max(used, 1), non_blocking = used > 0,
            makespan_ms = tl.makespan_us / 1000, bound_ms = tl:bounds().lower_us / 1000,
            copies = 100 * copies_us / tl.makespan_us, same_way = math.floor(100 * beside + 0.5)}
        row.speed_up = (by[pinned][0] or row).makespan_ms / row.makespan_ms
        rows[#rows + 1], by[pinned][used] = row, row
    end
end
print(lab.table(rows, {columns = {"pinned", "streams", "non_blocking", "makespan_ms", "bound_ms",
    "speed_up", "copies", "same_way"}, title = "copies: % of the makespan; same_way: % of them"}))
local plain, quick, slow = by[true][0], by[true][items], by[false][items].speed_up
print(("\nVerdict: %s: %d streams are %.2f times as quick (3: %.2f), from pageable memory %.2f")
    :format(slow > 2 and "holds" or quick.speed_up > 1.2 and "depends" or "no longer holds", items,
    quick.speed_up, by[true][3].speed_up, slow))
print(("Verdict: %s: copies take %.0f %% of the time one after the other, pinned; %.0f %% pageable")
    :format(plain.copies > 50 and "holds" or "depends", plain.copies, by[false][0].copies))
print(("Verdict: %s: %d %% of the copies' time lay beside copies in the same direction")
    :format(quick.same_way < 5 and "holds" or "no longer holds", quick.same_way))
