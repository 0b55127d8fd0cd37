-- 20-api-options.t.lua - tables of options that are used again, and changed between two calls.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function changed_between_calls()
    ideal.textbook()
    local s <const>, other <const> = lab.stream(), lab.stream()
    local a <const>, c <const>, d <const> = lab.full(2, 2, 2), lab.empty(2, 2), lab.zeros(2, 2)
    local options <const> = { out = c, stream = s }

    -- The stream of the call's span.
    local function stream_of(f)
        local spans = lab.profile(f):spans()
        return spans[#spans].stream
    end

    T.ok(rawequal(lab.pow(a, 3, options), c), "the result is the tensor of out=")
    T.is_deeply(c:totable(), { { 8, 8 }, { 8, 8 } }, "which has the values")
    T.is(stream_of(function() lab.pow(a, 3, options) end), "stream 1",
         "the call is in the stream of stream=")

    options.out = d
    T.ok(rawequal(lab.pow(a, 2, options), d), "another out= counts from the next call on")
    options.stream = other
    T.is(stream_of(function() lab.pow(a, 2, options) end), "stream 2", "so does another stream")
    options.out = nil
    local made <const> = lab.pow(a, 2, options)
    T.ok(not rawequal(made, d) and not rawequal(made, c), "an out= that was taken out is none")
    options.stream = nil
    T.is(stream_of(function() lab.pow(a, 2, options) end), "default",
         "without a stream the call is in the current one")

    options.strem = s
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL",
            "unknown option 'strem'; known: out, stream", "a name that is added later is refused")
    options.strem = nil
    T.is(lab.pow(a, 2, options):get(1, 1), 4, "and no longer when it was taken out")
    options[1] = s
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL", "has list items",
            "a list item is refused")
    options[1] = nil
    options[true] = s
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL", "keys that are no strings",
            "so is another key")
    options[true] = nil
    options.non_blocking = true
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL", "unknown option 'non_blocking'",
            "so is an option that only other functions have")
    options.non_blocking = nil

    options.stream = lab.event()
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL",
            "'stream' must be a stream, got event", "an event is no stream")
    options.stream = io.stdout
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL",
            "'stream' must be a stream, got userdata", "nor is a file")
    options.stream = s
    options.out = s
    refuses(function() lab.pow(a, 2, options) end, "SL_EINVAL",
            "'out' must be a tensor, got stream", "a stream is no tensor")
    options.out = lab.empty(2, 2)
    options.out:free()
    refuses(function() lab.pow(a, 2, options) end, "SL_ECLOSED", "the tensor was freed",
            "nor a freed one")
    options.out = c
    local closed <const> = lab.stream()
    options.stream = closed
    T.ok(rawequal(lab.pow(a, 2, options), c), "a stream that is open is taken")
    closed:close()
    refuses(function() lab.pow(a, 2, options) end, "SL_ECLOSED", "the stream was closed",
            "in the next call it may be closed")
    options.stream = s

    local copying <const> = { non_blocking = true, stream = s }
    local pinned <const> = lab.full(5, 2, 2, { device = "cpu", pinned = true })
    T.ok(rawequal(c:copy_(pinned, copying), c), "copy_ gives its tensor")
    lab.synchronize()
    T.is(c:get(2, 2), 5, "with the values copied")
    copying.non_blocking = 1
    refuses(function() c:copy_(pinned, copying) end, "SL_EINVAL",
            "'non_blocking' must be true or false, got 1", "a number is not true")
    copying.non_blocking = false
    copying.out = c
    refuses(function() c:copy_(pinned, copying) end, "SL_EINVAL", "unknown option 'out'",
            "copy_ has no out=")

    T.is(lab.matmul(a, a, { tf32 = false }):get(1, 1), 8, "false is a value of an option")
    T.is(lab.matmul(a, a, {}):get(1, 1), 8, "an empty table has no options")
    T.is(lab.matmul(a, a, setmetatable({}, { __index = { out = c } })):get(1, 1), 8,
         "metatables are not asked")
    T.is(c:get(1, 1), 5, "so what they name is not written")
    local many <const> = { out = c }
    for i = 1, 20 do many["x" .. i] = i end
    for i = 1, 20 do many["x" .. i] = nil end
    T.ok(rawequal(lab.matmul(a, a, many), c), "a table that had more names once is read as well")
    local item <const> = { 1, stream = s }
    item[1] = nil
    T.is(lab.empty(2, 3):transpose(1, 2, item):size(1), 3,
         "and one that had an item once, for a call with dimensions")
end

changed_between_calls()
T.done()
