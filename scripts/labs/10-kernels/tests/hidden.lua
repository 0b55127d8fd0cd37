-- The hidden tests: other sizes, another stream, longer lists.

local common = include "common.lua"

test("a row, a column, and sizes around a tile's", {
    points = 20,
    hint = "Where does a block lie that has only a part of a tile, and which of its threads have "
        .. "an element to read, which one to write? These are not the same threads.",
}, function(t, student)
    for i, size in ipairs{ { 1, 1 }, { 1, 2200 }, { 2100, 1 }, { 31, 33 }, { 33, 31 },
                           { 16, 129 }, { 65, 64 } } do
        common.transposed(t, student, size[1], size[2], math.random(1, 1000) + i)
    end
    common.all_transposed(t, student, 31, 65, 14)
end)

test("transpose is in order with the caller's stream, and waits for nothing", {
    points = 15, pace = true,
    hint = "The launch belongs into the current stream: the caller has enqueued there what writes "
        .. "x, and enqueues there what reads y. And transpose() does not wait.",
}, function(t, student)
    local rows, cols, y, twice = 5, 2200, nil, nil
    local host, stream = common.pinned(rows, cols, 5), lab.stream{ name = "caller" }
    student.transpose(common.matrix(rows, cols, 1))     -- the first launch loads the kernel
    lab.synchronize()
    local tl = lab.profile(function()
        lab.with(stream, function()
            local x = lab.empty(rows, cols)
            lab.spin(2)
            x:copy_(host, { non_blocking = true })
            y = student.transpose(x)
            twice = lab.add(y, y)
        end)
    end)
    t:host_block(tl, { at_most_percent = 5 }, "the host waits for nothing")
    lab.with(stream, function()
        if common.is_transpose(t, y, rows, cols, 5,
                               "the transpose of what the caller copied before") then
            common.is_transpose(t, twice, rows, cols, 5,
                                "twice of it, which the caller computes", 2)
        end
    end)
    common.has_tile(t, tl)
    lab.with(stream, common.all_transposed, t, student, 9, 40, 16)
    t:no_race("the transpose is in order with the caller's work")
end)

test("transpose_all keeps the pace for longer lists", {
    points = 20, pace = { "1.1" },
    hint = "tl:explain() says what an engine waited for. A buffer may be written again when its "
        .. "copy down is over; nothing else has to wait.",
}, function(t, student)
    common.all_transposed(t, student, 37, 41, 24)
    common.all_transposed(t, student, 2100, 3, 9)
    common.overlaps(t, common.profile(student, 1024, 3000, 24), 24, 20)
    common.overlaps(t, common.profile(student, 5000, 800, 9), 9, 30)
    t:no_race("no matrix is used while another stream writes it")
end)

test("transpose_all is right for any list", {
    points = 15,
    hint = "No matrix, one, two; narrow ones; and the same function called again.",
}, function(t, student)
    for _, case in ipairs{ { 3, 90, 0 }, { 45, 10, 1 }, { 1, 2177, 2 }, { 33, 34, 19 } } do
        common.all_transposed(t, student, case[1], case[2], case[3])
    end
    t:span_count(common.profile(student, 64, 96, 5), "kernel", { exactly = 5 },
        "each matrix is transposed by one launch")
    t:no_race("no matrix is used while another stream writes it")
end)
