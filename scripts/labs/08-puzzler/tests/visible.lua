-- The visible tests.

local common = include "common.lua"

test("everything arrives where it belongs", {
    points = 5,
    hint = "The lists and their places are in the comment above run(). A copy that does not "
        .. "block returns before its values are there, and reads its source later than that.",
}, function(t, student)
    local spec = { matmuls = 12, wanted = 5, to_cpu = 4, to_gpu = 6 }
    local tl, done = common.profile(student, 8, spec)
    common.all_of_it(t, 8, spec, tl)
    common.right(t, 8, spec, done)
end)

test("the copies of products wait for them, and the host for nothing", {
    points = 5, pace = { "1.1" },
    hint = "A copy in one stream knows nothing of a matmul in another one. An event, recorded "
        .. "behind the matmul, orders the two on the GPU; a call that waits on the host orders "
        .. "them as well, and stops everything else. What holds the host? tl:explain() says so. "
        .. "Each tensor that is copied needs a pinned buffer of its own, made in prepare(). "
        .. "Guide, chapters Events and Pinned memory.",
}, function(t, student)
    local spec = { matmuls = 60, wanted = 30, to_cpu = 10, to_gpu = 20 }
    local tl = common.profile(student, 1024, spec)
    common.all_of_it(t, 1024, spec, tl)
    t:no_race("each copy of a product comes after it")
    t:host_block(tl, { at_most_percent = 4, gpu_at_most_percent = 30 },
        "no call holds the host for long")
end)

test("kernels and copies of both directions run at the same time", {
    points = 10, pace = { "1.1" },
    hint = "Three engines take three streams, and copies that do not go by pageable memory: the "
        .. "host takes part in those. Pinned memory takes long to get, so get it in prepare(). "
        .. "Guide, chapters Pinned memory and Implicit synchronisation.",
}, function(t, student)
    local spec = { matmuls = 150, wanted = 10, to_cpu = 60, to_gpu = 70 }
    local tl = common.profile(student, 1024, spec)
    common.all_of_it(t, 1024, spec, tl)
    t:stream_count(tl, { at_least = 3 }, "one stream for each engine, or more")
    local fine = t:overlap(tl, "memcpy_d2h", "kernel",
        { at_least_percent = 80, gpu_at_least_percent = 60 }, "copies to the CPU beside matmuls")
    fine = t:overlap(tl, "memcpy_h2d", "kernel",
        { at_least_percent = 80, gpu_at_least_percent = 60 }, "copies to the GPU beside matmuls")
        and fine
    fine = t:overlap(tl, "memcpy_d2h", "memcpy_h2d",
        { at_least_percent = 80, gpu_at_least_percent = 50 },
        "copies to the CPU beside copies to the GPU") and fine
    if not fine then common.say_host(t, tl) end
end)

test("the puzzler: 8 % above the matmuls", {
    points = 10, pace = { "1.1" },
    hint = "The matmuls alone take nearly all of the time that is allowed, so nothing may stand "
        .. "in front of them, and nothing may be left when they are done. In which order do you "
        .. "issue the work? The copies of the products can begin with the first product.",
}, function(t, student)
    local spec = { matmuls = 200, wanted = 60, to_cpu = 40, to_gpu = 60 }
    local tl = common.profile(student, 1024, spec)
    common.all_of_it(t, 1024, spec, tl)
    t:no_race("each copy of a product comes after it")
    common.quick(t, 1024, spec, tl, 8)
end)
