-- context.lua - what the parts of a calibration share: the results so far, and ways to measure.
--
-- Device times are those of a timeline's spans, host times those of lab.now_us. Medians, because
-- other users of a machine make it slow at times, and never too fast.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"
local passes = import "scripts/measure/calibrate/passes.lua"
local reference = import "scripts/measure/calibrate/reference.lua"

local context = { median = statistics.median, spread = statistics.spread,
                  middle = statistics.middle }

-- "64 KiB"
function context.size_text(bytes)
    local kib <const>, mib <const> = 1024, 1024 * 1024
    return bytes >= mib and ("%g MiB"):format(bytes / mib)
        or bytes >= kib and ("%g KiB"):format(bytes / kib) or ("%d B"):format(bytes)
end

local Context = {}
Context.__index = Context

-- The number as it stands in a profile, with so many decimals.
function context.rounded(number, decimals)
    return tonumber(("%." .. decimals .. "f"):format(number))
end

-- The largest whole number for which fits(number) is true: `low` fits, `high` does not.
function context.largest(low, high, fits)
    while high - low > 1 do
        local middle = (low + high) // 2
        if fits(middle) then
            low = middle
        else
            high = middle
        end
    end
    return low
end

local least_us <const> = 1e-3       -- for a MiB; less is nothing

-- us + us_per_mib through rows {bytes =, us =} with the least relative deviations, neither below 0.
function context.line(rows)
    local line = statistics.line(lists.map(rows, function(row)
        return { row.bytes / 2^20, row.us, 1 / math.max(row.us, 1e-3) ^ 2 }
    end))
    if #rows == 1 or line.slope < least_us then
        return line.mean, 0
    elseif line.level < 0 then
        return 0, line.through
    end
    return line.level, line.slope
end

-- Whether the GPU can do f(...), for not every GPU has every type; else also the message.
function context.can(f, ...)
    local done, err = pcall(f, ...)
    if not done and err.code ~= "SL_EBACKEND" then
        error(err, 0)
    end
    return done, not done and err.message or nil
end

-- A calibration of the current device. `progress(text)` is called with what it is doing; `base`
-- has values by key for parts that need a figure that was not measured.
function context.new(lab, progress, base)
    local device = lab.device()
    return setmetatable({
        lab = lab, device = device, simulated = device.backend == "sim", progress = progress,
        values = setmetatable({}, { __index = base }), order = {}, notes = {}, findings = {},
        absent = {}, passes = 1, pass = 1, place = 0, samples = {}, touched = {},
        references = {},
    }, Context)
end

-- ---- what is found --------------------------------------------------------------------------

-- What the current part has found of a key in its passes: pass[i] is a value, or `none`.
local none <const> = {}

local function samples_of(c, key)
    local of_key = c.samples[key] or {}
    c.samples[key], c.touched[key] = of_key, true
    local of_place = of_key[c.place] or { pass = {} }
    of_key[c.place], of_place.last = of_place, c.pass
    return of_place
end

-- A value of the profile: `key` with dots ("host.launch_us"); `how` it was found; `spread` of the
-- repetitions relative to their median, or nil for what is read and not measured. Until the part
-- ends, it is the value of this pass.
function Context:set(key, value, how, spread)
    local samples = samples_of(self, key)
    samples.pass[self.pass], samples.how, samples.spread = value, how, spread
    self:put(key, value, { how = how, spread = spread })
end

-- This pass has found that there is no such value. If most passes have not, the base's is not
-- taken either: `absent` has the key.
function Context:lack(key)
    samples_of(self, key).pass[self.pass] = none
end

function Context:put(key, value, note)
    if not self.notes[key] then
        self.order[#self.order + 1] = key
    end
    self.values[key] = value
    self.notes[key] = note
end

-- As if the value had never been set.
function Context:drop(key)
    self.values[key], self.notes[key] = nil, nil
    for i, name in ipairs(self.order) do
        if name == key then
            table.remove(self.order, i)
            return
        end
    end
end

-- A finding: a text for the reader that is no value of the profile. Only the first pass's is
-- kept.
function Context:find(key, text)
    if self.pass == 1 then
        self.findings[#self.findings + 1] = { key = key, text = text }
    end
end

-- ---- passes ---------------------------------------------------------------------------------

-- The values of the passes so far, and in how many there was none.
local function values_of(samples)
    local values, lacks = {}, 0
    for i = 1, samples.last do
        local value = samples.pass[i]
        if value == none then
            lacks = lacks + 1
        elseif value ~= nil then
            values[#values + 1] = value
        end
    end
    return values, lacks
end

-- Combines what all passes found for a key. If several parts set it, the last one in the list
-- counts.
local function settle(c, key)
    local last = 0
    for place in pairs(c.samples[key]) do
        last = math.max(last, place)
    end
    local samples = c.samples[key][last]
    local values, lacks = values_of(samples)
    c.absent[key] = #values <= lacks or nil
    if c.absent[key] then
        c:drop(key)
        return
    end
    local value, spread = passes.combine(values)
    local several = #values > 1 and (type(value) == "number" or type(value) == "table")
    c:put(key, value, { how = samples.how, spread = several and spread or samples.spread,
                        passes = several and #values or nil })
end

-- Runs a step of passes.steps. A simulated host has no speed of its own.
function Context:run(step)
    local part = step.part
    collectgarbage()                    -- garbage of other parts must not cost this one time
    if not self.simulated then
        table.insert(self.references, reference.ms(self.lab.now_us))
    end
    self.place, self.pass, self.passes, self.touched = step.i, step.pass, step.of, {}
    local ok, failure = pcall(part.run, self)
    for key in pairs(self.touched) do
        settle(self, key)
    end
    self.place, self.pass, self.passes = 0, 1, 1
    return ok, failure
end

-- ---- measuring ------------------------------------------------------------------------------

-- Runs f, which returns a number, once to warm up and then `reps` times. Returns the median, the
-- spread and the samples.
function Context:measure(reps, f)
    local samples = {}
    f()
    for i = 1, reps do
        samples[i] = f()
    end
    return context.median(samples), context.spread(samples), samples
end

-- How much reading the clock adds to the time of a call.
function Context:clock_us()
    local samples = {}
    for i = 1, 101 do
        local start_us = self.lab.now_us()
        samples[i] = self.lab.now_us() - start_us
    end
    return statistics.median(samples)
end

-- How long f(...) takes in us, without what reading the clock adds (clock_us), and what it gives.
function Context:timed(clock_us, f, ...)
    local start_us = self.lab.now_us()
    local result, why = f(...)
    return math.max(0, self.lab.now_us() - start_us - clock_us), result, why
end

-- The timeline of f, which begins on an idle device.
function Context:record(f)
    self.lab.synchronize()
    return self.lab.profile(f)
end

local hold_ms <const> = 2           -- at first
local longest_hold_ms <const> = 400

-- The spans of what f enqueues while the streams are held by a kernel, so that the host's time
-- to enqueue does not show. f must only enqueue. The holding kernel's span, the first, is not among
-- them.
function Context:held(streams, f)
    local lab = self.lab
    local holder <close> = lab.stream { non_blocking = true, name = "hold" }
    local ms = hold_ms
    while true do
        local gate = lab.event { timing = false }
        local in_time
        local tl = self:record(function()
            lab.spin(ms, { stream = holder })
            gate:record(holder)
            for _, stream in ipairs(streams) do
                stream:wait_event(gate)
            end
            f()
            in_time = not gate:query()
        end)
        gate:close()
        if in_time or ms >= longest_hold_ms then
            local spans = tl:spans()
            table.remove(spans, 1)
            return spans, tl
        end
        ms = math.min(ms * 4, longest_hold_ms)
    end
end

-- How long n calls take on the host, by each, in us.
function Context:loop_us(n, call)
    local start_us = self.lab.now_us()
    for _ = 1, n do
        call()
    end
    return (self.lab.now_us() - start_us) / n
end

-- What a call costs the host, in us, in n calls in a row on an idle device, after before() if that
-- is given. Nothing is recorded, for a recorder makes calls dearer. Median, spread.
function Context:call_us(n, rounds, call, before)
    return self:measure(rounds, function()
        self.lab.synchronize()
        if before then
            before()
        end
        local us = self:loop_us(n, call)
        self.lab.synchronize()
        return us
    end)
end

-- ---- streams and memory ---------------------------------------------------------------------

-- f(streams) with n new streams, which are closed afterwards.
function Context:with_streams(n, options, f)
    local streams = {}
    for i = 1, n do
        streams[i] = self.lab.stream(options)
    end
    local result = f(streams)
    self.lab.synchronize()
    for _, stream in ipairs(streams) do
        stream:close()
    end
    return result
end

-- A host tensor of so many bytes, pageable, whose pages are mapped.
function Context:pageable(bytes)
    return self.lab.full(1, bytes, { device = "cpu", dtype = "uint8" })
end

return context
