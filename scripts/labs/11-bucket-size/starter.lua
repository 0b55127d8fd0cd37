-- Lab 11, Find the bucket size: what you start from. It is right, and while gradients are summed
-- the matmuls wait.
--
--   streamlab submission.lua   runs the example at the end of this file
--   streamlab lab check        runs the visible tests

-- Gets ready for backward passes of a model; its time does not count. comm connects the GPUs.
-- model.gpus has for each GPU, by rank,
--   device      the GPU
--   error       what the backward pass begins with: batch x width, bfloat16
--   layers      in the order in which the backward pass gets to them, each {input =, weight =}:
--   input
--               is `in` x batch, weight `out` x `in`
-- Returns whatever backward() needs.
function prepare(model, comm)
    local plan = { model = model, comm = comm, grads = {} }
    for k, gpu in ipairs(model.gpus) do
        plan.grads[k] = {}
        for i, layer in ipairs(gpu.layers) do
            plan.grads[k][i] = lab.empty(layer.input:size(1), layer.weight:size(1),
                                         { device = gpu.device, dtype = lab.bfloat16 })
        end
    end
    return plan
end

-- A backward pass; this is what is timed, and it may be called several times with the same plan.
-- Enqueues everything and waits for nothing. Returns grads: grads[k][i], a tensor of `in` x `out`
-- on GPU k, is the sum over all GPUs of the gradients of layer i. What the caller enqueues next in
-- a GPU's current stream may use it.
function backward(plan)
    local errors = {}
    for k, gpu in ipairs(plan.model.gpus) do errors[k] = gpu.error end
    for i = 1, #plan.model.gpus[1].layers do
        local grads = {}
        for k, gpu in ipairs(plan.model.gpus) do
            local layer = gpu.layers[i]
            grads[k] = lab.matmul(layer.input, errors[k], { out = plan.grads[k][i] })
            errors[k] = lab.matmul(errors[k], layer.weight)
        end
        plan.comm:all_reduce(grads)
    end
    return plan.grads
end

-- The example. Not run when the file is graded.
if arg then
    local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
    local comm = lab.comm{ devices = gpus }
    local n <const>, batch <const>, model = 2048, 8192, { gpus = {} }
    for k, gpu in ipairs(gpus) do
        local opts, layers = { device = gpu, dtype = lab.bfloat16 }, {}
        for i = 1, 24 do
            layers[i] = { input = lab.full(k, n, batch, opts),
                          weight = lab.full(1 / n, n, n, opts) }
        end
        model.gpus[k] = { device = gpu, error = lab.ones(batch, n, opts), layers = layers }
    end

    local plan = prepare(model, comm)
    backward(plan)                                      -- warm-up: the first launch loads kernels
    lab.check("warn")                                   -- the race checker reports on stderr
    local tl = lab.profile(backward, plan)
    tl:show()
    local matmul_us, sum_us = 0, 0
    for _, span in ipairs(tl:spans()) do
        local us = span.end_us - span.start_us
        if span.device > 0 then us = 0 end              -- the GPUs do the same
        if span.name:find("nccl") then sum_us = sum_us + us else matmul_us = matmul_us + us end
    end
    print(("%.0f us: on a GPU %.0f us of matmuls, %.0f us of all-reduces"):format(tl.makespan_us,
        matmul_us, sum_us))
    print(#lab.races() == 0 and "Nothing races." or "Something races: see the reports.")
end
