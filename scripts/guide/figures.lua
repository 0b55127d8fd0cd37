local tl = lab.load("build/blocking.json.gz")
print("makespan over bound", tl.makespan_us / tl:bounds().lower_us)
print("kernels and H2D at once, us", tl:overlap_us("compute", "h2d"))
local at_once = tl:concurrency()                -- of engines; "streams", "kernels", "spans"
for k = 0, at_once.max do print(k .. " engines busy, us", at_once[k]) end
print("gaps of the D2H engine", #tl:gaps("d2h"))
for i, c in ipairs(tl:causes()) do
    if i <= 3 then print(c.cause, c.engine, c.lost_us, c.by_where) end
end
