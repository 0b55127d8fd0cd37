-- What does page-locked (pinned) memory cost: how much memory, and how long does it take?
--
-- An article pins a tensor of 512 MB: "in advance" takes 515 MiB more of the host's memory, "later"
-- with pin_memory() 1028 MiB, as original and copy are both there; and to copy 1 GB from pageable
-- memory an "additional 1 GB buffer". Expected: both of the first, but t:pin() locks memory where
-- it is; a copy takes a few MiB. pin_memory() is malloc_host and memcpy, pin() is host_register.

local lab = require "streamlab"
local simulated <const>, mib <const> = lab.device().simulated, 512
local function proc(path, name)     -- a line of a file in /proc, in MiB
    local file <close> = assert(io.open(path))
    return (tonumber(file:read("a"):match(name .. ":%s*(%d+) kB")) or 0) / 1024
end
-- What is in use, in MiB. Tensors of the simulator take up no memory; it counts what it gave out.
local function in_use()
    local live = lab.live()
    if simulated then return { process = (live.pinned_bytes + live.pageable_bytes) / 2 ^ 20 } end
    local own <const> = "/proc/self/status"
    return { process = proc(own, "VmRSS"), locked = proc(own, "VmLck"), pinned = proc(own, "VmPin"),
             system = -proc("/proc/meminfo", "MemAvailable") }
end

local function pageable() return lab.ones(mib << 18, { device = "cpu" }) end
local gpu, host = lab.cuda.malloc(mib << 20), pageable()
local before_copy = in_use().process
lab.cuda.memcpy(gpu, host)
local staged = in_use().process - before_copy       -- buffers of the driver stay
local ways = {
    { way = "in advance", make = function() end,
      pin = function() return assert(lab.cuda.malloc_host(mib << 20)) end },
    { way = "later, by copy", make = pageable, pin = function(t)
        local copy = assert(lab.cuda.malloc_host(mib << 20))
        lab.cuda.memcpy(copy, t)
        return copy
    end },
    { way = "later, in place", make = pageable, pin = lab.cuda.host_register },
}
for _, row in ipairs(ways) do       -- all is kept to the end: freed memory would be used again
    local before = in_use()
    row.original = row.make()
    local start_us = lab.now_us()
    row.copy = row.pin(row.original)
    row.pin_ms = (lab.now_us() - start_us) / 1000
    for name, now in pairs(in_use()) do row[name] = now - before[name] end
end
print(lab.table(ways, { columns = { "way", "pin_ms", "process",
    table.unpack(simulated and {} or { "locked", "pinned", "system" }) }, title =
    simulated and "MiB that the simulator has given out (it takes no memory for them)"
    or "MiB more: of the process (VmRSS, VmLck, VmPin), and of the machine (MemAvailable)" }))
local advance, by_copy, in_place = table.unpack(ways)
local what = (simulated or advance.process > mib / 2) and "process" or "system"
local function twice(row) return row[what] > 1.7 * advance[what] end
print(("\nVerdict: %s: pinned in advance 512 MiB take no more: %.0f MiB (%s)"):format(
    math.abs(advance[what] - mib) < 0.1 * mib and "holds" or "depends", advance[what], what))
print(("Verdict: %s: pinned later twice as much: by copy %.0f MiB (%.0f ms), in place %.0f (%.0f)")
    :format(not twice(by_copy) and "no longer holds" or twice(in_place) and "holds" or "depends",
    by_copy[what], by_copy.pin_ms, in_place[what], in_place.pin_ms))
print(("Verdict: %s: a pageable copy takes as much again: %.0f MiB more for 512"):format(
    staged > mib / 2 and "holds" or "no longer holds", staged))
