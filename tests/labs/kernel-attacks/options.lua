-- Options that name files and plugins.
-- held: the option "-fplugin=/tmp/left-behind.so" is refused here

local source = [==[
__global__ void twice(const float *x, float *y, int n) { y[0] = 1; }
]==]

function double(x)
    for _, option in ipairs{ "-I/etc", "-include", "-DX=asm", "@/etc/passwd", "-o/tmp/left-behind",
                             "-fplugin=/tmp/left-behind.so" } do
        local fine, why = pcall(lab.kernel, { source = source, options = { option },
                                              args = { "in f32*", "out f32*", "i32" } })
        if fine or option:find("plugin") then error(why, 0) end
    end
    return x
end
