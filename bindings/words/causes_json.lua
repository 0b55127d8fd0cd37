-- causes_json.lua - the verdict and the causes as JSON, in the order of tl:causes(). A gain that
-- is not known is null, and so is an operand that is not known.

local _, core = ...
local say, string, us = core.words.say, core.json_string, core.json_milli

local function text_or_null(text)
    return text and text ~= "" and string(text) or "null"
end

-- Of an operation or a call.
local function operand(side)
    if not side then return "null" end
    local range = side.range and (', "range": %s'):format(string(side.range)) or ""
    return ('{"name": %s, "stream": %s, "where": %s, "correlation": %d%s}'):format(
        text_or_null(side.name), text_or_null(side.stream), text_or_null(side.where),
        side.correlation, range)
end

local cause_form <const> = [[{"code": %s, "engine": %s, "idle": %s, "guess": %s, ]]
    .. [["lost_us": %s, "gain_us": %s, "count": %d,
     "operands": {"waiter": %s,
       "by": %s},
     "sentence": %s, "remedy": %s}]]

local function cause(r)
    return cause_form:format(string(r.cause), string(r.engine), r.idle or false, r.guess or false,
        us(r.lost_ns), r.gain_ns and us(r.gain_ns) or "null", r.count, operand(r.waiter),
        operand(r.by), text_or_null(say(r, "sentence")), text_or_null(say(r, "remedy")))
end

local verdict_form <const> = [[
  "verdict": {"good": %s, "joint": %s, "gain_known": %s, "gain_us": %s, "most_us": %s,
    "lost_us": %s, "ratio": %s, "code": %s,
    "sentence": %s},
]]

local function verdict(e)
    local v = e.verdict
    local left_ns = v.makespan_ns - v.gain_ns
    local known = not v.unknown
    return verdict_form:format(v.good or false, v.joint or false, known,
        known and us(v.gain_ns) or "null", us(v.most_ns), known and "null" or us(v.lost_ns),
        known and left_ns > 0 and ("%.4f"):format(v.makespan_ns / left_ns) or "null",
        (v.gain_ns > 0 or v.unknown) and string(v.cause) or "null", string(core.words.verdict(e)))
end

-- causes_json(explanation): two fields of an object, without a comma behind them
return function(e)
    local list = {}
    for i = 1, e.n_findings do list[i] = "\n    " .. cause(e.finding(i)) end
    return ('%s  "causes": [%s]'):format(verdict(e),
        table.concat(list, ",") .. (#list > 0 and "\n  " or ""))
end
