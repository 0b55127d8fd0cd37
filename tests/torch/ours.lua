-- ours.lua - the Lua side of the pairs: what streamlab does, on the simulator or on a GPU.
--
-- A source has the functions below, whose twins are in observe.py.

local lab = require "streamlab"

local ours = {}

local spin_ms <const> = 200

-- A value as both sides write it.
local function text(value)
    if value == nil then
        return "nothing"
    elseif type(value) == "table" then
        local parts = {}
        for i, item in ipairs(value) do
            parts[i] = text(item)
        end
        return "[" .. table.concat(parts, ", ") .. "]"
    elseif math.type(value) ~= "float" then
        return tostring(value)
    elseif value ~= value then
        return "nan"
    end
    local digits = ("%.7g"):format(value)
    return digits:find("^%-?%d+$") and digits .. ".0" or digits
end

local function busy(stream, times)
    lab.spin(spin_ms * (times or 1), { stream = stream })
end

-- Whether the call holds the host until the stream (default: the current one) is done with a spin.
local function waits(f, stream)
    stream = stream or lab.current_stream()
    f()
    lab.synchronize()
    busy(stream)
    local mark = stream:record_event()
    local _ = f()
    local done = mark:query()
    lab.synchronize()
    return done
end

-- Whether what the second stream is given now runs while the first one is busy.
local function beside(first, second)
    busy(first)
    lab.spin(0.001, { stream = second })
    second:synchronize()
    local result = not first:query()
    lab.synchronize()
    return result
end

-- The globals of a source, and the list that show() fills.
local function environment()
    local shown, before = {}, lab.live().device_bytes
    local env = { lab = lab, MiB = 1024 * 1024, busy = busy, waits = waits, beside = beside }
    function env.show(what, value)
        shown[#shown + 1] = what .. ": " .. text(value)
    end
    function env.outcome(f)
        local fine, value = pcall(f)
        if fine then
            return value
        end
        shown[#shown + 1] = "# " .. tostring(value):gsub("%s+", " ")
        return "refused"
    end
    function env.allocated()
        return lab.live().device_bytes - before
    end
    function env.reserved_mib()
        return env.allocated() // env.MiB
    end
    return setmetatable(env, { __index = _G }), shown
end

local function open(backend)
    lab.open { backend = backend, profile = backend == "sim" and "h200" or nil }
    lab.synchronize()
    collectgarbage()
end

-- What the pair's Lua shows, a list of lines; `torch`: after lab.torch_defaults().
function ours.run(pair, backend, torch)
    open(backend)
    local _ <close> = lab.use(lab.default_stream())     -- puts it back if the pair sets another one
    local env, shown = environment()
    local main = assert(load(pair.lua, "=" .. pair.name, "t", env))
    local before = lab.torch_defaults(torch)
    local fine, problem = pcall(main)
    lab.torch_defaults(before)
    if not fine then
        shown[#shown + 1] = "ended by " .. tostring(problem)
    end
    return shown
end

return ours
