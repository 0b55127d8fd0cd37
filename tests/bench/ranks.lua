-- ranks.lua FOLDER RANKS OPERATIONS - writes a trace for each rank, as PyTorch's profiler does: an
-- operator, a launch and a kernel for each operation; steps of 1000 operations, of which ten are
-- all-reduces of 4 MB. In step n rank n % RANKS is 0.1 ms late. For docs/results/timeline.md.
local folder <const>, ranks <const>, operations <const> = arg[1], tonumber(arg[2]), tonumber(arg[3])
local step_us <const>, kernel_us <const> = 12000, 10

local collective <const> = ',"Collective name":"allreduce","In msg nelems":1048576,'
    .. '"Out msg nelems":1048576,"dtype":"Float","Group size":' .. ranks
    .. ',"Process Group Name":"0","Process Group Ranks":"[0]"'

local event <const> = '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":%.3f,'
    .. '"dur":8,"args":{"External id":%d}},\n'
    .. '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%.3f,'
    .. '"dur":4,"args":{"correlation":%d,"External id":%d}},\n'
    .. '{"ph":"X","cat":"kernel","name":"%s","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":'
    .. '{"device":%d,"stream":%d,"correlation":%d,"External id":%d,"grid":[132,1,1],'
    .. '"block":[256,1,1]%s}},\n'

local names <const> = { "gemm_a", "gemm_b", "elementwise", "reduce_rows" }

-- The i-th operation of a step, from 0.
local function put(file, rank, number, at, i, late_us)
    local start, issue = at + 500 + i * (kernel_us + 1) + late_us, at + i * 9
    if i % 100 == 99 then
        local met = at + 600 + i * (kernel_us + 1)
        file:write(event:format(issue, number, issue + 2, number, number,
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", rank, 20, start, met + 40 - start, rank, 20,
            number, number, collective))
    else
        file:write(event:format(issue, number, issue + 2, number, number, names[i % #names + 1],
            rank, 7, start, kernel_us, rank, 7, number, number, ""))
    end
end

for rank = 0, ranks - 1 do
    local file <close> = assert(io.open(("%s/rank%d.json"):format(folder, rank), "w"))
    file:setvbuf("full", 1 << 20)
    file:write(('{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},'
        .. '"baseTimeNanoseconds":1700000000000000000,"traceEvents":[\n'):format(rank, ranks))
    for step = 0, operations // 1000 - 1 do
        local at = 1000 + step * step_us
        file:write(('{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":9,"tid":9,'
            .. '"ts":%d,"dur":%d,"args":{}},\n'):format(step, at, step_us - 1))
        for i = 0, 999 do
            put(file, rank, step * 1000 + i + 1, at, i, step % ranks == rank and 100 or 0)
        end
    end
    file:write('{"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"python"}}\n]}\n')
end
