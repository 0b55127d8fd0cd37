return {
    title = "Waiting for collectives",
    class = "work",
    order = 38,
    about = [[
What a [collective](communicators.md) gives with `async = true`: it runs in a stream of the communicator's own, beside what the script enqueues meanwhile. The results may be used once `work:wait` has been called.]],
    entries = {
        {
            name = "work:wait",
            brief = "lets the streams that called the collective wait for it",
            about = [[What these streams get from now on comes behind the collective. The host does not wait. It may be called again.]],
            errors = { { "SL_EINVAL", "the `comm:group` that the collective is in has not ended" } },
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" }) }
local work = comm:all_reduce(t, { async = true })
work:wait()
print(t[1]:mul(2):get(1))  --> 4.0]],
            pytorch = "torch.distributed.Work.wait",
            see = { "comm:all_reduce" },
        },
        {
            name = "work:synchronize",
            brief = "waits until the collective has ended",
            blocks = "until then, of the ranks of this process",
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local work = comm:broadcast({ lab.ones(4, { device = "cuda:0" }), lab.zeros(4, { device = "cuda:1" }) }, { async = true })
work:synchronize()
print(work:query())  --> true]],
            see = { "work:query" },
        },
        {
            name = "work:query",
            brief = "asks whether the collective has ended",
            returns = { { "boolean", "whether it has, in all ranks of this process" } },
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local work = comm:all_reduce({ lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" }) }, { async = true })
lab.host_work(1)
print(work:query())  --> true]],
            pytorch = "torch.distributed.Work.is_completed",
            see = { "work:synchronize" },
        },
    },
}
