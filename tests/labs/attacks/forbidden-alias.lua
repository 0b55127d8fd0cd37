-- Keeps a forbidden function under another name, and catches what is raised.
-- held: forbidden-alias.lua:8 called lab.synchronize
-- score: 20
local wait = lab.synchronize
function answer(n) return 2 * n end

function work(batch)
    pcall(wait)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
