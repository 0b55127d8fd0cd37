-- copies.t.lua - what is sent arrives: every pair of places, sizes with tails, both ways
-- of blocking, page-locking in place, and the plain calls.
--
-- Nothing is asked about when a copy returns: that from pageable memory may or may not
-- block. A copy that blocks is looked at at once; one that does not, after its stream
-- has been waited for.

local T = require "tap"
local N = require "both.numbers"

T.open()

local exact = { rtol = 0, atol = 0 }
local places = { "pageable", "pinned", "device" }
local options_of = {
    pageable = { device = "cpu" }, pinned = { device = "cpu", pinned = true }, device = {},
}

local function options(place, dtype)
    local list = { dtype = dtype }
    for key, value in pairs(options_of[place]) do list[key] = value end
    return list
end

-- Bytes that differ from their neighbours at every distance that a copy could slip by.
local function bytes(n)
    local list = {}
    for i = 1, n do list[i] = (i * 37 + (i >> 8) * 101 + (i >> 16) * 11) % 251 + 1 end
    return list
end

local sizes = { 0, 1, 3, 4095, (1 << 20) + 3 }
local originals = {}            -- by size: pageable tensors that nothing writes to
for _, n in ipairs(sizes) do
    originals[n] = lab.tensor(bytes(n), { device = "cpu", dtype = "uint8" })
end

-- A tensor of the place with the values of `original`.
local function placed(original, place, dtype)
    return lab.empty(original:numel(), options(place, dtype)):copy_(original)
end

-- ---- copy_ ----------------------------------------------------------------------------

local function pairs_of_places()
    local s = lab.stream{}
    for _, from in ipairs(places) do
        for _, to in ipairs(places) do
            for _, non_blocking in ipairs{ false, true } do
                local right, given = true, true
                for _, n in ipairs(sizes) do
                    local src = placed(originals[n], from, "uint8")
                    local dst = lab.full(255, n, options(to, "uint8"))
                    lab.synchronize()
                    local options = { non_blocking = non_blocking, stream = s }
                    given = given and dst:copy_(src, options) == dst
                    if non_blocking then s:synchronize() end
                    right = right and lab.allclose(dst, originals[n], exact)
                        and lab.allclose(src, originals[n], exact)
                end
                T.ok(right, ("%s to %s at 5 sizes, non_blocking = %s")
                     :format(from, to, non_blocking))
                T.ok(given, "copy_ gives its target")
            end
        end
    end
end

local function dtypes()
    for _, dtype in ipairs(N.floats) do
        local right = true
        for _, n in ipairs{ 1, 3, 4097 } do
            local want = lab.tensor(N.data(n, -9, 9), { device = "cpu", dtype = dtype })
            for _, from in ipairs(places) do
                for _, to in ipairs(places) do
                    local dst = lab.zeros(n, options(to, dtype))
                    dst:copy_(placed(want, from, dtype))
                    right = right and lab.allclose(dst, want, exact)
                end
            end
        end
        T.ok(right, dtype .. " between all places")
    end
end

-- A copy takes part in its stream: behind what came before, ahead of what follows.
local function in_stream_order()
    local s = lab.stream{ non_blocking = true }
    local x, y = lab.ones(1000), lab.empty(1000)
    local pinned = lab.zeros(1000, { device = "cpu", pinned = true })
    lab.synchronize()
    lab.with(s, function()
        for i = 1, 20 do
            lab.spin(0.2)
            lab.add(x, 1, { out = x })
            y:copy_(x, { non_blocking = true })
            pinned:copy_(y, { non_blocking = true })
            x:zero_()
            x:copy_(pinned, { non_blocking = true })
        end
    end)
    s:synchronize()
    N.equal(T, x, lab.full(21, 1000):totable(), "20 rounds through pinned memory in one stream")
    T.is(pinned:get(1000), 21, "which holds the last")
    local pageable = lab.zeros(1000, { device = "cpu" })
    lab.with(s, function()
        lab.spin(5)
        lab.mul(x, 2, { out = x })
        pageable:copy_(x)
    end)
    T.is(pageable:get(1000), 42, "a copy that blocks waits for its stream")
end

-- The target and the source of a queued copy may be forgotten.
local function forgotten_operands()
    local s = lab.stream{}
    local dst = lab.zeros(4095, { dtype = "uint8" })
    lab.synchronize()
    lab.spin(5, { stream = s })
    dst:copy_(placed(originals[4095], "pinned", "uint8"), { non_blocking = true, stream = s })
    collectgarbage()
    collectgarbage()
    for _ = 1, 20 do lab.full(9, 4095, { device = "cpu", pinned = true, dtype = "uint8" }) end
    s:synchronize()
    T.ok(lab.allclose(dst, originals[4095], exact), "pinned memory lives until its copy is done")
end

local function onto_itself()
    local t = lab.tensor{ 1, 2, 3 }
    T.is(t:copy_(t), t, "a tensor copied onto itself")
    T.is_deeply(t:totable(), { 1, 2, 3 }, "is what it was")
end

-- ---- to, cpu, cuda, pin_memory --------------------------------------------------------

local function moving()
    local original = originals[4095]
    local dev = original:cuda()
    T.is(dev.device, "cuda", "cuda() is on the GPU")
    T.ok(lab.allclose(dev, original, exact), "with the values")
    local s = lab.stream{}
    for _, case in ipairs{
        { "cpu()", dev:cpu(), false }, { "to(\"cpu\")", dev:to("cpu"), false },
        { "pinned = true", dev:to("cpu", { pinned = true }), true },
        { "non_blocking", dev:cpu{ non_blocking = true, stream = s }, true },
        { "non_blocking pageable", dev:cpu{ non_blocking = true, pinned = false, stream = s },
          false },
        { "pin_memory", original:pin_memory(), true },
    } do
        s:synchronize()
        T.is(case[2].pinned, case[3], case[1] .. " is in the memory that it should be in")
        T.ok(lab.allclose(case[2], original, exact), "and has the values")
    end
    local there = original:to("cuda", { non_blocking = true, stream = s })
    s:synchronize()
    T.ok(lab.allclose(there, original, exact), "to(\"cuda\") without blocking")
    there = original:pin_memory():cuda{ non_blocking = true, stream = s }
    s:synchronize()
    T.ok(lab.allclose(there, original, exact), "from pinned memory as well")
    T.is(dev:cuda(), dev, "to the place where it is gives the tensor itself")
    T.is(original:cpu(), original, "on the host too")
    T.is(lab.empty(0):cpu():cuda():numel(), 0, "a tensor without elements moves")
end

local function elements()
    for _, place in ipairs(places) do
        local t = lab.zeros(3, 1001, options(place))
        for i = 1, 3 do t:set(i, i * 300, i + 0.5) end
        t:set(3, 1001, -7)
        local list, sum = t:totable(), 0
        for _, x in ipairs(N.flat(list)) do sum = sum + x end
        T.is(sum, 1.5 + 2.5 + 3.5 - 7, "set changes its element alone, " .. place)
        T.is(t:get(2, 600), 2.5, "get reads it, " .. place)
        T.is(list[3][1001], -7, "totable has it in its row, " .. place)
    end
end

-- ---- page-locking in place ------------------------------------------------------------

local function pinning()
    for _, n in ipairs{ 0, 1, 3, 4095, (1 << 20) + 3 } do
        local t = placed(originals[n], "pageable", "uint8")
        local dev = lab.full(255, n, { dtype = "uint8" })
        local s = lab.stream{}
        lab.synchronize()
        T.is(t:pin(), t, "pin gives the tensor, " .. n .. " bytes")
        T.is(t.pinned, true, "that is pinned")
        dev:copy_(t, { non_blocking = true, stream = s })
        s:synchronize()
        T.ok(lab.allclose(t, originals[n], exact) and lab.allclose(dev, originals[n], exact),
             "has its values, and copies them")
        t:zero_():copy_(dev, { non_blocking = true, stream = s })
        s:synchronize()
        T.is(t:unpin().pinned, false, "unpin takes it back")
        T.ok(lab.allclose(t, originals[n], exact), "and keeps what a copy has brought")
        dev:zero_():copy_(t)
        T.ok(lab.allclose(dev, originals[n], exact), "it copies as before")
    end
end

-- Small tensors may lie on one page of memory.
local function many_pinned()
    local list, right = {}, true
    for i = 1, 50 do
        list[i] = lab.full(i, 5, { device = "cpu", dtype = "uint8" })
        list[i]:pin()
    end
    local sum = lab.zeros(5, { dtype = "uint8" })
    for i = 1, 50 do
        sum:copy_(list[i], { non_blocking = true })
        right = right and sum:get(5) == i and list[i].pinned
    end
    for i = 1, 50, 2 do list[i]:unpin() end
    for i = 2, 50, 2 do
        sum:copy_(list[i], { non_blocking = true })
        right = right and sum:get(1) == i and list[i].pinned and not list[i - 1].pinned
    end
    T.ok(right, "50 small tensors are pinned at the same time, and every other one unpinned")
    list = nil
    collectgarbage()                    -- pinned ones are let go of without unpin
    local again = lab.full(3, 5, { device = "cpu", dtype = "uint8" })
    again:pin()
    T.is(again:unpin():get(5), 3, "memory that was let go of pinned can be pinned again")
end

-- ---- the plain calls ------------------------------------------------------------------

local function plain_copies()
    local n = 4095
    local s = lab.stream{}
    for _, from in ipairs(places) do
        for _, to in ipairs(places) do
            local src = placed(originals[n], from, "uint8")
            local dst = lab.full(255, n, options(to, "uint8"))
            lab.synchronize()
            lab.cuda.memcpy(dst, src, 1000)
            lab.synchronize()
            local list = dst:totable()
            T.ok(list[1] == bytes(1)[1] and list[1000] == originals[n]:get(1000)
                 and list[1001] == 255, ("cudaMemcpy of 1000 bytes, %s to %s"):format(from, to))
            lab.cuda.memcpy_async(dst, src, { stream = s })
            s:synchronize()
            T.ok(lab.allclose(dst, originals[n], exact),
                 ("cudaMemcpyAsync of all, %s to %s"):format(from, to))
        end
    end
end

local function plain_sets()
    local s = lab.stream{}
    for _, memory in ipairs{ lab.cuda.malloc(5000), lab.cuda.malloc_host(5000),
                             lab.cuda.malloc_async(5000, s) } do
        s:synchronize()
        lab.cuda.memset(memory, 17)
        lab.cuda.memset_async(memory, 200, 4097, s)
        s:synchronize()
        local list = memory:totable()
        T.ok(list[1] == 200 and list[4097] == 200 and list[4098] == 17 and list[5000] == 17,
             "cudaMemset and cudaMemsetAsync set their bytes, " .. tostring(memory))
        memory:free()
    end
end

pairs_of_places()
dtypes()
in_stream_order()
forgotten_operands()
onto_itself()
moving()
elements()
pinning()
many_pinned()
plain_copies()
plain_sets()
originals = nil
T.done()
