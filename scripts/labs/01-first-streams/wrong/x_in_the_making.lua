-- fails: 1.1 1.2 1.3 2.1 2.2 2.3 2.4 2.5
-- The default stream's rule hides that nothing orders `mine` behind the one who makes x: when that
-- happens in another stream, the product is made of what was there before.

function side_by_side(first, second)
    local a, b = lab.stream{ name = "first" }, lab.stream{ name = "second" }
    return lab.with(a, first), lab.with(b, second)
end

function beside_library(library, own)
    local mine = lab.stream{ name = "mine", non_blocking = true }   -- exempt from the NULL stream
    return library(), lab.with(mine, own)
end

function fetch(x, background)
    local behind, mine = lab.stream{ name = "background" }, lab.stream{ name = "mine" }
    lab.with(behind, background)
    local squares = lab.mul(x, x, { stream = mine })
    local on_host = squares:to("cpu", { non_blocking = true, stream = mine })
    mine:synchronize()                      -- the copy has arrived; the background still runs
    return on_host
end
