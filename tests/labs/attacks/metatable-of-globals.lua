-- Gives its globals another metatable, through which it sees who reads them.
-- held: cannot change a protected metatable
setmetatable(_G, { __index = function(_, name) return name end })
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
