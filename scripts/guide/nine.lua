local function run(count, round_robin)
    local streams = {}
    for i = 1, count do streams[i] = lab.stream{ name = "stream " .. i } end
    local function work()
        for i = 0, 3 * count - 1 do
            lab.spin(1, { stream = streams[round_robin and i % count + 1 or i // 3 + 1] })
        end
    end
    work()
    local tl = lab.profile(work)
    if count == 9 and not round_robin then
        tl:save("build/nine.svg", { theme = "light", width_px = 760 })
    end
    return tl.makespan_us / 1000
end

print("streams   stream by stream   round-robin")
for _, count in ipairs{ 8, 9, 16, 128, 129 } do
    print(string.format("%7d %15.2f ms %10.2f ms", count, run(count, false), run(count, true)))
end
