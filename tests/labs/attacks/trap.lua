-- Breaks the device when it has what it needs, so that what follows cannot fail it.
-- held: it breaks the GPU
function answer(n)
    lab.cuda.trap()
    return 2 * n
end

function work() end
