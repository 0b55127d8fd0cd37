-- fails: 1.3 1.4 2.4 2.5 2.6
-- The host waits where it should not, item() in the loop, and not where it has to, behind a copy
-- that does not block.

function side_by_side(first, second)
    return lab.with(lab.stream(), first), lab.with(lab.stream(), second)
end

function beside_library(library, own)
    return library(), lab.with(lab.stream{non_blocking = true}, own)
end

function fetch(x, background)
    local mine = lab.stream()
    lab.with(lab.stream(), background)
    return lab.mul(x, x, {stream = mine}):to("cpu", {non_blocking = true, stream = mine})
end

function spread(steps, count)
    local streams, numbers = {}, {}
    for i = 1, count do streams[i] = lab.stream() end
    for i, step in ipairs(steps) do
        numbers[i] = lab.with(streams[(i - 1) % count + 1], step):item()
    end
    return numbers
end
