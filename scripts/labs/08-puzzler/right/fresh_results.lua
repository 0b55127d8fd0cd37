-- Copies that are pinned in prepare(), and results that run() makes by to().

function prepare(work)
    local pinned = {}
    for i, tensor in ipairs(work.to_gpu) do pinned[i] = tensor:pin_memory() end
    return { work = work, pinned = pinned, compute = lab.stream(), up = lab.stream(),
             down = lab.stream() }
end

function run(plan)
    local work, compute = plan.work, plan.compute
    local done = { squares = {}, wanted = {}, on_cpu = {}, on_gpu = {} }
    local events = {}
    local asynchronously = { non_blocking = true }
    for i = 1, math.max(#work.matrices, #plan.pinned, #work.to_cpu + work.wanted) do
        if work.to_cpu[i] then
            done.on_cpu[i] = lab.with(plan.down, work.to_cpu[i].to, work.to_cpu[i], "cpu",
                asynchronously)
        end
        if plan.pinned[i] then
            done.on_gpu[i] = lab.with(plan.up, plan.pinned[i].to, plan.pinned[i], "cuda",
                asynchronously)
        end
        local matrix = work.matrices[i]
        if matrix then
            done.squares[i] = lab.matmul(matrix, matrix, { stream = compute })
            events[i] = i <= work.wanted and compute:record_event() or nil
        end
        local k = i - #work.to_cpu
        if k >= 1 and k <= work.wanted then
            plan.down:wait_event(events[k])
            done.wanted[k] = lab.with(plan.down, done.squares[k].to, done.squares[k], "cpu",
                asynchronously)
        end
    end
    return done
end
