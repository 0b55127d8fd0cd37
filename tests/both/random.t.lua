-- random.t.lua - random tensors have the same bits on every backend and in every place.
--
-- They are Philox4x32-10 by (seed, sequence); the sequence is 0 for a seed that is given, and the
-- tensor's id without one. The uniform ones are worked out here, by a generator written from
-- the paper. The normal ones are held against host tensors of a
-- new simulated GPU, on which ids begin at 1 again.

local T = require "tap"
local N = require "both.numbers"

local device = T.open()

-- ---- rand -----------------------------------------------------------------------------

local function philox(c0, c1, c2, c3, k0, k1)
    for _ = 1, 10 do
        local p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2     -- exact modulo 2^64
        c0, c1 = (p1 >> 32) ~ c1 ~ k0, p1 & 0xffffffff
        c2, c3 = (p0 >> 32) ~ c3 ~ k1, p0 & 0xffffffff
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    end
    return c0, c1, c2, c3
end

-- Element i, from 0, of that seed and sequence.
local function uniform(seed, sequence, i)
    local block = i // 4
    local words = { philox(block & 0xffffffff, block >> 32, sequence & 0xffffffff, sequence >> 32,
                           seed & 0xffffffff, seed >> 32) }
    return (words[i % 4 + 1] >> 8) * 2.0 ^ -24
end

local function uniforms(seed, sequence, n, dtype)
    local list = {}
    for i = 1, n do list[i] = N.round(uniform(seed, sequence, i - 1), dtype) end
    return list
end

local function known_answer()
    local ones = 0xffffffff
    T.is(("%08x %08x %08x %08x"):format(philox(ones, ones, ones, ones, ones, ones)),
         "408f276d 41c83b0e a20bc7c6 6d5451fd", "the test's generator gives Random123's vector")
end

local places = {
    { "on the GPU", {} }, { "pageable", { device = "cpu" } },
    { "pinned", { device = "cpu", pinned = true } },
}

local function options_of(place, more)
    local options = {}
    for key, value in pairs(place[2]) do options[key] = value end
    for key, value in pairs(more) do options[key] = value end
    return options
end

local function rand()
    for _, place in ipairs(places) do
        for _, dtype in ipairs(N.floats) do
            local right = true
            for _, n in ipairs{ 0, 1, 2, 3, 4, 5, 7, 8, 9, 1023, 4097 } do
                local t = lab.rand(n, options_of(place, { seed = 42, dtype = dtype }))
                local got, want = t:totable(), uniforms(42, 0, n, dtype)
                for i = 1, n do right = right and got[i] == want[i] end
            end
            T.ok(right, ("rand of %s %s is Philox's, at 11 sizes"):format(dtype, place[1]))
        end
        for _, seed in ipairs{ 0, -1, 0x123456789abcdef0, 1 << 32 } do
            local t = lab.rand(3, 5, options_of(place, { seed = seed }))
            N.equal(T, t, uniforms(seed, 0, 15, "float32"),
                    ("a seed has 64 bits: %d, %s"):format(seed, place[1]))
        end
    end
end

-- Far elements: the block number is more than a grid's first wave.
local function far_elements()
    local n = (1 << 23) + 3
    local t = lab.rand(n, { seed = 3 })
    for _, i in ipairs{ 1, 131073, 1 << 20, (1 << 22) + 6, n - 1, n } do
        T.is(t:get(i), uniform(3, 0, i - 1), ("element %d of %d"):format(i, n))
    end
end

local function streams_and_fills()
    local s = lab.stream{}
    local t = lab.rand(100, { seed = 6, stream = s })
    s:synchronize()
    N.equal(T, t, uniforms(6, 0, 100, "float32"), "a stream makes no difference")
    N.equal(T, lab.rand(100, { seed = 6 }), uniforms(6, 0, 100, "float32"),
            "a seed that is given again gives the same numbers")
    for _, place in ipairs(places) do
        local first, second = lab.rand(40, place[2]), lab.rand(40, place[2])
        N.equal(T, first, uniforms(0, first.id, 40, "float32"),
                "without a seed a tensor has its own numbers, " .. place[1])
        N.equal(T, second, uniforms(0, second.id, 40, "float32"), "and the next one others")
    end
end

-- ---- randn ----------------------------------------------------------------------------

-- Tensor `id` as a host tensor of a new simulated GPU; the current device comes back.
local function on_simulator(id, n, options)
    lab.open{ backend = "sim", profile = "textbook" }
    for _ = 1, id - 1 do lab.empty(0, { device = "cpu" }) end
    local t = lab.randn(n, options_of(places[2], options))
    assert(t.id == id)
    local list = t:totable()
    device:make_current()
    return list
end

local function randn()
    for _, dtype in ipairs(N.floats) do
        for _, place in ipairs(places) do
            for _, n in ipairs{ 1, 5, 4097 } do
                local options = { seed = n > 1 and 7 + n or nil, dtype = dtype }
                local t = lab.randn(n, options_of(place, options))
                N.equal(T, t, on_simulator(t.id, n, options),
                        ("randn of %d %s %s is the simulator's"):format(n, dtype, place[1]))
            end
        end
    end
    T.is(lab.randn(0):numel(), 0, "none is none")
end

-- The deviations of these are 0.003, 0.005, 0.008 and 0.0015 (n = 100000).
local function moments()
    for _, place in ipairs(places) do
        local n, sum, square, cube, beyond = 100000, 0, 0, 0, 0
        for _, x in ipairs(lab.randn(n, options_of(place, { seed = 11 })):totable()) do
            sum, square, cube = sum + x, square + x * x, cube + x * x * x
            if math.abs(x) > 1 then beyond = beyond + 1 end
        end
        T.near(sum / n, 0, 0.015, "randn has mean 0, " .. place[1])
        T.near(square / n, 1, 0.025, "variance 1, " .. place[1])
        T.near(cube / n, 0, 0.06, "no skew, " .. place[1])
        T.near(beyond / n, 0.3173, 0.0075, "and 32 % beyond 1, " .. place[1])
    end
end

known_answer()
rand()
far_elements()
streams_and_fills()
randn()
moments()
T.done()
