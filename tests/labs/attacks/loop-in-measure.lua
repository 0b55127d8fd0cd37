-- A measurement with as many repetitions as can be asked for.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        while true do
            lab.measure(function() end, { reps = 1000000 })
        end
    end
    return 2 * n
end

function work() end
