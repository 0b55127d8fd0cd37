-- Lab 1, the tests that you have. `streamlab lab check` runs them.

local common = include "common.lua"

test("side_by_side: a copy runs beside ten products", { points = 10, pace = true,
    hint = "Each of the two needs a stream of its own, and neither may be the default stream "
        .. "unless the other one is non_blocking: work there waits for all other streams. Guide, "
        .. "chapter 1: from \"No overlap yet\" on." },
function(t, student)
    local first, second = common.products(10, 2), common.upload(64, 3)
    common.warm_up(first, second)
    local tl, _, x, y = common.profile(student.side_by_side, first, second)
    t:close(x, 2, "the first result is what first() returned")
    t:close(y, 3, "the second result is what second() returned")
    t:span_count(tl, { name = "matmul_f32" }, { exactly = 10 })
    t:span_count(tl, "memcpy_h2d", { exactly = 2 })
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 90, gpu_at_least_percent = 60 },
        "the copy runs while the products do")
    t:no_race("nothing races")
end)

test("beside_library: own work runs beside the default stream", { points = 10, pace = true,
    hint = "The library's work is in the NULL stream. A stream made by lab.stream() waits for it; "
        .. "which option exempts a stream? Guide, chapter 6: one forgotten launch." },
function(t, student)
    local copy = common.upload(80, 5)
    local function library() return lab.with(lab.default_stream(), copy) end
    local own = common.work(1.5, 4)
    common.warm_up(library, own)
    local tl, _, x, y = common.profile(student.beside_library, library, own)
    t:close(x, 5, "the first result is what library() returned")
    t:close(y, 4, "the second result is what own() returned")
    t:span_count(tl, "memcpy_h2d", { exactly = 2 })
    t:span_count(tl, { name = "spin" }, { exactly = 1 })
    t:overlap(tl, "memcpy_h2d", { name = "spin" },
        { at_least_percent = 90, gpu_at_least_percent = 60 }, "own work runs beside the library's")
    t:no_race("nothing races")
end)

test("fetch: the squares are there on return, the background still runs",
    { points = 10, pace = true,
    hint = "A copy with non_blocking = true returns before the values have arrived, so something "
        .. "has to wait: for which stream? lab.synchronize() waits for all of them, and "
        .. "s:synchronize() for s alone." },
function(t, student)
    local x, background = lab.full(3, 32, 32), common.work(2, 0)
    common.warm_up(background)
    local tl, held, got, at_return = common.profile(function()
        local got = student.fetch(x, background)
        return got, common.element(got, 32, 32)
    end)
    t:close(got, 9, "the result is x * x")
    t:is(at_return, 9.0, "the last value of the host tensor as fetch() returned")
    t:span_count(tl, { name = "mul_f32" }, { exactly = 1 })
    t:span_count(tl, { name = "spin" }, { exactly = 1 })
    t:overlap(tl, { name = "spin" }, "memcpy_d2h",
        { at_least_percent = 90, gpu_at_least_percent = 60 },
        "the result is copied while the background runs")
    common.host_is_free(t, tl, held, 50)
    t:no_race("nothing races")
end)
