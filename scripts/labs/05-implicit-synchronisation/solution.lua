-- The three waits were: cudaMemset, which is work of the NULL stream whatever stream is current;
-- a number read in each round; and cudaFree, which waits until the GPU has nothing to do.
-- Without the two calls of free() it is right as well: the garbage collector frees in the stream's
-- order, too, only later.

function train(batches, weights, gradients)
    local n = weights:size(1)
    local uploads, work = lab.stream{ name = "uploads" }, lab.stream{ name = "work" }
    local downloads = lab.stream{ name = "downloads" }
    local slots, losses = {}, {}
    for i = 1, 2 do             -- two of each, so that a batch can come while another is worked on
        slots[i] = { input = lab.empty(n, n), gradient = lab.empty(n, n),
                     uploaded = lab.event(), computed = lab.event(), downloaded = lab.event() }
    end

    lab.with(work, function()   -- kernels that name no stream go to `work`
        for i, batch in ipairs(batches) do
            local slot = slots[(i - 1) % 2 + 1]

            uploads:wait_event(slot.computed)           -- whose input is overwritten now
            slot.input:copy_(batch, { non_blocking = true, stream = uploads })
            slot.uploaded:record(uploads)

            work:wait_event(slot.uploaded)
            work:wait_event(slot.downloaded)            -- whose gradient is overwritten now
            slot.gradient:zero_()                       -- cudaMemsetAsync in `work`
            local hidden = lab.matmul(slot.input, weights)
            local product = lab.matmul(hidden, weights)
            lab.add(slot.gradient, product, { out = slot.gradient })
            losses[i] = lab.sum(slot.input:narrow(1, 1, 1))
            slot.computed:record(work)

            hidden:free()                               -- in the stream's order
            product:free()

            downloads:wait_event(slot.computed)
            gradients[i]:copy_(slot.gradient, { non_blocking = true, stream = downloads })
            slot.downloaded:record(downloads)
        end
        -- All is issued; from here on it costs nothing to wait.
        for i, loss in ipairs(losses) do losses[i] = loss:item() end
    end)
    downloads:synchronize()
    return losses
end
