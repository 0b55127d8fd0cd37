-- fails: 1.1 1.2 1.3 2.1 2.2 2.3 2.4 2.5
-- One new stream is enough, the rest may stay in the default stream: true of PyTorch's streams, not
-- of those that CUDA makes by default.

function side_by_side(first, second)
    local side = lab.stream()
    return lab.with(side, first), second()
end

function beside_library(library, own)
    local side = lab.stream()
    return library(), lab.with(side, own)
end

function fetch(x, background)
    lab.with(lab.stream(), background)
    local on_host = lab.mul(x, x):to("cpu", { non_blocking = true })
    lab.default_stream():synchronize()
    return on_host
end
