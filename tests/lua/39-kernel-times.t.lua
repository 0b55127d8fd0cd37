-- 39-kernel-times.t.lua - how long kernels, staged copies and waits for records take on the
-- simulator: alone, and where two kernels share memory and arithmetic.

local T = require "tap"
local ideal = require "lua.ideal"

local function a_wait_behind_a_record_of_the_past()
    ideal.open{ cross_stream_us = 50 }
    local a, b = table.unpack(ideal.streams(2))
    local e = lab.event{}
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        e:record(a)
        e:synchronize()                 -- 1000 us: the record is of this moment
        b:wait_event(e)
        ideal.spin(b, 1)
    end))
    T.near(spans[2].from_us, 1050, 1e-6,
           "a record that has just completed is seen by others cross_stream_us later")
end

local function a_thin_product_is_bound_by_memory()
    ideal.open{ l2_bytes = 0, ["gemm_us.bfloat16"] = {} }
    local row = lab.empty(1, 16384, { dtype = "bfloat16" })
    local square = lab.empty(16384, 16384, { dtype = "bfloat16" })
    lab.synchronize()
    local tl = lab.profile(function() lab.matmul(row, square) end)
    -- 2^28 + 2 * 2^14 elements of 2 bytes at 4250 GB/s.
    T.near(tl.makespan_us, (2^28 + 2^15) * 2 / 4250e3, 0.1,
           "a row times a square lasts as long as the square's bytes")
    -- 132 tiles of 64 x 128 are a block on each SM, which takes nearly all shared memory.
    local wide = lab.empty(16384, 132 * 128, { dtype = "bfloat16" })
    local s = ideal.streams(2)
    local spans = ideal.spans(lab.profile(function()
        lab.matmul(row, wide, { stream = s[1] })
        lab.spin(0.01, { shared_bytes = 4096, stream = s[2] })
        lab.spin(0.01, { stream = lab.stream{ non_blocking = true, priority = "high" } })
    end))
    T.near(spans[2].from_us, spans[1].to_us, 1e-3,
           "a block that needs shared memory waits for a persistent product")
    T.near(spans[3].from_us, 0, 1e-3, "one that needs none does not")
end

local function products_without_a_table()
    -- 512 tiles of 128 x 256 on 128 SMs are four even waves.
    ideal.open{ sm_count = 128, l2_bytes = 0, bf16_tflops = 1000, tf32_tflops = 500,
                ["gemm_us.bfloat16"] = {}, ["gemm_efficiency.bfloat16"] = 0.5,
                ["gemm_us.tf32"] = {}, ["gemm_efficiency.tf32"] = 0.25 }
    local function product_us(dtype, tf32)
        local a, c = lab.empty(4096, 4096, { dtype = dtype }),
            lab.empty(4096, 4096, { dtype = dtype })
        lab.synchronize()
        return lab.profile(function() lab.matmul(a, a, { out = c, tf32 = tf32 }) end).makespan_us
    end
    T.near(product_us("bfloat16"), 2 * 4096^3 / (1000e6 * 0.5), 0.1,
           "a bfloat16 product without a table runs at peak x efficiency")
    T.near(product_us("float32", true), 2 * 4096^3 / (500e6 * 0.25), 0.1,
           "so does a TF32 one")
end

local function stacks_of_products()
    ideal.open{ sm_count = 128, l2_bytes = 0, hbm_gb_per_s = 1e5, bf16_tflops = 1000,
                ["gemm_us.bfloat16"] = {}, ["gemm_efficiency.bfloat16"] = 0.5 }
    local function takes(us, name, ...)
        local a, b = ...
        lab.synchronize()
        T.near(lab.profile(function() lab.matmul(a, b) end).makespan_us, us, 0.1, name)
    end
    local half <const> = { dtype = "bfloat16" }
    -- 16 products of 32 tiles of 128 x 256 are four even waves.
    takes(16 * 2 * 1024^3 / (1000e6 * 0.5), "a stack has the tiles of all its products",
          lab.empty(16, 1024, 1024, half), lab.empty(16, 1024, 1024, half))
    -- 128 products of a tile of 64 x 64, which none fills, are a wave.
    takes(128 * 2 * 64 * 64 * 1024 / (1000e6 * 0.5 * 0.54), "tiles do not reach over two products",
          lab.empty(128, 40, 1024, half), lab.empty(128, 1024, 50, half))
    ideal.open{ ["gemm_grid_us.float32"] = { { 64, 64, 10 }, { 64, 128, 20 }, { 128, 64, 30 },
                                             { 128, 128, 60 } } }
    takes(30, "measured products give a stack the time of one with as many results",
          lab.empty(4, 64, 64), lab.empty(4, 64, 64))
    takes(30, "so does a product of all rows of a stack", lab.empty(4, 32, 64), lab.empty(64, 128))
end

local function a_bias_is_read()
    ideal.open{ l2_bytes = 0, hbm_gb_per_s = 1 }
    local a, b, bias = lab.empty(1, 1), lab.empty(1, 1000), lab.empty(1000)
    local function us(options)
        lab.synchronize()
        return lab.profile(function() lab.matmul(a, b, options) end).makespan_us
    end
    local plain = us{}
    T.near(us{ bias = bias } - plain, 4, 1e-3, "a product with a bias takes 4000 bytes longer")
    T.near(us{ activation = "gelu" }, plain, 1e-3, "an activation takes no time of its own")
end

local function a_narrow_product_fills_its_waves()
    ideal.open{ l2_bytes = 0, ["gemm_us.float32"] = {}, ["gemm_efficiency.float32"] = 0.5,
                fp32_tflops = 66.9 }
    local a, b = lab.empty(128, 1024), lab.empty(1024, 33792)
    lab.synchronize()
    local tl = lab.profile(function() lab.matmul(a, b) end)
    -- 528 tiles of 128 x 64 are four even waves on 132 SMs, at 0.89 of the best tile's speed.
    T.near(tl.makespan_us, 2 * 128 * 33792 * 1024 / (66.9e6 * 0.5 * 0.89), 0.1,
           "tiles that share an SM take their waves together")
end

local function kernels_by_what_binds_them()
    ideal.open{ l2_bytes = 0, fp32_tflops = 66.9, hbm_gb_per_s = 4250 }
    local n = 2^28 | 0
    local x, y, out = lab.empty(16384, 16384), lab.empty(16384, 16384), lab.empty(16384, 16384)
    local function takes(us, name, kernel)
        lab.synchronize()
        local span = lab.profile(kernel):spans()[1]
        T.near(span.end_us - span.start_us, us, 0.01, name)
    end
    -- Elements of 4 bytes at 4250 GB/s; instruction slots at 66.9e12 a second.
    takes(n * 4 / 4250e3, "a fill writes each element once", function() out:fill_(2) end)
    takes(n * 8 / 4250e3, "a product with a number reads and writes it",
          function() lab.mul(x, 3, { out = out }) end)
    takes(n * 12 / 4250e3, "a sum of two tensors moves three elements",
          function() lab.add(x, y, { out = out }) end)
    takes(n * 4 / 4250e3, "the sum of a tensor reads it once", function() return x:sum() end)
    takes(n * 117 / 66.9e6, "uniform random numbers are bound by arithmetic",
          function() return lab.rand(16384, 16384) end)
    takes(n * 164 / 66.9e6, "normal ones as well", function() return lab.randn(16384, 16384) end)
end

-- Two kernels of 528 blocks, half of what the 132 SMs hold, side by side in two streams.
local function two_at_once(kernel)
    local x, y = lab.empty(528 * 1024), lab.empty(528 * 1024)
    local s = ideal.streams(2)
    lab.synchronize()
    local one = lab.profile(function() kernel(x, s[1]) end)
    local two = lab.profile(function()
        kernel(x, s[1])
        kernel(y, s[2])
    end)
    return one.makespan_us, two.makespan_us, two:overlap_us(s[1], s[2])
end

local function kernels_share_memory_and_arithmetic()
    ideal.open{ l2_bytes = 0, hbm_gb_per_s = 4.25, l2_gb_per_s = 4.25 }
    local alone_us = 528 * 1024 * 8 / 4.25e3        -- 8 bytes an element
    local one, two, common = two_at_once(function(t, s) lab.pow(t, 2, { out = t, stream = s }) end)
    T.near(one, alone_us, 0.1, "a kernel alone has all of the memory's bandwidth")
    T.near(two, 2 * alone_us, 0.1, "two at once share it")
    T.near(common, 2 * alone_us, 0.1, "from start to end")
    ideal.open{ fp32_tflops = 0.0669 }
    alone_us = 528 * 1024 * 200 / 0.0669e6          -- 200 instruction slots an element
    one, two, common = two_at_once(function(t, s) lab.pow(t, 2.5, { out = t, stream = s }) end)
    T.near(one, alone_us, 0.1, "a kernel alone has all of the SMs' arithmetic")
    T.near(two, 2 * alone_us, 0.1, "two at once share that")
    T.near(common, 2 * alone_us, 0.1, "from start to end as well")
end

local function what_a_kernel_leaves_the_others_take()
    ideal.open{ l2_bytes = 0, hbm_gb_per_s = 4.25, l2_gb_per_s = 4.25 }
    local x, y = lab.empty(264 * 1024), lab.empty(528 * 1024)
    local s = ideal.streams(2)
    lab.synchronize()
    local spans = ideal.spans(lab.profile(function()
        lab.pow(x, 2, { out = x, stream = s[1] })
        lab.pow(y, 2, { out = y, stream = s[2] })
    end))
    -- Alone the first takes a, the second 2 a. At half speed the first ends at 2 a, when the
    -- second has one a left, which it does alone.
    local a = 264 * 1024 * 8 / 4.25e3
    T.near(spans[1].to_us, 2 * a, 0.1, "two kernels share the memory while both run")
    T.near(spans[2].to_us, 3 * a, 0.1, "the one that is left has all of it")
end

local function products_share_the_memory_too()
    ideal.open{ l2_bytes = 0, hbm_gb_per_s = 42.5, l2_gb_per_s = 42.5, ["gemm_us.float32"] = {} }
    local row, tall = lab.empty(1, 16384), lab.empty(16384, 2048)
    local s, out = ideal.streams(2), { lab.empty(1, 2048), lab.empty(1, 2048) }
    lab.synchronize()
    local tl = lab.profile(function()
        for i = 1, 2 do lab.matmul(row, tall, { out = out[i], stream = s[i] }) end
    end)
    -- 64 tiles of 32 x 32 each, side by side on 132 SMs, and twice the bytes for one memory.
    T.near(tl.makespan_us, 2 * (16384 * 2048 + 16384 + 2048) * 4 / 42.5e3, 0.1,
           "two products that are bound by memory share it")
    T.is(tl:bounds().busiest_engine, "compute", "bounds name the busiest engine")
end

local function code_is_loaded_once_for_each_dtype()
    ideal.open{ lazy_load_us = 100 }
    local x, y, one = lab.zeros(4), lab.zeros(4, { dtype = "bfloat16" }), lab.zeros(1)
    lab.synchronize()
    local function host_us(f)
        lab.synchronize()               -- loading waits for the device
        local before = lab.now_us()
        f()
        return lab.now_us() - before
    end
    T.near(host_us(function() lab.add(x, x, { out = x }) end), 100, 1e-3,
           "a kernel's first launch loads its code")
    T.near(host_us(function() lab.add(x, x, { out = x }) end), 0, 1e-3, "the next one does not")
    T.near(host_us(function() lab.add(y, y, { out = y }) end), 100, 1e-3,
           "another dtype's kernel is another one")
    T.near(host_us(function() lab.mul(x, x, { out = x }) end), 100, 1e-3,
           "so is another operation's")
    local kernels = { function() lab.relu(x, { out = x }) end,
                      function() lab.sum(x, { out = one }) end,
                      function() lab.softmax(x, { out = x }) end, function() x:fill_(2) end }
    local right = true
    for _, f in ipairs(kernels) do
        local first, second = host_us(f), host_us(f)
        right = right and math.abs(first - 100) < 1e-3 and math.abs(second) < 1e-3
    end
    T.ok(right, "each kernel is loaded once, also the last ones of the table")
    lab.synchronize()
end

-- 1e7 bytes in ten pieces of 1e6, through two staging buffers.
local function staged(keys, copy)
    keys.stage_bytes, keys.stage_buffers = 1e6, 2
    ideal.open(keys)
    local host, dev = lab.empty(2500000, { device = "cpu" }), lab.empty(2500000)
    lab.synchronize()
    local span = lab.profile(function() copy(host, dev) end):spans()[1]
    return span.host_end_us - span.host_start_us, span.end_us - span.host_start_us
end

local function staging_buffers_hold_up_the_faster_side()
    -- The host fills a buffer in 100 us, the link empties it in 1000. Buffer 3 is free at
    -- 1100 and filled at 1200, buffer 10 at 8200; the link is busy from 100 to 10100.
    local host_us, end_us = staged({ h2d_gb_per_s = 1, h2d_staging_gb_per_s = { { 1, 10 } } },
                                   function(host, dev) dev:copy_(host) end)
    T.near(host_us, 8200, 1e-3, "a pageable copy in waits for a free staging buffer")
    T.near(end_us, 10100, 1e-3, "and keeps a slow link busy")
    -- The link fills a buffer in 100 us, the host empties it in 1000: it is busy from 100 to
    -- 10100, and the link fills the tenth buffer when the eighth is empty, at 8100.
    host_us, end_us = staged({ d2h_gb_per_s = 10, d2h_staging_gb_per_s = { { 1, 1 } } },
                             function(host, dev) host:copy_(dev) end)
    T.near(host_us, 10100, 1e-3, "a pageable copy out keeps the host until all is emptied")
    T.near(end_us, 8200, 1e-3, "and the link runs two buffers ahead")
end

local function pieces_larger_than_the_staging_buffers()
    -- 2^28 bytes in buffers of 4096 are 65536 pieces; from there on they are larger, and one
    -- finds no buffer of its size: staging and copying take turns, 2^28 / 10e3 us each.
    ideal.open{ stage_bytes = 4096, stage_buffers = 1, h2d_gb_per_s = 10,
                h2d_staging_gb_per_s = { { 1, 10 } } }
    local host, dev = lab.empty(2^26 | 0, { device = "cpu" }), lab.empty(2^26 | 0)
    lab.synchronize()
    local span = lab.profile(function() dev:copy_(host) end):spans()[1]
    T.near(span.end_us - span.host_start_us, 2 * 2^28 / 10e3, 1,
           "a piece that fits no buffer goes alone")
    T.near(span.host_end_us - span.host_start_us, 2 * 2^28 / 10e3, 1,
           "and the host waits for each")
end

for _, test in ipairs{ a_wait_behind_a_record_of_the_past, a_thin_product_is_bound_by_memory,
                       products_without_a_table, stacks_of_products, a_bias_is_read,
                       a_narrow_product_fills_its_waves,
                       kernels_by_what_binds_them, kernels_share_memory_and_arithmetic,
                       what_a_kernel_leaves_the_others_take,
                       code_is_loaded_once_for_each_dtype,
                       staging_buffers_hold_up_the_faster_side,
                       pieces_larger_than_the_staging_buffers, products_share_the_memory_too } do
    test()
end
T.done()
