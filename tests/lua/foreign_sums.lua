-- foreign_sums.lua - sums of a trace of another tool's, compared with those of an independent
-- program (tests/timeline/foreign_sums.py).
local tap = require "tap"

-- row_of(key, name): the row of tl:by(key) with that name, or {}. n: how many sums there are.
return function(path, row_of, n)
    local pipe = io.popen("python3 tests/timeline/foreign_sums.py " .. path .. " 2>/dev/null")
    local sums = pipe:read("a")
    if not pipe:close() then
        tap.skip("python3 is not there", 2)
        return
    end
    local wrong, n_sums = {}, 0
    for key, name, count, ns in sums:gmatch("0\t(%w+)\t([^\t\n]+)\t(%d+)\t(%d+)\n") do
        local row = row_of(key, name)
        n_sums = n_sums + 1
        if row.count ~= tonumber(count) or math.abs(row.time_us * 1000 - ns) > 0.5 then
            wrong[#wrong + 1] = key .. " " .. name
        end
    end
    tap.is_deeply(wrong, {}, "sums are those of an independent program")
    tap.is(n_sums, n, "of all operations, streams and operators")
end
