-- Matmuls in two streams, and each kind issued in proportion to how many there are of it.

function prepare(work)
    local plan = { work = work, compute = { lab.stream(), lab.stream() }, copies = {} }
    plan.up, plan.down = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local function makers(list, count, options)
        local made = {}
        for i = 1, count do made[i] = lab.empty(list[i]:size(1), list[i]:size(2), options) end
        return made
    end
    local host = { device = "cpu", pinned = true }
    plan.squares = makers(work.matrices, #work.matrices)
    plan.wanted = makers(work.matrices, work.wanted, host)
    plan.on_cpu = makers(work.to_cpu, #work.to_cpu, host)
    plan.on_gpu = makers(work.to_gpu, #work.to_gpu)
    for i, tensor in ipairs(work.to_gpu) do plan.copies[i] = tensor:pin_memory() end
    return plan
end

function run(plan)
    local work, done = plan.work, {}
    local kinds = {}
    local function kind(count, f) kinds[#kinds + 1] = { count = count, issued = 0, f = f } end
    kind(#work.to_cpu + work.wanted, function(i)
        local k = i - #work.to_cpu
        if k <= 0 then
            plan.on_cpu[i]:copy_(work.to_cpu[i], { non_blocking = true, stream = plan.down })
        else
            plan.down:wait_event(done[k])
            plan.wanted[k]:copy_(plan.squares[k], { non_blocking = true, stream = plan.down })
        end
    end)
    kind(#work.to_gpu, function(i)
        plan.on_gpu[i]:copy_(plan.copies[i], { non_blocking = true, stream = plan.up })
    end)
    kind(#work.matrices, function(i)
        local s = plan.compute[i % 2 + 1]
        lab.matmul(work.matrices[i], work.matrices[i], { out = plan.squares[i], stream = s })
        if i <= work.wanted then done[i] = s:record_event() end
    end)
    local copies, matmuls = kinds[1], kinds[3]
    local function may(k)               -- a product is issued before its copy
        return k.issued < k.count
            and (k ~= copies or k.issued < #work.to_cpu
                 or matmuls.issued > k.issued - #work.to_cpu)
    end
    while true do
        local next_one
        for _, k in ipairs(kinds) do
            if may(k) and (not next_one
                or k.issued / k.count < next_one.issued / next_one.count) then next_one = k end
        end
        if not next_one then return plan end
        next_one.issued = next_one.issued + 1
        next_one.f(next_one.issued)
    end
end
