-- One stream that is exempt from the default stream's rule is enough: the other half of the work
-- stays in the stream that is current, whichever that is.

local side = lab.stream{ name = "side", non_blocking = true }

function side_by_side(first, second)
    local x = first()
    return x, lab.with(side, second)
end

function beside_library(library, own)
    local y = lab.with(side, own)
    return library(), y
end

function fetch(x, background)
    lab.with(side, background)
    return lab.mul(x, x):to("cpu")      -- waits for this copy, and for what made x, in one stream
end
