-- What all tests of this lab need: jobs for the background, requests, a run of both that notes when
-- each request came, and what the GPU needs for each alone.

local common = {}

local threads <const> = 1024
local function full() return 2 * lab.device().sm_count end      -- so many blocks of 1024 fit

-- What a test asks for it keeps to itself: the student gets the table `handed` of a job and of a
-- request, and nothing is read back from there.

-- A job: `elements` are uploaded, then a kernel runs on them that takes kernel_ms in all. With
-- `waves` its grid is that many times what fits on the GPU, and it cannot be cut; without, it is
-- one wave of long blocks and can be cut into `parts`. A last kernel adds the input to the result.
function common.job(o)
    local parts, waves = o.waves and 1 or o.parts or 400, o.waves or 1
    local job = {input = lab.empty(o.elements, {device = "cpu", pinned = true}),
                 on_gpu = lab.empty(o.elements), result = lab.zeros(o.elements)}
    job.input:fill_(1)
    if o.elements < 1000 then       -- where the values are looked at
        for i = 1, o.elements do job.input:set(i, i % 9) end
    end
    function job.run(part, of, stream)
        if of > parts or part < 1 or part > of then
            error(("job.run: part %d of %d: this job's kernel can be cut into %d parts at most")
                :format(part, of, parts), 2)
        end
        lab.spin(o.kernel_ms / of / waves, {blocks = waves * full(), threads = threads,
                 stream = stream})
        local input, result = job.on_gpu:chunk(of)[part], job.result:chunk(of)[part]
        if input then lab.add(result, input, {out = result, stream = stream}) end
    end
    job.handed = {input = job.input, on_gpu = job.on_gpu, run = job.run, parts = parts,
                  kernel_ms = o.kernel_ms}
    return job
end

function common.jobs(list)
    local jobs = {}
    for i, o in ipairs(list) do jobs[i] = common.job(o) end
    return jobs
end

-- Each element of a job came to its result once.
function common.right(t, jobs)
    for n, job in ipairs(jobs) do
        local want = {}
        for i = 1, job.result:numel() do want[i] = i % 9 end
        t:close(job.result, want, "the result of job " .. n)
    end
end

-- A request: an upload, one small kernel, a download. Its answer is 3 times its input.
function common.request(elements, value)
    local r = {input = lab.full(value, elements, {device = "cpu", pinned = true}),
               on_gpu = lab.empty(elements), result = lab.empty(elements), value = value,
               output = lab.full(-1, elements, {device = "cpu", pinned = true})}
    function r.run(stream) lab.mul(r.on_gpu, 3, {out = r.result, stream = stream}) end
    r.handed = {input = r.input, on_gpu = r.on_gpu, result = r.result, output = r.output,
                run = r.run}
    return r
end

local function answer_alone(r)
    local stream = lab.default_stream()
    r.on_gpu:copy_(r.input, {non_blocking = true, stream = stream})
    r.run(stream)
    r.output:copy_(r.result, {non_blocking = true, stream = stream})
end

-- What a request takes from its call to its last byte while the GPU has nothing else to do.
function common.alone_us(elements)
    local r = common.request(elements, 1)
    answer_alone(r)                             -- the first time is different
    local spans = lab.profile(answer_alone, r):spans()
    return spans[#spans].end_us - spans[1].host_start_us
end

-- What the jobs take without requests and uncut: uploads in one stream, kernels in another.
function common.background_us(list)
    local uploads, kernels = lab.stream(), lab.stream()
    local function whole(jobs)
        for _, job in ipairs(jobs) do
            job.on_gpu:copy_(job.input, {non_blocking = true, stream = uploads})
            kernels:wait_stream(uploads)
            job.run(1, 1, kernels)
        end
    end
    return lab.profile(whole, common.jobs(list)).makespan_us
end

-- Starts the jobs, lets request i come gaps_ms[i] after the one before, and finishes. Gives the
-- timeline; each request then has called_us and answered_us, in its times (nil: not downloaded).
function common.serve(student, jobs, requests, gaps_ms)
    answer_alone(common.request(16, 1))         -- the first launch of a kernel is different
    common.job{elements = 16, kernel_ms = 0.01}.run(1, 1, lab.default_stream())
    lab.synchronize()
    local run, handed = {}, {}
    for i, job in ipairs(jobs) do handed[i] = job.handed end
    run.tl = lab.profile(function()
        local began_us = lab.now_us()
        local state = student.start(handed)
        run.started_us = lab.now_us() - began_us
        for i, r in ipairs(requests) do
            lab.host_work(gaps_ms[i])
            r.called_us = lab.now_us() - began_us
            student.answer(state, r.handed)
            r.returned_us = lab.now_us() - began_us
        end
        student.finish(state)
        run.idle = true
        for _, r in ipairs(requests) do run.idle = run.idle and r.output:get(1) == 3 * r.value end
    end)
    for _, span in ipairs(run.tl:spans()) do
        for _, r in ipairs(requests) do
            if span.kind == "memcpy_d2h" and span.host_start_us >= r.called_us
                and span.host_start_us <= r.returned_us then
                r.answered_us = math.max(r.answered_us or 0, span.end_us)
            end
        end
    end
    return run
end

-- No news: that an operation waits for the one before it, or came when the host issued it.
local expected <const> = {stream_order = true, latency = true, host_work = true,
                          host_issuing = true}

-- What the longest wait of a request was for, in words.
local function longest_wait(tl, r)
    local mine, longest_us, why = {}, 0, ""
    for _, span in ipairs(tl:spans()) do
        mine[span.correlation] = span.host_start_us >= r.called_us
            and span.host_start_us <= r.returned_us
    end
    for _, finding in ipairs(tl:causes{waits = true}) do
        for _, wait in ipairs(finding.waits) do
            local wait_us = wait.to_us - wait.from_us
            if mine[wait.waiter] and not expected[finding.cause] and wait_us > longest_us then
                longest_us, why = wait_us, finding.sentence
            end
        end
    end
    return why
end

-- No request waited longer than `times` what it takes alone, and the background really ran then.
function common.latency(t, run, requests, times)
    local limit_us = times * common.alone_us(requests[1].input:numel())
    if not run.tl.simulated then limit_us = 2 * limit_us end
    local until_us = 0      -- so long runs what was issued before the first request
    for _, span in ipairs(run.tl:spans()) do
        if span.host_start_us < requests[1].called_us then
            until_us = math.max(until_us, span.end_us)
        end
    end
    local last_us = requests[#requests].called_us
    t:at_least(until_us // 1, last_us // 1, ("us until the background is done: until the last "
        .. "request comes. `start` returned after %.1f ms"):format(run.started_us / 1000))
    local slowest_us, which = 0, 0
    for i, r in ipairs(requests) do
        if not r.answered_us then
            t:ok(false, "`answer` issues the download of request " .. i)
        elseif r.answered_us - r.called_us > slowest_us then
            slowest_us, which = r.answered_us - r.called_us, i
        end
    end
    local name = ("us until request %d of %d, the slowest, is answered: at most %d times what it "
        .. "takes alone"):format(which, #requests, times)
    if slowest_us > limit_us then name = name .. ". " .. longest_wait(run.tl, requests[which]) end
    t:at_most(slowest_us // 1, limit_us // 1, name)
end

-- All requests and jobs were done on the GPU, once each.
function common.complete(t, run, jobs, requests)
    t:span_count(run.tl, "memcpy_d2h", {exactly = #requests}, "one download for each request")
    t:span_count(run.tl, {name = "mul_scalar_f32"}, {exactly = #requests},
        "one kernel for each request")
    t:span_count(run.tl, {name = "spin"}, {at_least = #jobs}, "a kernel for each job, or more")
    t:ok(run.idle, "when `finish` returns the answers are there")
end

return common
