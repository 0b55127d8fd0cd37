-- How many launches go ahead before the host has to wait?
--
-- An often-read answer lists kernel launches among the operations that are "asynchronous with
-- respect to the host". Behind a kernel of 200 ms we launch empty ones and look at the clock.
-- Expected: about a thousand calls return at once. Then the stream's queue is full, and the next
-- one returns when the GPU has taken something out of it, that is, when the long kernel is done.

local lab = require "streamlab"

local kernel_ms <const>, most <const> = 200, 5000

-- Launches in turns into n streams until a call has waited: how many did not, how long they took,
-- and how long the one took that waited (nil if none did).
local function launches(n)
    local streams = {}
    for i = 1, n do
        streams[i] = lab.stream()
        lab.spin(kernel_ms, { stream = streams[i] })
    end
    local start_us, ahead = lab.now_us(), 0
    local last_us, waited_us = start_us, nil
    while not waited_us and ahead < most do
        lab.spin(0, { stream = streams[ahead % n + 1] })
        local now_us = lab.now_us()
        if now_us - last_us > kernel_ms * 1000 / 4 then
            waited_us = now_us - last_us
        else
            ahead, last_us = ahead + 1, now_us
        end
    end
    lab.synchronize()
    return { streams = n, ahead = ahead, per_stream = ahead / n,
             us_a_launch = (last_us - start_us) / ahead,
             next_waited_ms = waited_us and waited_us / 1000 or false }
end

launches(1)                                 -- the first launches load the kernel
local rows = {}
for i, n in ipairs{ 1, 2, 4 } do rows[i] = launches(n) end
print(lab.table(rows, { title = "Launches behind a kernel of 200 ms in each stream", columns =
    { "streams", "ahead", "per_stream", "us_a_launch", "next_waited_ms" } }))

local one = rows[1]
print(("\nVerdict: %s: any number of launches is asynchronous: %d in %.2f us each, the next one %s")
    :format(one.next_waited_ms and "depends" or "holds", one.ahead, one.us_a_launch,
    one.next_waited_ms and ("held the host for %.0f ms"):format(one.next_waited_ms) or "as well"))
