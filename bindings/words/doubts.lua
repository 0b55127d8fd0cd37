-- doubts.lua - what is in doubt about a timeline, said above its verdict, and as JSON. The
-- sentences are those of what read the file.

local _, core = ...
local fold, string, us = core.fold, core.json_string, core.json_milli

local columns <const> = 80
local doubts = {}

-- doubts.sentences(trace): of a trace or figures, with its field `doubts`, if there are some; a
-- list
function doubts.sentences(trace)
    local list = {}
    for i, doubt in ipairs(trace.doubts or {}) do list[i] = doubt.sentence end
    return list
end

-- doubts.text(trace, columns): in lines of at most so many columns, a paragraph each
function doubts.text(trace, width)
    local list = doubts.sentences(trace)
    for i, sentence in ipairs(list) do list[i] = fold(sentence, 0, width or columns) end
    return table.concat(list)
end

-- doubts.json(trace): a list
function doubts.json(trace)
    local list = {}
    for i, doubt in ipairs(trace.doubts or {}) do
        list[i] = ('\n    {"kind": %s, "count": %d, "us": %s, "sentence": %s}'):format(
            string(doubt.kind), doubt.count, doubt.ns > 0 and us(doubt.ns) or "null",
            string(doubt.sentence))
    end
    return "[" .. table.concat(list, ",") .. (#list > 0 and "\n  " or "") .. "]"
end

return doubts
