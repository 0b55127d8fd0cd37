-- A handler that fails in a handler that fails.
-- held: whose value is a boolean, not a message
function answer()
    local function fail() return xpcall(error, fail) end
    local _, message = xpcall(error, fail)
    error(message)
end

function work() end
