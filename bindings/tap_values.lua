-- tap_values.lua - the assertions of lab.tap about values, tensors, errors and races.
--
-- The value may be anything: it is read only with type, rawget, rawequal and next, so that none
-- of its metamethods runs.

local lab, core = ...

local as, raise, refuse = core.as, core.raise, core.refuse
local type_name, compare = core.type_name, core.compare
local new_tensor, races, check = lab.tensor, lab.races, lab.check
local check_options, no_more = core.arguments.check_options, core.arguments.no_more
local check_function, is_text = core.arguments.check_function, core.arguments.is_text
local sorted_keys, is_amount = core.arguments.sorted_keys, core.arguments.is_amount
local tap = core.assertions
local methods, show, number = tap.methods, tap.show, tap.number
local check_self, check_name, check_number = tap.check_self, tap.check_name, tap.check_number
local format = string.format

tap.assertion("ok", 3, function(t, value, name)
    name = check_name(name, 3, "ok")
    local passed = type(value) ~= "nil" and not rawequal(value, false)
    return tap.conclude(t, "ok", passed, name, { seen = show(value), asked = "what is true" })
end)

-- Equal values ---------------------------------------------------------------------------

local deepest <const> = 50
local most_items <const> = 1000000

local function with_key(path, key)
    if type(key) == "string" and string.find(key, "^[%a_][%w_]*$") then
        return path .. "." .. key
    end
    return path .. "[" .. show(key) .. "]"
end

-- The first difference as where it is, what is there and what was wanted; nil if there is none.
-- `walk` counts comparisons, so that tables which contain themselves end.
local function difference(got, want, path, walk)
    if type(got) ~= "table" or type(want) ~= "table" then
        if rawequal(got, want) then return nil end
        return path, show(got), show(want)
    end
    walk.depth = walk.depth + 1
    for _ in next, got do walk.items = walk.items + 1 end
    if walk.depth > deepest then return path, "a table nested too deeply", show(want) end
    if walk.items > most_items then return path, "too many items", show(want) end
    for _, key in ipairs(sorted_keys(want)) do
        local where, is, asked = difference(rawget(got, key), rawget(want, key),
                                            with_key(path, key), walk)
        if where then return where, is, asked end
    end
    for _, key in ipairs(sorted_keys(got)) do
        if type(rawget(want, key)) == "nil" then
            return with_key(path, key), show(rawget(got, key)), "nil"
        end
    end
    walk.depth = walk.depth - 1
end

tap.assertion("is", 4, function(t, got, want, name)
    name = check_name(name, 4, "is")
    local path, seen, asked = difference(got, want, "", { depth = 0, items = 0 })
    if path and path ~= "" then
        path = string.gsub(path, "^%.", "")
        seen, asked = format("%s at %s", seen, path), format("%s there", asked)
    end
    return tap.conclude(t, "is", not path, name, { seen = seen, asked = asked })
end)

-- Numbers --------------------------------------------------------------------------------

-- Six digits; a whole number has all of its digits.
local function rounded(value)
    if value ~= value then return "NaN" end
    local whole = value == math.floor(value) and math.abs(value) < 1e15
    return format(whole and "%.0f" or "%.6g", value)
end

-- `asked` has a "%s" for `want`. All digits are shown only if the two would look alike.
local function assert_number(t, op, got, want, fits, name, asked)
    local is_number = type(got) == "number"
    local passed = is_number and fits(got)
    local shown, wanted = is_number and rounded(got) or show(got), rounded(want)
    if shown == wanted and got ~= want then shown, wanted = number(got), number(want) end
    return tap.conclude(t, op, passed, name, { seen = shown, asked = format(asked, wanted) })
end

tap.assertion("near", 5, function(t, got, want, tolerance, name)
    check_number(want, 3, "want", "near")
    if check_number(tolerance, 4, "tolerance", "near") < 0 then
        refuse("near", "argument 4 (tolerance) must be at least 0, got %s", number(tolerance))
    end
    return assert_number(t, "near", got, want, function(value)
        return value == want or math.abs(value - want) <= tolerance
    end, check_name(name, 5, "near"), "%s within " .. rounded(tolerance))
end)

tap.assertion("at_most", 4, function(t, got, limit, name)
    check_number(limit, 3, "limit", "at_most")
    return assert_number(t, "at_most", got, limit, function(value) return value <= limit end,
                         check_name(name, 4, "at_most"), "at most %s")
end)

tap.assertion("at_least", 4, function(t, got, limit, name)
    check_number(limit, 3, "limit", "at_least")
    return assert_number(t, "at_least", got, limit, function(value) return value >= limit end,
                         check_name(name, 4, "at_least"), "at least %s")
end)

-- Tensors --------------------------------------------------------------------------------

local close_options = {
    { "rtol", "a number from 0 on", is_amount }, { "atol", "a number from 0 on", is_amount },
}

-- Those of torch.testing.assert_close.
local tolerances = {
    float32 = { rtol = 1.3e-6, atol = 1e-5 }, float16 = { rtol = 1e-3, atol = 1e-5 },
    bfloat16 = { rtol = 1.6e-2, atol = 1e-5 }, float64 = { rtol = 1e-7, atol = 1e-7 },
    uint8 = { rtol = 0, atol = 0 }, int32 = { rtol = 0, atol = 0 },
}

local function tolerance(opts, key, got, want)
    local least = tolerances[got.dtype][key]
    if type_name(want) == "tensor" then least = math.max(least, tolerances[want.dtype][key]) end
    return rawget(opts, key) or least
end

local function shape_of(tensor)
    return tensor.ndim == 0 and "scalar" or table.concat({ tensor:size() }, "x")
end

-- "(2, 3)" of the n-th element, in reading order.
local function index_of(tensor, n)
    local sizes, index = { tensor:size() }, {}
    n = n - 1
    for d = #sizes, 1, -1 do
        index[d] = format("%d", n % sizes[d] + 1)
        n = n // sizes[d]
    end
    return "(" .. table.concat(index, ", ") .. ")"
end

-- What is wrong before any elements are compared: what was seen, and what was asked.
local function unlike(got, want)
    if type_name(got) ~= "tensor" then
        local hint = type(got) == "table" and "; a table that acts like one is none" or ""
        return show(got), "a tensor" .. hint
    end
    if got.freed then return "a tensor that was freed", "a tensor" end
    if type_name(want) == "tensor" and shape_of(got) ~= shape_of(want) then
        return "the shape " .. shape_of(got), shape_of(want)
    end
end

-- A nested table as a tensor, once one is got, with all digits.
local function wanted(want, got)
    if type(want) ~= "table" or type_name(got) ~= "tensor" then return want end
    return as("close", new_tensor, want, { device = "cpu", dtype = "float64" })
end

-- `want` as it was given, of no dtype if it is a table, and as what `got` is compared with.
local function compare_all(got, want, other, opts)
    local rtol, atol = tolerance(opts, "rtol", got, want), tolerance(opts, "atol", got, want)
    local differing, first, is, asked = compare(got, other, rtol, atol)
    if differing == 0 then return end
    local total = got:numel()
    return format("%s at %s; %d of %d element%s differ%s", number(is), index_of(got, first),
                  differing, total, total == 1 and "" or "s", differing == 1 and "s" or ""),
           format("%s there (rtol %s, atol %s)", number(asked), number(rtol), number(atol))
end

local function check_want(want)
    local kind = type_name(want)
    if kind == "number" or kind == "table" or kind == "tensor" and not want.freed then return end
    refuse("close", "argument 3 (want) must be a tensor, a number or nested lists of numbers, got "
           .. "%s", kind == "tensor" and "one that was freed" or kind)
end

-- t:close(got, want, [{rtol =, atol =},] name)
function methods.close(t, got, want, opts, ...)
    check_self(t, "close")
    local name, arg, extra = ..., 5, select(2, ...)
    if type(opts) ~= "table" and opts ~= nil then name, opts, arg, extra = opts, nil, 4, ... end
    no_more(arg, "close", extra)
    name = check_name(name, arg, "close")
    opts = check_options(opts, close_options, "close")
    check_want(want)
    local other = wanted(want, got)
    local seen, asked = unlike(got, other)
    if not seen then seen, asked = compare_all(got, want, other, opts) end
    return tap.conclude(t, "close", not seen, name, { seen = seen, asked = asked })
end

-- Errors ---------------------------------------------------------------------------------

-- What an error object of the laboratory says is in fields of its own.
local function error_text(err)
    if type(err) == "string" then return err end
    if type(err) ~= "table" then return nil end
    local parts = {}
    for _, key in ipairs{ "where", "op", "message" } do
        local part = rawget(err, key)
        if type(part) == "string" and part ~= "" then parts[#parts + 1] = part end
    end
    if #parts == 0 then return nil end
    local code = rawget(err, "code")
    local text = table.concat(parts, ": ")
    return type(code) == "string" and format("%s (%s)", text, code) or text
end

tap.assertion("raises", 4, function(t, f, text, name)
    check_function(f, 2, "raises")
    if not is_text(text) then
        refuse("raises", "argument 3 (text) must be a string, got %s", type_name(text))
    end
    name = check_name(name, 4, "raises")
    local fine, err = pcall(f)
    local said = not fine and error_text(err)
    local passed = said and string.find(said, text, 1, true) ~= nil
    return tap.conclude(t, "raises", passed, name, {
        seen = fine and "no error" or said and tap.one_line(said) or show(err),
        asked = "an error with " .. show(text),
    })
end)

-- Races ----------------------------------------------------------------------------------

local race_options = {
    { "accidents", "true or false", core.arguments.is_boolean },
}
local most_reports <const> = 2

-- t:no_race([{accidents =},] [name])
function methods.no_race(t, opts, ...)
    check_self(t, "no_race")
    local name, arg, extra = ..., 3, select(2, ...)
    if type(opts) ~= "table" and opts ~= nil then name, opts, arg, extra = opts, nil, 2, ... end
    no_more(arg, "no_race", extra)
    opts = check_options(opts, race_options, "no_race")
    name = check_name(name, arg, "no_race", opts.accidents and "no race and no accident"
                                            or "no race")
    local found, reports = as("no_race", races), {}
    if check() == "off" and #found == 0 then
        raise("SL_ESTATE", "no_race", 'nothing looks for races: call lab.check("warn") before '
              .. "what is asserted about, or run with --check")
    end
    local n = 0
    for _, race in ipairs(found) do
        if race.kind == "race" or opts.accidents then
            n = n + 1
            if n <= most_reports then reports[n] = race.message end
        end
    end
    if n > most_reports then reports[most_reports + 1] = format("and %d more", n - most_reports) end
    local plural = n == 1 and "" or "s"
    local accidents = opts.accidents and " or accident" .. plural or ""
    return tap.conclude(t, "no_race", n == 0, name, {
        seen = format("%d race%s%s", n, plural, accidents), asked = "none",
        look = n > 0 and table.concat(reports, "\n") or nil,
    })
end
