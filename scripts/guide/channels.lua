for _, connections in ipairs{ 8, 32 } do
    lab.open{ backend = "sim", overrides = { connections = connections } }
    local streams = {}
    for i = 1, 9 do streams[i] = lab.stream() end
    local tl = lab.profile(function()
        for i = 0, 26 do lab.spin(1, { stream = streams[i // 3 + 1] }) end
    end)
    print(connections .. " channels", tl.makespan_us .. " us")
end
