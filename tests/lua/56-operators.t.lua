-- 56-operators.t.lua - sums by operator and by phase of traces of PyTorch's profiler are those of a
-- program in Python that knows nothing of streamlab (56-operators.py).

local T = require "tap"

local traces <const> = { "pairs/small_model-before", "planted/item_costs_nothing" }

-- "operator aten::mm 12 34567", in the order of bytes.
local function lines(tl)
    local list = {}
    for _, key in ipairs{ "operator", "phase" } do
        for _, row in ipairs(tl:by(key)) do
            list[#list + 1] = ("%s %s %d %d"):format(key, row.name, row.count,
                math.floor(row.time_us * 1000 + 0.5))
        end
    end
    table.sort(list)
    return table.concat(list, "\n") .. "\n"
end

local function expected(path)
    local python <close> = io.popen(("python3 tests/lua/56-operators.py %s"):format(path))
    local list = {}
    for line in python:lines() do list[#list + 1] = line end
    table.sort(list)
    return table.concat(list, "\n") .. "\n"
end

if not os.execute "command -v python3 >/dev/null" then
    T.skip("there is no python3", #traces)
else
    for _, name in ipairs(traces) do
        local path = ("tests/timeline/data/%s.json.gz"):format(name)
        T.is(lines(lab.load(path)), expected(path), name .. ": the sums are the same")
    end
end

T.done()
