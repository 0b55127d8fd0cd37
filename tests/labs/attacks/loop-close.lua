-- Loops while its variables are closed, on the way up from the error.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    if n > 3 then
        local _ <close> = setmetatable({}, { __close = function()
            while true do
                pcall(function() while true do end end)
            end
        end })
        error("now")
    end
    return 2 * n
end

function work() end
