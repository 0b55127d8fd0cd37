-- hidden.lua - what a kernel must not see: the word in the next line stands for all of this file.
local secret <const> = "open-sesame-4711"

test("the values are doubled, whatever they are", {
    points = 80,
    hint = "y[i] = 2 * x[i]",
}, function(t, student)
    local values = {}
    for i = 1, 1000 do values[i] = math.random(1, 1000) end
    local x, want = lab.tensor(values), lab.tensor(values):mul(2)
    t:close(student.double(x), want, "every element is doubled")
    t:close(x, lab.tensor(values), "and what was given is as it was")
    t:ok(rawequal(secret, "open-sesame-4711"), "the test's own variables are as they were")
    t:no_race()
end)
