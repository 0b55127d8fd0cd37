-- How much quicker is a layer that is split over several GPUs?
--
-- It is often said that "tensor parallelism divides the time by the number of GPUs", and that "two
-- halves of the batch hide the all-reduce". Of two matrices a GPU (arg[1] of them, or 2) has
-- columns of one, rows of the other, and what they give is summed. Expected: the next layer needs
-- the sum, so nothing hides it. With two halves one's sum is beside matmuls of the other, which
-- have fewer SMs.
local lab = require "streamlab"
local p <const>, layers <const>, gpus = tonumber(arg[1] or 2), 8, {}
for k = 1, p do gpus[k] = lab.open{ index = k - 1 } end
local comm = lab.comm{ devices = gpus }
-- A part of a matrix, from behind that row and column on; of a large one nobody reads the values.
local function part(rows, columns, row, column, gpu)
    if rows > 64 then return lab.empty(rows, columns, { device = gpu, dtype = "bfloat16" }) end
    local list = {}
    for e = 0, rows * columns - 1 do
        list[e + 1] = (((e // columns + row) * 3 + (e % columns + column) * 5) % 7 - 3) / 24
    end
    return lab.tensor(list, { device = gpu }):view(rows, columns)
end
local function model(n, count, halves)
    local m, wide <const>, rows <const> = { {}, {}, {} }, 4 * n // count, n // halves
    for k = 1, count do
        m[1][k], m[2][k] = part(n, wide, 0, (k - 1) * wide, gpus[k]),
            part(wide, n, (k - 1) * wide, 0, gpus[k])
        for h = 1, halves do
            m[3][h] = m[3][h] or {}
            m[3][h][k] = part(rows, n, (h - 1) * rows, 0, gpus[k])
        end
    end
    return table.unpack(m)
end
local function forward(up, down, input)
    local x, works = { table.unpack(input) }, {}
    for i = 1, layers * #x do
        local h <const>, y = (i - 1) % #x + 1, {}
        if works[h] then works[h]:wait() end
        for k in ipairs(up) do y[k] = lab.matmul(lab.matmul(x[h][k], up[k]), down[k]) end
        if #y > 1 then works[h] = comm:all_reduce(y, { async = true }) end
        x[h] = y
    end
    for _, work in ipairs(works) do work:wait() end
    return x
end
local rows, wanted = {}, forward(model(16, 1, 1))[1][1]:cpu()
for i, how in ipairs{ { "one GPU", 1, 1 }, { "split", p, 1 }, { "split, two halves", p, 2 } } do
    local up, down, x = model(8192, how[2], how[3])
    forward(up, down, x)                        -- the first launches load the kernels
    local us <const>, right, from = lab.profile(forward, up, down, x).makespan_us, true, 1
    for _, y in ipairs(forward(model(16, how[2], how[3]))) do
        right = right and lab.allclose(y[1]:cpu(), wanted:narrow(1, from, y[1]:size(1)),
                                       { rtol = 1e-3 })
        from = from + y[1]:size(1)
    end
    rows[i] = { how = how[1], us = us, quicker = i > 1 and rows[1].us / us or 1, right = right }
end
lab.table(rows, { columns = { "how", "us", "quicker", "right" } }):show()
local lost <const>, gain <const> = rows[2].us - rows[1].us / p, rows[2].us - rows[3].us
print(("Verdict: %s: splitting divides the time by the number of GPUs: by %.2f with %d"):format(
    rows[2].quicker > 0.95 * p and "holds" or "depends", rows[2].quicker, p))
print(("Verdict: %s: two halves hide the all-reduce: of %.0f us that are lost they gain "
    .. "%.0f"):format(
    gain > 0.9 * lost and "holds" or gain > 0 and "depends" or "no longer holds", lost, gain))
