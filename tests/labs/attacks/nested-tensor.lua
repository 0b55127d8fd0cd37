-- A list for a tensor that contains itself, and says that it is longer than memory.
-- held: error: 
local list = setmetatable({}, { __len = function() return math.maxinteger end,
    __index = function(t) return t end })
list[1] = list
lab.tensor(list)
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
