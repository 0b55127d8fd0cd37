-- What runs beside what?
--
-- An often-read answer to a puzzle on streams lists what "can run concurrently" with one another:
-- computation on the host, on the device, copies from the host, to it, within a device, and among
-- devices, given "asyncEngineCount equal to 2". An article: "Data copies from different streams do
-- not overlap". Expected: two kinds run together if memory is pinned; two of one kind take turns,
-- but for kernels that leave each other room. 0: they take turns, 100: the shorter costs no time.
local lab = require "streamlab"
local function on_gpu(place) return lab.empty(16 << 20, { device = place or "cuda" }) end
local function pinned() return lab.empty(16 << 20, { device = "cpu", pinned = true }) end
local function copy(dst, src)
    return function(s) dst:copy_(src, { non_blocking = true, stream = s }) end
end
local kinds = {                                 -- each makes a function that does a piece of it
    { "host", function() return function() lab.host_work(0.2) end end },
    { "kernel", function() return function(s) lab.spin(0.2, { stream = s }) end end },
    { "H2D", function() return copy(on_gpu(), pinned()) end },
    { "D2H", function() return copy(pinned(), on_gpu()) end },
    { "D2D", function() return copy(on_gpu(), on_gpu()) end },
}
if lab.device().backend == "cuda" and lab.devices()[2].backend == "cuda" then     -- a second GPU
    pcall(lab.cuda.device_enable_peer_access, lab.stream{ device = "cuda:1" }.device)
    kinds[6] = { "P2P", function() return copy(on_gpu("cuda:1"), on_gpu("cuda:0")) end }
end
local streams = { lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true } }
local function time_us(first, second)
    return lab.measure(function()               -- the host's own work is the first, and comes last
        for _ = 1, second and second.times or 0 do second.f(streams[2]) end
        for _ = 1, first.times do first.f(streams[1]) end
    end, { warmup = 1, reps = 3 }).median_us
end
local function prepare(make)                    -- about 4 ms of it
    local work = { f = make(), times = 1 }
    work.times = math.ceil(4000 / time_us(work))
    work.us = time_us(work)
    return work
end
local rows, hidden, columns, least, pair = {}, {}, { "beside" }, 100, nil
for i, kind in ipairs(kinds) do
    kind.work, columns[i + 1], rows[i] = prepare(kind[2]), kind[1], { beside = kind[1] }
    for j = 1, i do
        local first, second = kinds[j].work, i == j and prepare(kind[2]) or kind.work
        local saved_us = first.us + second.us - time_us(first, second)
        local percent = math.floor(100 * saved_us / math.min(first.us, second.us) + 0.5)
        rows[i][kinds[j][1]], hidden[kinds[j][1] .. "/" .. kind[1]] = percent, percent
        if i ~= j and percent < least then least, pair = percent, kinds[j][1] .. "/" .. kind[1] end
    end
end
lab.table(rows, { columns = columns, title = "Per cent of the shorter one that is hidden"
    .. (kinds[6] and "" or " (no P2P: there is one GPU)") }):show()
local one_way, both_ways = math.max(hidden["H2D/H2D"], hidden["D2H/D2H"]), hidden["H2D/D2H"]
local engines, beside = lab.device().async_engine_count, hidden["kernel/D2H"]
local function verdict(word, ...) print("Verdict: " .. word .. ": " .. string.format(...)) end
verdict(least < 50 and "depends" or "holds", "all kinds run at once: %d %%, %s", least, pair)
verdict(beside < 50 and "depends" or "holds", "copies overlap kernels: %d %%", beside)
verdict((both_ways < 50) == (engines < 2) and "holds" or "no longer holds",
    "copies both ways take 2 engines: %d %% with %d", both_ways, engines)
verdict(one_way < 20 and (both_ways < 20 and "holds" or "depends") or "no longer holds",
    "copies do not overlap: the same way %d %%, both ways %d %%", one_way, both_ways)
