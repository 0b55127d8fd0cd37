-- kernels.t.lua - ten kernels of one's own give on every backend what they should.

local T = require "tap"
local N = require "both.numbers"
local kinds = require "both.kernels"

T.open()
if not T.computes_kernels() then T.skip_all("there is no C++ compiler") end

local function check(kind, k, size)
    local name = ("%s of %s"):format(kind.name, kinds.size_text(size))
    local ran, got = pcall(kind.run, k, size)
    if not ran then
        T.ok(false, name)
        return T.diag("  " .. tostring(got))
    end
    local want = kind.want(size)
    for i, tensor in ipairs(got) do
        local read, values = pcall(tensor.totable, tensor)
        local said = #got > 1 and ("%s, result %d"):format(name, i) or name
        if not read then
            T.ok(false, said)
            T.diag("  " .. tostring(values))
        else
            N.close(T, values, want[i],
                    function(w) return (kind.tolerance or 0) * math.abs(w) end, said)
        end
    end
end

for _, kind in ipairs(kinds) do
    local fine, k = pcall(kinds.compile, kind)
    if T.ok(fine, kind.name .. " compiles") then
        for _, size in ipairs(kind.sizes) do check(kind, k, size) end
    else
        T.diag("  " .. tostring(k))
    end
end

T.done()
