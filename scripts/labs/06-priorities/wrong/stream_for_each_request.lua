-- fails: 2.1 2.2
-- A stream for each request: with seven of them some share a hardware queue with the jobs' streams,
-- and wait for all that is in it.

function start(jobs)
    local state = { done = {} }
    for i, job in ipairs(jobs) do
        local s = lab.stream{ priority = "low", non_blocking = true }
        lab.with(s, function() job.on_gpu:copy_(job.input, { non_blocking = true }) end)
        local of = math.min(job.parts, 30, math.max(1, job.kernel_ms // 0.3))
        for part = 1, math.floor(of) do job.run(part, math.floor(of), s) end
        state.done[i] = s:record_event()
    end
    return state
end

function answer(state, request)
    local s = lab.stream{ priority = lab.device().priority_range.greatest, non_blocking = true }
    lab.with(s, function()
        request.on_gpu:copy_(request.input, { non_blocking = true })
        request.run(s)
        request.output:copy_(request.result, { non_blocking = true })
    end)
    table.insert(state.done, s:record_event())
end

function finish(state)
    for _, event in ipairs(state.done) do event:synchronize() end
end
