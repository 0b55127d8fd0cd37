-- A name that is more than one.
-- held: is no name of a function

function double(x)
    lab.kernel{ source = "__global__ void twice() {}", args = {},
                name = "twice(); } extern \"C\" int kill(int, int); void f() { kill" }
    return x
end
