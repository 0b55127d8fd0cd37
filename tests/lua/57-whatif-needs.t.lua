-- 57-whatif-needs.t.lua - lab.whatif refuses changes after which an operation no longer comes
-- behind the one whose results it reads, where a recording of ours knows the operands.
local tap = require "tap"
local lab = require "streamlab"
local ideal = require "lua.ideal"
local changes = require "lua.changes"
local record = changes.record

ideal.textbook()
local s, side = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local n <const> = 1 << 20
local a, b, c = lab.zeros(n), lab.zeros(n), lab.zeros(n)
local host = lab.zeros(n, { device = "cpu", pinned = true })

local function on(stream, f) lab.with(stream, f) end
local function copy(to, from) to:copy_(from, { non_blocking = true }) end

local function refused(tl, edit, pattern, name)
    local w = lab.whatif(tl)
    tap.throws_like(function() w[edit[1]](w, table.unpack(edit, 2)) end, pattern, name)
    tap.is(#w:changes(), 0, name .. ": nothing has changed")
end
local function taken(tl, edit, name)
    local fine = pcall(function() changes.changed(tl, edit):predict() end)
    tap.ok(fine, name)
end

-- A copy, for which the kernel's stream waits with an event.
local waits = record(function()
    on(side, function() copy(a, host) end)
    s:wait_event(side:record_event())
    on(s, function() lab.add(a, c, { out = a }) end)
end)
refused(waits, { "drop_wait", "*" },
    "drop_wait: '.*add.*' %(operation %d+%) would no longer come behind 'Memcpy HtoD.*' "
    .. "%(operation %d+%), which writes what it reads", "a wait for what a kernel reads")
refused(waits, { "move", "*add*", "other" }, "move: '.*add.*' .* behind 'Memcpy HtoD",
    "a kernel that leaves the stream which waited")
taken(waits, { "scale", "*add*", 0.5 }, "no order is lost: it is predicted")

local needless = record(function()
    on(side, function() copy(a, host) end)
    s:wait_event(side:record_event())
    on(s, function() lab.add(b, c, { out = b }) end)
end)
taken(needless, { "drop_wait", "*" }, "a wait for what nobody reads may go")

-- Downloaded, waited for, and uploaded again.
local again = record(function()
    on(s, function() copy(host, a) end)
    s:synchronize()
    on(side, function() copy(b, host) end)
    lab.synchronize()
end)
refused(again, { "drop_sync", "cudaStreamSynchronize" },
    "drop_sync: 'Memcpy HtoD.* behind 'Memcpy DtoH.*, which writes what it reads",
    "a wait before the host's memory is read")

-- The host fills a buffer that is still copied.
local filled = record(function()
    on(s, function() copy(a, host) end)
    s:synchronize()
    host:fill_(1)
    lab.synchronize()
end)
refused(filled, { "drop_sync", "cudaStreamSynchronize" },
    "drop_sync: .* behind 'Memcpy HtoD.*, which reads what it overwrites",
    "a wait before the host writes what is copied")

-- In the other order of one stream nothing is lost, and what is overwritten may be another buffer.
local kernels = record(function()
    on(s, function()
        for _ = 1, 3 do
            copy(a, host)
            lab.add(a, b, { out = c })
        end
    end)
end)
taken(kernels, { "prefetch", "*HtoD*", 1 }, "a copy into another buffer")
refused(kernels, { "move", "*add*", "other" }, "move: '.*add.*' .* behind 'Memcpy HtoD",
    "a kernel that leaves the copy which it reads")
taken(kernels, { "remove", "*HtoD*" }, "what is removed is not needed")

-- A file does not have the operands.
local path = os.tmpname() .. ".json"
waits:save(path)
taken(lab.load(path), { "drop_wait", "*" }, "what is not known is not refused")
os.remove(path)
os.remove((path:gsub("%.json$", "")))

s, side, a, b, c, host = nil, nil, nil, nil, nil, nil
tap.done()
