-- 47-spans.t.lua - what a span says of its operation, what a trace says of the GPU, and how charts
-- follow the environment.

local T = require "tap"
local ideal = require "lua.ideal"

local function spans_tell_the_grid()
    ideal.open()
    local s = ideal.streams(1)[1]
    local spans = ideal.spans(lab.profile(function()
        lab.spin(0.5, { blocks = 3, threads = 50, shared_bytes = 4096, stream = s })
        -- 3e7 elements, 1024 a block: 29297 blocks, which no whole number of waves has.
        lab.full(2, 30000000, { stream = s })
        lab.full(2, 1000, { stream = s })
        lab.zeros(1000, { stream = s })
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
    local x, y, host = lab.ones(2, 2), lab.ones(2, 2), lab.ones(2, 2, { device = "cpu" })
    local memory = lab.cuda.malloc(16)
    local cases = {
        { "get", function() return x:get(1, 1) end }, { "set", function() x:set(1, 1, 1) end },
        { "item", function() return lab.ones(1):item() end },
        { "totable", function() return x:totable() end },
        { "copy_", function() x:copy_(host) end }, { "to", function() return host:to("cuda") end },
        { "cpu", function() return x:cpu() end }, { "fill_", function() x:fill_(2) end },
        { "zero_", function() x:zero_() end }, { "add", function() lab.add(x, x, { out = y }) end },
        { "operator +", function() return x + x end },
        { "matmul", function() lab.matmul(x, x, { out = y }) end },
        { "sum", function() return x:sum() end }, { "spin", function() lab.spin(0) end },
        { "zeros", function() return lab.zeros(2) end },
        { "rand", function() return lab.rand(2) end },
        { "tensor", function() return lab.tensor{ 1, 2 } end },
        { "memset", function() lab.cuda.memset(memory, 0, 16) end },
        { "memset_async", function() lab.cuda.memset_async(memory, 0, 16, s) end },
        { "memcpy", function() lab.cuda.memcpy(memory, host, 16) end },
        { "memcpy_async", function() lab.cuda.memcpy_async(memory, host, 16, s) end },
        { "launch_host_func", function() s:launch_host_func(function() end) end },
    }
    for _, case in ipairs(cases) do
        local line = debug.getinfo(case[2], "S").linedefined
        lab.synchronize()
        lab.spin(0)     -- its line is not to be anybody else's
        local spans = lab.profile(case[2]):spans()
        local right = #spans > 0
        for _, span in ipairs(spans) do
            right = right and span.where == "47-spans.t.lua:" .. line
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
    T.like(ideal.read(path), '"GPU 0: textbook GPU %(simulated%)"', "the trace's GPU is simulated")
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
                                       { through = through })
        return text:find("\u{2588}", 1, true) ~= nil
    end
    T.is(has_blocks("LANG=xx_XX.UTF-8"), true, "LANG with UTF-8 gives a chart in blocks")
    T.is(has_blocks("LC_CTYPE=xx_XX.utf8"), true, "so does LC_CTYPE")
    T.is(has_blocks("LC_ALL=C LANG=xx_XX.UTF-8"), false, "LC_ALL counts before LANG")
    T.is(has_blocks(""), false, "without any it is plain")
end

for _, test in ipairs{ spans_tell_the_grid, every_operation_tells_its_own_line,
                       a_trace_says_that_the_gpu_is_simulated, a_timeline_prints_its_state,
                       charts_follow_the_environment } do
    test()
end
T.done()
