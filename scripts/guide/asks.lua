lab.check("warn")
local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
local x = lab.zeros(4, 4)
lab.synchronize()
x:fill_(7, { stream = producer })
lab.mul(x, 2, { stream = consumer })
for _, race in ipairs(lab.races()) do
    print(race.kind, race.first.where, race.second.where, race.remedy)
end
lab.check("off")
