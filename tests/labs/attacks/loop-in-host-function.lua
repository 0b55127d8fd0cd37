-- Host functions that the test's wait runs, and that never end.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    local out = lab.mul(batch:to("cuda", { non_blocking = true }), 2)
    lab.current_stream():launch_host_func(function()
        while true do
            pcall(function() while true do end end)
        end
    end)
    return out
end
