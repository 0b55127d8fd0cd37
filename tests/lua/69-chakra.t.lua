-- 69-chakra.t.lua - execution traces of Chakra: nodes, attributes and dependencies by hand, and
-- what is not exported.

require "lua.quiet" ()

local T = require "tap"
local decode = require "chakra_decode"
local ideal = require "lua.ideal"

local gpu, stream = {}, {}
for i = 1, 4 do
    gpu[i] = lab.open{ backend = "sim", profile = "textbook", index = i - 1,
                       overrides = ideal.no_latency }
    stream[i] = lab.stream{ device = gpu[i], non_blocking = true }
end
gpu[1]:make_current()

local base = os.tmpname()
local function file(rank) return ("%s.%d.et"):format(base, rank) end

-- The nodes of each rank, from 1 on.
local function saved(tl, n)
    T.is(tl:save(base .. ".et"), tl, "saving gives the timeline")
    local ranks = {}
    for rank = 0, n - 1 do
        local nodes, version = decode.file(file(rank))
        T.is(version, "0.0.4", "rank " .. rank .. " has a header")
        ranks[rank + 1] = nodes
        os.remove(file(rank))
    end
    local more = io.open(file(n))
    T.is(more, nil, "and there are no more ranks")
    return ranks
end

local function chakra(n, f) return saved(lab.profile(f), n) end

local function tensors(n, elements)
    local list = {}
    for i = 1, n do list[i] = lab.empty(elements, { device = "cuda:" .. i - 1 }) end
    return list
end

-- A kernel, an all_reduce, a kernel: ids count over both ranks.
do
    local comm = lab.comm{ devices = { 0, 1 } }
    local t = tensors(2, 1000)
    local ranks = chakra(2, function()
        for i = 1, 2 do lab.spin(1, { stream = stream[i] }) end
        comm:all_reduce(t, { streams = { stream[1], stream[2] } })
        for i = 1, 2 do lab.spin(2, { stream = stream[i] }) end
    end)
    for i = 1, 2 do
        local first, all, last = table.unpack(ranks[i])
        T.is(#ranks[i], 3, "three nodes")
        T.is_deeply({ first.id, all.id, last.id }, { i, 2 + i, 4 + i }, "their ids")
        T.is_deeply({ first.type, all.type, last.type },
                    { "COMP_NODE", "COMM_COLL_NODE", "COMP_NODE" }, "their types")
        T.is_deeply({ first.data_deps, all.data_deps, last.data_deps }, { {}, { i }, { 2 + i } },
                    "each comes behind the one before")
        T.is_deeply({ first.start, first.duration, all.start, last.duration },
                    { 0, 1000, 1000, 2000 }, "times are in us from the first start on")
        T.is_deeply(first.attr, { is_cpu_op = false, stream = 0 }, "a kernel")
        T.is_deeply(all.attr, { is_cpu_op = false, stream = 0, comm_type = 0, comm_size = 4000 },
                    "an all_reduce of everyone has no group")
        T.is_deeply(all.types, { is_cpu_op = "bool", stream = "int64", comm_type = "int64",
                                 comm_size = "int64" }, "with the types that readers expect")
        T.is(all.name, "ncclDevKernel_AllReduce_Sum_f32", "and NCCL's name")
        T.is(last.start, all.start + all.duration, "durations in a row add up")
    end
    comm:free()
end

-- The other collectives: what each rank puts in.
do
    local comm = lab.comm{ devices = { 0, 1 } }
    local large, small = tensors(2, 2000), tensors(2, 1000)
    local ranks = chakra(2, function()
        comm:all_gather(small, { out = large })
        comm:reduce_scatter(large, { out = small })
        comm:broadcast(small, { root = 1 })
    end)
    for i = 1, 2 do
        local found = {}
        for k, node in ipairs(ranks[i]) do
            found[k] = { node.attr.comm_type, node.attr.comm_size, node.attr.comm_src }
        end
        T.is_deeply(found, { { 2, 4000 }, { 7, 8000 }, { 5, 4000, 1 } },
                    "all_gather, reduce_scatter, broadcast of rank " .. i - 1)
    end
    comm:free()
end

-- GPU 3 is rank 0 of it, GPU 1 is rank 1; the other two know nothing of it.
do
    local comm = lab.comm{ devices = { 3, 1 } }
    local t = { lab.empty(8, { device = "cuda:3" }), lab.empty(8, { device = "cuda:1" }) }
    local ranks = chakra(4, function()
        for i = 1, 4 do lab.spin(1, { stream = stream[i] }) end
        comm:all_reduce(t, { streams = { stream[4], stream[2] } })
    end)
    local pg_name
    for _, i in ipairs{ 2, 4 } do
        local groups, _, all = table.unpack(ranks[i])
        pg_name = pg_name or all.attr.pg_name
        T.is(groups.type, "METADATA_NODE", "a communicator of some is described")
        T.is(groups.id, 0, "first of all")
        T.is(groups.values, ([=[['[{"pg_name": "%s", "ranks": [3, 1]}]']]=]):format(pg_name),
             "with its ranks, as PyTorch writes them")
        T.is(all.attr.pg_name, pg_name, "and has the same name on all of them")
        T.is(all.types.pg_name, "string", "which is a text")
    end
    for _, i in ipairs{ 1, 3 } do
        T.is(#ranks[i], 1, "other ranks do not have it")
    end
    comm:free()
end

-- Copies: between host and GPU, from one GPU to another; a host function.
do
    local up = lab.empty(1000, { device = "cpu", pinned = true })
    local t = tensors(2, 1000)
    local ranks = chakra(2, function()
        t[1]:copy_(up, { non_blocking = true, stream = stream[1] })
        stream[1]:launch_host_func(function() end)
        t[2]:copy_(t[1], { non_blocking = true, stream = stream[1] })
        up:copy_(t[2], { non_blocking = true, stream = stream[2] })
    end)
    local load, call, send = table.unpack(ranks[1])
    local receive, store = table.unpack(ranks[2])
    T.is(load.type .. " " .. load.attr.tensor_size, "MEM_LOAD_NODE 4000", "H2D is a load")
    T.is(load.types.tensor_size, "uint64", "with its bytes")
    T.is(call.type .. " " .. tostring(call.attr.is_cpu_op), "COMP_NODE true",
         "a host function runs on the host")
    T.is_deeply({ send.type, send.attr.comm_src, send.attr.comm_dst, send.attr.comm_size },
                { "COMM_SEND_NODE", 0, 1, 4000 }, "a copy to another GPU is a send")
    T.is_deeply({ receive.type, receive.attr.comm_src, receive.attr.comm_dst,
                  receive.attr.comm_size }, { "COMM_RECV_NODE", 0, 1, 4000 }, "and a receive")
    T.is(receive.attr.comm_tag, send.attr.comm_tag, "of one tag")
    T.is_deeply({ send.types.comm_src, send.types.comm_dst, send.types.comm_tag },
                { "int32", "int32", "int32" }, "with the types that readers expect")
    T.is_deeply(send.data_deps, { call.id }, "it comes behind what is before it in its stream")
    T.is(store.type, "MEM_STORE_NODE", "D2H is a store")
    T.is(#store.data_deps, 0, "what nothing orders comes behind nothing")
end

-- ---- what is not exported -----------------------------------------------------------------

local function refused(tl, suffix, what, name)
    local fine, err = pcall(tl.save, tl, base .. suffix)
    T.ok(not fine and tostring(err):find(what, 1, true), name, tostring(err))
    T.is(type(err) == "table" and err.code or err.code, "SL_EUNSUPPORTED", "which is not supported")
    for _, rank in ipairs{ file(0), base .. suffix } do
        T.is(io.open(rank), nil, "and no file is left")
    end
end

for _, suffix in ipairs{ ".et", ".goal" } do
    refused(lab.load("tests/timeline/data/pytorch.json"), suffix,
            "needs a timeline that streamlab recorded", "a trace of another program is refused")
end

-- A file in which a part of a collective is missing, or a GPU.
do
    local comm = lab.comm{ devices = { 0, 1 } }
    local t = tensors(2, 1000)
    local tl = lab.profile(function() comm:all_reduce(t) end)
    comm:free()
    tl:save(base .. ".json")
    local text
    do
        local f <close> = assert(io.open(base .. ".json"))
        text = f:read("a")
    end
    local function changed(from, to)
        do
            local f <close> = assert(io.open(base .. ".json", "w"))
            f:write((text:gsub(from, to)))
        end
        return lab.load(base .. ".json")
    end
    for _, suffix in ipairs{ ".et", ".goal" } do
        refused(changed('"Rank":1,"Seq":1', '"Rank":1,"Seq":2'), suffix,
                "the timeline lacks 1 rank", "half of a collective is refused")
        refused(changed('"Group size":2', '"Group size":3'), suffix, "has 3, the timeline has 2",
                "as is a communicator with ranks elsewhere")
        refused(changed('"Rank":1', '"Rank":0'), suffix, "has 2, the timeline has 1",
                "also where ranks are missing that could be there")
    end
    os.remove(base .. ".json")
    T.throws_like(function() tl:save(base .. ".et", { rows = "engines" }) end, "has no options",
                  "there are no options")
    T.throws_like(function() tl:save("/no/such/folder/x.et") end, "/no/such/folder/x.0.et",
                  "an error names the file")
end

os.remove(base)
stream = nil
T.done()
