-- What the tests of this lab have in common: models, what must come out, and how quickly it can.

local format = string.format
local common = {}

-- Of layer i on GPU k. Gradients are small whole numbers, which bfloat16 has.
local function value(i, k) return (3 * i + k) % 6 + 1 end

-- widths[1] is the error's; a layer has widths[i + 1] inputs and widths[i] outputs, powers of two.
-- With weights of 1 / outputs an error of ones stays one of ones. Without `values` nobody reads.
local function make_model(comm, batch, widths, values)
    local model = { gpus = {} }
    for k, device in ipairs(comm.devices) do
        local opts, layers = { device = device, dtype = lab.bfloat16 }, {}
        local function make(v, rows, columns)
            return values and lab.full(v, rows, columns, opts) or lab.empty(rows, columns, opts)
        end
        for i = 1, #widths - 1 do
            layers[i] = { input = make(value(i, k), widths[i + 1], batch),
                          weight = make(1 / widths[i], widths[i], widths[i + 1]) }
        end
        model.gpus[k] = { device = device, error = make(1, batch, widths[1]), layers = layers }
    end
    return model
end

function common.widths(count, n)
    local list = {}
    for i = 1, count + 1 do list[i] = n end
    return list
end

local function numel(layer) return layer.input:size(1) * layer.weight:size(1) end

-- ---- values -------------------------------------------------------------------------------

local function is_gradient(t, grad, k, i, model)
    local name, gpu = format("the gradient of layer %d on GPU %d", i, k - 1), model.gpus[k]
    if not t:is(type(grad), "userdata", name .. " is a tensor") then return false end
    local layer, home = gpu.layers[i], lab.empty(1, { device = gpu.device })
    return t:is(grad.device, home.device, "where " .. name .. " is")
        and t:is(format("%s x %s", grad:size()), format("%d x %d", layer.input:size(1),
                 layer.weight:size(1)), "the size of " .. name)
end

-- Says what a wrong gradient is, if it is something that is easily made.
local function say_wrong(t, grad, k, i, batch, count)
    local is, own, sum = grad:get(1, 1), batch * value(i, k), 0
    for each = 1, count do sum = sum + batch * value(i, each) end
    if is == sum then return end
    if is == own then
        t:diag("It is the gradient of this GPU alone: was the layer's bucket summed, and waited "
            .. "for?")
    elseif is == 0 then
        t:diag("It is 0: did the matmul write into the bucket?")
    end
end

-- That grads are the sums of a model that was made with values, `factor` times.
local function are_sums(t, grads, model, batch, factor)
    local count = #model.gpus
    if not (t:is(type(grads), "table", "backward() gives a list")
            and t:is(#grads, count, "it has a list for each GPU")) then return end
    for k, gpu in ipairs(model.gpus) do
        if not (t:is(type(grads[k]), "table", format("grads[%d] is a list", k))
                and t:is(#grads[k], #gpu.layers, "it has a tensor for each layer")) then return end
        for i in ipairs(gpu.layers) do
            local sum = 0
            for each = 1, count do sum = sum + batch * value(i, each) end
            if not is_gradient(t, grads[k][i], k, i, model) then return end
            if not t:close(grads[k][i], factor * sum, { rtol = 0, atol = 0 },
                           format("the sum of layer %d on GPU %d", i, k - 1)) then
                say_wrong(t, grads[k][i], k, i, batch, count)
                return
            end
        end
    end
end

-- What the second pass of a model gives.
function common.right(t, student, comm, widths)
    local batch <const> = 8
    local model = make_model(comm, batch, widths, true)
    local plan = student.prepare(model, comm)
    student.backward(plan)
    are_sums(t, student.backward(plan), model, batch, 1)
    t:no_race("no gradient is read while another stream writes it")
end

-- A pass between work of the caller's, which is in streams of its own and late on one GPU.
function common.in_order(t, student, comm, widths)
    local batch <const>, own = 8, {}
    local model = make_model(comm, batch, widths, true)
    local plan = student.prepare(model, comm)
    student.backward(plan)                              -- the first launches load the kernels
    for k, device in ipairs(comm.devices) do
        own[k] = lab.stream{ device = device, name = "caller " .. k - 1 }
    end
    for k = #own, 1, -1 do lab.use(own[k]) end
    local grads
    local tl = lab.profile(function()
        lab.spin(3, { stream = own[#own] })
        for k, gpu in ipairs(model.gpus) do gpu.error:fill_(2, { stream = own[k] }) end
        grads = student.backward(plan)
        for k = 1, #own do
            for _, grad in ipairs(grads[k]) do
                lab.mul(grad, 0.25, { out = grad, stream = own[k] })
            end
        end
    end)
    t:host_block(tl, { at_most_percent = 5 }, "the host waits for nothing")
    are_sums(t, grads, model, batch, 0.5)
    t:no_race("the pass is in order with the caller's work")
end

-- ---- times --------------------------------------------------------------------------------

local function quickest(f, ...)
    local best
    f(...)                                              -- the first launches load the kernels
    for _ = 1, lab.device().simulated and 1 or 3 do
        collectgarbage()
        local tl = lab.profile(f, ...)
        if not best or tl.makespan_us < best.makespan_us then best = tl end
    end
    return best
end

-- A pass with buckets that are full from `enough` bytes on, or without sums.
local function pass(comm, model, buckets, enough)
    local errors, works, first, bytes = {}, {}, 1, 0
    for k, gpu in ipairs(model.gpus) do errors[k] = gpu.error end
    local layers <const> = model.gpus[1].layers
    for i = 1, #layers do
        for k, gpu in ipairs(model.gpus) do
            local from = 1
            for each = 1, i - 1 do from = from + numel(layers[each]) end
            local layer = gpu.layers[i]
            lab.matmul(layer.input, errors[k], { out = buckets[k]:narrow(1, from, numel(layer))
                :view(layer.input:size(1), layer.weight:size(1)) })
            errors[k] = lab.matmul(errors[k], layer.weight)
        end
        bytes = bytes + 2 * numel(layers[i])
        if enough and (bytes >= enough or i == #layers) then
            local parts, from = {}, 1
            for each = 1, first - 1 do from = from + numel(layers[each]) end
            for k = 1, #buckets do parts[k] = buckets[k]:narrow(1, from, bytes // 2) end
            works[#works + 1] = comm:all_reduce(parts, { async = true })
            first, bytes = i + 1, 0
        end
    end
    for _, work in ipairs(works) do work:wait() end
end

local function total(model)
    local count = 0
    for _, layer in ipairs(model.gpus[1].layers) do count = count + numel(layer) end
    return count
end

-- What is reached with the best of some bucket sizes.
local function best_us(comm, model)
    local buckets, best = {}, math.huge
    for k, device in ipairs(comm.devices) do
        buckets[k] = lab.empty(total(model), { device = device, dtype = lab.bfloat16 })
    end
    for _, mib in ipairs{ 0, 4, 8, 16, 24, 32, 64, 128, 4096 } do
        best = math.min(best, quickest(pass, comm, model, buckets, mib << 20).makespan_us)
    end
    return best
end

local function is_sum(span) return span.kind == "collective" end

-- What a timeline has on the first GPU: matmuls, and the bytes that were summed.
local function count(tl)
    local matmuls, bytes = 0, 0
    for _, span in ipairs(tl:spans()) do
        if span.device == 0 and is_sum(span) then
            bytes = bytes + span.bytes
        elseif span.device == 0 and span.kind == "kernel" then
            matmuls = matmuls + 1
        end
    end
    return matmuls, bytes
end

-- What the caller does behind a pass: it reads each gradient, in the current streams.
local function read_all(comm, grads)
    for k, device in ipairs(comm.devices) do
        device:make_current()
        for _, grad in ipairs(type(grads) == "table" and type(grads[k]) == "table" and grads[k]
                or {}) do
            lab.mul(grad:narrow(1, 1, 1), 2)
        end
    end
    comm.devices[1]:make_current()
    lab.synchronize()
end

local function pace_of(t, student, comm, batch, widths)
    local model = make_model(comm, batch, widths)
    local plan = student.prepare(model, comm)
    local tl = quickest(student.backward, plan)
    local matmuls, bytes = count(tl)
    read_all(comm, student.backward(plan))
    t:at_least(matmuls, 2 * #widths - 3, "matmuls on the first GPU, two for a layer")
    t:at_least(bytes, 2 * total(model), "bytes that it sums with the other GPU")
    t:host_block(tl, { at_most_percent = 12 }, "the host waits for nothing")
    t:makespan(tl, { of_us = best_us(comm, model), within_percent = 5, gpu_within_percent = 20 },
        format("%d layers, %d MiB of gradients, a batch of %d: as with the best bucket size",
               #widths - 1, 2 * total(model) >> 20, batch))
end

-- Passes of large models, whose values nobody looks at: what they have to do, and how long they
-- take compared with the best bucket size of each. cases: a list of {batch =, widths =}.
function common.pace(t, student, comm, cases)
    for _, case in ipairs(cases) do
        pace_of(t, student, comm, case.batch, case.widths)
        collectgarbage()
    end
end

function common.overlaps(t, student, comm, batch, widths, percent)
    local plan = student.prepare(make_model(comm, batch, widths), comm)
    local tl = quickest(student.backward, plan)
    read_all(comm, student.backward(plan))
    t:overlap(tl, { kind = "collective", device = 0 }, { kind = "kernel", device = 0 },
        { at_least_percent = percent, gpu_at_least_percent = percent },
        "matmuls run beside the all-reduces of the first GPU")
end

return common
