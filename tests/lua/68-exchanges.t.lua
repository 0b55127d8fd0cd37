-- 68-exchanges.t.lua - what trace files keep of collectives, and of copies from one GPU to another.

require "lua.quiet" ()

local T = require "tap"

local gpu = {}
for i = 1, 3 do gpu[i] = lab.open{ backend = "sim", profile = "textbook", index = i - 1 } end
gpu[1]:make_current()
local comm = lab.comm{ devices = { 0, 1, 2 } }
local t, half = {}, {}
for i = 1, 3 do t[i] = lab.empty(6, { device = "cuda:" .. i - 1 }) end
for i = 1, 3 do half[i] = lab.empty(2, { device = "cuda:" .. i - 1, dtype = "float16" }) end
local same = lab.empty(6, { device = "cuda:0" })

local tl = lab.profile(function()
    comm:all_reduce(t, { op = "max" })
    comm:broadcast(half, { root = 2 })
    comm:group(function()
        comm:send(t[1], { dst = 1 })
        comm:recv(t[2], { src = 0 })
    end)
    t[1]:copy_(t[3])
    same:copy_(t[1])
end)

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

local base = os.tmpname()
tl:save(base .. ".json")
local back = lab.load(base .. ".json")
back:save(base .. ".2.json")
local text = read(base .. ".json")
T.is(read(base .. ".2.json"), text, "a trace that is read and saved again is the same file")
T.is_deeply(back:spans(), tl:spans(), "its spans have their collectives")
local noted = 0
for _, span in ipairs(back:spans()) do noted = noted + (span.collective and 1 or 0) end
T.is(noted, 3 + 3 + 2, "of each rank")
T.is_deeply(back:causes(), tl:causes(), "and explanations know which rank came last")
local pair = '"fromDevice":2,"toDevice":0'
local _, pairs = text:gsub('"fromDevice"', "")
T.ok(text:find(pair, 1, true), "a copy from one GPU to another says which two", text)
T.is(pairs, 1, "a copy within a GPU does not")

-- What a stranger may have changed.
local function spoil(from, to)
    local spoilt = text:gsub(from, to, 1)
    T.ok(spoilt ~= text, "changed: " .. to)
    local file <close> = assert(io.open(base .. ".json", "wb"))
    file:write(spoilt)
    file:close()
    return pcall(lab.load, base .. ".json")
end
local fine, err = spoil('"Rank":0', '"Rank":7')
T.ok(not fine and tostring(err):find("rank 7 of 3", 1, true), "a rank that cannot be is refused",
     tostring(err))
local loaded
fine, loaded = spoil('"Group size":3', '"Group size":"3"')
T.is(fine and #loaded:spans(), #back:spans(), "a number in quotes is that number")
fine, loaded = spoil(pair, '"fromDevice":9,"toDevice":0')
T.ok(fine and loaded.span_count == tl.span_count, "a GPU that the file does not list is ignored")
fine, loaded = spoil('"Collective name":"allreduce"', '"Collective name":"alltoall"')
T.is(fine and loaded:spans()[1].collective, nil, "and a collective that nobody knows")

for _, suffix in ipairs{ "", ".json", ".2.json" } do os.remove(base .. suffix) end
comm:free()
comm, t, half, same = nil, nil, nil, nil
T.done()
