-- kernel_bits.lua FILE - runs the ten kernels of kernels.lua on the backend that is open, and
-- writes the bits of what they give to FILE. Two such files are compared by kernel_bits.lua FILE
-- FILE.
--
--   LUA_PATH='tests/?.lua;;' streamlab --backend cuda tests/both/kernel_bits.lua gpu.txt
--   LUA_PATH='tests/?.lua;;' streamlab --backend sim tests/both/kernel_bits.lua simulated.txt
--   LUA_PATH='tests/?.lua;;' streamlab tests/both/kernel_bits.lua gpu.txt simulated.txt
--
-- A line is a kernel, a size, the number of the result, its length, and the FNV-1a of its elements;
-- of results that may differ (kernels.lua, tolerance) also all elements, as hexadecimal.

local kinds = require "both.kernels"

-- ---- writing ------------------------------------------------------------------------------------

local function hash_of(values)
    local hash = 0xcbf29ce484222325
    for _, value in ipairs(values) do
        hash = (hash ~ string.unpack("<i8", string.pack("<d", value))) * 0x100000001b3
    end
    return hash
end

local function elements_text(values)
    local out = {}
    for i, value in ipairs(values) do
        out[i] = ("%08x"):format(string.unpack("<I4", string.pack("<f", value)))
    end
    return table.concat(out)
end

local function write_size(file, kind, k, size)
    for i, tensor in ipairs(kind.run(k, size)) do
        local values = tensor:totable()
        file:write(("%s|%s|%d|%d|%016x|%s\n"):format(kind.name, kinds.size_text(size), i, #values,
            hash_of(values), kind.tolerance and elements_text(values) or ""))
    end
end

local function write_all(path)
    local file <close> = assert(io.open(path, "w"))
    for _, kind in ipairs(kinds) do
        local k = kinds.compile(kind)
        for _, size in ipairs(kind.sizes) do write_size(file, kind, k, size) end
    end
end

-- ---- comparing ----------------------------------------------------------------------------------

-- By "kernel|size|result" {length, hash, elements}, and these keys in order.
local function read(path)
    local keys, results = {}, {}
    for line in io.lines(path) do
        local key, n, hash, elements = line:match("^([^|]*|[^|]*|%d+)|(%d+)|(%x+)|(%x*)$")
        assert(key, path .. ": this is no line of kernel_bits.lua: " .. line)
        keys[#keys + 1] = key
        results[key] = { n = n, hash = hash, elements = elements }
    end
    return keys, results
end

-- As integers that are in the order of the numbers, so that their difference counts units in the
-- last place.
local function ordered(hexadecimal)
    local bits = tonumber(hexadecimal, 16)
    return bits >= 0x80000000 and 0x80000000 - bits or bits
end

-- "137 of 1003 differ, by at most 1 ulp".
local function differences(a, b)
    local count, most = 0, 0
    for at = 1, #a, 8 do
        local away = math.abs(ordered(a:sub(at, at + 7)) - ordered(b:sub(at, at + 7)))
        count, most = count + (away > 0 and 1 or 0), math.max(most, away)
    end
    return ("%d of %d differ, by at most %d ulp"):format(count, #a // 8, most)
end

local function compare(a, b)
    if not b then return "only in the first file" end
    if a.n ~= b.n then return ("%s elements and %s"):format(a.n, b.n) end
    if a.hash == b.hash then return "the same bits" end
    return a.elements ~= "" and differences(a.elements, b.elements) or "DIFFERENT"
end

local function compare_all(one, other)
    local keys, a = read(one)
    local _, b = read(other)
    local same = 0
    for _, key in ipairs(keys) do
        local said = compare(a[key], b[key])
        same = same + (said == "the same bits" and 1 or 0)
        print(("%-32s %s"):format((key:gsub("|", ", ")), said))
    end
    print(("%d of %d results have the same bits"):format(same, #keys))
end

if #arg == 2 then compare_all(arg[1], arg[2])
elseif #arg == 1 then write_all(arg[1])
else
    io.stderr:write("usage: kernel_bits.lua FILE [FILE]\n")
    os.exit(2, true)
end
