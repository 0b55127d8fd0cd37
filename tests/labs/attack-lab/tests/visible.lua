-- visible.lua - what an attacker knows of the tests.

test("answer doubles a number", {
    points = 20,
    hint = "2 * n",
}, function(t, student)
    t:is(student.answer(3), 6, "twice 3 is 6")
end)
