local first, second = lab.stream(), lab.stream()
local a = lab.rand(4096, 4096)
local product, cubes = lab.empty(4096, 4096), lab.empty(4096, 4096)

for _, tf32 in ipairs{ false, true } do
    local function time(other)
        return lab.measure(function()
            for i = 1, 10 do
                lab.matmul(a, a, { tf32 = tf32, out = product, stream = first })
                lab.pow(a, 3, { out = cubes, stream = other })
            end
        end).median_us
    end
    local one, two = time(first), time(second)
    print(string.format("tf32 = %-5s   one stream %8.1f us, two streams %8.1f us, gain %.2f",
        tostring(tf32), one, two, one / two))
end
