-- Stops the collector, so that memory is never given back.
-- held: there is no 'collectgarbage' in a lab
collectgarbage("stop")
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
