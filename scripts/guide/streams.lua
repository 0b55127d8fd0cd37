local name = arg[1] or "blocking"               -- or "nonblocking"
local async = name == "nonblocking"

local function rand(count, where)
    local list = {}
    for i = 1, count do list[i] = lab.rand(1024, 1024, { device = where }) end
    return list
end
local matrix_on_gpu = rand(1000, "cuda")
local data_on_gpu, data_on_cpu = rand(100, "cuda"), rand(100, "cpu")    -- 4 MiB each
local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }
local third = lab.stream{ name = "third" }
lab.synchronize()

local tl = lab.profile(function()
    lab.with(first, function()
        for i = 1, #matrix_on_gpu do
            lab.matmul(matrix_on_gpu[i], matrix_on_gpu[i])
        end
    end)
    lab.with(second, function()
        for i = 1, #data_on_gpu do
            data_on_gpu[i]:to("cpu", { non_blocking = async })
        end
    end)
    lab.with(third, function()
        for i = 1, #data_on_cpu do
            data_on_cpu[i]:to("cuda", { non_blocking = async })
        end
    end)
end)
tl:save("build/" .. name .. ".json.gz")                     -- the whole recording, for later
