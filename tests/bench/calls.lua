-- calls.lua - calls in many streams, by which the race checker's cost is measured: on the
-- simulator by checked.lua, on a GPU by cuda/check.lua.
--
-- Each entry of `list` has a name, how many calls a round makes (`calls`), and `make(lab, s)`,
-- which gives a function that makes one round of them in the streams s. None of them has a
-- race: what races is listed once for each two lines, and costs what a report costs.
local pinned <const> = { device = "cpu", pinned = true }

-- One for each stream.
local function each(s, make)
    local list = {}
    for i = 1, #s do list[i] = make(s[i], i) end
    return list
end

local function matmul(lab, s, weights)
    local a = each(s, function() return lab.empty(64, 64) end)
    local b = each(s, function() return weights or lab.empty(64, 64) end)
    local into = each(s, function(stream) return { out = lab.empty(64, 64), stream = stream } end)
    local multiply = lab.matmul
    return function()
        for i = 1, #s do multiply(a[i], b[i], into[i]) end
    end
end

local function pow(lab, s)
    local x = each(s, function() return lab.empty(1024) end)
    local into = each(s, function(stream) return { out = lab.empty(1024), stream = stream } end)
    local power = lab.pow
    return function()
        for i = 1, #s do power(x[i], 3, into[i]) end
    end
end

local function copy(lab, s)
    local from = each(s, function() return lab.empty(256, pinned) end)
    local to = each(s, function() return lab.empty(256) end)
    local how = each(s, function(stream) return { non_blocking = true, stream = stream } end)
    return function()
        for i = 1, #s do to[i]:copy_(from[i], how[i]) end
    end
end

-- Each stream waits for the one before it.
local function record_and_wait(lab, s)
    local events = each(s, function() return lab.event { timing = false } end)
    local n = #s
    return function()
        for i = 1, n do
            s[i]:record_event(events[i])
            s[i % n + 1]:wait_event(events[i])
        end
    end
end

-- Rows of one tensor, each stream its own: as many ranges as there are rows.
local function rows(lab, s)
    local x <const>, per_stream <const> = lab.empty(16 * #s, 64), 16
    local row, into = {}, {}
    for i = 1, 16 * #s do
        row[i] = x:narrow(1, i, 1)
        into[i] = { out = row[i], stream = s[(i - 1) // per_stream + 1] }
    end
    local power, at = lab.pow, 0
    return function()
        at = at % per_stream
        for i = 1, #s do
            local k = (i - 1) * per_stream + at + 1
            power(row[k], 3, into[k])
        end
        at = at + 1
    end
end

-- One operation in the legacy default stream after each round in the others.
local function with_null_stream(lab, s)
    local y, round = lab.empty(64), pow(lab, s)
    local null = { out = y, stream = lab.default_stream() }
    return function()
        round()
        lab.pow(y, 3, null)
    end
end

-- As before, with 10,000 events alive, whose records are of the streams' past.
local function many_events(lab, s)
    local round, events, at = record_and_wait(lab, s), {}, 0
    for i = 1, 10000 do events[i] = lab.event { timing = false } end
    return function()
        round()
        for i = 1, #s do
            at = at % #events + 1
            s[i]:record_event(events[at])
        end
    end
end

-- While a host function waits behind a long kernel nothing may be forgotten.
local function behind_host_func(lab, s)
    local round, late = pow(lab, s), lab.stream { non_blocking = true }
    local long = { stream = late }
    return function()
        lab.spin(1, long)
        late:launch_host_func(function() end)
        for _ = 1, 16 do round() end
    end
end

-- The host waits for each stream behind its operation.
local function waiting_each(lab, s)
    local x = each(s, function() return lab.empty(1024) end)
    local into = each(s, function(stream) return { out = lab.empty(1024), stream = stream } end)
    local power = lab.pow
    return function()
        for i = 1, #s do
            power(x[i], 3, into[i])
            s[i]:synchronize()
        end
    end
end

-- Elements of a host tensor.
local function elements(lab)
    local t = lab.zeros(64, 64, { device = "cpu" })
    return function()
        for i = 1, 64 do t:set(i, 1, t:get(1, i)) end
    end
end

return {
    list = {
        { name = "matmul", calls = function(n) return n end, make = matmul },
        { name = "pow", calls = function(n) return n end, make = pow },
        { name = "copy", calls = function(n) return n end, make = copy },
        { name = "record and wait", calls = function(n) return 2 * n end, make = record_and_wait },
        { name = "matmul, one matrix for all", calls = function(n) return n end,
          make = function(lab, s) return matmul(lab, s, lab.empty(64, 64)) end },
        { name = "rows of one tensor", calls = function(n) return n end, make = rows },
        { name = "NULL stream in between", calls = function(n) return n + 1 end,
          make = with_null_stream },
        { name = "many events", calls = function(n) return 3 * n end, make = many_events },
        { name = "host function waiting", calls = function(n) return 16 * n + 2 end,
          make = behind_host_func },
        { name = "synchronize behind each", calls = function(n) return 2 * n end,
          make = waiting_each },
        { name = "t:get and t:set", calls = function() return 128 end, make = elements },
    },
}
