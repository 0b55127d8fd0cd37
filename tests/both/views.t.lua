-- views.t.lua - views share memory, wherever it is and wherever in it they begin: every
-- kernel, every kind of copy. What a view gives is what a tensor of its own gives.

local T = require "tap"
local N = require "both.numbers"

T.open()

local exact = { rtol = 0, atol = 0 }
local places = {
    { "device", {} }, { "pinned", { device = "cpu", pinned = true } },
    { "pageable", { device = "cpu" } },
}

local function counted(n, options)
    local list = {}
    for i = 1, n do list[i] = i end
    return lab.tensor(list, options)
end

local function options_with(dtype, options)
    local list = { dtype = dtype }
    for key, value in pairs(options or {}) do list[key] = value end
    return list
end

-- ---- the same memory ------------------------------------------------------------------

local function sharing()
    for _, case in ipairs(places) do
        local place, t = case[1], counted(12, case[2])
        local m, rows = t:view(3, -1), t:view(3, 4):narrow(1, 2, 2)
        T.is_deeply(m:totable(), { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } },
                    "a view of other sizes, " .. place)
        T.is_deeply(rows:totable(), { { 5, 6, 7, 8 }, { 9, 10, 11, 12 } }, "two rows, " .. place)
        T.is(rows:get(2, 1), 9, "an element, " .. place)
        rows:set(1, 2, 60)
        rows:narrow(1, 2, 1):fill_(7)
        m:narrow(1, 1, 1):narrow(2, 3, 2):zero_()
        T.is_deeply(t:totable(), { 1, 2, 0, 0, 5, 60, 7, 8, 7, 7, 7, 7 },
                    "what views write, the tensor has, " .. place)
        T.is(rows.pinned, place == "pinned", "a view is pinned when its memory is, " .. place)
        T.is(rows:to("cpu").device, "cpu", "it can be moved, " .. place)
    end
end

-- ---- kernels --------------------------------------------------------------------------

-- What it gives on views that begin at odd elements, out as well, is what it gives on
-- tensors of their own; nothing beside is touched.
local function same_on_views(f, n, dtype, out_n)
    local room = options_with(dtype)
    local big_a, big_b = lab.full(99, n + 8, room), lab.full(99, n + 8, room)
    local big_out = lab.full(77, out_n + 8, room)
    local a = lab.tensor(N.whole(n, 1, 9, n), room)
    local b = lab.tensor(N.whole(n, 1, 9, n + 1), room)
    local va, vb = big_a:narrow(1, 2, n):copy_(a), big_b:narrow(1, 4, n):copy_(b)
    local vout = big_out:narrow(1, 6, out_n)
    local want = lab.empty(out_n, room)
    f(want, a, b)
    f(vout, va, vb)
    return lab.allclose(vout, want, exact)
        and lab.allclose(big_out:narrow(1, 1, 5), lab.full(77, 5, room), exact)
        and lab.allclose(big_out:narrow(1, out_n + 6, 3), lab.full(77, 3, room), exact)
        and lab.allclose(va, a, exact)
end

local kernels = {
    { "add", function(out, a, b) lab.add(a, b, { out = out }) end },
    { "mul", function(out, a, b) lab.mul(a, b, { out = out }) end },
    { "sub", function(out, a, b) lab.sub(a, b, { out = out }) end },
    { "div", function(out, a, b) lab.div(a, b, { out = out }) end },
    { "relu", function(out, a) lab.relu(a, { out = out }) end },
    { "add of a number", function(out, a) lab.add(a, 3, { out = out }) end },
    { "mul by a number", function(out, a) lab.mul(a, 0.5, { out = out }) end },
    { "pow 2", function(out, a) lab.pow(a, 2, { out = out }) end },
    { "pow 1.5", function(out, a) lab.pow(a, 1.5, { out = out }) end },
    { "softmax", function(out, a) lab.softmax(a, { out = out }) end },
    { "fill", function(out) out:fill_(3.5) end },
    { "zero", function(out) out:zero_() end },
    { "in place", function(out, a, b)
        out:copy_(a)
        lab.add(out, b, { out = out })
        lab.mul(out, out, { out = out })
    end },
}

local function on_views()
    for _, dtype in ipairs(N.floats) do
        for _, kernel in ipairs(kernels) do
            local right = true
            for _, n in ipairs{ 1, 3, 8, 1000, 4099 } do
                right = right and same_on_views(kernel[2], n, dtype, n)
            end
            T.ok(right, ("%s on views in %s"):format(kernel[1], dtype))
        end
        local right = true
        for _, n in ipairs{ 1, 7, 1000, 4099 } do
            right = right and same_on_views(function(out, a) lab.sum(a, { out = out }) end, n,
                                            dtype, 1)
        end
        T.ok(right, "sum on views in " .. dtype)
    end
end

-- Whole numbers, so that every order of additions gives the same.
local function products()
    for _, dtype in ipairs(N.floats) do
        local room = options_with(dtype)
        for _, shift in ipairs{ 0, 1, 2, 3, 4, 8 } do
            local m, k, n = 24, 16, 40
            local a = lab.tensor(N.whole(m * k, -2, 2, 1), room):view(m, k)
            local b = lab.tensor(N.whole(k * n, -2, 2, 2), room):view(k, n)
            local memory = lab.empty(m * k + k * n + m * n + 3 * shift, room)
            local va = memory:narrow(1, 1 + shift, m * k):view(m, k):copy_(a)
            local vb = memory:narrow(1, 1 + 2 * shift + m * k, k * n):view(k, n):copy_(b)
            local vc = memory:narrow(1, 1 + 3 * shift + m * k + k * n, m * n):view(m, n)
            lab.matmul(va, vb, { out = vc })
            T.ok(lab.allclose(vc, lab.matmul(a, b), exact) and lab.allclose(va, a, exact),
                 ("a product of views of one tensor, %d apart, in %s"):format(shift, dtype))
        end
    end
end

-- ---- copies ---------------------------------------------------------------------------

local function copies()
    for _, from in ipairs(places) do
        for _, to in ipairs(places) do
            local src, dst = counted(1003, from[2]), lab.zeros(1010, to[2])
            lab.synchronize()
            dst:narrow(1, 6, 500):copy_(src:narrow(1, 2, 500))
            dst:narrow(1, 506, 502):copy_(src:narrow(1, 502, 502), { non_blocking = true })
            lab.synchronize()
            local got, right = dst:totable(), true
            for i = 1, 1010 do
                local want = i >= 6 and i <= 1007 and i - 4 or 0
                right = right and got[i] == want
            end
            T.ok(right, ("views are copied, %s to %s"):format(from[1], to[1]))
        end
    end
    local m = lab.cuda.malloc(64)
    local v = m:narrow(1, 17, 32)
    lab.cuda.memset(m, 1, 64)
    lab.cuda.memset(v, 2, 16)
    lab.cuda.memcpy(m:narrow(1, 49, 16), v, 8)
    local got = m:totable()
    T.is(table.concat(got, " "):gsub("%.0", ""),
         ("1 "):rep(16) .. ("2 "):rep(16) .. ("1 "):rep(16) .. ("2 "):rep(8)
             .. ("1 "):rep(8):sub(1, -2),
         "cudaMemset and cudaMemcpy of views")
    lab.cuda.free(m)
    T.is(v.freed, true, "cudaFree of a tensor frees its views")
    T.is(select(2, pcall(v.get, v, 1)).code, "SL_ECLOSED", "which cannot be used any more")
end

-- Chunks through three streams, as a pipeline has them.
local function pipeline()
    local n = 1 << 16
    local host = counted(n, { device = "cpu", pinned = true })
    local back = lab.zeros(n, { device = "cpu", pinned = true })
    local gpu, s = lab.empty(n), { lab.stream{}, lab.stream{}, lab.stream{} }
    lab.synchronize()
    local from, on, to = host:chunk(7), gpu:chunk(7), back:chunk(7)
    T.is(#from, 7, "seven chunks")
    T.is(from[7]:numel(), n - 6 * math.ceil(n / 7), "the last one is smaller")
    for round = 1, 3 do
        for i = 1, #from do
            local stream = s[i % 3 + 1]
            on[i]:copy_(from[i], { non_blocking = true, stream = stream })
            lab.add(on[i], round, { out = on[i], stream = stream })
            to[i]:copy_(on[i], { non_blocking = true, stream = stream })
        end
    end
    lab.synchronize()
    T.ok(lab.allclose(back, lab.add(host:cuda(), 3):cpu(), exact), "a pipeline of chunks gives all")
    T.ok(lab.allclose(gpu:cpu(), back, exact), "and leaves it on the GPU")
end

-- ---- lives ----------------------------------------------------------------------------

local function lives()
    lab.synchronize()
    collectgarbage()
    collectgarbage()
    local before = lab.live()
    local v = counted(1000):narrow(1, 501, 500)
    collectgarbage()
    collectgarbage()
    T.is(lab.sum(v):item(), 375250, "a view keeps the memory of a tensor that is collected")
    local w = v:view(5, 100)
    v:free()
    T.is(w:get(5, 100), 1000, "and outlives the view that it was made of")
    local total = lab.sum(w)
    w:free()
    T.is(total:item(), 375250, "queued work keeps the memory of a freed view")
    total:free()
    lab.synchronize()
    collectgarbage()
    collectgarbage()
    T.is(lab.live().device_bytes, before.device_bytes, "then it is given back")
    local host = counted(4, { device = "cpu" })
    local half = host:narrow(1, 3, 2)
    host:pin()
    T.is(half.pinned, true, "page-locking holds for views")
    T.is_deeply(half:cuda():totable(), { 3, 4 }, "which are copied as before")
    host:unpin()
    T.is(half.pinned, false, "unlocking too")
    T.is_deeply(half:totable(), { 3, 4 }, "with the values where they were")
end

sharing()
on_views()
products()
copies()
pipeline()
lives()
T.done()
