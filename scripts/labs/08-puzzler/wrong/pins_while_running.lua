-- fails: 1.3 1.4 2.1 2.2 2.3
-- What is often written in PyTorch, x.pin_memory().to("cuda", non_blocking=True): it copies on the
-- host, and page-locks memory, each time. The copy to the GPU is quick; what comes before is not.

local compute = lab.stream{ name = "compute" }
local down, up = lab.stream{ name = "down" }, lab.stream{ name = "up" }

function prepare(work)
    return work
end

function run(work)
    local done = { squares = {}, wanted = {}, on_cpu = {}, on_gpu = {} }
    for i = 1, math.max(#work.matrices, #work.to_cpu, #work.to_gpu) do
        local matrix, tensor, batch = work.matrices[i], work.to_cpu[i], work.to_gpu[i]
        if batch then
            done.on_gpu[i] = batch:pin_memory():to("cuda", { non_blocking = true, stream = up })
        end
        if tensor then
            done.on_cpu[i] = tensor:to("cpu", { non_blocking = true, stream = down })
        end
        if matrix then done.squares[i] = lab.matmul(matrix, matrix, { stream = compute }) end
        if i <= work.wanted then
            down:wait_stream(compute)
            done.wanted[i] = done.squares[i]:to("cpu", { non_blocking = true, stream = down })
        end
    end
    return done
end
