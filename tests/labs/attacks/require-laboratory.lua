-- Asks require for the whole laboratory, not the one without lab.open.
-- held: a submission does not have it
require("streamlab").open { backend = "sim", profile = "tests/hidden.lua" }
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
