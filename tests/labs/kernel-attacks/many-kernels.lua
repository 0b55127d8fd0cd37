-- Compiles one kernel after the other.
-- held: used up its 2 s of processor time
-- burns

function double(x)
    for i = 1, 100000 do
        lab.kernel{ source = "__global__ void f() { int i = " .. i .. "; }", args = {} }
    end
    return x
end
