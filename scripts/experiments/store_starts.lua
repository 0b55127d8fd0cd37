-- The host says go: by a store to memory, or by a launch?
--
-- A stream waits for a number in pinned memory (cuStreamWaitValue32) with a kernel behind it, and
-- the host stores the number. Often said: "a store starts queued work sooner than a launch".
-- Expected: yes, since nothing has to be submitted any more.

local lab = require "streamlab"

local stream = lab.stream{ non_blocking = true }
local word, step = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true }), 0

local function work() lab.spin(0.1, { stream = stream }) end

-- The median of 7; before them one that loads the kernel.
local function until_done_us(start, prepare)
    local all = {}
    for i = 0, 7 do
        if prepare then prepare() end
        local before = lab.now_us()
        start()
        stream:synchronize()
        all[i] = lab.now_us() - before
    end
    table.sort(all)
    return all[4]
end

local launched_us = until_done_us(work)
local stored_us = until_done_us(function() word:set(1, step) end, function()
    step = step + 1
    stream:wait_value(word, 1, step)
    work()
    lab.host_work(0.2)                      -- the kernel is on the device, behind its wait
end)

print(("Verdict: %s: a store of the host starts queued work sooner than a launch: 0.1 ms of work "
    .. "were done %.1f us after the store, %.1f after the launch"):format(
    stored_us < launched_us and "holds" or "no longer holds", stored_us, launched_us))
