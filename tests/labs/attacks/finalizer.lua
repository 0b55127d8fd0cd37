-- A finalizer that never ends, for when the test is over.
-- held: a lab has no finalizers
setmetatable({}, { __gc = function() while true do end end })
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
