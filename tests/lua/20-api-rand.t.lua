-- 20-api-rand.t.lua - random tensors are Philox4x32-10 by (seed, sequence): the same bits
-- everywhere.
--
-- Element i of a uniform tensor is (x >> 8) * 2^-24, where x is word i % 4 of
-- Philox4x32-10 with key = seed and counter = (i / 4 low, high, sequence low,
-- high). The sequence is 0 where a seed is given, else the tensor's id. The generator below is
-- written from the paper and checked against the vectors of Random123 before it is used.

local T = require "tap"
local ideal = require "lua.ideal"

local function philox(counter, key)
    local c0, c1, c2, c3 = table.unpack(counter)
    local k0, k1 = table.unpack(key)
    for _ = 1, 10 do
        local p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2     -- exact modulo 2^64
        c0, c1 = (p1 >> 32) ~ c1 ~ k0, p1 & 0xffffffff
        c2, c3 = (p0 >> 32) ~ c3 ~ k1, p0 & 0xffffffff
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    end
    return { c0, c1, c2, c3 }
end

local function known_answers()
    local function hex(words) return ("%08x %08x %08x %08x"):format(table.unpack(words)) end
    local ones = 0xffffffff
    T.is(hex(philox({ 0, 0, 0, 0 }, { 0, 0 })), "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
         "the test's generator gives Random123's vector for zeros")
    T.is(hex(philox({ ones, ones, ones, ones }, { ones, ones })),
         "408f276d 41c83b0e a20bc7c6 6d5451fd", "and for ones")
    T.is(hex(philox({ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
                    { 0xa4093822, 0x299f31d0 })),
         "d16cfe09 94fdcceb 5001e420 24126ea1", "and for pi")
end

-- Element i (from 0) of that seed and sequence.
local function uniform(seed, sequence, i)
    local block = i // 4
    local words = philox({ block & 0xffffffff, block >> 32, sequence & 0xffffffff,
                           sequence >> 32 },
                         { seed & 0xffffffff, seed >> 32 })
    return (words[i % 4 + 1] >> 8) * 2.0 ^ -24
end

local function expected(seed, sequence, n)
    local list = {}
    for i = 0, n - 1 do list[i + 1] = uniform(seed, sequence, i) end
    return list
end

local function values()
    ideal.textbook()
    -- Tensor ids count from 1 on a fresh device.
    T.is_deeply(lab.rand(11):totable(), expected(0, 1, 11),
                "without a seed the first tensor's numbers are Philox's of seed 0")
    T.is_deeply(lab.rand(6):totable(), expected(0, 2, 6), "the second one's are its own")
    lab.empty(3)
    T.is_deeply(lab.rand(4):totable(), expected(0, 4, 4), "every tensor counts")
    T.is_deeply(lab.rand(5, { seed = 7 }):totable(), expected(7, 0, 5),
                "a seed is a sequence by itself")
    T.is_deeply(lab.rand(5, { seed = 7, device = "cpu" }):totable(), expected(7, 0, 5),
                "the host has the same numbers")
    T.is_deeply(lab.rand(5, { seed = 7, device = "cpu", pinned = true }):totable(),
                expected(7, 0, 5),
                "pinned or not")
    T.is_deeply(lab.rand(4, { seed = 0 }):totable(), expected(0, 0, 4), "0 is a seed like others")
    T.is_deeply(lab.rand(4):totable(), expected(0, 9, 4), "and the sequence without one goes on")
    T.is_deeply(lab.rand(2, 3, { seed = 1 }):totable(),
                { { uniform(1, 0, 0), uniform(1, 0, 1), uniform(1, 0, 2) },
                  { uniform(1, 0, 3), uniform(1, 0, 4), uniform(1, 0, 5) } },
                  "rows follow each other")
    local big = 0x123456789abcdef0
    T.is_deeply(lab.rand(5, { seed = big }):totable(), expected(big, 0, 5), "a seed has 64 bits")
    T.is_deeply(lab.rand(5, { seed = -1 }):totable(), expected(-1, 0, 5), "also negative ones")
    T.is_deeply(lab.rand(5, { seed = 7.0 }):totable(), expected(7, 0, 5), "7.0 is 7")
    -- Element 100000 (from 1): block 24999, word 3.
    T.is(lab.rand(100000, { seed = 3 }):get(100000), uniform(3, 0, 99999),
         "any element can be had by itself")
end

-- A given seed means the same numbers, however often and in whatever shape.
local function given_seeds()
    ideal.textbook()
    T.is_deeply(lab.rand(4, 4, { seed = 7 }):totable(), lab.rand(4, 4, { seed = 7 }):totable(),
                "the same seed gives the same rand twice in a run")
    T.is_deeply(lab.randn(4, 4, { seed = 7 }):totable(), lab.randn(4, 4, { seed = 7 }):totable(),
                "and the same randn")
    T.is_deeply(lab.rand(2, 8, { seed = 7 }):view(16):totable(),
                lab.rand(16, { seed = 7 }):totable(),
                "the shape only says how the numbers are arranged")
    T.is_deeply(lab.randn(3, { seed = 7 }):totable(),
                lab.randn(9, { seed = 7 }):narrow(1, 1, 3):totable(),
                "a smaller tensor has the first of them")
    local rounded = {}
    for i = 1, 9 do
        rounded[i] = lab.full(uniform(7, 0, i - 1), 1, { dtype = "float16" }):item()
    end
    T.is_deeply(lab.rand(9, { seed = 7, dtype = "float16" }):totable(), rounded,
                "a smaller dtype has them rounded")
    T.isnt(lab.rand(1, { seed = 8 }):item(), lab.rand(1, { seed = 7 }):item(),
           "other seeds give others")
end

local function ranges()
    ideal.textbook()
    local sum, least, most = 0, 1, 0
    for _, x in ipairs(lab.rand(10000, { seed = 5 }):totable()) do
        sum, least, most = sum + x, math.min(least, x), math.max(most, x)
    end
    T.ok(least >= 0 and most < 1, "rand is in [0, 1)")
    T.near(sum / 10000, 0.5, 0.02, "around one half")   -- the mean's deviation is 0.003
    local square, sums = 0, 0
    local normal = lab.randn(10000, { seed = 5 }):totable()
    for _, x in ipairs(normal) do sums, square = sums + x, square + x * x end
    T.near(sums / 10000, 0, 0.05, "randn has mean 0")           -- deviation 0.01
    T.near(square / 10000, 1, 0.08, "and variance 1")           -- deviation 0.014
    local beyond = 0
    for _, x in ipairs(normal) do if math.abs(x) > 1 then beyond = beyond + 1 end end
    T.near(beyond / 10000, 0.3173, 0.03, "and 32 % beyond one standard deviation")
end

local function repeatability()
    local function tensors(options)
        ideal.textbook()
        return lab.rand(8, options):totable(), lab.randn(8, options):totable()
    end
    local u1, n1 = tensors{ seed = 9 }
    local u2, n2 = tensors{ seed = 9 }
    T.is_deeply(u1, u2, "the same seed gives the same rand on another device")
    T.is_deeply(n1, n2, "and the same randn")
    local u3, n3 = tensors{ seed = 10 }
    T.isnt(u3[1], u1[1], "another seed gives another rand")
    T.isnt(n3[1], n1[1], "and another randn")
    local d1 = tensors{}
    local d2 = tensors{}
    T.is_deeply(d1, d2, "without a seed it is the same in every run as well")
    ideal.textbook()
    local on_gpu = lab.randn(8, { seed = 1 })
    ideal.textbook()
    local on_cpu = lab.randn(8, { seed = 1, device = "cpu" })
    T.is_deeply(on_gpu:totable(), on_cpu:totable(), "randn has the same bits on the host")
end

local function dtypes_and_misuse()
    ideal.textbook()
    local half = lab.rand(1000, { seed = 1, dtype = "bfloat16" })
    T.is(half.dtype, "bfloat16", "rand knows bfloat16")
    local x = half:get(1)
    T.is(x * 256 / 2 ^ math.floor(math.log(x, 2) + 1),
         math.floor(x * 256 / 2 ^ math.floor(math.log(x, 2) + 1)),
         "and rounds to its 8 bits")
    ideal.refuses(T, function() lab.rand(2, { seed = 1.5 }) end, "SL_EINVAL", "seed",
                  "a seed is a whole number")
    ideal.refuses(T, function() lab.rand(2, { seed = 0 / 0 }) end, "SL_EINVAL",
                  "seed", "and not NaN")
    ideal.refuses(T, function() lab.rand(2, { seed = "x" }) end, "SL_EINVAL", "seed", "nor text")
    ideal.refuses(T, function() lab.rand(2, { sede = 1 }) end, "SL_EINVAL", "sede",
                  "a typo cannot pass")
    T.ok(ideal.error_of(lab.rand, 0 / 0), "a size of NaN is refused")
end

known_answers()
values()
given_seeds()
ranges()
repeatability()
dtypes_and_misuse()
T.done()
