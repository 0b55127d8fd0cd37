-- records.lua - the results as JSON, one object a line, and back.
--
-- A record: script, seed, gpu_us, gpu_min_us, gpu_max_us, sim_us, lane_pairs, lane_pairs_same,
-- lane_pairs_steady, lane_pairs_steady_same, and the same four as op_pairs. Times have three digits
-- behind the point, so that a file is the same wherever it is written.

local records = {}

local times = { "gpu_us", "gpu_min_us", "gpu_max_us", "sim_us" }
local counts = {}
for _, field in ipairs { "lane_pairs", "op_pairs" } do
    for _, ending in ipairs { "", "_same", "_steady", "_steady_same" } do
        counts[#counts + 1] = field .. ending
    end
end

-- ---- to JSON -------------------------------------------------------------------------------

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }

local function quote(text)
    return '"' .. text:gsub('[%c"\\]', function(c)
        return escapes[c] or ("\\u%04x"):format(c:byte())
    end) .. '"'
end

function records.line(record)
    local fields = { '"script": ' .. quote(record.script),
                     '"seed": ' .. (record.seed and ("%d"):format(record.seed) or "null") }
    for _, name in ipairs(times) do
        fields[#fields + 1] = ('"%s": %.3f'):format(name, record[name])
    end
    for _, name in ipairs(counts) do
        fields[#fields + 1] = ('"%s": %s'):format(name,
            record[name] and ("%d"):format(record[name]) or "null")
    end
    return "{" .. table.concat(fields, ", ") .. "}\n"
end

-- ---- from JSON -----------------------------------------------------------------------------

-- "\0" holds the place of a backslash: no argument has one.
local function unquote(text)
    text = text:gsub("\\\\", "\0"):gsub("\\u00(%x%x)", function(digits)
        return string.char(tonumber(digits, 16))
    end)
    return (text:gsub('\\"', '"'):gsub("\0", "\\"))
end

-- One line, as records.line writes it; nil if it is something else.
local function parse(line)
    local record = { script = line:match('^{"script": "(.-[^\\])", "seed": ') }
    record.script = record.script and unquote(record.script)
    record.seed = math.tointeger(tonumber(line:match('"seed": (%d+)')))
    for _, name in ipairs(times) do
        record[name] = tonumber(line:match('"' .. name .. '": ([%d.]+)'))
    end
    for _, name in ipairs(counts) do
        record[name] = math.tointeger(tonumber(line:match('"' .. name .. '": (%d+)')))
    end
    local complete = record.script and record.gpu_us and record.gpu_min_us and record.gpu_max_us
    return complete and record.gpu_us > 0 and record or nil
end

-- The records of a text; or nil and the number of the line that is none.
function records.read(text)
    local list, number = {}, 0
    for line in text:gmatch("[^\n]+") do
        number = number + 1
        list[number] = parse(line)
        if not list[number] then
            return nil, number
        end
    end
    return list
end

return records
