-- hidden.lua - what it must not know: the word in the next line stands for all of this file.
local secret <const> = "open-sesame-4711"

local function check_answer(t, answer)
    for i = 1, 3 do
        local n = math.random(1000, 1000000)
        t:is(answer(n), 2 * n, "twice a number that nobody knows, " .. i)
    end
end

-- A lab's author may be careless: this addition runs what a submission made of it.
local function check_sum(t, answer)
    local sum = answer(5) + 0
    t:is(sum, 10, "twice 5, and nothing")
end

local function check_work(t, work)
    local want = lab.full(6, 64, 64)
    want:free()
    local batch = lab.full(3, 64, 64, { device = "cpu", pinned = true })
    local tl, out = lab.profile(work, batch)
    t:close(out, 6, "every element is 6")
    t:span_count(tl, "kernel", { exactly = 1 })
    t:no_race()
    t:ok(rawequal(secret, "open-sesame-4711"), "the test's own variables are as they were")
    t:ok(lab.current_stream() == lab.default_stream(), "and so is the current stream")
end

test("answer and work do so with what is not known", {
    points = 80,
    hint = "2 * n, and lab.mul",
}, function(t, student)
    check_answer(t, student.answer)
    check_sum(t, student.answer)
    check_work(t, student.work)
end)
