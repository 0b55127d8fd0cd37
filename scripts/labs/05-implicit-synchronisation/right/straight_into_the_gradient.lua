-- The product goes straight into the gradient, so that nothing is set to zero; what the loop makes
-- is left to the garbage collector.

function train(batches, weights, gradients)
    local n, losses = weights:size(1), {}
    local uploads, work, downloads = lab.stream(), lab.stream(), lab.stream()
    local inputs, results, computed, stored = {}, {}, {}, {}
    for i, batch in ipairs(batches) do
        local k = i % 2 + 1
        inputs[k], results[k] = inputs[k] or lab.empty(n, n), results[k] or lab.empty(n, n)
        if computed[k] then uploads:wait_event(computed[k]) end
        inputs[k]:copy_(batch, { non_blocking = true, stream = uploads })
        work:wait_stream(uploads)
        if stored[k] then work:wait_event(stored[k]) end
        lab.with(work, function()
            local hidden = lab.matmul(inputs[k], weights)
            lab.matmul(hidden, weights, { out = results[k] })
            losses[i] = lab.sum(inputs[k]:narrow(1, 1, 1))
        end)
        computed[k] = work:record_event()
        downloads:wait_event(computed[k])
        gradients[i]:copy_(results[k], { non_blocking = true, stream = downloads })
        stored[k] = downloads:record_event()
    end
    lab.synchronize()
    for i, loss in ipairs(losses) do losses[i] = loss:item() end
    return losses
end
