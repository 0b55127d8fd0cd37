-- times.lua - the range of time that a picture shows, and its axis, in whole ns.

local _, core = ...

local times = {}
times.__index = times

local longest_ns <const> = 1 << 61      -- about 73 years

-- A time exactly, in a unit of 1, 1e3, 1e6 or 1e9 ns: "5000", "1009.9", "-0.5".
function times.exact(ns, unit_ns)
    local size, sign = math.abs(ns), ns < 0 and "-" or ""
    local digits = #tostring(unit_ns) - 1
    local text = sign .. size // unit_ns
    if size % unit_ns == 0 then return text end
    return text .. ("." .. ("%0" .. digits .. "d"):format(size % unit_ns):gsub("0+$", ""))
end

-- The end of a range that begins at from_ns, both since the first span's start; to_ns 0 is
-- longest_ns, which is the makespan or more. Raises if something is wrong with it. A range of no
-- length is allowed for a timeline of no length.
function times.check_range(op, makespan_ns, whole_ns, from_ns, to_ns)
    if to_ns == 0 then to_ns = whole_ns end
    local wrong = from_ns < 0 and "begins before 0"
        or from_ns >= to_ns and not (from_ns == 0 and to_ns == 0) and "is empty"
        or to_ns > whole_ns and to_ns >= longest_ns and "is too long"
    if not wrong then return to_ns end
    core.raise("SL_EINVAL", op,
        ("the range %s to %s us %s: the timeline lasts from 0 to %s us"):format(
            times.exact(from_ns, 1000), times.exact(to_ns, 1000), wrong,
            times.exact(makespan_ns, 1000)))
end

-- Axes -----------------------------------------------------------------------------------------

local units <const> = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } }

-- As many decimals as a multiple of the step needs.
local function decimals_of(step_ns, unit_ns)
    local decimals = 0
    while unit_ns > 1 and step_ns % unit_ns ~= 0 do
        decimals, unit_ns = decimals + 1, unit_ns // 10
    end
    return decimals
end

-- The label of a tick, without its unit.
function times:label(tick_ns)
    local whole, part = tick_ns // self.unit_ns, tick_ns % self.unit_ns
    if self.decimals == 0 then return tostring(whole) end
    local digit = self.unit_ns // math.tointeger(10 ^ self.decimals)
    return ("%d.%0" .. self.decimals .. "d"):format(whole, part // digit)
end

-- An axis {step_ns = 1, 2 or 5 times a power of ten, unit = of the labels, unit_ns =, decimals =}.
-- The step is the smallest that leaves a tick `slack` columns more than its label is wide, on
-- `columns` columns that show from_ns to to_ns, 0 <= from < to.
function times.axis(from_ns, to_ns, columns, slack)
    local u = 1
    while units[u][1] > to_ns and u < #units do u = u + 1 end
    local self = setmetatable({ unit_ns = units[u][1], unit = units[u][2] }, times)
    local ns_per_column, power = (to_ns - from_ns) / columns, 1
    while true do
        for _, lead in ipairs { 1, 2, 5 } do
            self.step_ns = lead * power
            self.decimals = decimals_of(self.step_ns, self.unit_ns)
            local wanted = #self:label(to_ns) + slack
            if self.step_ns >= wanted * ns_per_column or self.step_ns > math.maxinteger // 10 then
                return self
            end
        end
        power = power * 10
    end
end

-- Each tick from from_ns on, before to_ns or at it.
function times:each(from_ns, to_ns)
    local past = from_ns % self.step_ns
    local tick = (past == 0 and from_ns or from_ns + (self.step_ns - past)) - self.step_ns
    return function()
        tick = tick + self.step_ns
        return tick <= to_ns and tick or nil
    end
end

-- Rounds a time as a thousandth of the range asks for, and lets the labels have the decimals for
-- it.
function times:round(ns, range_ns)
    local grain_ns = 1
    while grain_ns <= range_ns // 10000 do grain_ns = grain_ns * 10 end
    ns = (ns + grain_ns // 2) // grain_ns * grain_ns
    self.decimals = decimals_of(ns, self.unit_ns)
    return ns
end

return times
