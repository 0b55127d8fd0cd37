-- recorded.lua calls | puzzle PAIRS VARIANT... - what lab.record adds, on a GPU that is idle.
--
-- calls: us a call in batches, before a recording, in it, and after it, when CUPTI has left; of
-- cold ones each behind a copy of 16 MiB by the host. puzzle: the variants of scripts/puzzler.lua
-- under lab.profile and not, one after the other in pairs: the host of a virtual machine changes
-- its speed from second to second, and two runs in a row have nearly the same.
local lab = require "streamlab"
local now = lab.now_us

local function median(list)
    local sorted = table.move(list, 1, #list, 1, {})
    table.sort(sorted)
    return (sorted[(#sorted + 1) // 2] + sorted[#sorted // 2 + 1]) / 2, sorted[1]
end

-- Calls -------------------------------------------------------------------------------------

local pinned <const> = { device = "cpu", pinned = true }
local batch <const>, in_cold <const>, batches <const>, rounds <const> = 200, 10, 10, 4
local junk_elements <const> = 4 << 20

-- {name, call, whether it is cold}
local function calls(stream)
    local a, b, c = lab.rand(128, 128), lab.rand(128, 128), lab.empty(128, 128)
    local x, y, host, to = lab.rand(4096), lab.empty(4096), lab.empty(256, pinned), lab.empty(256)
    local event, into_c, into_y = lab.event { timing = false }, { out = c }, { out = y }
    local at_once <const> = { non_blocking = true }
    local function pow() lab.pow(x, 3, into_y) end
    local function h2d() to:copy_(host, at_once) end
    local function record() event:record(stream) end
    record()
    return {
        { "pow", pow },
        { "matmul", function() lab.matmul(a, b, into_c) end },
        { "h2d", h2d },
        { "d2h", function() host:copy_(to, at_once) end },
        { "event record", record },
        { "stream wait", function() stream:wait_event(event) end },
        { "cold pow", pow, true },
        { "cold h2d", h2d, true },
        { "cold event record", record, true },
    }
end

local function warm_us(call)
    local began = now()
    for _ = 1, batch do call() end
    local held = now() - began
    lab.synchronize()
    return held / batch
end

local function cold_us(call, from, to)
    local held = 0
    for _ = 1, in_cold do
        to:copy_(from)
        local began = now()
        call()
        held = held + now() - began
    end
    lab.synchronize()
    return held / in_cold
end

local function all_calls()
    local stream <close> = lab.stream()
    local from = lab.rand(junk_elements, { device = "cpu" })
    local to = lab.empty(junk_elements, { device = "cpu" })
    local list = calls(stream)
    local function measure(into)
        for i, row in ipairs(list) do
            local samples = {}
            for k = -1, row[3] and 3 or batches do
                local us = row[3] and cold_us(row[2], from, to) or warm_us(row[2])
                if k >= 1 then samples[k] = us end
            end
            into[i] = into[i] or {}
            table.insert(into[i], (median(samples)))
        end
    end
    local guard <close> = lab.use(stream)
    local before, recorded, after = {}, {}, {}
    measure {}
    for _ = 1, rounds do
        measure(before)
        local tl = lab.record()
        measure(recorded)
        tl:stop()
        os.execute("sleep 0.15")
        lab.synchronize()
        measure(after)
    end
    print("| call | before, us | recorded | added | after |\n|---|---|---|---|---|")
    for i, row in ipairs(list) do
        local p, r = median(before[i]), median(recorded[i])
        print(("| %s | %.3f | %.3f | %+.3f | %.3f |"):format(row[1], p, r, r - p,
            (median(after[i]))))
    end
end

-- The puzzle ----------------------------------------------------------------------------------

local n <const>, matmuls <const>, copies <const> = 1024, 1000, 100

local function tensors(count, make)
    local list = {}
    for i = 1, count do list[i] = make(i) end
    return list
end

-- {variant = function}, the streams
local function puzzle()
    local function rand(where)
        return function() return lab.rand(n, n, { device = where }) end
    end
    local streams = { lab.stream {}, lab.stream {}, lab.stream {} }
    local matrix, from = tensors(matmuls, rand "cuda"), tensors(copies, rand "cuda")
    local pageable = tensors(copies, rand "cpu")
    local locked = tensors(copies, function(i) return pageable[i]:pin_memory() end)
    local function run(inputs, non_blocking)
        lab.with(streams[1], function()
            for i = 1, matmuls do lab.matmul(matrix[i], matrix[i]) end
        end)
        lab.with(streams[2], function()
            for i = 1, copies do from[i]:to("cpu", { non_blocking = non_blocking }) end
        end)
        lab.with(streams[3], function()
            for i = 1, copies do inputs[i]:to("cuda", { non_blocking = non_blocking }) end
        end)
    end
    return { nonblocking = function() run(pageable, true) end,
             blocking = function() run(pageable, false) end,
             pinned = function() run(locked, true) end }, streams
end

local function all_pairs(pairs_wanted, names)
    local variants, streams = puzzle()
    local start, ends = lab.event(), { lab.event(), lab.event(), lab.event() }
    local function once(variant)
        start:record(streams[1])
        variants[variant]()
        for i, stream in ipairs(streams) do ends[i]:record(stream) end
        lab.synchronize()
        local ms = 0
        for _, ended in ipairs(ends) do ms = math.max(ms, start:elapsed_time(ended)) end
        return ms
    end
    local function recorded(variant)
        local ms
        local tl = lab.profile(function() ms = once(variant) end)
        assert(tl.span_count == matmuls + 2 * copies)
        return ms
    end
    local function settled(f, variant)
        collectgarbage()
        lab.synchronize()
        return f(variant)
    end
    print("| variant | not recorded, ms | recorded | of pairs | least of both |")
    print("|---|---|---|---|---|")
    for _, variant in ipairs(names) do
        local plain, with, ratios = {}, {}, {}
        for i = -1, pairs_wanted do
            local first, second = once, recorded
            if i % 2 == 0 then first, second = recorded, once end
            local a, b = settled(first, variant), settled(second, variant)
            if i % 2 == 0 then a, b = b, a end
            if i >= 1 then plain[i], with[i], ratios[i] = a, b, b / a end
        end
        local p, p_least = median(plain)
        local r, r_least = median(with)
        print(("| %s | %.2f | %.2f | %+.2f %% | %+.2f %% |"):format(variant, p, r,
            100 * (median(ratios) - 1), 100 * (r_least / p_least - 1)))
    end
end

if arg[1] == "calls" then
    all_calls()
else
    all_pairs(math.tointeger(tonumber(arg[2])), table.move(arg, 3, #arg, 1, {}))
end
