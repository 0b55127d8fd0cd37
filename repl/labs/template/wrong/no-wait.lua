-- fails: 1.2 2.1 2.2
-- A wrong solution as students write it. Its first line names the tests that it fails, exactly:
-- `streamlab lab pack` refuses when it passes one of them, or fails another.
--
-- This one overlaps well, but never tells the current stream to wait for the two others: 2.1 finds
-- the race, and tests with `pace = true` give no points to what races.

function step(weights, batch)
    local compute, copies = lab.stream(), lab.stream()
    local product = lab.matmul(weights, weights, { stream = compute })
    local on_gpu = batch:to("cuda", { non_blocking = true, stream = copies })
    return product, on_gpu
end
