-- changed.lua - changes of a lab's solution that make it worth little: what is narrowed to the
-- visible tests, and what races. By lab and name a list of texts of the solution, each with what is
-- put in its place.

local changed = { narrowed = {}, racing = {} }

changed.narrowed["07-racy-pipeline"] = {
    eight_batches = { "for i = 1, #job.input do", "for i = 1, math.min(8, #job.input) do" },
    two_slots = { "% #job.x", "% 2" },
    two_slots_at_most = { "% #job.x", "% math.min(2, #job.x)" },
}
changed.racing["07-racy-pipeline"] = {
    x_is_free = { "if x_read[k] then up:wait_event(x_read[k]) end", "" },
    z_is_free = { "if z_read[k] then second:wait_event(z_read[k]) end", "" },
    y_is_full = { "        second:wait_event(x_read[k])\n", "" },
    output_is_there = { "down:synchronize() ", "-- " },
    eight_batches = { "if y_read[k] then", "if y_read[k] and i < 9 then" },
}

local steps <const> = "math.max(#work.matrices, #work.to_gpu, #work.to_cpu + work.wanted)"
changed.narrowed["08-puzzler"] = {
    steps = { steps, "200" },
    steps_by_list = { steps, "({ [12] = 12, [60] = 60, [150] = 150, [200] = 200 })[#work.matrices] "
        .. "or 0" },
    sizes = { "local rows, columns = tensor:size()\n",
              "local rows, columns = tensor:size()\n    if rows ~= 8 then rows, columns = 1024, "
                  .. "1024 end\n" },
    matmuls = { "if matrix then", "if matrix and i <= 200 then" },
    uploads = { "if work.to_gpu[i] then", "if i <= 70 and work.to_gpu[i] then" },
    downloads = { "if k <= 0 then", "if k <= 0 and i <= 60 then" },
    products = { "elseif k <= work.wanted then", "elseif k <= math.min(60, work.wanted) then" },
}
changed.racing["08-puzzler"] = {
    some_events = { "down:wait_event(squared[k])",
                    "if k < 20 then down:wait_event(squared[k]) end" },
    one_landing = { "plan.wanted[k]:copy_(", "plan.wanted[1]:copy_(" },
    other_stream = { "compute:record_event()", "up:record_event()" },
}

changed.narrowed["09-graphs"] = {
    heads = { "local heads = plan.model.heads",
              "local heads = { plan.model.heads[1], plan.model.heads[2] }",
              "for i = 2, #model.heads do sides", "for i = 2, math.max(2, #model.heads) do sides" },
    pixels = { "    plan.pixels, plan.score",
               "    n = n > 64 and 4096 or 64\n    plan.pixels, plan.score" },
    frames = { "    for i, frame in ipairs(frames) do\n",
               "    for i = 1, math.min(20, #frames) do\n        local frame = frames[i]\n" },
    most = { "for i = 1, most do", "for i = 1, math.min(20, most) do" },
}
changed.racing["09-graphs"] = {
    no_wait_at_the_end = { "    main:synchronize() ", "    -- " },
    model = { "    main:wait_event(plan.model.loaded) ", "    -- " },
    results_beside = { "plan.results[i]:copy_(plan.result, asynchronously)",
                       "plan.results[i]:copy_(plan.result, { non_blocking = true, stream = "
                           .. "plan.down })",
                       "local plan, sides = {", "local plan, sides = { down = lab.stream(), ",
                       "    main:synchronize() ",
                       "    plan.down:synchronize() main:synchronize() " },
}

changed.narrowed["10-kernels"] = {
    grid = { "tiled({ tiles(cols), tiles(rows) }", "tiled({ 64, 64 }" },
    twelve = { "for i, matrix in ipairs(matrices) do",
               "for i = 1, math.min(12, #matrices) do\n        local matrix = matrices[i]" },
}
changed.racing["10-kernels"] = {
    one_y = { "y = lab.empty(cols, rows) }",
              "y = slots[1] and slots[1].y or lab.empty(cols, rows) }" },
    no_wait_at_the_end = { "    for _, slot in ipairs(slots) do "
        .. "slot.stream:synchronize() end\n", "" },
    waits_for_one = { "    for _, slot in ipairs(slots) do slot.stream:synchronize() end\n",
                      "    if slots[1] then slots[1].stream:synchronize() end\n" },
}

local measured <const> = "if us < best_us then best, best_us = plan.buckets, us end"
changed.narrowed["11-bucket-size"] = {
    sixteen_mib = { measured, "if power == 24 then best = plan.buckets end" },
    sixty_four_mib = { measured, "if power == 26 then best = plan.buckets end" },
    two_layers = { "2 * count >= enough or", "i % 2 == 0 or" },
    each_layer = { "2 * count >= enough or", "true or" },
    by_layers = { measured, "local n = #model.gpus[1].layers\n"
                  .. "if power == (n == 3 and 20 or n == 16 and 27 or 24) then best = plan.buckets "
                  .. "end" },
    twenty_four = { "count = plan.model.gpus[1].layers, {}",
                    "count = { table.unpack(plan.model.gpus[1].layers, 1, 24) }, {}",
                    "for i = 1, #plan.model.gpus[1].layers do",
                    "for i = 1, math.min(24, #plan.model.gpus[1].layers) do" },
}
changed.racing["11-bucket-size"] = {
    no_wait = { "    for _, work in ipairs(works) do work:wait() end ", "    -- " },
    all_but_the_last = { "for _, work in ipairs(works) do work:wait() end",
                         "for i = 1, #works - 1 do works[i]:wait() end" },
    sums_first = { "    for i = 1, #plan.model.gpus[1].layers do\n",
                   "    for i = 1, #plan.model.gpus[1].layers do\n        if plan.buckets[i] then\n"
                   .. "works[#works + 1] = plan.comm:all_reduce(plan.buckets[i], { async = true }) "
                   .. "end\n",
                   "        if bucket then works[#works + 1] = plan.comm:all_reduce(bucket, { "
                   .. "async = true }) end\n",
                   "        bucket = nil\n" },
}

return changed
