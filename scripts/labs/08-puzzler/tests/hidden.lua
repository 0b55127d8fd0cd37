-- The hidden tests: the same work in other proportions and sizes. In each every list is longer than
-- in any visible test.

local common = include "common.lua"

test("three engines with the same to do", {
    points = 20, pace = { "1.1", "2.4" },
    hint = "Each engine is busy for nearly all of the time that is allowed, so none may begin "
        .. "late. To issue a call takes the host some microseconds: 290 matmuls before the "
        .. "first copy are 2 ms. Issue the three kinds alternately.",
}, function(t, student)
    local spec = { matmuls = 290, wanted = 66, to_cpu = 151, to_gpu = 216 }
    local tl = common.profile(student, 896, spec)
    common.all_of_it(t, 896, spec, tl)
    -- Copies in both directions share the host's memory, and each takes a little longer than alone.
    common.quick(t, 896, spec, tl, 15)
end)

test("most of the copies to the CPU are of products", {
    points = 20, pace = { "1.1", "2.4" },
    hint = "One wait for all of the matmuls keeps the first product back until the last one is "
        .. "done. An event for each product lets its copy begin when it is ready.",
}, function(t, student)
    local spec = { matmuls = 270, wanted = 133, to_cpu = 62, to_gpu = 84 }
    local tl = common.profile(student, 960, spec)
    common.all_of_it(t, 960, spec, tl)
    t:no_race("each copy of a product comes after it")
    common.quick(t, 960, spec, tl, 20)
end)

test("quick matmuls, and many copies to the GPU", {
    points = 15, pace = { "1.1", "2.4" },
    hint = "The copies to the GPU are the bound now. Is their memory pinned, and was it before "
        .. "run() began? And do they begin at once, or when all matmuls are issued?",
}, function(t, student)
    local spec = { matmuls = 204, wanted = 64, to_cpu = 66, to_gpu = 300 }
    local tl = common.profile(student, 640, spec)
    common.all_of_it(t, 640, spec, tl)
    common.quick(t, 640, spec, tl, 10)
end)

test("empty lists, and other sizes", {
    points = 15,
    hint = "Lists may be empty, and wanted may be 0 or as many as there are matrices. What "
        .. "run() returns must be what this run made.",
}, function(t, student)
    for _, spec in ipairs{ { matmuls = 205, wanted = 65, to_cpu = 72, to_gpu = 75 },
                           { matmuls = 7, wanted = 7, to_cpu = 0, to_gpu = 0 },
                           { matmuls = 0, wanted = 0, to_cpu = 3, to_gpu = 2 },
                           { matmuls = 2, wanted = 0, to_cpu = 0, to_gpu = 9 } } do
        local tl, done = common.profile(student, 16, spec)
        common.all_of_it(t, 16, spec, tl)
        common.right(t, 16, spec, done)
        if spec.matmuls > 100 then
            t:stream_count(tl, { at_least = 3 }, "one stream for each engine, or more")
        end
    end
    t:no_race("each copy of a product comes after it")
end)
