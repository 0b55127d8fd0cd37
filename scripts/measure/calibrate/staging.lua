-- staging.lua - how long the simulator's host takes for a copy of pageable memory, given the rate
-- at which it fills or empties staging buffers; and the rate, given the time.
--
-- The pipeline is that of core/sim/host.c (sim_host_stage_h2d, sim_host_drain_d2h) and
-- core/sim/copies.c, for one copy on an idle device. `figure` has call_us, submit_us, latency_us,
-- h2d_gb_per_s, d2h_gb_per_s, stage_bytes and stage_buffers.

local staging = {}

local function per_us(gb_per_s) return gb_per_s * 1e3 end

-- The host fills pieces; with all buffers in use it waits for the engine to empty some.
local function h2d_us(figure, bytes, gb_per_s)
    local piece_bytes, ring = figure.stage_bytes, figure.stage_bytes * figure.stage_buffers
    local host_us, engine_us = figure.call_us, figure.call_us + figure.submit_us
    local queue, first, used, staged = {}, 1, 0, 0
    while staged < bytes do
        local piece = math.min(piece_bytes, bytes - staged)
        while used > 0 and used + piece > ring do
            host_us = math.max(host_us, queue[first].end_us)
            used, first = used - queue[first].bytes, first + 1
        end
        host_us = host_us + piece / per_us(gb_per_s)
        engine_us = math.max(engine_us, host_us) + (staged == 0 and figure.latency_us or 0)
            + piece / per_us(figure.h2d_gb_per_s)
        queue[#queue + 1] = { bytes = piece, end_us = engine_us }
        used, staged = used + piece, staged + piece
    end
    return host_us
end

-- The engine fills pieces as far ahead as there are buffers; the host empties each behind it.
local function d2h_us(figure, bytes, gb_per_s)
    local piece_bytes, buffers = figure.stage_bytes, figure.stage_buffers
    local host_us = figure.call_us
    local engine_us = figure.call_us + figure.submit_us + figure.latency_us
    local emptied, i, moved = {}, 0, 0
    while moved < bytes do
        i = i + 1
        local piece = math.min(piece_bytes, bytes - moved)
        engine_us = math.max(engine_us, emptied[i - buffers] or 0)
            + piece / per_us(figure.d2h_gb_per_s)
        host_us = math.max(host_us, engine_us) + piece / per_us(gb_per_s)
        emptied[i], moved = host_us, moved + piece
    end
    return host_us
end

local models <const> = { h2d = h2d_us, d2h = d2h_us }

local slowest <const>, fastest <const> = 1e-2, 200      -- GB/s: as fast as caches are

-- Whether a rate is the fastest possible one, so that the host's time does not determine it.
function staging.is_unbound(gb_per_s) return gb_per_s > 0.99 * fastest end

-- The host's rate at which a call of `bytes` takes `us`. If `us` is less than the engine alone
-- needs, or than a call that moves nothing, it is the fastest.
function staging.gb_per_s(figure, direction, bytes, us)
    local model = models[direction]
    local low, high = slowest, fastest
    for _ = 1, 50 do
        local middle = math.sqrt(low * high)
        if model(figure, bytes, middle) > us then
            low = middle
        else
            high = middle
        end
    end
    return math.sqrt(low * high)
end

return staging
