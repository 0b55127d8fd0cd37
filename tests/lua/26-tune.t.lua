-- 26-tune.t.lua - lab.tune and lab.open{tune =}: what they refuse, and that a simulated GPU goes on
-- as without them. tests/cuda/48-tuned.t.sh and t-24-gemm-tune.c have what a real one does.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function refusals()
    local a, b = lab.ones(3, 4), lab.ones(4, 5)
    refuses(function() lab.tune() end, "SL_EINVAL",
            "tune: argument 1 %(a%) must be a tensor, got nothing$",
            "tune needs two tensors")
    refuses(function() lab.tune(a, 3) end, "SL_EINVAL",
            "tune: argument 2 %(b%) must be a tensor, got number$",
            "both of them tensors")
    refuses(function() lab.tune(a, b, { out = a }) end, "SL_EINVAL",
            "tune: unknown option 'out'; known: activation, again, bias, stream, tf32$",
            "it has no result")
    refuses(function() lab.tune(a, b, { activation = "tanh" }) end, "SL_EINVAL",
            "tune: option 'activation' must be \"relu\" or \"gelu\", got \"tanh\"$",
            "an activation is one of matmul's")
    refuses(function() lab.tune(a, b, { bias = 1 }) end, "SL_EINVAL",
            "tune: option 'bias' must be a tensor, got 1$", "a bias is a tensor")
    refuses(function() lab.tune(a, b, { bias = lab.ones(4) }) end, "SL_ESHAPE", "bias",
            "of n elements")
    refuses(function() lab.tune(a, b, { again = 1 }) end, "SL_EINVAL",
            "tune: option 'again' must be true or false, got 1$", "again is true or false")
    refuses(function() lab.tune(a, b, {}, 1) end, "SL_EINVAL", "argument 4 is one too many",
            "nothing comes behind the options")
    refuses(function() lab.tune(a, a) end, "SL_ESHAPE", "tune: inner sizes differ: 3x4 times 3x4$",
            "what cannot be multiplied cannot be tuned")
    refuses(function() lab.tune(lab.ones(4), b) end, "SL_ESHAPE", "matri",
            "vectors are no matrices")
    refuses(function() lab.tune(a, lab.ones(4, 5, { dtype = "float16" })) end, "SL_EDTYPE",
            "a is float32, b is float16", "the dtypes are one")
    refuses(function() lab.tune(a, b:cpu()) end, "SL_EPLACE", "tune: b is on the cpu", "on the GPU")
    local freed = lab.ones(4, 5)
    freed:free()
    refuses(function() lab.tune(a, freed) end, "SL_ECLOSED", "freed", "not freed")
    refuses(function() lab.open{ tune = 1 } end, "SL_EINVAL",
            "open: option 'tune' must be true or false, got 1$",
            "lab.open's tune is true or false")
end

-- The host's clock around f in us, and what it returns.
local function timed(f)
    local began = lab.now_us()
    local result = f()
    return lab.now_us() - began, result
end

local function nothing_to_tune()
    local a = lab.rand(64, 64)
    lab.synchronize()
    for _, options in ipairs{ {}, { again = true }, { tf32 = true }, { stream = lab.stream() },
                               { bias = lab.ones(64), activation = "relu" } } do
        local us, plan = timed(function() return lab.tune(a, a, options) end)
        T.is_deeply(plan, { tuned = false, measured = false },
                    "a simulated GPU has nothing to tune")
        T.is(us, 0, "which takes no time")
    end
    local tl = lab.profile(function() lab.tune(a, a) end)
    T.is(tl.span_count, 0, "and is no operation")
    local g = lab.graph(function()
        T.is(lab.tune(a, a).tuned, false, "also in a capture")
        lab.matmul(a, a)
    end)
    T.is(#g:nodes(), 1, "which goes on")
end

-- Spans of the same work on a device that was opened with these options.
local function spans_with(options)
    lab.open(options)
    local a = lab.rand(256, 256, { seed = 1 })
    local tl = lab.profile(function()
        for _ = 1, 3 do a = lab.matmul(a, a) end
    end)
    local times = {}
    for i, span in ipairs(tl:spans()) do times[i] = { span.name, span.start_us, span.end_us } end
    return times, a:get(1, 1)
end

local function the_same_work()
    local plain, value = spans_with{ backend = "sim" }
    local tuned, tuned_value = spans_with{ backend = "sim", tune = true }
    T.is(#plain, 3, "three products are three spans")
    T.is_deeply(tuned, plain, "tune = true changes no time of a simulated GPU")
    T.is(tuned_value, value, "and no value")
end

refusals()
nothing_to_tune()
the_same_work()
T.done()
