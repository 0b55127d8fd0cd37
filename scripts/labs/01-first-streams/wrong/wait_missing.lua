-- fails: 1.1 1.2 1.3 2.1 2.2 2.3 2.4 2.5 2.6
-- The host does not wait where it has to, behind a copy that does not block.

function side_by_side(first, second)
    return lab.with(lab.stream(), first), lab.with(lab.stream(), second)
end

function beside_library(library, own)
    return library(), lab.with(lab.stream{ non_blocking = true }, own)
end

function fetch(x, background)
    local mine = lab.stream()
    lab.with(lab.stream(), background)
    return lab.mul(x, x, { stream = mine }):to("cpu", { non_blocking = true, stream = mine })
end
