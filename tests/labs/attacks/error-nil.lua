-- No error value at all.
-- held: an error was raised whose value is a nil
function answer() error() end

function work() end
