-- A sweep over more values than there is time for.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        local values = {}
        for i = 1, 1000 do
            values[i] = i
        end
        lab.sweep({ { "a", values }, { "b", values }, { "c", values } }, function() return 1 end)
    end
    return 2 * n
end

function work() end
