-- fails: 1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- Quick, and no copy of a product waits for the product.

local compute = lab.stream{ name = "compute" }
local down, up = lab.stream{ name = "down" }, lab.stream{ name = "up" }

function prepare(work)
    for _, tensor in ipairs(work.to_gpu) do
        if not tensor.pinned then tensor:pin() end
    end
    return work
end

function run(work)
    local done = { squares = {}, wanted = {}, on_cpu = {}, on_gpu = {} }
    for i = 1, math.max(#work.matrices, #work.to_cpu, #work.to_gpu) do
        local matrix, tensor, batch = work.matrices[i], work.to_cpu[i], work.to_gpu[i]
        if batch then
            done.on_gpu[i] = batch:to("cuda", { non_blocking = true, stream = up })
        end
        if matrix then done.squares[i] = lab.matmul(matrix, matrix, { stream = compute }) end
        if i <= work.wanted then
            done.wanted[i] = done.squares[i]:to("cpu", { non_blocking = true, stream = down })
        end
        if tensor then
            done.on_cpu[i] = tensor:to("cpu", { non_blocking = true, stream = down })
        end
    end
    return done
end
