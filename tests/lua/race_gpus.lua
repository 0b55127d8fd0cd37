-- race_gpus.lua - simulated GPUs whose times have nothing in common, and what random programs
-- do on them.

local M = {}

-- A fast GPU; a slow host, so that most is done before the next call; slow copies that share
-- one channel; slow kernels, one at a time. In some pageable copies wait, in others they do not.
M.list = {
    { profile = "textbook" },
    { profile = "t4", overrides = {
        h2d_async_bytes = 1, host = { launch_us = 700, memcpy_async_us = 900, memset_us = 700,
                                      record_us = 300, matmul_us = 800 } } },
    { profile = "textbook", overrides = {
        h2d_async_bytes = 1 << 30, h2d_gb_per_s = 0.001, d2h_gb_per_s = 0.001,
        copy_latency_us = 900, connections = 1, copy_connections = 1 } },
    { profile = "rtx4060_laptop", overrides = {
        h2d_async_bytes = 16, kernel_fixed_us = 400, gemm_fixed_us = 900, d2d_fixed_us = 2000,
        max_grids = 1, cross_stream_us = 50, host_func_in_us = 500 } },
}

-- Opens them; each has its default stream as `stream` until `close`.
function M.open()
    for _, gpu in ipairs(M.list) do
        lab.open { backend = "sim", profile = gpu.profile, overrides = gpu.overrides }
        gpu.stream = lab.default_stream()
    end
end

function M.close()
    for _, gpu in ipairs(M.list) do gpu.stream = nil end
end

-- A value that a program notes, or a tensor's, in words.
function M.flat(value)
    if type(value) ~= "table" then return tostring(value) end
    local parts = {}
    for i, item in ipairs(value) do parts[i] = M.flat(item) end
    return table.concat(parts, " ")
end

-- Whether two tables have the same values.
function M.same(a, b)
    for key, value in pairs(a) do
        if b[key] ~= value then return false end
    end
    for key in pairs(b) do
        if a[key] == nil then return false end
    end
    return true
end

return M
