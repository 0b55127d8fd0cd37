-- axis.lua - an axis of a plot: where a value lies on it, from 0 to 1, and which ticks it has.
--
-- A column whose name ends in bytes, kib, mib or gib has sizes: its ticks are powers of two and
-- have units. A logarithmic axis of powers of two has such ticks, too.

local _, core = ...

local cell_text, units = core.results.cell_text, core.words.units

local axis = {}
axis.__index = axis

local bytes_of <const> = { bytes = 1, nbytes = 1, kib = 1 << 10, mib = 1 << 20, gib = 1 << 30 }

-- How many bytes 1 of that column is; nil for what is no size.
local function unit_of(name)
    return bytes_of[name:lower():match("%a+$")]
end

-- Labels -----------------------------------------------------------------------------------

local function size_text(bytes)
    local whole = math.tointeger(math.floor(math.abs(bytes) + 0.5)) or math.maxinteger
    return (bytes < 0 and "-" or "") .. units.bytes(whole)
end

-- Ticks that are `step` apart have as many decimals as that needs.
local function number_text(value, step)
    local size = math.max(math.abs(value), step)
    if size >= 1e6 or step < 1e-4 then
        return (("%.6g"):format(value):gsub("e%+?(-?)0*", "e%1"))
    end
    local decimals = math.max(0, -math.floor(math.log(step, 10) + 1e-9))
    return ("%." .. decimals .. "f"):format(value)
end

-- Of a value: as the tick there would have it.
function axis:text(value)
    return self.unit and size_text(value * self.unit) or cell_text(value)
end

-- Candidates, from many ticks to few -----------------------------------------------------------

local most_ticks <const> = 40

-- The multiples of `step` on the axis.
local function multiples(self, step)
    local ticks = {}
    for i = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) do
        local value = i * step
        ticks[#ticks + 1] = { value = value, text = self.unit and self:text(value)
                              or number_text(value, step) }
    end
    return ticks
end

-- Steps of 1, 2 and 5 times powers of ten, or of powers of two bytes.
local function each_linear(self)
    local base = self.unit and 2 or 10
    local power = math.floor(math.log((self.high / 2 - self.low / 2) / (most_ticks / 2)
        * (self.unit or 1), base))
    local factors, at = self.unit and { 1 } or { 1, 2, 5 }, 0
    return function()
        local step
        repeat
            step = factors[at % #factors + 1] * (base + 0.0) ^ (power + at // #factors)
                / (self.unit or 1)
            at = at + 1
        until step >= 1 or not self.whole
        return multiples(self, step)
    end
end

-- Every n-th power of two.
local function powers_of_two(self, n)
    local unit, ticks = self.unit or 1, {}
    local first = math.ceil(math.log(self.low * unit, 2) - 1e-9)
    local last = math.floor(math.log(self.high * unit, 2) + 1e-9)
    for power = math.ceil(first / n) * n, last, n do
        local value = 2.0 ^ power / unit
        ticks[#ticks + 1] = { value = value, text = self:text(value) }
    end
    return ticks
end

-- These multiples of every n-th power of ten.
local function decades(self, n, factors)
    local ticks = {}
    local first, last = math.floor(math.log(self.low, 10)), math.ceil(math.log(self.high, 10))
    for power = math.floor(first / n) * n, last, n do
        for _, factor in ipairs(factors) do
            local value = factor * 10.0 ^ power
            if value >= self.low * (1 - 1e-9) and value <= self.high * (1 + 1e-9) then
                ticks[#ticks + 1] = { value = value, text = number_text(value, value) }
            end
        end
    end
    return ticks
end

local function each_logarithmic(self)
    local steps = {}
    for _, n in ipairs(self.binary and { 1, 2, 4, 8, 10, 20, 50 } or {}) do
        steps[#steps + 1] = function() return powers_of_two(self, n) end
    end
    if not self.binary then
        for _, factors in ipairs{ { 1, 2, 5 }, { 1, 3 } } do
            steps[#steps + 1] = function() return decades(self, 1, factors) end
        end
        for _, n in ipairs{ 1, 2, 3, 6, 12, 50, 100 } do
            steps[#steps + 1] = function() return decades(self, n, { 1 }) end
        end
    end
    local at = 0
    return function()
        at = at + 1
        return steps[at] and steps[at]()
    end
end

-- Every n-th of the values that are no numbers.
local function each_place(self)
    local n = 0
    return function()
        n = n + 1
        local ticks = {}
        for i = 1, #self.values, n do
            ticks[#ticks + 1] = { value = i - 1, text = cell_text(self.values[i]) }
        end
        return ticks
    end
end

-- Using it -------------------------------------------------------------------------------------

-- Where the value is on the axis, from 0 to 1.
function axis:place(value)
    local low, high = self.low, self.high
    if self.log then low, high, value = math.log(low), math.log(high), math.log(value) end
    return (value / 2 - low / 2) / (high / 2 - low / 2)
end

local function first_that_fits(candidates, fits)
    local ticks = candidates()
    while ticks and #ticks > 1 and (#ticks > most_ticks or not fits(ticks)) do
        ticks = candidates()
    end
    return ticks or {}
end

-- The ticks {value =, text =, place =}: the most that fit. fits(ticks) looks at their places and
-- texts. A short logarithmic axis has round numbers instead of powers.
function axis:ticks(fits)
    local function check(ticks)
        for _, tick in ipairs(ticks) do tick.place = self:place(tick.value) end
        return fits(ticks)
    end
    local each = self.values and each_place or self.log and each_logarithmic or each_linear
    local ticks = first_that_fits(each(self), check)
    if self.log and #ticks < 2 then
        local round = first_that_fits(each_linear(self), check)
        if #round > #ticks then ticks = round end
    end
    check(ticks)
    return ticks
end

local function is_power_of_two(value)
    local mantissa = value
    while mantissa >= 2 do mantissa = mantissa / 2 end
    while mantissa < 1 do mantissa = mantissa * 2 end
    return mantissa == 1
end

-- The range around values that are all the same, or nearly.
local function widened(low, high, log)
    if log then return low / 2 > 0 and low / 2 or low, high * 2 end
    local some = math.max(math.abs(low), math.abs(high)) / 2
    if some < 1e-290 then some = 1 end
    return low - some, high + some
end

-- From the least to the greatest value.
local function set_range(self, values, from_zero)
    local low, high = math.huge, -math.huge
    for _, value in ipairs(values) do
        low, high = math.min(low, value), math.max(high, value)
    end
    if from_zero and not self.log and low >= 0 then low = 0 end
    -- Doubles have no ticks between values that are closer than that.
    if high / 2 - low / 2 <= 1e-9 * math.max(math.abs(low), math.abs(high)) or high < 1e-290 then
        local zero = from_zero and low == 0
        low, high = widened(low, high, self.log)
        if zero then low = 0 end
    end
    local most = 1.5e308        -- the length is twice that at most, halves of it are numbers
    self.low, self.high = math.max(low + 0.0, -most), math.min(high + 0.0, most)
end

-- An axis for the values of the column `name`. Options: log; from_zero, for a linear one; places,
-- a list of values that are no numbers, of which number i lies at i - 1.
function axis.new(name, values, options)
    local self = setmetatable({ name = name, log = options.log, values = options.places,
                                unit = not options.places and unit_of(name) or nil }, axis)
    if self.values then
        self.low, self.high = -0.5, #self.values - 0.5
        return self
    end
    set_range(self, values, options.from_zero)
    self.binary, self.whole = self.log, true
    for _, value in ipairs(values) do
        self.binary = self.binary and (self.unit ~= nil or is_power_of_two(value))
        self.whole = self.whole and value == math.floor(value)
    end
    return self
end

return axis
