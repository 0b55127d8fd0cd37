-- What runs beside what?
--
-- An often-read answer to a puzzle on streams lists what "can run concurrently" with one another:
-- computation on the host, on the device, copies from the host, copies to it, within a device, and
-- among devices. Expected: any two of different kinds do, if the memory is pinned. Two of one kind
-- share an engine and take turns, but for kernels that leave each other room. In the table 100
-- means that the shorter one costs no time beside the other, 0 that they run one after the other.

local lab = require "streamlab"
local count <const> = 16 << 20                  -- float32: 64 MiB
local function on_gpu(place) return lab.empty(count, {device = place or "cuda"}) end
local function pinned() return lab.empty(count, {device = "cpu", pinned = true}) end
local function copy(dst, src)
    return function(s) dst:copy_(src, {non_blocking = true, stream = s}) end
end
local kinds = {                                 -- each makes a function that does a piece of it
    {"host", function() return function() lab.host_work(0.2) end end},
    {"kernel", function() return function(s) lab.spin(0.2, {stream = s}) end end},
    {"H2D", function() return copy(on_gpu(), pinned()) end},
    {"D2H", function() return copy(pinned(), on_gpu()) end},
    {"D2D", function() return copy(on_gpu(), on_gpu()) end},
}
local second_gpu = lab.device().backend == "cuda" and lab.devices()[2].backend == "cuda"
if second_gpu then                              -- directly if they can, else by way of the host
    pcall(lab.cuda.device_enable_peer_access, lab.stream{device = "cuda:1"}.device)
    kinds[6] = {"P2P", function() return copy(on_gpu("cuda:1"), on_gpu("cuda:0")) end}
end

local streams = {lab.stream{non_blocking = true}, lab.stream{non_blocking = true}}
local function time_us(first, second)
    return lab.measure(function()               -- the host's own work is the first, and comes last
        for _ = 1, second and second.times or 0 do second.f(streams[2]) end
        for _ = 1, first.times do first.f(streams[1]) end
    end, {warmup = 1, reps = 3}).median_us
end
local function prepare(make)                    -- about 4 ms of it
    local work = {f = make(), times = 1}
    work.times = math.ceil(4000 / time_us(work))
    work.us = time_us(work)
    return work
end

local rows, columns, least, least_pair, same = {}, {"beside"}, 100, nil, {}
for i, kind in ipairs(kinds) do
    kind.work, columns[i + 1], rows[i] = prepare(kind[2]), kind[1], {beside = kind[1]}
    for j = 1, i do
        local first, second = kinds[j].work, i == j and prepare(kind[2]) or kind.work
        local saved_us = first.us + second.us - time_us(first, second)
        local percent = math.floor(100 * saved_us / math.min(first.us, second.us) + 0.5)
        rows[i][kinds[j][1]] = percent
        local pair = kinds[j][1] .. " and " .. kind[1]
        if i == j then same[i] = kind[1] .. " " .. percent
        elseif percent < least then least, least_pair = percent, pair end
    end
end
lab.table(rows, {columns = columns, title = "Per cent of the shorter one that is hidden"}):show()
if not second_gpu then print("Without copies among devices: there is one GPU.") end
print(string.format("Verdict: %s: the least overlap of two kinds is %d %%, of %s; of one kind: %s.",
    least >= 50 and "holds" or "depends", least, least_pair, table.concat(same, ", ")))
