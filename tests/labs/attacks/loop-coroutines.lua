-- Makes coroutines that loop, in coroutines that loop.
-- held: it used up its 1 s of processor time
-- burns
-- score: 20
function answer(n)
    local function loop()
        while true do
            pcall(coroutine.wrap(loop))
        end
    end
    if n > 3 then
        loop()
    end
    return 2 * n
end

function work() end
