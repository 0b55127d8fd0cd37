-- Each job has a stream of its own, which are few, and all requests share one; of a job there are
-- thirty parts at most, and none shorter than 0.3 ms.

function start(jobs)
    local state = { done = {}, urgent = lab.stream{
        priority = lab.device().priority_range.greatest, non_blocking = true } }
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
    local s = state.urgent
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
