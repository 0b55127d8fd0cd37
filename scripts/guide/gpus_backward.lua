local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local comm = lab.comm{ devices = gpus }
local layers, n, batch, w, x, error, grad = 8, 2048, 8192, {}, {}, {}, {}
for k, gpu in ipairs(gpus) do
    local opts = { device = gpu, dtype = "bfloat16" }
    w[k], x[k] = lab.full(1 / n, n, n, opts), lab.full(k, n, batch, opts)
    error[k], grad[k] = lab.ones(batch, n, opts), lab.empty(layers * n, n, opts)
end

-- The gradients of the layers from the first to the last one, of each GPU.
local function piece(first, last)
    local list = {}
    for k = 1, 2 do list[k] = grad[k]:narrow(1, (first - 1) * n + 1, (last - first + 1) * n) end
    return list
end

local function backward(size, async)            -- so many layers are a bucket
    local works = {}
    for i = 1, layers do
        for k = 1, 2 do
            lab.matmul(x[k], error[k], { out = piece(i, i)[k] })
            error[k] = lab.matmul(error[k], w[k])
        end
        if i % size == 0 then
            if async then
                works[#works + 1] = comm:all_reduce(piece(i - size + 1, i), { async = true })
            else
                comm:all_reduce(piece(i - size + 1, i))
            end
        end
    end
    for _, work in ipairs(works) do work:wait() end
end

backward(1)                                     -- warm-up
for _, how in ipairs{ { 1, false }, { 8, true }, { 1, true }, { 2, true } } do
    local tl = lab.profile(backward, table.unpack(how))
    print(("layers in a bucket: %d%s: %.0f us"):format(
        how[1], how[2] and ", beside the matmuls" or "", tl.makespan_us))
    if how[1] == 2 then tl:show() end
end
