local function product()
    local a = lab.rand(1000000, 1000000)                -- 4 TB
    local tl = lab.profile(function() lab.mul(a, 2) end)
    print(a, tl.makespan_us / 1e6 .. " s")
end

print(pcall(product))
lab.open{ overrides = { memory_bytes = "unlimited" } }
product()
