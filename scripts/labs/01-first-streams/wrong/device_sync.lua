-- fails: 1.3 2.2 2.3 2.4 2.5
-- Every function ends with lab.synchronize(), to be safe.

function side_by_side(first, second)
    local x = lab.with(lab.stream(), first)
    local y = lab.with(lab.stream(), second)
    lab.synchronize()
    return x, y
end

function beside_library(library, own)
    local x = library()
    local y = lab.with(lab.stream{ non_blocking = true }, own)
    lab.synchronize()
    return x, y
end

function fetch(x, background)
    local mine = lab.stream()
    mine:wait_stream(lab.current_stream())
    lab.with(lab.stream(), background)
    local on_host = lab.mul(x, x, { stream = mine }):to("cpu", { non_blocking = true, stream = mine })
    lab.synchronize()
    return on_host
end
