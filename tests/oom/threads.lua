-- threads.lua - host threads with streams and events of their own, for the failing allocator. Every
-- error ends it, as it would a user's script.
lab.open { backend = "sim", profile = "textbook" }

local x, done = lab.ones(8, 8), lab.event()
local function work(name, t, event)
    local stream <close> = lab.stream { name = name }
    local y = lab.matmul(t, t, { stream = stream })
    stream:record_event(event)
    stream:synchronize()
    return y:get(1, 1)
end
local tl = lab.profile(function()
    local threads = { lab.thread(work, "first", x, done), lab.thread(work, "second", x, done) }
    for _, thread in ipairs(threads) do
        assert(thread:join() == 8)
    end
end)
assert(#tl:spans() > 0)
