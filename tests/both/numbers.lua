-- numbers.lua - what the dtypes hold, and comparing a tensor to a reference in float64.

local M = {}

-- Significant bits, and the exponent of the least normal number; the greatest exponent
-- is 1 - least, as in all formats of IEEE's kind.
M.dtypes = {
    float32 = { bits = 24, least = -126 },
    bfloat16 = { bits = 8, least = -126 },
    float16 = { bits = 11, least = -14 },
}
M.floats = { "float32", "bfloat16", "float16" }

-- The largest relative error of rounding to a dtype, and the largest absolute one below
-- its normal numbers.
function M.unit(dtype) return 2.0 ^ -M.dtypes[dtype].bits end
function M.tiny(dtype) return 2.0 ^ (M.dtypes[dtype].least - M.dtypes[dtype].bits) end

-- e with 2^e <= |x| < 2^(e + 1); x is finite and not 0.
local function exponent_of(x)
    x = math.abs(x)
    local e = math.floor(math.log(x, 2))
    if 2.0 ^ e > x then return e - 1 end
    return 2.0 ^ (e + 1) <= x and e + 1 or e
end

-- x in the dtype: to the nearest number, ties to even, beyond the range to infinity.
function M.round(x, dtype)
    if x ~= x or x == 0 or x == math.huge or x == -math.huge then return x end
    local format = M.dtypes[dtype]
    local step = 2.0 ^ (math.max(exponent_of(x), format.least) - format.bits + 1)
    local steps = x / step
    local shift = steps > 0 and 2.0 ^ 52 or -2.0 ^ 52       -- float64 rounds to units there
    local rounded = (steps + shift - shift) * step
    if math.abs(rounded) < 2.0 ^ (2 - format.least) then return rounded end
    return x > 0 and math.huge or -math.huge
end

function M.rounded(list, dtype)
    local out = {}
    for i, x in ipairs(list) do out[i] = M.round(x, dtype) end
    return out
end

-- n numbers from `low` to `high`, irregular and always the same ones.
function M.data(n, low, high, seed)
    local state, list = (seed or 1) * 0x9E3779B97F4A7C15, {}
    for i = 1, n do
        state = state * 6364136223846793005 + 1442695040888963407
        list[i] = low + (high - low) * (state >> 40) * 2.0 ^ -24
    end
    return list
end

-- The same as whole numbers.
function M.whole(n, low, high, seed)
    local list = M.data(n, low, high + 1, seed)
    for i = 1, n do list[i] = math.min(math.floor(list[i]), high) + 0.0 end
    return list
end

function M.map(list, f)
    local out = {}
    for i, x in ipairs(list) do out[i] = f(x, i) end
    return out
end

-- Nested lists one after the other.
function M.flat(list, out)
    out = out or {}
    for _, item in ipairs(list) do
        if type(item) == "table" then M.flat(item, out) else out[#out + 1] = item end
    end
    return out
end

-- A flat list as rows of `columns`.
function M.rows(list, columns)
    local out = {}
    for i = 1, #list, columns do out[#out + 1] = table.move(list, i, i + columns - 1, 1, {}) end
    return out
end

local function same(a, b) return a == b or (a ~= a and b ~= b) end

-- A check: every value of the tensor (or list) is at most tolerance(w, i) from the
-- reference's w, which is in reading order. NaN and infinity must be themselves.
function M.close(T, tensor, want, tolerance, name)
    local got = M.flat(type(tensor) == "table" and tensor or tensor:totable())
    local worst, at = 0, #got ~= #want and 0 or nil
    for i = 1, at and 0 or #want do
        if not same(got[i], want[i]) then
            local over = math.abs(got[i] - want[i]) / tolerance(want[i], i)
            if not (over <= 1) and not (at and over <= worst) then worst, at = over, i end
        end
    end
    if T.ok(at == nil, name) then return end
    if at == 0 then
        T.diag(("  got %d values, expected %d"):format(#got, #want))
    else
        T.diag(("  value %d of %d: got %.9g, expected %.9g; the error is %.3g times the tolerance")
               :format(at, #want, got[at], want[at], worst))
    end
end

-- Equal to the bit, but for the sign of zero.
function M.equal(T, tensor, want, name)
    M.close(T, tensor, want, function() return 0 end, name)
end

return M
