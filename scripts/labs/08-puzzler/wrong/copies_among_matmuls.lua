-- fails: 1.3 1.4 2.1 2.2
-- The squares are copied in the stream of the matmuls: each copy stands in front of the next one.

local compute = lab.stream{ name = "compute" }
local down, up = lab.stream{ name = "down" }, lab.stream{ name = "up" }

local function like(tensor, options)
    local rows, columns = tensor:size()
    return lab.empty(rows, columns, options)
end

-- Pinned memory takes the host long to get, so all of it is made here.
function prepare(work)
    local plan = { work = work, squares = {}, wanted = {}, on_cpu = {}, on_gpu = {} }
    local landing = { device = "cpu", pinned = true }
    for i, matrix in ipairs(work.matrices) do
        plan.squares[i] = like(matrix)
        if i <= work.wanted then plan.wanted[i] = like(matrix, landing) end
    end
    for i, tensor in ipairs(work.to_cpu) do plan.on_cpu[i] = like(tensor, landing) end
    for i, tensor in ipairs(work.to_gpu) do
        if not tensor.pinned then tensor:pin() end      -- in place: nothing is copied
        plan.on_gpu[i] = like(tensor)
    end
    return plan
end

function run(plan)
    local work = plan.work
    local steps = math.max(#work.matrices, #work.to_gpu, #work.to_cpu + work.wanted)
    for i = 1, steps do
        local matrix = work.matrices[i]
        if matrix then
            lab.matmul(matrix, matrix, { out = plan.squares[i], stream = compute })
        end
        if work.to_gpu[i] then
            plan.on_gpu[i]:copy_(work.to_gpu[i], { non_blocking = true, stream = up })
        end
        -- First the tensors that are there already; meanwhile the products come into being.
        local k = i - #work.to_cpu
        if k <= 0 then
            plan.on_cpu[i]:copy_(work.to_cpu[i], { non_blocking = true, stream = down })
        elseif k <= work.wanted then
            plan.wanted[k]:copy_(plan.squares[k], { non_blocking = true, stream = compute })
        end
    end
    return plan
end
