local function took(what, f)
    local before = lab.now_us()
    local result = f()
    print(string.format("%-36s %8.1f us", what, lab.now_us() - before))
    return result
end

local a = lab.rand(1024, 1024)
lab.synchronize()
took("a million additions in Lua", function()
    local sum = 0
    for i = 1, 1e6 do sum = sum + i end
end)
took("lab.host_work(2)", function() lab.host_work(2) end)
local b = took("the call of a matmul", function() return lab.matmul(a, a) end)
took("waiting for it", lab.synchronize)
took("reading an element of the product", function() return b:get(1, 1) end)
took("reading another one", function() return b:get(2, 2) end)
