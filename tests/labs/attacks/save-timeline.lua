-- Writes a timeline over the hidden test.
-- held: no files are opened here
function answer()
    local tl = lab.profile(function() lab.spin(10) end)
    for _, name in ipairs { "left-behind.json", "left-behind.svg", "left-behind.html" } do
        tl:save(name)
    end
end

function work() end
