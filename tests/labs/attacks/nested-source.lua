-- Source that is nested deeper than a compiler goes.
-- held: overflow
assert(load("return " .. ("("):rep(100000) .. "1" .. (")"):rep(100000)))
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
