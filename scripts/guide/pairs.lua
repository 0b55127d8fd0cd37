local first, second = lab.stream(), lab.stream()

print("    n    one stream   two streams   gain")
for _, n in ipairs{ 256, 512, 1024, 2048, 4096 } do
    local a, b = lab.rand(n, n), lab.rand(n, n)
    local x, y = lab.empty(n, n), lab.empty(n, n)
    local function time(other)
        return lab.measure(function()
            for i = 1, 5 do
                lab.matmul(a, a, { out = x, stream = first })
                lab.matmul(b, b, { out = y, stream = other })
            end
        end).median_us
    end
    local one, two = time(first), time(second)
    print(string.format("%5d %10.1f us %10.1f us %6.2f", n, one, two, one / two))
end
