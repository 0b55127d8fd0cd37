-- graph_shapes.lua - what the calibration's graphs consist of. Each function enqueues, into streams
-- that are captured or not; the first stream is the one where a capture begins.

local owner = import "scripts/measure/calibrate/owner.lua"

local shapes = {}

-- n kernels, one behind the other.
function shapes.chain(lab, stream, n, ms)
    local spin = { stream = stream }
    for _ = 1, n do
        lab.spin(ms, spin)
    end
end

-- The other streams go on behind what is in the first one.
local function fork(streams, event)
    event:record(streams[1])
    for i = 2, #streams do
        streams[i]:wait_event(event)
    end
end

local function join(streams, event)
    for i = 2, #streams do
        event:record(streams[i])
        streams[1]:wait_event(event)
    end
end

-- A chain of n kernels in each stream, side by side.
function shapes.lanes(lab, streams, n, ms)
    local event <close> = lab.event { timing = false }
    fork(streams, event)
    for _, stream in ipairs(streams) do
        shapes.chain(lab, stream, n, ms)
    end
    join(streams, event)
end

-- n times a kernel and behind it one in each stream, and a last one. Kernels: n (streams + 1) + 1.
function shapes.diamonds(lab, streams, n, ms)
    local event <close> = lab.event { timing = false }
    for _ = 1, n do
        shapes.chain(lab, streams[1], 1, ms)
        fork(streams, event)
        for _, stream in ipairs(streams) do
            shapes.chain(lab, stream, 1, ms)
        end
        join(streams, event)
    end
    shapes.chain(lab, streams[1], 1, ms)
end

-- n times a kernel in each stream, behind those of all streams before it.
function shapes.meshes(lab, streams, n, ms)
    local events = {}
    for i in ipairs(streams) do
        events[i] = lab.event { timing = false }
    end
    fork(streams, events[1])
    for _ = 1, n do
        for i, stream in ipairs(streams) do
            shapes.chain(lab, stream, 1, ms)
            events[i]:record(stream)
        end
        for i, stream in ipairs(streams) do
            for k, event in ipairs(events) do
                if k ~= i then
                    stream:wait_event(event)
                end
            end
        end
    end
    for _, event in ipairs(events) do
        event:close()
    end
end

-- n times a copy to the device, a kernel, a copy back and a kernel.
function shapes.engines(lab, stream, n, ms, tiny)
    local spin, way = { stream = stream }, { stream = stream, non_blocking = true }
    for _ = 1, n do
        tiny.device:copy_(tiny.host, way)
        lab.spin(ms, spin)
        tiny.host:copy_(tiny.device, way)
        lab.spin(ms, spin)
    end
end

-- Makes tensors {device, host}, the host's pinned, for f(tiny).
function shapes.with_tiny(lab, f)
    local own <close> = owner.new()
    f { device = own(lab.zeros(1)), host = own(lab.zeros(1, { device = "cpu", pinned = true })) }
    lab.synchronize()
end

return shapes
