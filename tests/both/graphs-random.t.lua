-- graphs-random.t.lua - random programs over several streams, run as they are and as graphs: a
-- replay gives each tensor the bits that the program gives it. In the captures tensors come and go,
-- so that memory that is used again too early shows on a GPU.

local T = require "tap"

T.open()

local programs <const> = os.getenv("TAP_GC") and 2 or T.sized(15, 40)
local calls <const>, n_streams <const>, n_inputs <const> = 40, 3, 3
local side <const> = 24

local function generator(seed)
    local state = (seed * 2654435761 + 12345) % 2147483648
    return function(n)      -- 1..n
        state = (state * 1103515245 + 12345) % 2147483648
        return (state >> 8) % n + 1
    end
end

local function values(t) return t:cpu():totable() end

-- ---- one program ------------------------------------------------------------------------

-- Stream s comes behind what has used the tensor.
local function order(p, e, s)
    if e.last ~= s then
        p.streams[s]:wait_event(p.streams[e.last]:record_event{ timing = false })
    end
    e.last = s
end

local function pick(p, s)
    local e = p.list[p.random(#p.list)]
    order(p, e, s)
    return e
end

local function keep(p, t, s) p.list[#p.list + 1] = { t = t, last = s } end

local steps = {
    function(p, s) keep(p, lab.sub(pick(p, s).t, pick(p, s).t), s) end,
    function(p, s) keep(p, lab.matmul(pick(p, s).t, p.eighths), s) end,
    function(p, s) keep(p, lab.relu(pick(p, s).t):t():relu(), s) end,
    function(p, s) keep(p, pick(p, s).t:bfloat16():float(), s) end,
    function(p, s) keep(p, lab.full(p.random(9), side, side), s) end,
    function(p, s) keep(p, pick(p, s).t:softmax(), s) end,
    function(p, s)
        local a = pick(p, s).t
        lab.add(a, p.random(5), { out = a })
    end,
    function(p, s)
        local a, b = pick(p, s).t, pick(p, s).t
        if a ~= b then a:narrow(1, 1, 5):copy_(b:narrow(1, 9, 5)) end
    end,
    function(p, s)          -- an intermediate result has no variable any more
        keep(p, (pick(p, s).t * 0.5 + 1):neg(), s)
    end,
    function(p)             -- a tensor is freed; inputs are not
        if #p.list > n_inputs + 2 then
            table.remove(p.list, n_inputs + p.random(#p.list - n_inputs)).t:free()
        end
    end,
}

-- Enqueues the program of that seed in the current stream and the others; gives what is left.
local function run(seed, inputs, eighths, others)
    local p = { random = generator(seed), list = {}, eighths = eighths,
                streams = { lab.current_stream(), table.unpack(others) } }
    for s = 2, #p.streams do p.streams[s]:wait_stream(p.streams[1]) end
    for i, t in ipairs(inputs) do p.list[i] = { t = t, last = 1 } end
    for _ = 1, calls do
        local s = p.random(#p.streams)
        lab.with(p.streams[s], steps[p.random(#steps)], p, s)
    end
    for s = 2, #p.streams do p.streams[1]:wait_stream(p.streams[s]) end
    local left = {}
    for i, e in ipairs(p.list) do left[i] = e.t end
    return left
end

-- ---- beside each other --------------------------------------------------------------------

local function fill(inputs, round)
    for i, t in ipairs(inputs) do
        local rows = {}
        for r = 1, side do
            rows[r] = {}
            for c = 1, side do rows[r][c] = (r * 7 + c * 3 + i * 5 + round) % 11 - 5 end
        end
        t:copy_(lab.tensor(rows, { device = "cpu" }))
    end
end

local function all_values(list)
    local got = {}
    for i, t in ipairs(list) do got[i] = values(t) end
    return got
end

local function new_inputs()
    local inputs = {}
    for i = 1, n_inputs do inputs[i] = lab.empty(side, side) end
    return inputs
end

local function try(seed, eighths, others)
    local inputs = new_inputs()
    local wanted = {}
    for round = 1, 2 do
        fill(inputs, round)
        wanted[round] = all_values(run(seed, inputs, eighths, others))
    end
    local g, left = lab.graph(function() return run(seed, inputs, eighths, others) end)
    for round = 1, 2 do
        fill(inputs, round)
        local disturbing = lab.full(99, side, side)
        g:launch()
        T.is_deeply(all_values(left), wanted[round], ("program %d, launch %d"):format(seed, round))
        if disturbing:get(side, side) ~= 99 then
            T.ok(false, "a graph writes its own memory only")
        end
    end
    g:free()
end

local function all_programs()
    local eighths, others = lab.rand(side, side, { seed = 5 }) * 0.125, {}
    for i = 2, n_streams do others[i - 1] = lab.stream{ non_blocking = i % 2 == 0 } end
    for seed = 1, programs do try(seed, eighths, others) end
end

all_programs()
T.done()
