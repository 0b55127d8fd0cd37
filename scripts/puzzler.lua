-- Swimming in streams: a puzzler.
--
-- Three streams of one GPU get work. The first multiplies matrices, the second copies tensors
-- from the GPU to the CPU (D2H), the third copies tensors from the CPU to the GPU (H2D). The two
-- functions below do this once with non_blocking = true and once with false, and differ in
-- nothing else. Which of them overlaps better, and why? Decide before you run it.
--
-- What to know:
--   * Work in one stream runs in order; work in different streams may overlap. The GPU has one
--     engine for kernels, one for D2H copies and one for H2D copies.
--   * An ordinary tensor on the CPU lies in pageable memory, which the GPU cannot reach by
--     itself: the driver copies it piece by piece through page-locked (pinned) memory, and the
--     host takes part until nearly the last byte.
--   * As in PyTorch, t:to("cpu", {non_blocking = true}) makes its result in pinned memory, so the
--     call returns at once; with false the result is pageable and the call returns when the data
--     have arrived. t:to("cuda") reads the tensor where it lies, and data_on_cpu is pageable.
--
-- A third variant pins the tensors on the CPU first, so that nothing is left to hold the host.
--
-- On a real GPU each variant runs once before it is measured: what happens only the first time
-- (loading kernels, getting memory from the driver) is no part of the question.
--
--   streamlab scripts/puzzler.lua [--variant nonblocking|blocking|pinned|all]
--                                 [--n 1024] [--matmuls 1000] [--copies 100] [--seed 0]
--                                 [--tuned]

local lab = require "streamlab"

-- The puzzler -------------------------------------------------------------------------------

local first_stream, second_stream, third_stream
local matrix_on_gpu, data_on_gpu, data_on_cpu, pinned_data_on_cpu

local d2h_from, h2d_from, h2d_to        -- the host's clock around the loops with the copies

local function non_blocking_streams()
    lab.with(first_stream, function()
        for i = 1, #matrix_on_gpu do
            lab.matmul(matrix_on_gpu[i], matrix_on_gpu[i])
        end
    end)
    d2h_from = lab.now_us()
    lab.with(second_stream, function()
        for i = 1, #data_on_gpu do
            data_on_gpu[i]:to("cpu", { non_blocking = true })
        end
    end)
    h2d_from = lab.now_us()
    lab.with(third_stream, function()
        for i = 1, #data_on_cpu do
            data_on_cpu[i]:to("cuda", { non_blocking = true })
        end
    end)
    h2d_to = lab.now_us()
end

local function blocking_streams()
    lab.with(first_stream, function()
        for i = 1, #matrix_on_gpu do
            lab.matmul(matrix_on_gpu[i], matrix_on_gpu[i])
        end
    end)
    d2h_from = lab.now_us()
    lab.with(second_stream, function()
        for i = 1, #data_on_gpu do
            data_on_gpu[i]:to("cpu", { non_blocking = false })
        end
    end)
    h2d_from = lab.now_us()
    lab.with(third_stream, function()
        for i = 1, #data_on_cpu do
            data_on_cpu[i]:to("cuda", { non_blocking = false })
        end
    end)
    h2d_to = lab.now_us()
end

local function pinned_streams()
    local pageable = data_on_cpu
    data_on_cpu = pinned_data_on_cpu
    non_blocking_streams()
    data_on_cpu = pageable
end

local variants = {
    { key = "nonblocking", title = "non_blocking = true, CPU inputs pageable",
      run = non_blocking_streams },
    { key = "blocking", title = "non_blocking = false, CPU inputs pageable",
      run = blocking_streams },
    { key = "pinned", title = "non_blocking = true, CPU inputs pinned", run = pinned_streams },
}

-- Arguments ---------------------------------------------------------------------------------

local usage = [[
usage: streamlab scripts/puzzler.lua [options]
  --variant V   nonblocking, blocking, pinned or all (default: all)
  --n N         matrices and tensors are N x N, float32 (default: 1024)
  --matmuls N   matmuls on the first stream (default: 1000)
  --copies N    copies on the second stream, and on the third (default: 100)
  --seed N      of the random tensors (default: 0)
  --tuned       on a real GPU, measure first how these matmuls are the fastest
  --help        show this]]

local function bad_usage(...)
    io.stderr:write("puzzler: ", string.format(...), "\n")
    os.exit(2, true)
end

local function whole_number(name, text, least, greatest)
    local number = math.tointeger(tonumber(text))
    if not number or number < least or number > greatest then
        bad_usage("--%s needs a whole number from %d to %d, got '%s'.", name, least, greatest, text)
    end
    return number
end

-- The value of the option `name`, checked.
local function check_value(name, value)
    local limits = { n = { 1, 65536 }, matmuls = { 1, 1000000 }, copies = { 1, 1000000 },
                     seed = { 0, math.maxinteger } }
    local known = { all = true }
    for _, variant in ipairs(variants) do known[variant.key] = true end
    if limits[name] then
        return whole_number(name, value, limits[name][1], limits[name][2])
    elseif not known[value] then
        bad_usage("--variant is nonblocking, blocking, pinned or all, got '%s'.", value)
    end
    return value
end

local function parse(arguments)
    local options = { variant = "all", n = 1024, matmuls = 1000, copies = 100, seed = 0 }
    local tuned = false
    local i = 1
    while arguments[i] do
        local name, value = arguments[i]:match("^%-%-(%w+)=?(.*)$")
        if name == "help" or arguments[i] == "-h" then
            print(usage)
            os.exit(0, true)
        elseif arguments[i] == "--tuned" then
            tuned = true
        elseif not name or options[name] == nil then
            bad_usage("unknown argument '%s'; --help lists the options.", arguments[i])
        else
            if not arguments[i]:find("=", 1, true) then
                i = i + 1
                value = arguments[i] or bad_usage("--%s needs a value.", name)
            end
            options[name] = check_value(name, value)
        end
        i = i + 1
    end
    options.tuned = tuned
    return options
end

-- Measuring ---------------------------------------------------------------------------------

-- Was the first H2D copy issued only when the last D2H copy had ended?
local function h2d_came_late(spans)
    local last_d2h, first_h2d = -math.huge, math.huge
    for _, span in ipairs(spans) do
        if span.kind == "memcpy_d2h" then last_d2h = math.max(last_d2h, span.end_us) end
        if span.kind == "memcpy_h2d" then first_h2d = math.min(first_h2d, span.host_start_us) end
    end
    return first_h2d >= last_d2h
end

-- Runs the variant and lets its results go, so that the next run finds their memory.
local function warm_up(variant)
    variant.run()
    lab.synchronize()
    collectgarbage()
end

local function measure(variant)
    if not lab.device().simulated then warm_up(variant) end
    local tl = lab.profile(variant.run)
    local bounds, spans = tl:bounds(), tl:spans()
    return {
        key = variant.key, title = variant.title, tl = tl,
        makespan = tl.makespan_us, lower = bounds.lower_us,
        distance = tl.makespan_us / bounds.lower_us,
        compute = tl:busy_us("compute"), d2h = tl:busy_us("d2h"), h2d = tl:busy_us("h2d"),
        compute_d2h = tl:overlap_us("compute", "d2h"),
        compute_h2d = tl:overlap_us("compute", "h2d"),
        d2h_h2d = tl:overlap_us("d2h", "h2d"),
        all_three = tl:overlap_us("compute", "d2h", "h2d"),
        held_d2h = h2d_from - d2h_from, held_h2d = h2d_to - h2d_from,
        late_h2d = h2d_came_late(spans),
    }
end

-- Telling -----------------------------------------------------------------------------------

local function ms(us)
    if us > 0 and us < 100 then return string.format("%.2f us", us) end
    return string.format("%.2f ms", us / 1000)
end

local function report(r)
    print(string.format("\n== %s: %s", r.key, r.title))
    print(string.format("makespan %s, %.3f times the lower bound of %s", ms(r.makespan),
                        r.distance, ms(r.lower)))
    print(string.format("busy     kernels %s, D2H %s, H2D %s", ms(r.compute), ms(r.d2h), ms(r.h2d)))
    print(string.format("overlap  kernels+D2H %s, kernels+H2D %s, D2H+H2D %s",
                        ms(r.compute_d2h), ms(r.compute_h2d), ms(r.d2h_h2d)))
    r.tl:show()
end

local function compare(results)
    local rows = {
        { "makespan", "makespan" }, { "lower bound", "lower" }, { "makespan / bound", "distance" },
        { "kernels + D2H overlap", "compute_d2h" }, { "kernels + H2D overlap", "compute_h2d" },
        { "D2H + H2D overlap", "d2h_h2d" }, { "all three overlap", "all_three" },
        { "D2H calls held the host", "held_d2h" }, { "H2D calls held the host", "held_h2d" },
    }
    local line = { string.format("\n%-25s", "") }
    for _, r in ipairs(results) do line[#line + 1] = string.format("%15s", r.key) end
    print(table.concat(line))
    for _, row in ipairs(rows) do
        line = { string.format("%-25s", row[1]) }
        for _, r in ipairs(results) do
            local value = r[row[2]]
            local text = row[2] == "distance" and string.format("%.3f", value) or ms(value)
            line[#line + 1] = string.format("%15s", text)
        end
        print(table.concat(line))
    end
end

local function list(items)
    if #items < 2 then return items[1] end
    return table.concat(items, ", ", 1, #items - 1) .. " and " .. items[#items]
end

-- The variants, quickest first; those within half a percent of each other together.
local function ranked(results)
    local sorted, groups = {}, {}
    for i, r in ipairs(results) do sorted[i] = { r = r, i = i } end
    table.sort(sorted, function(a, b)
        if a.r.makespan ~= b.r.makespan then return a.r.makespan < b.r.makespan end
        return a.i < b.i
    end)
    for _, entry in ipairs(sorted) do
        local group = groups[#groups]
        if not group or entry.r.makespan > 1.005 * group.makespan then
            group = { makespan = entry.r.makespan, r = entry.r, keys = {} }
            groups[#groups + 1] = group
        end
        group.keys[#group.keys + 1] = entry.r.key
    end
    return groups
end

-- Two sentences, out of the measured figures alone: how long each variant took, and whether
-- copies in the two directions ran at the same time.
local function verdict(results)
    local groups = ranked(results)
    local quickest = table.remove(groups, 1)
    local first = string.format("%s took %s, %.3f times the lower bound", list(quickest.keys),
                                ms(quickest.makespan), quickest.r.distance)
    for _, group in ipairs(groups) do
        first = first .. string.format("; %s took %s, %.2f times as long", list(group.keys),
                                       ms(group.makespan), group.makespan / quickest.makespan)
    end

    local together, apart, why = {}, {}, ""
    for _, r in ipairs(results) do
        local text = string.format("%s in %s", ms(r.d2h_h2d), r.key)
        if r.d2h_h2d >= 0.05 * math.min(r.d2h, r.h2d) then
            together[#together + 1] = text
        else
            apart[#apart + 1] = text
            if r.late_h2d then
                why = why .. string.format("; in %s the D2H calls held the host for %s, and it "
                    .. "issued its first H2D copy after the last D2H copy had ended",
                    r.key, ms(r.held_d2h))
            end
        end
    end
    if #together > 0 and #apart > 0 then apart[1] = "but only " .. apart[1] end
    local second = #together > 0 and list(together) or ""
    if #apart > 0 then second = second .. (#together > 0 and ", " or "") .. list(apart) .. why end
    return string.format("%s.\nD2H and H2D copies overlapped for %s.", first, second)
end

-- Lines of at most 80 columns, broken at spaces.
local function wrap(text)
    local lines = {}
    for paragraph in text:gmatch("[^\n]+") do
        local line = ""
        for word in paragraph:gmatch("%S+") do
            if #line + #word + 1 > 80 then
                lines[#lines + 1] = line
                line = ""
            end
            line = line == "" and word or line .. " " .. word
        end
        lines[#lines + 1] = line
    end
    return table.concat(lines, "\n")
end

-- The run -----------------------------------------------------------------------------------

local options = parse(arg or {})

local function rand(count, where)
    local tensors = {}
    for i = 1, count do
        tensors[i] = lab.rand(options.n, options.n, { device = where, seed = options.seed + i })
    end
    return tensors
end

local function run()
    first_stream = lab.stream{ name = "first" }
    second_stream = lab.stream{ name = "second" }
    third_stream = lab.stream{ name = "third" }
    data_on_gpu = rand(options.copies, "cuda")
    data_on_cpu = rand(options.copies, "cpu")
    matrix_on_gpu = rand(options.matmuls, "cuda")
    pinned_data_on_cpu = {}
    if options.variant == "pinned" or options.variant == "all" then
        for i, tensor in ipairs(data_on_cpu) do pinned_data_on_cpu[i] = tensor:pin_memory() end
    end
    lab.synchronize()
    local plan = options.tuned and lab.tune(matrix_on_gpu[1], matrix_on_gpu[1])

    local device = lab.device()
    print(string.format("%s%s\n%d matmuls of %d x %d, and %d copies of %.3g MiB each way",
                        device.name, device.backend == "sim" and " (simulated)" or "",
                        options.matmuls, options.n, options.n, options.copies,
                        data_on_gpu[1]:nbytes() / 2 ^ 20))
    if plan and plan.tuned then
        print(string.format("a matmul takes %.2f us, tuned; %.2f us as cublasLt chooses", plan.us,
                            plan.first_us))
    end
    local results = {}
    for _, variant in ipairs(variants) do
        if options.variant == "all" or options.variant == variant.key then
            results[#results + 1] = measure(variant)
            report(results[#results])
        end
    end
    compare(results)
    print("\n" .. wrap(verdict(results)))
end

run()
