-- Makes many assertions that pass, of an object of its own.
-- held: failed: twice 3 is 6
function answer()
    local t = lab.tap { plan = 1 }
    t:is(6, 6, "twice 3 is 6")
    t:done()
    return 0
end

function work() end
