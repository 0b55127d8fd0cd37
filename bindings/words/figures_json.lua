-- figures_json.lua - the figures of a timeline as one JSON object, for programs.
--
-- The keys come in a fixed order, a line for each at the top level; engines and kinds in their
-- usual order, and only those that have spans. Durations are in us with three decimals, which
-- is exact. What has no value (the ratio to a bound of 0, the busiest engine of an empty
-- timeline, the name of an unknown device) is null.

local _, core = ...
local string, us = core.json_string, core.json_milli

local function text_or_null(text) return text ~= "" and string(text) or "null" end

-- Four decimals, rounded: first the whole part, so that large ones keep them all.
local function ratio_or_null(part, whole)
    if whole <= 0 then return "null" end
    local places = core.ratio(part % whole, whole, 10000)
    return ("%d.%04d"):format(part // whole + places // 10000, places % 10000)
end

-- The elements that `text` gives something for, behind commas.
local function list(elements, text)
    local texts = {}
    for i, element in ipairs(elements) do texts[#texts + 1] = text(element, i) end
    return table.concat(texts, ", ")
end

-- {"kernel": 1, ...}: `field` of the engines or kinds that have spans.
local function object(uses, field, text)
    return "{" .. list(uses, function(use)
        return use.count > 0 and ('"%s": %s'):format(use.name, text(use[field])) or nil
    end) .. "}"
end

local function times(profile) return "[" .. list(profile, us) .. "]" end

-- {"kernel&memcpy_h2d": 50.000, ...}
local function kind_overlaps(f)
    local kinds, prefix = f.kinds, f.prefix or ""
    return list(kinds, function(a, i)
        local pairs_of_a = list(kinds, function(b, j)
            if j <= i or a.count == 0 or b.count == 0 then return nil end
            return ('"%s%s&%s": %s'):format(prefix, a.name, b.name, us(a.overlaps[j]))
        end)
        return pairs_of_a ~= "" and pairs_of_a or nil
    end)
end

-- The engines of a set, if all of them have spans and they are so many.
local function names_of(f, set, n)
    local names = {}
    for i, engine in ipairs(f.engines) do
        if set >> i - 1 & 1 == 1 then
            if engine.count == 0 then return nil end
            names[#names + 1] = engine.name
        end
    end
    return #names == n and table.concat(names, "&") or nil
end

-- Those of two engines, then those of three.
local function engine_overlaps(f)
    local texts = {}
    for n = 2, 3 do
        for set, common in ipairs(f.engine_sets) do
            local names = names_of(f, set, n)
            if names then
                texts[#texts + 1] = ('"%s%s": %s'):format(f.prefix or "", names, us(common))
            end
        end
    end
    return table.concat(texts, ", ")
end

-- Of each device, where there are several: what two do at the same time is no overlap of one.
local function of_devices(f, overlaps)
    return "{" .. list(f.devices or { f }, function(device)
        local text = overlaps(device)
        return text ~= "" and text or nil
    end) .. "}"
end

local function streams(f)
    local texts = {}
    for i, s in ipairs(f.streams) do
        texts[i] = ('\n    {"name": %s, "id": %d, "busy_us": %s, "count": %d}')
            :format(string(s.name), s.number, us(s.busy), s.count)
    end
    return table.concat(texts, ",") .. (#texts > 0 and "\n  " or "")
end

local function integer(n) return ("%d"):format(n) end

-- figures_json(figures, causes, remedies): figures with streams, as core.figures gives them; the
-- verdict and the causes as causes_json.lua does; and what changes would gain as words.whatif does
return function(f, causes, remedies)
    local bounds = f.bounds
    local lines = {}
    local function put(key, value) lines[#lines + 1] = ('  "%s": %s,\n'):format(key, value) end
    put("makespan_us", us(f.makespan))
    if f.range then
        put("makespan_range_us", ('{"low": %s, "high": %s, "runs": %d}'):format(
            us(f.range.low_ns), us(f.range.high_ns), f.range.runs))
    end
    put("wall_us", us(f.wall))
    put("lower_bound_us", us(bounds.lower))
    put("unblocked_bound_us", us(bounds.unblocked))
    put("serial_us", us(bounds.serial))
    put("critical_path_us", us(bounds.critical_path))
    put("busiest_engine", text_or_null(f.span_count > 0 and bounds.busiest_engine or ""))
    put("busiest_engine_us", us(bounds.busiest))
    put("makespan_over_bound", ratio_or_null(f.makespan, bounds.lower))
    put("device", text_or_null(f.device.name))
    put("device_index", f.device.index)
    put("simulated", tostring(f.device.simulated))
    put("span_count", f.span_count)
    if f.guessed then
        put("guessed",
            ('{"busy_us": %s, "count": %d, "sentence": %s}'):format(us(f.guessed.busy_ns),
            f.guessed.count, string(core.words.guessed.sentence(f.guessed))))
    end
    put("doubts", core.words.doubts.json(f))
    if f.communication then
        put("communication_us", "{" .. list(f.communication, function(c)
            return ('"%scovered": %s, "%snot_covered": %s'):format(c.prefix, us(c.covered_ns),
                c.prefix, us(c.busy_ns - c.covered_ns))
        end) .. "}")
    end
    put("graph_launch_count", f.graph_launches)
    put("graph_span_count", f.graph_spans)
    put("count", object(f.kinds, "count", integer))
    put("busy_us", object(f.kinds, "busy", us))
    put("engine_busy_us", object(f.engines, "busy", us))
    put("overlap_us", of_devices(f, kind_overlaps))
    put("engine_overlap_us", of_devices(f, engine_overlaps))
    put("concurrency_us", ('{"engines": %s, "kernels": %s, "streams": %s}'):format(
        times(f.engines_at_once), times(f.kernels_at_once), times(f.streams_at_once)))
    put("streams", "[" .. streams(f) .. "]")
    return "{\n" .. table.concat(lines) .. causes .. ',\n  "remedies": ' .. remedies .. "\n}"
end
