-- Loads binary code, which can break the virtual machine.
-- held: attempt to load a binary chunk
assert(load("\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8", "code", "b"))
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
