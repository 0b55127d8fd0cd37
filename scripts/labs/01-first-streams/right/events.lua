-- With events in place of wait_stream and synchronize, and a buffer that is copied into.

function side_by_side(first, second)
    local a, b = lab.stream(), lab.stream()
    local y = lab.with(b, second)       -- the second one is issued first
    return lab.with(a, first), y
end

function beside_library(library, own)
    local exempt = lab.stream{ non_blocking = true }
    local g <close> = lab.use(exempt)
    local y = own()
    return library(), y
end

function fetch(x, background)
    local exempt, work = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    work:wait_event(lab.current_stream():record_event())
    lab.with(exempt, background)
    local host = lab.empty(x:size(1), x:size(2), { device = "cpu", pinned = true })
    lab.with(work, function() host:copy_(lab.mul(x, x), { non_blocking = true }) end)
    work:record_event():synchronize()
    return host
end
