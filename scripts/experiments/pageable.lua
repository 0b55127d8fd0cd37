-- When does a "non-blocking" copy hold the host after all?
--
-- A kernel keeps a stream busy for 5 ms; then a copy is enqueued behind it, with non_blocking =
-- true, and we look how long the call takes. Expected: from or to pinned memory it returns at once,
-- whatever the size. From pageable memory it returns at once while the bytes fit into the driver's
-- staging buffers, and else waits for the kernel; to pageable memory it always waits, since the
-- bytes must arrive before the host can move them on.

local lab = require "streamlab"

local kernel_ms = 5
local stream = lab.stream{name = "copies"}

-- The call's time in us. Both tensors exist before, so that nothing but the copy is timed.
local function call_us(kib, direction, pinned)
    local host = lab.zeros(kib * 256, {device = "cpu", pinned = pinned})    -- 4 bytes each
    local gpu = lab.zeros(kib * 256)
    local dst, src = gpu, host
    if direction == "D2H" then dst, src = host, gpu end
    lab.synchronize()
    lab.spin(kernel_ms, {stream = stream})
    local before = lab.now_us()
    dst:copy_(src, {non_blocking = true, stream = stream})
    local took = lab.now_us() - before
    lab.synchronize()
    return took
end

local columns = {{"H2D", false}, {"H2D", true}, {"D2H", false}, {"D2H", true}}
print("How long copy_(src, {non_blocking = true}) holds the host behind a 5 ms kernel:\n")
print("     size   H2D pageable     H2D pinned   D2H pageable     D2H pinned")
local held, longest_at_once = {}, 0
for _, kib in ipairs{1, 64, 1024, 16384, 65536} do
    local line = {string.format("%5d KiB", kib)}
    for i, column in ipairs(columns) do
        local took = call_us(kib, column[1], column[2])
        line[#line + 1] = string.format("%12.1f us", took)
        if took >= 0.9 * kernel_ms * 1000 then
            held[i] = (held[i] or 0) + 1
        elseif i == 1 then
            longest_at_once = kib
        end
    end
    print(table.concat(line))
end

print(string.format("\nThe call waited for the kernel at %d of 5 sizes from pageable memory, "
    .. "at %d from\npinned; at %d to pageable memory, at %d to pinned. The largest copy from "
    .. "pageable\nmemory that did not wait had %d KiB.",
    held[1] or 0, held[2] or 0, held[3] or 0, held[4] or 0, longest_at_once))
