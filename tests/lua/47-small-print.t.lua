-- 47-small-print.t.lua - small print: what is reported, refused and ordered in cases
-- that the larger tests pass by.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- ---- what a span tells ----------------------------------------------------------

local function spans_tell_the_grid()
    ideal.open()
    local s = ideal.streams(1)[1]
    local spans = ideal.spans(lab.profile(function()
        lab.spin(0.5, {blocks = 3, threads = 50, shared_bytes = 4096, stream = s})
        -- 3e7 elements, 1024 a block: 29297 blocks, which no whole number of waves has.
        lab.full(2, 30000000, {stream = s})
        lab.full(2, 1000, {stream = s})
        lab.zeros(1000, {stream = s})
    end))
    T.is(spans[1].blocks, 3, "a spin kernel has the blocks that were asked for")
    T.is(spans[1].threads, 50, "and the threads")
    T.is(spans[1].shared_bytes, 4096, "and the shared memory")
    T.is(spans[1].registers, 16, "and the registers of a thread as its model has them")
    T.is(spans[2].registers, 32, "so does an elementwise kernel")
    T.is(spans[2].shared_bytes, 0, "which has no shared memory")
    T.is(spans[4].kind, "memset", "a memset")
    T.is(spans[4].registers, nil, "tells no registers")
    T.is(spans[4].shared_bytes, nil, "and no shared memory")
    T.is(spans[2].blocks, 29297, "a large elementwise kernel has a block for each 1024 elements")
    T.is(spans[3].blocks, 1, "a small one has one")
end

local function every_operation_tells_its_own_line()
    ideal.open()
    local s, e = lab.stream{}, lab.event{}
    local x, y, host = lab.ones(2, 2), lab.ones(2, 2), lab.ones(2, 2, {device = "cpu"})
    local memory = lab.cuda.malloc(16)
    local cases = {
        {"get", function() return x:get(1, 1) end}, {"set", function() x:set(1, 1, 1) end},
        {"item", function() return lab.ones(1):item() end},
        {"totable", function() return x:totable() end},
        {"copy_", function() x:copy_(host) end}, {"to", function() return host:to("cuda") end},
        {"cpu", function() return x:cpu() end}, {"fill_", function() x:fill_(2) end},
        {"zero_", function() x:zero_() end}, {"add", function() lab.add(x, x, {out = y}) end},
        {"operator +", function() return x + x end},
        {"matmul", function() lab.matmul(x, x, {out = y}) end},
        {"sum", function() return x:sum() end}, {"spin", function() lab.spin(0) end},
        {"zeros", function() return lab.zeros(2) end}, {"rand", function() return lab.rand(2) end},
        {"tensor", function() return lab.tensor{1, 2} end},
        {"memset", function() lab.cuda.memset(memory, 0, 16) end},
        {"memset_async", function() lab.cuda.memset_async(memory, 0, 16, s) end},
        {"memcpy", function() lab.cuda.memcpy(memory, host, 16) end},
        {"memcpy_async", function() lab.cuda.memcpy_async(memory, host, 16, s) end},
        {"launch_host_func", function() s:launch_host_func(function() end) end},
    }
    for _, case in ipairs(cases) do
        local line = debug.getinfo(case[2], "S").linedefined
        lab.synchronize()
        lab.spin(0)     -- its line is not to be anybody else's
        local spans = lab.profile(case[2]):spans()
        local right = #spans > 0
        for _, span in ipairs(spans) do
            right = right and span.where == "47-small-print.t.lua:" .. line
        end
        T.ok(right, case[1] .. " tells the script's line")
    end
    lab.cuda.free(memory)
    e = nil
end

local function a_trace_says_that_the_gpu_is_simulated()
    ideal.open()
    local path = ideal.temporary(".json")
    lab.profile(function() lab.spin(0) end):save(path)
    T.like(ideal.read(path), '"GPU 0: NVIDIA H200 %(simulated%)"', "the trace's GPU is simulated")
    os.remove(path)
end

local function a_timeline_prints_its_state()
    ideal.open()
    local tl = lab.record()
    T.is(tostring(tl), "timeline (recording)", "a timeline says that it is recording")
    lab.spin(1)
    tl:stop()
    T.is(tostring(tl), "timeline of 1 span, makespan 1000.0 us, wall 1000.0 us",
         "then what is in it")
end

-- Locales that the machine does not have: the variables themselves are asked.
local function charts_follow_the_environment()
    local function has_blocks(variables)
        local through = "env -u LC_ALL -u LC_CTYPE -u LANG " .. variables
        local _, text = ideal.run_text("lab.profile(function() lab.spin(1) end):show()",
                                       {through = through})
        return text:find("\u{2588}", 1, true) ~= nil
    end
    T.is(has_blocks("LANG=xx_XX.UTF-8"), true, "LANG with UTF-8 gives a chart in blocks")
    T.is(has_blocks("LC_CTYPE=xx_XX.utf8"), true, "so does LC_CTYPE")
    T.is(has_blocks("LC_ALL=C LANG=xx_XX.UTF-8"), false, "LC_ALL counts before LANG")
    T.is(has_blocks(""), false, "without any it is plain")
end

-- ---- time -----------------------------------------------------------------------

local function a_wait_behind_a_record_of_the_past()
    ideal.open{cross_stream_us = 50}
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
    ideal.open{l2_bytes = 0, ["gemm_us.bfloat16"] = {}}
    local row = lab.empty(1, 16384, {dtype = "bfloat16"})
    local square = lab.empty(16384, 16384, {dtype = "bfloat16"})
    lab.synchronize()
    local tl = lab.profile(function() lab.matmul(row, square) end)
    -- 2^28 + 2 * 2^14 elements of 2 bytes at 4250 GB/s.
    T.near(tl.makespan_us, (2^28 + 2^15) * 2 / 4250e3, 0.1,
           "a row times a square lasts as long as the square's bytes")
    -- 132 tiles of 64 x 128 are a block on each SM, which takes nearly all shared memory.
    local wide = lab.empty(16384, 132 * 128, {dtype = "bfloat16"})
    local s = ideal.streams(2)
    local spans = ideal.spans(lab.profile(function()
        lab.matmul(row, wide, {stream = s[1]})
        lab.spin(0.01, {shared_bytes = 4096, stream = s[2]})
        lab.spin(0.01, {stream = lab.stream{non_blocking = true, priority = "high"}})
    end))
    T.near(spans[2].from_us, spans[1].to_us, 1e-3,
           "a block that needs shared memory waits for a persistent product")
    T.near(spans[3].from_us, 0, 1e-3, "one that needs none does not")
end

local function products_without_a_table()
    -- 512 tiles of 128 x 256 on 128 SMs are four even waves.
    ideal.open{sm_count = 128, l2_bytes = 0, bf16_tflops = 1000, tf32_tflops = 500,
               ["gemm_us.bfloat16"] = {}, ["gemm_efficiency.bfloat16"] = 0.5,
               ["gemm_us.tf32"] = {}, ["gemm_efficiency.tf32"] = 0.25}
    local function product_us(dtype, tf32)
        local a, c = lab.empty(4096, 4096, {dtype = dtype}), lab.empty(4096, 4096, {dtype = dtype})
        lab.synchronize()
        return lab.profile(function() lab.matmul(a, a, {out = c, tf32 = tf32}) end).makespan_us
    end
    T.near(product_us("bfloat16"), 2 * 4096^3 / (1000e6 * 0.5), 0.1,
           "a bfloat16 product without a table runs at peak x efficiency")
    T.near(product_us("float32", true), 2 * 4096^3 / (500e6 * 0.25), 0.1,
           "so does a TF32 one")
end

local function a_narrow_product_fills_its_waves()
    ideal.open{l2_bytes = 0, ["gemm_us.float32"] = {}, ["gemm_efficiency.float32"] = 0.5,
               fp32_tflops = 66.9}
    local a, b = lab.empty(128, 1024), lab.empty(1024, 33792)
    lab.synchronize()
    local tl = lab.profile(function() lab.matmul(a, b) end)
    -- 528 tiles of 128 x 64 are four even waves on 132 SMs, at 0.89 of the best tile's speed.
    T.near(tl.makespan_us, 2 * 128 * 33792 * 1024 / (66.9e6 * 0.5 * 0.89), 0.1,
           "tiles that share an SM take their waves together")
end

local function kernels_by_what_binds_them()
    ideal.open{l2_bytes = 0, fp32_tflops = 66.9, hbm_gb_per_s = 4250}
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
          function() lab.mul(x, 3, {out = out}) end)
    takes(n * 12 / 4250e3, "a sum of two tensors moves three elements",
          function() lab.add(x, y, {out = out}) end)
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
    ideal.open{l2_bytes = 0, hbm_gb_per_s = 4.25, l2_gb_per_s = 4.25}
    local alone_us = 528 * 1024 * 8 / 4.25e3        -- 8 bytes an element
    local one, two, common = two_at_once(function(t, s) lab.pow(t, 2, {out = t, stream = s}) end)
    T.near(one, alone_us, 0.1, "a kernel alone has all of the memory's bandwidth")
    T.near(two, 2 * alone_us, 0.1, "two at once share it")
    T.near(common, 2 * alone_us, 0.1, "from start to end")
    ideal.open{fp32_tflops = 0.0669}
    alone_us = 528 * 1024 * 200 / 0.0669e6          -- 200 instruction slots an element
    one, two, common = two_at_once(function(t, s) lab.pow(t, 2.5, {out = t, stream = s}) end)
    T.near(one, alone_us, 0.1, "a kernel alone has all of the SMs' arithmetic")
    T.near(two, 2 * alone_us, 0.1, "two at once share that")
    T.near(common, 2 * alone_us, 0.1, "from start to end as well")
end

local function what_a_kernel_leaves_the_others_take()
    ideal.open{l2_bytes = 0, hbm_gb_per_s = 4.25, l2_gb_per_s = 4.25}
    local x, y = lab.empty(264 * 1024), lab.empty(528 * 1024)
    local s = ideal.streams(2)
    lab.synchronize()
    local spans = ideal.spans(lab.profile(function()
        lab.pow(x, 2, {out = x, stream = s[1]})
        lab.pow(y, 2, {out = y, stream = s[2]})
    end))
    -- Alone the first takes a, the second 2 a. At half speed the first ends at 2 a, when the
    -- second has one a left, which it does alone.
    local a = 264 * 1024 * 8 / 4.25e3
    T.near(spans[1].to_us, 2 * a, 0.1, "two kernels share the memory while both run")
    T.near(spans[2].to_us, 3 * a, 0.1, "the one that is left has all of it")
end

local function products_share_the_memory_too()
    ideal.open{l2_bytes = 0, hbm_gb_per_s = 42.5, l2_gb_per_s = 42.5, ["gemm_us.float32"] = {}}
    local row, tall = lab.empty(1, 16384), lab.empty(16384, 2048)
    local s, out = ideal.streams(2), {lab.empty(1, 2048), lab.empty(1, 2048)}
    lab.synchronize()
    local tl = lab.profile(function()
        for i = 1, 2 do lab.matmul(row, tall, {out = out[i], stream = s[i]}) end
    end)
    -- 64 tiles of 32 x 32 each, side by side on 132 SMs, and twice the bytes for one memory.
    T.near(tl.makespan_us, 2 * (16384 * 2048 + 16384 + 2048) * 4 / 42.5e3, 0.1,
           "two products that are bound by memory share it")
    T.is(tl:bounds().busiest_engine, "compute", "bounds name the busiest engine")
end

local function code_is_loaded_once_for_each_dtype()
    ideal.open{lazy_load_us = 100}
    local x, y, one = lab.zeros(4), lab.zeros(4, {dtype = "bfloat16"}), lab.zeros(1)
    lab.synchronize()
    local function host_us(f)
        lab.synchronize()               -- loading waits for the device
        local before = lab.now_us()
        f()
        return lab.now_us() - before
    end
    T.near(host_us(function() lab.add(x, x, {out = x}) end), 100, 1e-3,
           "a kernel's first launch loads its code")
    T.near(host_us(function() lab.add(x, x, {out = x}) end), 0, 1e-3, "the next one does not")
    T.near(host_us(function() lab.add(y, y, {out = y}) end), 100, 1e-3,
           "another dtype's kernel is another one")
    T.near(host_us(function() lab.mul(x, x, {out = x}) end), 100, 1e-3, "so is another operation's")
    local kernels = {function() lab.relu(x, {out = x}) end, function() lab.sum(x, {out = one}) end,
                     function() lab.softmax(x, {out = x}) end, function() x:fill_(2) end}
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
    local host, dev = lab.empty(2500000, {device = "cpu"}), lab.empty(2500000)
    lab.synchronize()
    local span = lab.profile(function() copy(host, dev) end):spans()[1]
    return span.host_end_us - span.host_start_us, span.end_us - span.host_start_us
end

local function staging_buffers_hold_up_the_faster_side()
    -- The host fills a buffer in 100 us, the link empties it in 1000. Buffer 3 is free at
    -- 1100 and filled at 1200, buffer 10 at 8200; the link is busy from 100 to 10100.
    local host_us, end_us = staged({h2d_gb_per_s = 1, h2d_staging_gb_per_s = {{1, 10}}},
                                   function(host, dev) dev:copy_(host) end)
    T.near(host_us, 8200, 1e-3, "a pageable copy in waits for a free staging buffer")
    T.near(end_us, 10100, 1e-3, "and keeps a slow link busy")
    -- The link fills a buffer in 100 us, the host empties it in 1000: it is busy from 100 to
    -- 10100, and the link fills the tenth buffer when the eighth is empty, at 8100.
    host_us, end_us = staged({d2h_gb_per_s = 10, d2h_staging_gb_per_s = {{1, 1}}},
                             function(host, dev) host:copy_(dev) end)
    T.near(host_us, 10100, 1e-3, "a pageable copy out keeps the host until all is emptied")
    T.near(end_us, 8200, 1e-3, "and the link runs two buffers ahead")
end

local function pieces_larger_than_the_staging_buffers()
    -- 2^28 bytes in buffers of 4096 are 65536 pieces; from there on they are larger, and one
    -- finds no buffer of its size: staging and copying take turns, 2^28 / 10e3 us each.
    ideal.open{stage_bytes = 4096, stage_buffers = 1, h2d_gb_per_s = 10,
               h2d_staging_gb_per_s = {{1, 10}}}
    local host, dev = lab.empty(2^26 | 0, {device = "cpu"}), lab.empty(2^26 | 0)
    lab.synchronize()
    local span = lab.profile(function() dev:copy_(host) end):spans()[1]
    T.near(span.end_us - span.host_start_us, 2 * 2^28 / 10e3, 1,
           "a piece that fits no buffer goes alone")
    T.near(span.host_end_us - span.host_start_us, 2 * 2^28 / 10e3, 1,
           "and the host waits for each")
end

-- ---- arguments ------------------------------------------------------------------

local function wrong_indices_and_places()
    ideal.h200()
    local t, column = lab.ones(2, 2), lab.ones(3)
    refuses(function() lab.event():record(lab.default_stream(), 1) end, "SL_EINVAL", "record",
            "an event is recorded in one stream")
    refuses(function() t:get(1, 1.5) end, "SL_EINVAL", "index 2 must be a whole number, got 1.5$",
            "an index that is no whole number is told")
    refuses(function() t:set(1.5, 1, 9) end, "SL_EINVAL",
            "index 1 must be a whole number, got 1.5$", "also where an element is set")
    refuses(function() column:get(1, 1) end, "SL_ESHAPE", "has 1 dimension, got 2 indices$",
            "so is one too many")
    refuses(function() t:get(1) end, "SL_ESHAPE", "has 2 dimensions, got 1 index$",
            "or one too few")
    refuses(function() lab.tensor{1, "x"} end, "SL_EINVAL",
            "element 2 must be a number, got string$", "an element that is no number is told")
    refuses(function() lab.tensor{{1, 2}, {3, true}} end, "SL_EINVAL",
            "element 2, 2 must be a number, got boolean$", "in a matrix as well")
    refuses(function() lab.ones(2, {device = "cpu"}):to("cuda", {pinned = true}) end, "SL_EPLACE",
            "only host memory can be pinned", "a copy on the GPU cannot be pinned")
    local memory = lab.cuda.malloc(2)
    lab.cuda.memset(memory, 255, 2)
    T.is(memory:get(2), 255, "255 is a byte")
    refuses(function() lab.cuda.memset(memory, 256, 2) end, "SL_EINVAL", "256", "256 is none")
    refuses(function() lab.cuda.memset(memory, -1, 2) end, "SL_EINVAL", "%-1", "nor is -1")
    lab.cuda.free(memory)
end

local function foreign_streams_are_refused()
    ideal.h200()
    local foreign = lab.stream{}
    ideal.h200()
    local here, host = lab.ones(2), lab.ones(2, {device = "cpu"})
    refuses(function() lab.cuda.memcpy_async(here, host, 8, foreign) end, "SL_EDEVICE", "device",
            "memcpy_async in another device's stream is refused")
    refuses(function() lab.cuda.memset_async(here, 0, 8, foreign) end, "SL_EDEVICE", "device",
            "so is memset_async")
    refuses(function() here:to("cpu", {stream = foreign}) end, "SL_EDEVICE", "device",
            "and to with another device's stream")
end

local function a_profile_may_have_other_priorities()
    local device = ideal.open{priority_least = 2, priority_greatest = -1}
    T.is_deeply(device.priority_range, {least = 2, greatest = -1}, "the range is the profile's")
    T.is(lab.stream{}.priority, 2, "a stream has the least unless said")
    T.is(lab.stream{priority = "high"}.priority, -1, "\"high\" is the greatest")
    T.is(lab.stream{priority = 1}.priority, 1, "and numbers between are themselves")
end

local function texts_with_a_zero_byte()
    ideal.h200()
    refuses(function() lab.ones(2, {dtype = "float32\0"}) end, "SL_EINVAL",
            "option 'dtype' has a zero byte in it$", "a text with a zero byte is no option")
end

local function allocations_cost_the_host()
    ideal.open{["host.tensor_alloc_us"] = 3, ["host.pinned_alloc_us"] = 40}
    local function host_us(options)
        local before = lab.now_us()
        lab.empty(4, options)
        return lab.now_us() - before
    end
    T.near(host_us{}, 3, 1e-6, "a tensor on the GPU costs host.tensor_alloc_us")
    T.near(host_us{device = "cpu", pinned = true}, 40, 1e-6, "a pinned one host.pinned_alloc_us")
    T.near(host_us{device = "cpu"}, 0, 1e-6, "a pageable one nothing")
end

local function failed_fills_are_not_silent()
    ideal.h200()
    for _, make in ipairs{"rand", "randn"} do
        refuses(function() lab[make](2, {dtype = "uint8"}) end, "SL_EDTYPE", "uint8",
                make .. " of bytes is refused")
    end
end

-- What would change the device or the script's view of it behind the script's back.
local function host_functions_change_nothing()
    ideal.h200()
    local device, s, t, tl = lab.device(), lab.stream{}, lab.ones(2), lab.record()
    local cases = {
        {"freeing a tensor", function() t:free() end}, {"lab.use", function() lab.use(s) end},
        {"opening a device", function() lab.open{backend = "sim"} end},
        {"stopping a recording", function() tl:stop() end},
        {"cudaFree", function() lab.cuda.free(t) end}, {"pinning", function() t:pin() end},
        {"a new stream", function() lab.stream{} end},
    }
    local errors = {}
    s:launch_host_func(function()
        for i, case in ipairs(cases) do errors[i] = ideal.error_of(case[2]) or false end
    end)
    s:synchronize()
    for i, case in ipairs(cases) do
        T.is(errors[i] and errors[i].code, "SL_ESTATE",
             "in a host function, " .. case[1] .. " is refused")
    end
    T.is(tl.recording, true, "the recording goes on")
    tl:stop()
    T.is(tl.span_count, 1, "and has the host function")
    T.is(t.freed, false, "the tensor is there")
    T.is(lab.device(), device, "and the device is the current one")
end

local function broken_overrides()
    local cases = {
        {{wake_us = print}, "'wake_us' is a function", "a function"},
        {{[7] = 1}, "'7' must be named", "a list item"},
        {{["host.launch_us"] = 1, host = {launch_us = 2}}, "'host.launch_us' is given twice",
         "a key that is given twice"},
        {{h2d_staging_gb_per_s = {1, "x"}}, "'h2d_staging_gb_per_s' has an item that is a string",
         "a text among numbers"},
        {{h2d_staging_gb_per_s = {1, x = 2}},
         "'h2d_staging_gb_per_s' mixes list items and named ones", "a list with a name in it"},
    }
    for _, case in ipairs(cases) do
        refuses(function() lab.open{backend = "sim", profile = "h200", overrides = case[1]} end,
                "SL_EINVAL", "overrides: " .. case[2] .. "$", case[3] .. " is no override")
    end
end

local function profiles_are_for_the_simulator()
    for _, key in ipairs{"profile", "overrides"} do
        local options = {backend = "cuda", [key] = key == "profile" and "h200" or {wake_us = 1}}
        refuses(function() lab.open(options) end, "SL_EINVAL",
                "a profile is for the simulator, not for backend \"cuda\"$",
                key .. " alone is refused for a real GPU")
    end
end

local function a_guard_closes_once()
    ideal.h200()
    local before, s, other = lab.current_stream(), lab.stream{}, lab.stream{}
    do
        local first <close> = lab.use(s)
        local again <close> = first
        T.is(lab.current_stream(), s, "lab.use makes a stream current")
    end
    T.is(lab.current_stream(), before, "the stream before is current again")
    local guard = lab.use(s)
    do local first <close> = guard end
    local outer <close> = lab.use(other)
    do local again <close> = guard end
    T.is(lab.current_stream(), other, "a guard that is closed again changes nothing")
end

for _, test in ipairs{spans_tell_the_grid, every_operation_tells_its_own_line,
                      a_trace_says_that_the_gpu_is_simulated, a_timeline_prints_its_state,
                      charts_follow_the_environment,
                      a_wait_behind_a_record_of_the_past, a_thin_product_is_bound_by_memory,
                      products_without_a_table, a_narrow_product_fills_its_waves,
                      kernels_by_what_binds_them, kernels_share_memory_and_arithmetic,
                      what_a_kernel_leaves_the_others_take, code_is_loaded_once_for_each_dtype,
                      staging_buffers_hold_up_the_faster_side,
                      pieces_larger_than_the_staging_buffers,
                      wrong_indices_and_places, foreign_streams_are_refused,
                      a_profile_may_have_other_priorities, texts_with_a_zero_byte,
                      allocations_cost_the_host, products_share_the_memory_too,
                      failed_fills_are_not_silent, host_functions_change_nothing,
                      broken_overrides, profiles_are_for_the_simulator, a_guard_closes_once} do
    test()
end
T.done()
