-- Uploads are cut as well, into pieces that wait for one another in two streams alternately, and a
-- part of the kernel begins when its own elements are there: README, "Large uploads".

local piece_ms <const>, piece_bytes <const> = 0.4, 8 << 20

function start(jobs)
    local this, other = lab.stream{ name = "uploads 1" }, lab.stream{ name = "uploads 2" }
    local kernels = lab.stream{ name = "kernels", priority = "low" }
    local piece = piece_bytes // 4                      -- elements of a piece
    for _, job in ipairs(jobs) do
        local size, uploaded = job.input:numel(), 0
        local of = math.max(1, math.min(job.parts, math.ceil(job.kernel_ms / piece_ms)))
        for part = 1, of do
            local needed = math.min(size, part * math.ceil(size / of))
            while uploaded < needed do                  -- no more than this part needs
                local count = math.min(piece, size - uploaded)
                this:wait_stream(other)
                job.on_gpu:narrow(1, uploaded + 1, count):copy_(
                    job.input:narrow(1, uploaded + 1, count),
                    { non_blocking = true, stream = this })
                kernels:wait_stream(this)
                uploaded, this, other = uploaded + count, other, this
            end
            job.run(part, of, kernels)
        end
    end
    return { urgent = lab.stream{ name = "urgent", priority = "high" } }
end

function answer(state, request)
    local stream = state.urgent
    request.on_gpu:copy_(request.input, { non_blocking = true, stream = stream })
    request.run(stream)
    request.output:copy_(request.result, { non_blocking = true, stream = stream })
end

function finish(state)
    lab.synchronize()
end
