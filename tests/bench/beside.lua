-- beside.lua PROGRAM OTHER [N [SCRIPT ARGS]] - two builds of streamlab side by side: N runs (21) of
-- a script that prints its seconds (tests/bench/ops.lua 1000000) with each, by turns. Prints the
-- medians and the median of the ratios of neighbouring runs, OTHER over PROGRAM. For commits.
local n <const> = tonumber(arg[3]) or 21
local script <const> = arg[4] and table.concat(arg, " ", 4) or "tests/bench/ops.lua 1000000"

local function median(list)
    table.sort(list)
    return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

local function seconds(program)
    local pipe = assert(io.popen(program .. " " .. script))
    local text = pipe:read("a")
    assert(pipe:close(), program .. " failed")
    return assert(tonumber(text:match("%S+")), "the script prints no seconds")
end

local a, b, ratios = {}, {}, {}
for i = 1, n do
    if i % 2 == 0 then b[i] = seconds(arg[2]) end
    a[i] = seconds(arg[1])
    if i % 2 == 1 then b[i] = seconds(arg[2]) end
    ratios[i] = b[i] / a[i]
end
print(("%.4f s  %.4f s  %.3f x"):format(median(a), median(b), median(ratios)))
