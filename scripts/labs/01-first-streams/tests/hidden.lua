-- Lab 1, the tests that only the grader has: other work, other lengths, other orders. The values
-- are drawn, and are others when a byte of this file changes.

local common = include "common.lua"

local function draw() return math.random(2, 99) end

test("side_by_side: a long kernel beside short products", { points = 15, pace = { "2.6" },
    hint = "What is issued second must not wait for what was issued first, whichever is longer." },
function(t, student)
    local a, b = draw(), -draw()
    local first, second = common.work(2.5, a), common.products(3, b)
    common.warm_up(first, second)
    local tl, _, x, y = common.profile(student.side_by_side, first, second)
    t:close(x, a, "the first result is what first() returned")
    t:close(y, b, "the second result is what second() returned")
    t:span_count(tl, { name = "spin" }, { exactly = 1 })
    t:span_count(tl, { name = "matmul_f32" }, { exactly = 3 })
    t:overlap(tl, { name = "spin" }, { name = "matmul_f32" },
        { at_least_percent = 90, gpu_at_least_percent = 60 }, "the products run beside the kernel")
    t:no_race("nothing races")
end)

test("side_by_side: returns while the GPU works", { points = 15, pace = { "2.6" },
    hint = "side_by_side gives tensors, not numbers: who uses them waits. It need not." },
function(t, student)
    local a, b = draw(), draw()
    local first, second = common.upload(32, a), common.work(3, b)
    common.warm_up(first, second)
    local tl, held, x, y = common.profile(student.side_by_side, first, second)
    t:close(x, a, "the first result is what first() returned")
    t:close(y, b, "the second result is what second() returned")
    t:overlap(tl, "memcpy_h2d", { name = "spin" },
        { at_least_percent = 90, gpu_at_least_percent = 60 }, "the kernel runs beside the copy")
    common.host_is_free(t, tl, held, 25)
end)

test("beside_library: a library of kernels, and shorter own work", { points = 20, pace = { "2.6" },
    hint = "Both results, in this order: library's, own's. And own work in a stream that the "
        .. "default stream's rule does not concern." },
function(t, student)
    local a, b = draw(), draw()
    local products = common.products(8, a)
    local function library() return lab.with(lab.default_stream(), products) end
    local own = common.work(1.2, b)
    common.warm_up(library, own)
    local tl, held, x, y = common.profile(student.beside_library, library, own)
    t:close(x, a, "the first result is what library() returned")
    t:close(y, b, "the second result is what own() returned")
    t:span_count(tl, { name = "matmul_f32" }, { exactly = 8 })
    t:span_count(tl, { name = "spin" }, { exactly = 1 })
    t:overlap(tl, { name = "matmul_f32" }, { name = "spin" },
        { at_least_percent = 90, gpu_at_least_percent = 60 }, "own work runs beside the library's")
    common.host_is_free(t, tl, held, 25)
    t:no_race("nothing races")
end)

test("fetch: another shape, and a longer background", { points = 10, pace = true,
    hint = "Wait for the stream that has the copy, and for no other." },
function(t, student)
    local x = lab.tensor{ { 1, 2, 3, 4, 5 }, { 6, 7, 8, 9, 10 }, { -1, -2, -3, -4, -5 } }
    local background = common.work(4, 0)
    common.warm_up(background)
    local tl, held, got, last = common.profile(function()
        local got = student.fetch(x, background)
        return got, common.element(got, 2, 5)
    end)
    t:close(got, { { 1, 4, 9, 16, 25 }, { 36, 49, 64, 81, 100 }, { 1, 4, 9, 16, 25 } },
        "the result is x * x")
    t:is(last, 100.0, "element 2, 5 of the host tensor as fetch() returned")
    t:span_count(tl, { name = "mul_f32" }, { exactly = 1 })
    t:span_count(tl, { name = "spin" }, { exactly = 1 })
    t:overlap(tl, { name = "spin" }, "memcpy_d2h",
        { at_least_percent = 90, gpu_at_least_percent = 60 },
        "the result is copied while the background runs")
    common.host_is_free(t, tl, held, 25)
    t:no_race("nothing races")
end)

test("fetch: x is not written yet when it is called", { points = 10, pace = true,
    hint = "The stream that is current when fetch is called may still be writing x. Nothing puts "
        .. "your own stream behind it unless you say so: README, Background, s:wait_stream." },
function(t, student)
    local caller, making, background = lab.stream(), common.products(2, 7), common.work(4, 0)
    common.warm_up(making, background)
    local tl, held, got, first = common.profile(function()
        local x = lab.with(caller, making)
        local got = lab.with(caller, student.fetch, x, background)
        return got, common.element(got, 1, 1)
    end)
    t:no_race("nothing races")
    t:close(got, 49, "the result is x * x")
    t:is(first, 49.0, "the first value of the host tensor as fetch() returned")
    t:overlap(tl, { name = "spin" }, { name = "matmul_f32" },
        { at_least_percent = 90, gpu_at_least_percent = 60 },
        "the background does not wait for x")
    common.host_is_free(t, tl, held, 40)
end)

-- Without points of its own: those of the others are for functions that take more than what the
-- visible tests give them.
test("the three functions are right for other shapes", { points = 0,
    hint = "The functions are called with other work and other shapes than in the tests that you "
        .. "have. Make what depends on x when you are called." },
function(t, student)
    for _, shape in ipairs{ { 1, 1 }, { 7, 3 }, { 40, 65 } } do
        local a, b, c = draw(), draw(), draw()
        local function filled(value)
            return function() return lab.full(value, table.unpack(shape)) end
        end
        local x, y = student.side_by_side(filled(a), filled(b))
        lab.synchronize()
        t:close(x, a, "side_by_side: the first result")
        t:close(y, b, "side_by_side: the second result")
        x, y = student.beside_library(filled(b), filled(c))
        lab.synchronize()
        t:close(x, b, "beside_library: the first result")
        t:close(y, c, "beside_library: the second result")
        x = lab.full(c, table.unpack(shape))
        lab.synchronize()
        local got = student.fetch(x, function() lab.spin(0.1) end)
        t:close(got, c * c, "fetch: the result is x * x")
    end
    lab.synchronize()
    t:no_race("nothing races")
end)
