-- 20-memory.t.lua - what a recorded program allocates and frees, as played_program.c states it.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played = require "played" "played_program"
shell.sh(('cd %s; STREAMLAB_CUDA_LIB=%s "$P" record --quiet -o t.json --spools s -- '
    .. "%s/played_program memory"):format(folder, played, played))

local calls <const> = [[
cudaMalloc device 1048576
cudaMallocHost pinned 4096
cudaMallocManaged managed 8192
cudaMallocAsync pool 512 of 33554432
cudaFreeAsync pool 512 of 33554432 freed
cudaFree device 1048576 freed, waited
cudaFree device 64 freed
cudaMalloc device 1024]]

local function describe(tl)
    local list = {}
    for _, call in ipairs(tl:calls()) do
        list[#list + 1] = ("%s %s %d%s%s%s"):format(call.name, call.memory, call.bytes,
            call.reserved_bytes and " of " .. call.reserved_bytes or "",
            call.frees and " freed" or "", call.waited and ", waited" or "")
    end
    return table.concat(list, "\n")
end

-- On the device 1 MiB, which is freed, then 1 KiB; 64 bytes were there before the recording.
local uses <const> = [[
device 2 2 1049600 1048576 10 1024 137 109
pool 1 1 512 512 39 0 13 0
pinned 1 0 4096 4096 19 4096 8 0
managed 1 0 8192 8192 29 8192 9 0]]

local function sum_up(tl)
    local list = {}
    for _, use in ipairs(tl:memory()) do
        list[#list + 1] = ("%s %d %d %d %d %g %d %g %g"):format(use.kind, use.allocations,
            use.frees, use.bytes, use.peak_bytes, use.peak_us, use.left_bytes, use.calls_us,
            use.waited_us)
    end
    return table.concat(list, "\n")
end

for _, name in ipairs { "s", "t.json" } do
    local tl = lab.load(folder .. "/" .. name)
    tap.is(describe(tl), calls, name .. ": each call says what it allocated or freed")
    tap.is(sum_up(tl), uses, name .. ": and what was allocated at once is summed up by kind")
end

-- Two allocations and two frees take 10 + 109 + 9 + 9 us.
local out = shell.sh(('cd %s; "$P" show --summary s'):format(folder))
tap.like(out, "\ndevice +137 us +1%.0 +4\n",
    "the summary has the time in calls, the most at once and the number of calls")

shell.remove(folder)
tap.done()
