-- visible.lua - what an attacker knows of the tests.

test("a vector of ones is doubled", {
    points = 20,
    hint = "y[i] = 2 * x[i]",
}, function(t, student)
    t:close(student.double(lab.ones(100)), 2, "every element is 2")
end)
