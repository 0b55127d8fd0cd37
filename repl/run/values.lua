-- values.lua - what stands behind options on a command line. Each reader takes the text, and gives
-- the value, or nil and what is needed instead.

local file_names = import "repl/run/file_names.lua"

local values = {}

local units <const> = { ns = 1e-3, us = 1, [""] = 1, ms = 1e3, s = 1e6 }

-- "12ms", "3.5us", "2s"; a bare number is in us.
function values.time_us(text)
    local number, unit = text:match("^(%d*%.?%d*)(%a*)$")
    local value, factor = tonumber(number), units[unit]
    if not value or not factor then
        return nil, "a time like 12ms, 3.5us or 2s"
    elseif value * factor > 9e15 then
        return nil, "a time of at most 9e9 s"
    end
    return value * factor
end

-- "3%", "0.5": how many hundredths.
function values.percent(text)
    local value = tonumber(text:match("^(%d*%.?%d*)%%?$"))
    if not value or value > 1e6 then
        return nil, "a part like 3% or 0.5%"
    end
    return value
end

-- A whole number; `wanted` says so, else it is "a whole number from LEAST to MOST".
function values.whole(least, most, wanted)
    wanted = wanted or ("a whole number from %d to %d"):format(least, most)
    return function(text)
        local value = text:match("^%d+$") and math.tointeger(tonumber(text))
        if not value or value < least or value > most then
            return nil, wanted
        end
        return value
    end
end

local most_seeds <const> = 100000

-- "1-200"
function values.seeds(text)
    local first, last = text:match("^(%d+)%-(%d+)$")
    first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
    if not first or not last or first > last or last - first >= most_seeds then
        return nil, ("two numbers as 1-200, at most %d seeds"):format(most_seeds)
    end
    return { first, last }
end

local most_shards <const> = 1000000

-- "3/8": the third of eight parts of a plan.
function values.shard(text)
    local index, count = text:match("^(%d+)/(%d+)$")
    index, count = math.tointeger(tonumber(index)), math.tointeger(tonumber(count))
    if not count or index < 1 or index > count or count > most_shards then
        return nil, "a shard as 1/8, 2/8, ... 8/8"
    end
    return { index = index, count = count }
end

-- "3..5", or "3": the numbers of the first and the last step.
function values.steps(text)
    local first, last = text:match("^(%d+)%.%.(%d+)$")
    first = math.tointeger(tonumber(first or text:match("^%d+$")))
    last = last and math.tointeger(tonumber(last)) or first
    if not first or not last or first > last or last > 1 << 53 then
        return nil, "a step's number, or two as 3..5"
    end
    return { first = first, last = last }
end

-- What the results of a class are written as.
values.result_formats = { "gradescope", "tap", "junit", "csv" }

values.columns = values.whole(20, 4096)
values.device = values.whole(0, 1000000, "a GPU's number, from 0 on")

-- A file whose name ends in ".lua" or the like.
function values.file(suffix)
    return function(text)
        if text:match("[^/](%.%w+)$") ~= suffix then
            return nil, "a file that ends in " .. suffix
        end
        return text
    end
end

function values.timeline_file(text)
    if file_names.is_of_timeline(text) then
        return text
    end
    return nil, "a file that ends in " .. file_names.of_timelines
end

-- One of a list of words.
function values.one_of(words)
    local needed = table.concat(words, ", "):gsub(", ([^,]*)$", " or %1")
    return function(text)
        for _, word in ipairs(words) do
            if text == word then
                return text
            end
        end
        return nil, needed
    end
end

function values.some(text)
    if text == "" then
        return nil, "a name or a file"
    end
    return text
end

-- A simulated GPU, by its name or its file. Completion knows it by the reader.
function values.profile(text)
    return values.some(text)
end

-- Of a range, a stream or a column, which is never a file.
function values.name(text)
    if text == "" then
        return nil, "a name"
    end
    return text
end

return values
