-- Leaves a host function that raises when the test waits.
-- held: error: 
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    local out = lab.mul(batch:to("cuda", { non_blocking = true }), 2)
    lab.current_stream():launch_host_func(function() error("too late to fail") end)
    return out
end
