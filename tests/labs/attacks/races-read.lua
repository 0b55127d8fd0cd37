-- Reads the reports of races, which name lines of the test.
-- held: races are reported when the test has ended
for _, race in ipairs(lab.races()) do
    print(race.message)
end
function answer(n)
    return 2 * n
end

function work(batch)
    return lab.mul(batch:to("cuda", { non_blocking = true }), 2)
end
