-- fails: 1.3 2.4 2.5
-- The squares are right, and stay on the GPU.

function side_by_side(first, second)
    local s1 = lab.stream()
    local s2 = lab.stream()
    local a = lab.with(s1, first)
    local b = lab.with(s2, second)
    return a, b
end

function beside_library(library, own)
    local s = lab.stream{ non_blocking = true }
    local a = library()
    local b = lab.with(s, own)
    return a, b
end

function fetch(x, background)
    local bg = lab.stream{ non_blocking = true }
    local mine = lab.stream{ non_blocking = true }
    mine:wait_stream(lab.current_stream())
    lab.with(bg, background)
    local host = lab.with(mine, function()
        local y = lab.mul(x, x)
        return y
    end)
    mine:synchronize()
    return host
end
