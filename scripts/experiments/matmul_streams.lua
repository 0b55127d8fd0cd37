-- Will my code always be faster with streams?
--
-- A course puts 2, then 4 products of 10000 x 10000 on as many streams, and says "It depends": "you
-- may get even more performance boost", but if one stream uses all cores, "the execution will be
-- serialized". Expected: one large product fills the GPU, so that streams gain nothing. Small ones
-- run side by side, if the host issues them quickly enough: hence both times, "called" from the
-- first call on, as the program sees it, and "queued" from the moment when all calls were queued.

local lab = require "streamlab"

local streams = {}
for i = 1, 4 do streams[i] = lab.stream() end
local inputs, outs

local function issue(products, used)
    for i = 1, products do
        lab.matmul(inputs[1], inputs[2], { out = outs[(i - 1) % 4 + 1],
                                           stream = streams[(i - 1) % used + 1] })
    end
end

local one = {}      -- the time on one stream
local times = lab.sweep({ { "n", { 256, 10000 } }, { "products", { 2, 4 } },
                          { "streams", { 1, 2, 3, 4 } } },
    function(point)
        if not inputs or inputs[1]:size(1) ~= point.n then
            inputs, outs = { lab.rand(point.n, point.n), lab.rand(point.n, point.n) }, {}
            for i = 1, 4 do outs[i] = lab.empty(point.n, point.n) end
        end
        local large = point.n > 1000
        local opts = { warmup = large and 1 or 5, reps = large and 3 or 21 }
        local function f() issue(point.products, point.streams) end
        local called = lab.measure(f, opts).median_us
        opts.hold = streams
        local queued = lab.measure(f, opts).median_us
        if point.streams == 1 then one = { called = called, queued = queued } end
        return { called_ms = called / 1000, called_gain = one.called / called,
                 queued_ms = queued / 1000, queued_gain = one.queued / queued }
    end, { columns = { "called_ms", "called_gain", "queued_ms", "queued_gain" } })
print(times)

local function best(n, column)
    local most = 0
    for _, row in ipairs(times.rows) do
        if row.n == n then most = math.max(most, row[column]) end
    end
    return most
end

local large = best(10000, "called_gain")
print(("\nVerdict: %s: serialised where one product fills the GPU: n = 10000 gains %.2f at best")
    :format(large < 1.05 and "holds" or large < 1.3 and "depends" or "no longer holds", large))
local called, queued = best(256, "called_gain"), best(256, "queued_gain")
print(("Verdict: %s: a boost from streams: n = 256 gains %.2f as called, %.2f once queued, at best")
    :format(math.min(called, queued) > 1.2 and "holds" or math.max(called, queued) > 1.2
        and "depends" or "no longer holds", called, queued))
