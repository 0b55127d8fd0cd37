-- What all tests of this lab need: jobs for the background, requests, a run of both that notes when
-- each request came, and what the GPU needs for each alone.

local common = {}

local threads <const>, cut_ms <const> = 1024, 0.02
local times <const> = 6         -- what a request takes alone: so long it may take
local function full() return 2 * lab.device().sm_count end      -- so many blocks of 1024 fit

-- What a test asks for it keeps to itself: the student gets the table `handed` of a job and of a
-- request, and nothing is read back from there.

-- A job: `elements` are uploaded, then a kernel runs on them that takes kernel_ms in all. With
-- `waves` its grid is that many times what fits on the GPU, and it cannot be cut; without, it is
-- one wave of long blocks and can be cut into `parts`, each of which then takes cut_ms more, as
-- real kernels do that become smaller. A last kernel adds the input to the result.
function common.job(o)
    local parts, waves = o.waves and 1 or o.parts or 100, o.waves or 1
    local job = { input = lab.empty(o.elements, { device = "cpu", pinned = true }),
                  on_gpu = lab.empty(o.elements), result = lab.zeros(o.elements) }
    job.input:fill_(1)
    if o.elements < 1000 then       -- where the values are looked at
        for i = 1, o.elements do job.input:set(i, i % 9) end
    end
    function job.run(part, of, stream)
        if of > parts or part < 1 or part > of then
            error(("job.run: part %d of %d: this job's kernel can be cut into %d parts at most")
                :format(part, of, parts), 2)
        end
        local part_ms = o.kernel_ms / of + (of > 1 and cut_ms or 0)
        lab.spin(part_ms / waves, { blocks = waves * full(), threads = threads, stream = stream })
        local input, result = job.on_gpu:chunk(of)[part], job.result:chunk(of)[part]
        if input then lab.add(result, input, { out = result, stream = stream }) end
    end
    job.handed = { input = job.input, on_gpu = job.on_gpu, run = job.run, parts = parts,
                   kernel_ms = o.kernel_ms }
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
    local r = { input = lab.full(value, elements, { device = "cpu", pinned = true }),
                on_gpu = lab.empty(elements), result = lab.empty(elements), value = value,
                output = lab.full(-1, elements, { device = "cpu", pinned = true }) }
    function r.run(stream) lab.mul(r.on_gpu, 3, { out = r.result, stream = stream }) end
    r.handed = { input = r.input, on_gpu = r.on_gpu, result = r.result, output = r.output,
                 run = r.run }
    return r
end

local function answer_alone(r)
    local stream = lab.default_stream()
    r.on_gpu:copy_(r.input, { non_blocking = true, stream = stream })
    r.run(stream)
    r.output:copy_(r.result, { non_blocking = true, stream = stream })
end

-- What a request takes from its call to its last byte while the GPU has nothing else to do.
function common.alone_us(elements)
    local r = common.request(elements, 1)
    answer_alone(r)                             -- warm-up: the first launch loads the kernel
    local spans = lab.profile(answer_alone, r):spans()
    return spans[#spans].end_us - spans[1].host_start_us
end

-- What the jobs take without requests and uncut: uploads in one stream, kernels in another.
function common.background_us(list)
    local uploads, kernels = lab.stream(), lab.stream()
    local function whole(jobs)
        for _, job in ipairs(jobs) do
            job.on_gpu:copy_(job.input, { non_blocking = true, stream = uploads })
            kernels:wait_stream(uploads)
            job.run(1, 1, kernels)
        end
    end
    return lab.profile(whole, common.jobs(list)).makespan_us
end

local function handed_of(list)
    local handed = {}
    for i, each in ipairs(list) do handed[i] = each.handed end
    return handed
end

-- Reads all results as soon as finish() has returned. There is no recording, the end of which would
-- wait for them, so the race checker says whether finish() did.
function common.read_at_once(t, student, list, requests)
    local jobs = common.jobs(list)
    lab.synchronize()
    local state = student.start(handed_of(jobs))
    for _, r in ipairs(requests) do student.answer(state, r.handed) end
    student.finish(state)
    for i, r in ipairs(requests) do
        t:is(r.output:get(1), 3.0 * r.value, ("the answer to request %d, read at once"):format(i))
    end
    -- A stream that no rule puts behind the submission's.
    lab.with(lab.stream{ non_blocking = true }, common.right, t, jobs)
end

-- Starts the jobs, lets request i come gaps_ms[i] after the one before, and finishes. The calls of
-- lab.host_work stand between the student's functions, which may not call it, and so tell in the
-- timeline's own time when each began and returned, and which operations are of which request.
function common.serve(student, jobs, requests, gaps_ms)
    answer_alone(common.request(16, 1))         -- warm-up: the first launch loads the kernel
    common.job{ elements = 16, kernel_ms = 0.01 }.run(1, 1, lab.default_stream())
    lab.synchronize()
    local tl = lab.profile(function()
        local state = student.start(handed_of(jobs))
        for i, r in ipairs(requests) do
            lab.host_work(math.max(gaps_ms[i], 0.001))
            student.answer(state, r.handed)
        end
        lab.host_work(0.001)
        student.finish(state)
        lab.host_work(0.001)
    end)
    local marks = {}
    for _, call in ipairs(tl:calls()) do
        if call.kind == "host_work" then marks[#marks + 1] = call end
    end
    for i, r in ipairs(requests) do
        r.called_us, r.returned_us = marks[i].host_end_us, marks[i + 1].host_start_us
        r.spans, r.answered_us = {}, nil        -- requests come again where a run is repeated
        for _, span in ipairs(tl:spans()) do
            if span.correlation > marks[i].correlation
                and span.correlation < marks[i + 1].correlation then
                r.spans[#r.spans + 1] = span
                if span.kind == "memcpy_d2h" then
                    r.answered_us = math.max(r.answered_us or 0, span.end_us)
                end
            end
        end
    end
    return { tl = tl, started_us = marks[1].host_start_us, first = marks[1].correlation,
             finished_us = marks[#marks].host_start_us }
end

local step <const> = { memcpy_h2d = "upload", kernel = "kernel", memcpy_d2h = "download" }

-- What ran between the two times where `span` runs, in words: how many, and the longest.
local function in_front(tl, span, from_us, to_us)
    local count, longest_us, longest = 0, 0, nil
    for _, other in ipairs(tl:spans()) do
        local us = math.min(other.end_us, to_us) - math.max(other.start_us, from_us)
        if other.kind == span.kind and other.correlation ~= span.correlation and us > 0 then
            count = count + 1
            if us > longest_us then longest_us, longest = us, other end
        end
    end
    if not longest then return "nothing else ran there: an event, or its stream, held it" end
    local what = longest.bytes > 0 and ("a copy of %.1f MiB"):format(longest.bytes / 2^20)
        or ("a kernel of %.2f ms"):format((longest.end_us - longest.start_us) / 1000)
    if not longest.where:find("^tests/") then what = what .. " of " .. longest.where end
    return ('%s in stream "%s"%s ran meanwhile'):format(what, longest.stream,
        count > 1 and (" and %d more"):format(count - 1) or "")
end

-- Which of a request's own steps waited longest, and for what.
local function longest_wait(tl, r)
    local longest_us, text = 0, ""
    local ready_us = r.called_us
    for _, span in ipairs(r.spans) do
        ready_us = math.max(ready_us, span.host_start_us)
        if span.start_us - ready_us > longest_us and step[span.kind] then
            longest_us = span.start_us - ready_us
            text = ("its %s waited %.2f ms: %s"):format(step[span.kind], longest_us / 1000,
                in_front(tl, span, ready_us, span.start_us))
        end
        ready_us = span.end_us
    end
    if r.returned_us - r.called_us > longest_us then
        text = ("`answer` returned after %.2f ms"):format((r.returned_us - r.called_us) / 1000)
    end
    return text
end

-- Until when that ran which was issued before the first request.
local function background_end_us(run)
    local until_us = 0
    for _, span in ipairs(run.tl:spans()) do
        if span.correlation < run.first then until_us = math.max(until_us, span.end_us) end
    end
    return until_us
end

-- Why the background was over when the last request came, as far as the calls say it.
local function why_over(run, requests, until_us)
    local held_us, which = 0, 1
    for i, r in ipairs(requests) do
        local us = r.returned_us - r.called_us
        if us > held_us then held_us, which = us, i end
    end
    for _, span in ipairs(run.tl:spans()) do
        if span.name == "spin" and span.correlation > run.first then
            return "All jobs are to be issued by start(), not by answer() or finish()."
        end
    end
    if run.started_us > until_us / 4 then
        return ("start() held the host for %.1f ms: it waited, or its pieces filled the launch "
            .. "queue. So the background was nearly over when the requests came.")
            :format(run.started_us / 1000)
    end
    return ("answer() held the host for %.1f ms with request %d: it waited, and so later requests "
        .. "came late. It is to issue the request and to return."):format(held_us / 1000, which)
end

-- Whether the background still ran when the last request came: if not there was nothing to wait
-- for, and short latencies say nothing. A real host may be too slow for that; then there is no
-- judging.
local function judged(t, run, requests)
    local last_us, until_us = requests[#requests].called_us, background_end_us(run)
    if until_us >= last_us then return true end
    if not run.tl.simulated then
        t:skip("the background was over before the last request came: this host is too slow")
        return false
    end
    t:ok(false, "the background still runs when the last request comes")
    t:diag(("What start() had issued was done after %.1f ms, the last request came after %.1f ms.")
        :format(until_us / 1000, last_us / 1000))
    t:diag(why_over(run, requests, until_us))
    return false
end

-- The longest time from a request to its answer, and whose that is; without an answer endless.
local function slowest(requests)
    local slowest_us, which = 0, 1
    for i, r in ipairs(requests) do
        local us = r.answered_us and r.answered_us - r.called_us or math.huge
        if us > slowest_us then slowest_us, which = us, i end
    end
    return slowest_us, which
end

-- No request waited longer than limit_us, and the background really ran then.
local function latency(t, run, requests, limit_us)
    if not judged(t, run, requests) then return end
    local slowest_us, which = slowest(requests)
    if slowest_us == math.huge then
        return t:ok(false, "answer() issues the download of request " .. which)
    end
    if not t:at_most(slowest_us // 10 / 100, limit_us // 10 / 100, "the slowest answer, in ms") then
        t:diag(("Request %d of %d is the slowest: %s.\nAsked: %d times what a request takes alone.")
            :format(which, #requests, longest_wait(run.tl, requests[which]), times))
        if run.tl.stream_count > 8 then
            t:diag(("%d streams were used, and CUDA has 8 hardware queues: what shares one with a "
                .. "job's stream waits for what was issued there "
                .. "before."):format(run.tl.stream_count))
        end
        t:diag((run.tl:text{ columns = 76 }:gsub("\n$", "")))
    end
end

-- All requests and jobs were done on the GPU, once each.
function common.complete(t, run, jobs, requests)
    t:span_count(run.tl, "memcpy_d2h", { exactly = #requests }, "one download for each request")
    t:span_count(run.tl, { name = "mul_scalar_f32" }, { exactly = #requests },
        "one kernel for each request")
    t:span_count(run.tl, { name = "spin" }, { at_least = #jobs }, "a kernel for each job, or more")
end

-- `finish` waited for all.
function common.finished(t, run)
    local end_us = 0
    for _, span in ipairs(run.tl:spans()) do end_us = math.max(end_us, span.end_us) end
    -- A hundredth, since the clocks of a real GPU and its host differ a little.
    if not t:ok(end_us <= run.finished_us + 0.01 * end_us,
        "when finish() returns all requests and jobs are done") then
        t:diag(("finish() returned after %.2f ms, the last operation ended after %.2f ms."):format(
            run.finished_us / 1000, end_us / 1000))
    end
end

-- Serves the requests beside the jobs, and looks at the time that both took: answers come soon, and
-- the whole takes within_percent more than the jobs alone.
function common.judge(t, student, list, requests, gaps_ms, within_percent)
    local jobs, background_us = common.jobs(list), common.background_us(list)
    local simulated = lab.device().backend == "sim"
    local limit_us = times * common.alone_us(requests[1].input:numel()) * (simulated and 1 or 2)
    local run
    for _ = 1, simulated and 1 or 3 do      -- a real host has its hiccups: the first good one of 3
        run = common.serve(student, jobs, requests, gaps_ms)
        if slowest(requests) <= limit_us then break end
    end
    latency(t, run, requests, limit_us)
    common.complete(t, run, jobs, requests)
    for i, r in ipairs(requests) do
        t:is(r.output:get(1), 3 * r.value, "the answer to request " .. i)
    end
    t:makespan(run.tl, { of_us = background_us, within_percent = within_percent,
        gpu_within_percent = 50 }, "the background is hardly slower")
    return run, background_us
end

return common
