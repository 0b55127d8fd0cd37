-- Calls what is forbidden when none of its functions runs: the test adds to what it gave.
-- held: called stream:synchronize
-- score: 20
function answer(n)
    if n ~= 5 then
        return 2 * n
    end
    return setmetatable({}, { __add = function()
        pcall(lab.current_stream().synchronize, lab.current_stream())
        return 10
    end })
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
