-- script.lua - what the failing allocator is tried on: a little of everything
-- that allocates, on the simulated GPU. arg[1] is where it may save a trace.
-- Every error ends it, as it would a user's script; runner.c says what may then
-- be seen.
lab.open { backend = "sim", profile = "textbook" }

local side = lab.stream { name = "side", priority = "high" }
local event = lab.event { timing = true }

local function work()
    local host = lab.tensor({ { 1, 2 }, { 3, 4 } }, { pinned = true, device = "cpu" })
    local a = host:to("cuda", { non_blocking = true, stream = side })
    event:record(side)
    lab.current_stream():wait_event(event)
    local b = lab.add(lab.mul(a, a), a)
    b:fill_(2)
    local c = lab.pow(b, 2)
    lab.matmul(lab.ones(8, 8), lab.ones(8, 8))
    lab.spin(0.01, { stream = side, blocks = 4 })
    side:launch_host_func(function() end)
    lab.ones(8, 8):free()
    lab.empty(8, 8):fill_(3, side)      -- has its memory, and in another stream its own
    local memory = lab.cuda.malloc(1024)
    lab.cuda.memset(memory, 1, 512)
    lab.cuda.free(memory)
    return c:cpu():totable(), lab.rand(4, 4, { seed = 7 }):sum():item()
end

local tl = lab.profile(work)
lab.with(side, work)
assert(#tl:spans() > 0)
tl:bounds()
tl:busy_us("compute")
tl:overlap_us("compute", "h2d", side)
tl:concurrency("streams")
tl:gaps()
tl:calls()
tl:json()
tl:summary()
tl:diff(tl)
tl:show()
tl:explain()
tl:causes { waits = true, inferred = true }
tl:makespan_parts()
tl:save(arg[1])
assert(lab.load(arg[1]).span_count == #tl:spans())
for _, suffix in ipairs{ "svg", "html" } do
    local picture = arg[1]:gsub("json$", suffix)
    local _ <close> = setmetatable({}, { __close = function() os.remove(picture) end })
    tl:save(picture)
end
