-- rank_files.lua - traces of ranks as PyTorch's profiler writes them, for tests.
local shell = require "shell"

local files = { reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
                    .. "(ncclDevKernelArgsStorage<4096ul>)",
                gather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)" }

-- A rank's events. Times are us on the clock of all; `ahead_us` is added to them in the file. more:
-- further members of the file, as text that ends in a comma.
function files.rank(rank, ranks, ahead_us, more)
    local r = { events = {}, n = 0, rank = rank, ranks = ranks }
    local function add(form, ...) r.events[#r.events + 1] = form:format(...) end
    function r.kernel(issue_us, start_us, end_us, name, stream, args)
        r.n = r.n + 1
        add('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,'
            .. '"ts":%.3f,"dur":1,"args":{"correlation":%d}}', issue_us + ahead_us, r.n)
        add('{"ph":"X","cat":"kernel","name":"%s","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":'
            .. '{"device":%d,"stream":%d,"correlation":%d,"grid":[8,1,1],"block":[128,1,1]%s}}',
            name, rank, stream, start_us + ahead_us, end_us - start_us, rank, stream, r.n,
            args or "")
    end
    function r.step(number, start_us, end_us)
        add('{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":9,"tid":9,'
            .. '"ts":%.3f,"dur":%.3f,"args":{}}', number, start_us + ahead_us, end_us - start_us)
    end
    function r.save(path)
        shell.write(path, ('{"schemaVersion":1,%s%s"traceEvents":[\n%s]}\n'):format(more or "",
            r.ranks and ('"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},')
                :format(rank, r.ranks) or "", table.concat(r.events, ",\n")))
    end
    return r
end

-- What the profiler says of a collective: `members`, of the group's ranks, as "[0, 1]".
function files.args(name, elems, ranks, group, members)
    return (',"Collective name":"%s","In msg nelems":%d,"Out msg nelems":%d,"dtype":"Float",'
        .. '"Group size":%d,"Process Group Name":"%s","Process Group Ranks":"%s"')
        :format(name, elems, elems, ranks, group or "0", members or "[0, 1]")
end

-- Steps of 10 ms. Each computes for 5 ms, rank `slow` 2 ms longer, then reduces 1,000,000 floats,
-- which takes 0.5 ms from the last start on, and gathers as many in 0.25 ms while 0.1 ms are
-- computed.
function files.training(rank, ranks, slow, steps, ahead_us, more)
    local r = files.rank(rank, ranks, ahead_us, more)
    for step = 0, steps - 1 do
        local at = 1000000 + step * 10000
        local ready, last = at + 5100 + (rank == slow and 2000 or 0), at + 7100
        r.step(step, at, at + 9999)
        r.kernel(at + 10, at + 100, ready, "gemm", 7)
        r.kernel(at + 20, ready, last + 500, files.reduce, 20, files.args("allreduce", 1000000, 2))
        r.kernel(at + 30, last + 500, last + 750, files.gather, 20,
            files.args("_allgather_base", 1000000, 2))
        r.kernel(at + 40, last + 500, last + 600, "gemm", 7)
    end
    return r
end

return files
