local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local function both()
    for _ = 1, 10 do
        lab.spin(0.002, { stream = a })
        lab.spin(0.002, { stream = b })
    end
end

for _, hold in ipairs{ false, { a, b } } do
    print(hold and "held" or "not held", lab.measure(both, { hold = hold }).median_us)
end
