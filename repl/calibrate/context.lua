-- context.lua - what the parts of a calibration share: notes of what was found, and ways to
-- measure that each of them needs.
--
-- Device times are those of a timeline's spans, host times those of lab.now_us. Medians, since a
-- machine that others use is slow at times and never too fast.

local context = {}

local Context = {}
Context.__index = Context

-- A calibration of the current device. `progress(text)` is called with what it does right now;
-- `base` has the values, by key, that parts get which ask for what was not measured.
function context.new(lab, progress, base)
    local device = lab.device()
    return setmetatable({
        lab = lab, device = device, simulated = device.backend == "sim", progress = progress,
        values = setmetatable({}, { __index = base }), order = {}, notes = {}, findings = {},
    }, Context)
end

-- A value of the profile: `key` with dots ("host.launch_us"); `how` it was found; `spread` of the
-- repetitions relative to their median, or nil for what is read and not measured.
function Context:set(key, value, how, spread)
    if not self.notes[key] then
        self.order[#self.order + 1] = key
    end
    self.values[key] = value
    self.notes[key] = { how = how, spread = spread }
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

-- What is good to know and no value of the profile.
function Context:find(key, text)
    self.findings[#self.findings + 1] = { key = key, text = text }
end

-- ---- numbers --------------------------------------------------------------------------------

function context.median(list)
    local sorted = table.move(list, 1, #list, 1, {})
    table.sort(sorted)
    local n = #sorted
    return (sorted[(n + 1) // 2] + sorted[n // 2 + 1]) / 2
end

-- (max - min) / median of the middle half: one sample that a neighbour spoilt is no spread.
function context.spread(list)
    local sorted = table.move(list, 1, #list, 1, {})
    table.sort(sorted)
    local n, median = #sorted, context.median(list)
    local low, high = sorted[n // 4 + 1], sorted[n - n // 4]
    return median ~= 0 and (high - low) / math.abs(median) or 0
end

-- ---- measuring ------------------------------------------------------------------------------

-- Runs f, which gives a number, `reps` times after once for nothing. Median, spread, samples.
function Context:measure(reps, f)
    local samples = {}
    f()
    for i = 1, reps do
        samples[i] = f()
    end
    return context.median(samples), context.spread(samples), samples
end

-- The timeline of f, which begins on an idle device.
function Context:record(f)
    self.lab.synchronize()
    return self.lab.profile(f)
end

local hold_ms <const> = 2           -- at first
local longest_hold_ms <const> = 400

-- The spans of what f enqueues while the streams are held by a kernel, so that the host's time
-- to enqueue does not show. f must only enqueue. The holding kernel's span is not among them.
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
            local spans = {}
            for _, span in ipairs(tl:spans()) do
                if span.stream_id ~= holder.id then
                    spans[#spans + 1] = span
                end
            end
            return spans, tl
        end
        ms = math.min(ms * 4, longest_hold_ms)
    end
end

-- What a call costs the host, in us: f(n) makes n calls while a timeline is recorded; `finish`
-- (or none) empties the device between two rounds.
function Context:call_us(n, rounds, f)
    local lab = self.lab
    return self:measure(rounds, function()
        local us
        self:record(function()
            local start_us = lab.now_us()
            f(n)
            us = (lab.now_us() - start_us) / n
        end)
        return us
    end)
end

return context
