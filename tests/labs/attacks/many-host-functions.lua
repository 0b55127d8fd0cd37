-- Host functions that enqueue the next one, so that a wait has no end.
-- held: error: 
-- score: 20
function answer(n) return 2 * n end

function work(batch)
    local s = lab.current_stream()
    local function again() s:launch_host_func(again) end
    s:launch_host_func(again)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
