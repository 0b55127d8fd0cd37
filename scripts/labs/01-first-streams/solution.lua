-- Lab 1: first streams. The solution.

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
    mine:wait_stream(lab.current_stream())  -- x may not be complete there yet
    lab.with(behind, background)
    local squares = lab.mul(x, x, { stream = mine })
    local on_host = squares:to("cpu", { non_blocking = true, stream = mine })
    mine:synchronize()                      -- the copy has arrived; the background still runs
    return on_host
end
