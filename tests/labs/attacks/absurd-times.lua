-- Keeps the GPU and the host busy for longer than numbers can say.
-- held: error: 
for _, us in ipairs { 0 / 0, -1, 1e300, 1 / 0, 9e18, 9e15 } do
    print(pcall(lab.spin, us), pcall(lab.host_work, us))
end
lab.spin(1e300)
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
