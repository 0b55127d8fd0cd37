-- A wrong kernel beside a right function of Lua's.
-- held: every element is 2

function double(x)
    local y = lab.empty(x:numel())
    local twice = lab.kernel{ source = "__global__ void twice(const float *x, float *y) { y[0] = "
        .. "3; }",
        args = { "in f32*", "out f32*" },
        cpu = function(_, _, from, to) for i = 1, #from do to[i] = 2 * from[i] end end }
    twice(1, 1, x, y)
    return y
end
