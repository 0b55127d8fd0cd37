-- limits.lua - what the hardware allows: the bandwidth of a copy kernel beside pow, and of the link
-- to the host beside copy_. Sections of bench.lua.

local launches = 50

-- us of the GPU a launch, by events around all of them.
local function launch_us(b, launch)
    local stream, start, ended = b.lab.stream(), b.lab.event(), b.lab.event()
    return function()
        start:record(stream)
        for _ = 1, launches do launch(stream) end
        ended:record(stream)
        stream:synchronize()
        return start:elapsed_time(ended) * 1000 / launches
    end
end

local function medians(b, sides)
    local samples = {}
    for i = -1, b.size.runs do
        for name, run in pairs(sides) do
            local us = run()
            samples[name] = samples[name] or {}
            if i >= 1 then table.insert(samples[name], us) end
        end
    end
    for name, list in pairs(samples) do samples[name] = b.report.summary(list) end
    return samples
end

-- pow against a copy kernel --------------------------------------------------------------

local function pow(b)
    local n = b.size.pow
    b.table:section("pow(a, 3) beside a copy kernel", ([[
%d x %d float32. Time of the GPU a launch, by events around %d launches; median of %d. The copy
kernel moves 16 bytes a load; the quicker of two is taken, with one and with four loads a thread.]])
        :format(n, n, launches, b.size.runs), "raw copy kernel", "streamlab pow")
    local copier <close> = b.closing(b.raw.copier(n * n))
    local a, out = b.lab.rand(n, n), b.lab.empty(n, n)
    local function copied(kind)
        return function() return copier.object:run(kind, launches) / 1000 end
    end
    local took = medians(b, { one = copied "one", four = copied "four", ours = launch_us(b,
        function(stream) b.lab.pow(a, 3, { out = out, stream = stream }) end) })
    b.check("the copy kernel", copier.object:values(8), b.pattern({ 8 }, 1))
    local x = a:get(1, 1)
    b.check("pow", { out:get(1, 1) }, { x * x * x })
    local copy = took.one.median < took.four.median and took.one or took.four
    local share = copy.median / took.ours.median * 100
    local function figures(s)
        return ("%.2f us, %.2f TB/s"):format(s.median, 2 * n * n * 4 / s.median / 1e6)
    end
    b.table:row(("bandwidth (copy: %s a thread)"):format(copy == took.one and "1 load"
        or "4 loads"),
                figures(copy), figures(took.ours), ("%.1f %%"):format(share),
                ">= 85 %", share >= 85)
end

-- The link to the host ----------------------------------------------------------------------

local function link(b)
    local elements = 64 << 20 -- 256 MiB
    b.table:section("The link to the host", ([[
Copies of %d MiB of pinned memory, by events around %d; median of %d.]])
        :format(elements >> 18, launches, b.size.runs), "raw CUDA C", "streamlab from Lua")
    local copier <close> = b.closing(b.raw.copier(elements))
    local host = b.lab.zeros(elements, { device = "cpu", pinned = true })
    local gpu = b.lab.zeros(elements)
    local ways = { { "h2d", "H2D", gpu, host }, { "d2h", "D2H", host, gpu } }
    for _, way in ipairs(ways) do
        local kind, name, to, from = table.unpack(way)
        local took = medians(b, {
            raw = function() return copier.object:run(kind, launches) / 1000 end,
            ours = launch_us(b, function(stream)
                to:copy_(from, { non_blocking = true, stream = stream })
            end),
        })
        local function figures(s)
            return ("%.1f us, %.2f GB/s"):format(s.median, elements * 4 / s.median / 1e3)
        end
        local ratio = took.ours.median / took.raw.median
        b.table:row(name, figures(took.raw), figures(took.ours),
                    ("%.3f x"):format(ratio), "<= 1.01 x",
                    ratio <= 1.01)
    end
end

return { pow = pow, link = link }
