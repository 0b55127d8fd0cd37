-- What does page-locked (pinned) memory cost: how much memory, and how long does it take?
--
-- An article pins a tensor of 512 MB: "in advance" takes 515 MiB more of the host's memory, "later"
-- with pin_memory() 1028 MiB, as original and copy are there at the same time. Expected: so it is;
-- but t:pin() locks memory where it is: no copy, and quicker. The plain calls, since pools keep
-- memory: malloc_host and memcpy are what pin_memory() does, host_register what pin() does.

local lab = require "streamlab"
local simulated <const>, mib <const> = lab.device().simulated, 512

local function proc(path, name)     -- a line of a file in /proc, in MiB
    local file <close> = assert(io.open(path))
    return (tonumber(file:read("a"):match(name .. ":%s*(%d+) kB")) or 0) / 1024
end

-- What is in use, in MiB. Tensors of the simulator take up no memory; it counts what it gave out.
local function in_use()
    local live = lab.live()
    if simulated then return {process = (live.pinned_bytes + live.pageable_bytes) / 2 ^ 20} end
    local own <const> = "/proc/self/status"
    return {process = proc(own, "VmRSS"), locked = proc(own, "VmLck"), pinned = proc(own, "VmPin"),
            system = -proc("/proc/meminfo", "MemAvailable")}
end

local function pageable() return lab.ones(mib << 18, {device = "cpu"}) end
local ways = {
    {way = "in advance", make = function() end,
     pin = function() return assert(lab.cuda.malloc_host(mib << 20)) end},
    {way = "later, by copy", make = pageable, pin = function(t)
        local copy = assert(lab.cuda.malloc_host(mib << 20))
        lab.cuda.memcpy(copy, t)
        return copy
    end},
    {way = "later, in place", make = pageable, pin = lab.cuda.host_register},
}
for _, row in ipairs(ways) do       -- all is kept to the end: freed memory would be used again
    local before = in_use()
    row.original = row.make()
    local start_us = lab.now_us()
    row.copy = row.pin(row.original)
    row.pin_ms = (lab.now_us() - start_us) / 1000
    for name, now in pairs(in_use()) do row[name] = now - before[name] end
end
print(lab.table(ways, {columns = {"way", "pin_ms", "process",
    table.unpack(simulated and {} or {"locked", "pinned", "system"})}, title =
    simulated and "MiB that the simulator has given out (it takes no memory for them)"
    or "MiB more: of the process (VmRSS, VmLck, VmPin), and of the machine (MemAvailable)"}))
local advance, by_copy, in_place = table.unpack(ways)
local what = (simulated or advance.process > mib / 2) and "process" or "system"
local function twice(row) return row[what] > 1.7 * advance[what] end
local close = math.abs(advance[what] - mib) < 0.1 * mib
print(("\nVerdict: %s: 512 MiB pinned in advance take %.0f MiB (%s)"):format(close and "holds"
    or "depends", advance[what], simulated and "of what the simulator gave out" or what))
print(("Verdict: %s: pinned later: %.0f MiB and %.0f ms by copy, %.0f MiB and %.0f ms in place")
    :format(not twice(by_copy) and "no longer holds" or twice(in_place) and "holds" or "depends",
    by_copy[what], by_copy.pin_ms, in_place[what], in_place.pin_ms))
