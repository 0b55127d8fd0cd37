-- fails: 2.1
-- A wrong solution as students write it. Its first line names the tests that it fails, exactly:
-- `streamlab lab pack` refuses when it passes one of them, or fails another.
--
-- This one overlaps well, but never tells the current stream to wait for the two others.

function step(weights, batch)
    local compute, copies = lab.stream(), lab.stream()
    local product = lab.matmul(weights, weights, {stream = compute})
    local on_gpu = batch:to("cuda", {non_blocking = true, stream = copies})
    return product, on_gpu
end
