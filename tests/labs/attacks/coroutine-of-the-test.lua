-- Resumes the coroutine that the test runs in from one of its own.
-- held: cannot resume non-suspended coroutine
function answer()
    local main = coroutine.running()
    local _, _, reason = coroutine.resume(coroutine.create(function()
        return coroutine.resume(main, 6)
    end))
    print(coroutine.resume(coroutine.create(function() return coroutine.close(main) end)))
    error(reason)
end

function work() end
