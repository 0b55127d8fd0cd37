-- kernel_file.lua - the file that `streamlab calibrate --kernels` writes: a profile that adds
-- custom kernels to its base.

local files = import "repl/run/files.lua"
local lists = import "repl/run/lists.lua"

local kernel_file = {}

local most_bytes <const> = 4 << 20

-- The kernels of a file that was written before, none if there is no file; nil if it is another
-- one.
function kernel_file.read(path, base)
    if not files.exists(path) then
        return {}
    end
    local text = files.read_bounded(path, most_bytes)
    local chunk = text and load(text, "@" .. path, "t", {})
    local fine, t = pcall(chunk or error)
    if not fine or type(t) ~= "table" or t.base ~= base or type(t.kernels) ~= "table" then
        return nil
    end
    for key in pairs(t) do
        if key ~= "base" and key ~= "kernels" then
            return nil
        end
    end
    return t.kernels
end

local function numbers_text(numbers)
    return lists.in_braces(numbers or {}, function(number) return ("%.17g"):format(number) end)
end

-- Adds measured launches to kernels by hash; a launch that was measured before is replaced.
local function add(kernels, launch)
    local k = launch.kernel
    local kernel = kernels[k.hash] or {}
    kernels[k.hash] = kernel
    kernel.name, kernel.args = k.name, k.args
    kernel.registers, kernel.shared_bytes = k.registers, k.shared_bytes
    kernel.launches = lists.select(kernel.launches or {}, function(other)
        return other.grid ~= launch.grid or other.block ~= launch.block
            or other.shared ~= launch.shared or other.bytes ~= launch.bytes
            or numbers_text(other.numbers) ~= numbers_text(launch.numbers)
    end)
    table.insert(kernel.launches, {
        grid = launch.grid, block = launch.block, shared = launch.shared, bytes = launch.bytes,
        numbers = launch.numbers, us = launch.us, spread = launch.spread, two_us = launch.two_us,
        cold_us = launch.cold_us,
    })
end

local function add_kernel(out, hash, kernel)
    out[#out + 1] = ("        [%q] = {"):format(hash)
    out[#out + 1] = ("            name = %q,"):format(kernel.name)
    out[#out + 1] = "            args = {" .. lists.join(kernel.args, function(text)
        return ("%q"):format(text)
    end) .. "},"
    for _, field in ipairs { "registers", "shared_bytes" } do
        if kernel[field] then
            out[#out + 1] = ("            %s = %d,"):format(field, kernel[field])
        end
    end
    out[#out + 1] = "            launches = {"
    for _, launch in ipairs(lists.sorted(kernel.launches, function(one)
        return { one.block, one.bytes, one.grid }
    end)) do
        local line = ("{ grid = %d, block = %d, shared = %d, bytes = %d, numbers = %s, us = "
            .. "%.6g%s%s%s },"):format(
            launch.grid, launch.block, launch.shared, launch.bytes, numbers_text(launch.numbers),
            launch.us,
            launch.cold_us and (", cold_us = %.6g"):format(launch.cold_us) or "",
            launch.two_us and (", two_us = %.6g"):format(launch.two_us) or "",
            launch.spread and (", spread = %.2g"):format(launch.spread) or "")
        out[#out + 1] = (" "):rep(16) .. line
    end
    out[#out + 1] = "            },"
    out[#out + 1] = "        },"
end

-- The file's text: `before` (kernels by hash) and what was measured now.
function kernel_file.text(before, measured, base, script, machine)
    for _, launch in ipairs(measured) do
        add(before, launch)
    end
    local out = {
        "-- Kernels of lab.kernel, measured by streamlab calibrate --kernels.",
        ("-- The last script was %s, %s."):format(script:gsub("%c", " "), machine),
        "-- us: how long the launch takes when it runs alone, the median of 15; spread: that of "
            .. "the middle",
        "-- half, relative to it. cold_us: the same with other data in the L2 before. two_us: how "
            .. "long two of it",
        "-- take at a time. bytes: of all its tensors.",
        "-- numbers: its other arguments.",
        "return {",
        ("    base = %q,"):format(base),
        "    kernels = {",
    }
    local hashes = {}
    for hash in pairs(before) do
        hashes[#hashes + 1] = hash
    end
    table.sort(hashes, function(a, b)
        local x, y = before[a].name or "", before[b].name or ""
        if x ~= y then return x < y end
        return a < b
    end)
    for _, hash in ipairs(hashes) do
        add_kernel(out, hash, before[hash])
    end
    out[#out + 1] = "    },"
    out[#out + 1] = "}"
    return table.concat(out, "\n") .. "\n"
end

return kernel_file
