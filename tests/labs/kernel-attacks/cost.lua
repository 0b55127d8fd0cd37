-- A kernel that takes no time, or so it says.
-- held: how long your kernel takes is not yours to say

function double(x)
    lab.kernel{ source = "__global__ void f() {}", args = {}, cost = { us = 0 } }
    return x
end
