-- solution.lua - a submission that has all points. It stays with you: neither file that
-- `streamlab lab pack` writes has it, and nothing is packed while it does not pass.

function step(weights, batch)
    local compute, copies = lab.stream{ name = "compute" }, lab.stream{ name = "copies" }
    local product = lab.matmul(weights, weights, { stream = compute })
    local on_gpu = batch:to("cuda", { non_blocking = true, stream = copies })
    local current = lab.current_stream()
    current:wait_stream(compute)
    current:wait_stream(copies)
    return product, on_gpu
end
