-- A source of nearly 1 MiB.
-- held: bytes is refused here: at most 131072

function double(x)
    lab.kernel{ source = ("int a;\n"):rep(140000) .. "__global__ void twice() {}", name = "twice",
                args = {} }
    return x
end
