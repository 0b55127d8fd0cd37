-- Writes files with the methods of a table of results.
-- held: no files are opened here
local results = lab.table { { n = 1, us = 2 }, { n = 2, us = 4 } }
results:csv("left-behind.csv")
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
