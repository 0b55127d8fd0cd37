-- A new tensor of the GPU in each round, by to(), and buffers that are made when first needed, by
-- lab.zeros: to make and clear one takes the host as long as to fill it.

function feed(source, times, work)
    local pinned
    for i = 1, times do
        if times == 1 then
            work(i, source:to("cuda"))
        else
            pinned = pinned or source:pin_memory()
            work(i, pinned:to("cuda", { non_blocking = true }))
        end
    end
end

local function ring(size)
    local slots = {}
    return function(i)
        local k = (i - 1) % 2 + 1
        slots[k] = slots[k] or { buffer = lab.zeros(size, { device = "cpu", pinned = true }),
                                 done = lab.event{ timing = false } }
        return slots[k]
    end
end

function stage(count, size, load, work)
    local slot_of = ring(size)
    for i = 1, count do
        local slot = slot_of(i)
        slot.done:synchronize()
        load(i, slot.buffer)
        local x = slot.buffer:to("cuda", { non_blocking = true })
        slot.done:record()
        work(i, x)
    end
end

function collect(count, size, make, use)
    local slot_of, before = ring(size), nil
    for i = 1, count do
        local slot = slot_of(i)
        slot.buffer:copy_(make(i), { non_blocking = true })
        slot.done:record()
        if before then
            before.done:synchronize()
            use(i - 1, before.buffer)
        end
        before = slot
    end
    before.done:synchronize()
    use(count, before.buffer)
end
