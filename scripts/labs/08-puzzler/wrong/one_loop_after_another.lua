-- fails: 1.4 2.1 2.2 2.3
-- The puzzler's own three loops. The copies are issued only when all matmuls have been, and the
-- products come down when the last one of them is done.

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
    for i, matrix in ipairs(work.matrices) do
        done.squares[i] = lab.matmul(matrix, matrix, { stream = compute })
    end
    for i, tensor in ipairs(work.to_cpu) do
        done.on_cpu[i] = tensor:to("cpu", { non_blocking = true, stream = down })
    end
    down:wait_stream(compute)
    for i = 1, work.wanted do
        done.wanted[i] = done.squares[i]:to("cpu", { non_blocking = true, stream = down })
    end
    for i, tensor in ipairs(work.to_gpu) do
        done.on_gpu[i] = tensor:to("cuda", { non_blocking = true, stream = up })
    end
    return done
end
