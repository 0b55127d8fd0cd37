return {
    title = "What if",
    class = "whatif",
    order = 78,
    about = [[
A recorded program can be played again with changes, before anyone edits a line: how long would it take with pinned memory, without this synchronisation, with a kernel twice as fast? `streamlab whatif` does the same on the command line ([guide](../guide/23-what-if.md)).

```lua
local w = lab.whatif(lab.load("trace.json.gz"))
print(w:text())                                          -- single changes, by what they would gain
print(w:pin("Memcpy HtoD*"):non_blocking("Memcpy HtoD*"):text())
```

| | |
|---|---|
| what is played | the host's calls and the time between them, by thread; what each call submits; the rules of streams: order, events, the NULL stream, graphs; engines, and the SMs, which kernels share by how many blocks they have |
| durations | as recorded; of kernels that ran side by side what each would take alone. Kernels whose blocks together are more than the SMs run at 0.6 of their speed side by side. Delays are as recorded behind what held an operation, else as short as is usual |
| pauses of the host | before a call that is gone they are shorter by the median before others, and behind a wait that is gone by three times that |
| recording | what the recorder took of the host's time is taken off, of the calls and, of programs that `streamlab record` has recorded, three times as much between them, but at most half of a pause: `before_us` is without it |
| the range | what a recording does not say is assumed in eight ways: the likely one; kernels that newly run side by side take nothing of each other, or all; what a change leaves in doubt takes its least time, or its most; the host without the recorder is faster (0.65 of its time), or slower (1.5), or goes on 50 us later behind a wait. Each is played before and after, and what part of the time is left differs: the range has the root of the sum of squares of these, a quarter of what the change gains or costs (but at most of what is left), and 3 % of what is left, or up to 13 % where the host binds, whose cores change their speed ([measured](../results/whatif.md)) |

A selection is a pattern for the names of operations and of CUDA's calls, in which `*` and `?` stand for anything, and `a|b` for either; or `kernel=`, `operator=`, `module=`, `line=`, `phase=`, `step=` or `stream=` and a pattern for what they belong to, as in `timeline:by`. `step=3` and `step=3..5` are numbers of steps.

Nothing is predicted where the records do not carry it: `refused` of `whatif:predict` says why. That is so if the program, played unchanged, takes more than 10 % more or less than was measured; if for more than a fifth of the makespan nothing explains what the GPU waited for; if the calls are of several processes; if work of other GPUs is left out; and if more than one launch of a hundred has no operation, or one operation no launch.

Recordings of streamlab's own know what their operations read and write, as long as they are in memory: a change after which one no longer comes behind that whose results it reads is refused with both, and so is one after which the host writes what is still copied. What an operation overwrites is not refused, as another buffer will do. In files, and in traces of others, nothing says which data an operation needs: there `whatif:move`, `whatif:prefetch`, `whatif:drop_wait`, `whatif:drop_sync`, `whatif:batch`, `whatif:async` and `whatif:threads` assume that the program can do without that order.]],
    entries = {
        {
            name = "lab.whatif",
            brief = "a recorded program, to be played with changes",
            arguments = { { "timeline", "timeline", "what was recorded" } },
            returns = { { "whatif", "the program, unchanged" } },
            errors = { { "SL_EUNSUPPORTED", "the timeline keeps only a summary" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl))  --> whatif (0 changes)]],
            see = { "whatif:predict", "whatif:rank", "whatif:export", "timeline:explain" },
        },
        {
            name = "whatif:identity",
            brief = "the program played unchanged, beside what was measured",
            returns = { { "table", "`measured_us`, `replayed_us`, `error` (0.02: 2 % too long), `knows_needs` (whether changes that take data which an operation needs are refused) and, where nothing can be predicted, `problem`: why" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):identity().error)  --> 0.0]],
        },
        {
            name = "whatif:predict",
            brief = "how long the program would take with the changes",
            returns = { { "table", "`before_us`, without what recording took; `after_us`; `range_us`, a table of `low` and `high`; or only `refused`, why there is none" } },
            errors = { { "SL_EINVAL", "with these changes operations would wait for each other for ever" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
local p = lab.whatif(tl):scale("spin", 0.5):predict()
print(("%.0f us instead of %.0f us"):format(p.after_us, p.before_us))  --> 1000 us instead of 2001 us]],
        },
        {
            name = "whatif:timeline",
            brief = "the program with its changes as a timeline, as it is predicted",
            returns = { { "timeline", "a chart, files, figures, differences and causes of it are as of any timeline" } },
            errors = { { "SL_EINVAL", "nothing is predicted (`whatif:predict`), or the changed operations wait for each other" } },
            about = [[Its makespan is `after_us`. Operations, calls and ranges of the host have the times that are predicted; what a change removes is left out, and what it moves is in a stream of the new name. Without changes it is the program as recorded, less what recording took. A doubt, `played`, says that nobody measured it.]],
            example = [[
local tl = lab.profile(function() for _ = 1, 2 do lab.spin(2) lab.synchronize() end end)
local w = lab.whatif(tl):scale("spin", 0.5)
print(w:timeline().makespan_us == w:predict().after_us)  --> true]],
            see = { "whatif:before", "timeline:show", "timeline:diff", "timeline:save" },
        },
        {
            name = "whatif:before",
            brief = "the program without its changes as a timeline, less what recording took",
            returns = { { "timeline", "what `whatif:timeline` gives without changes: its makespan is `before_us`" } },
            errors = { { "SL_EINVAL", "nothing is predicted (`whatif:predict`)" } },
            example = [[
local tl = lab.profile(function() for _ = 1, 2 do lab.spin(2) lab.synchronize() end end)
local w = lab.whatif(tl):scale("spin", 0.5)
print(w:before().makespan_us == w:predict().before_us)  --> true]],
            see = { "whatif:timeline" },
        },
        {
            name = "whatif:rank",
            brief = "single changes that can be tried, by what they would gain, and pairs of them",
            returns = {
                { "table[]", "the shortest makespan first: `edit`, `also` (a change that goes with it) or nil, `selection` (nil where the change has none), `argument` or nil, `before_us`, `after_us`, `range_us`, `how`: what to write in a few words, or nil, and `more`: rows that stand under it, or nil" },
                { "table[]", "pairs: `first` and `second`, rows, in the order in which they change the program; `before_us`, `after_us`, `range_us`" },
            },
            about = [[Tried is what needs no knowledge of the program: copies of each name pinned and not blocking, prefetched, moved; each call that waits, by its line and by its name; waits for events; kernels that leave SMs empty, moved; the streams' priorities; long products in float32 without tensor cores, in a quarter of the time, which is assumed; fills, copies on the GPU and changes of layout, calls that allocate memory, and lines where the host asks the GPU for values or gives it some, which take the host longer than the GPU, removed; lines, functions, operators and optimizers whose kernels only read and write memory, or are short, and attention, fused; the same copies or small kernels over and over, as one; batches of copies with what the host did before them, in another thread; collectives without a wait behind them, in buckets of 1, 25 and 64 MiB, and with 8 and 16 channels; all launches as graphs.

Each edit has one row, that of the selection that gains the most; other selections stand under it, and so do changes that gain the same as one that is simpler. What gains less than 0.2 % is left out, and so is what hardly gains more than a part of it. Pairs are those of the best five rows that gain 1 % of the makespan more than the better one alone.]],
            example = [[
local x = lab.empty(1 << 20, { device = "cpu" })
local tl = lab.profile(function() for _ = 1, 4 do x:cuda() lab.spin(1) end end)
print(lab.whatif(tl):rank()[1].edit)  --> pin]],
        },
        {
            name = "whatif:derivative",
            brief = "what the makespan follows: what 1 % less time of some work gains",
            arguments = { { "by", "string", "`kernel`, `operator`, `module` or `line`", default = "operators, or where there are none kernels" } },
            returns = { { "table[]", "the largest gain first: `name` or nil, or `host` (all that it does between and in its calls); `count`, `time_us`, and `gain`, in percent of the makespan for one percent of that time" } },
            errors = { { "SL_EINVAL", "there is no such key" } },
            about = [[Of the program with its changes so far. Each is found by playing the program so: the host, and the 23 that take the longest. What others cover, or what waits for something else, gains nothing however long it takes.]],
            example = [[
local tl = lab.profile(function() lab.spin(3) lab.empty(1 << 26):zero_() end)
print(lab.whatif(tl):derivative()[1].name)  --> spin]],
            see = { "whatif:scale", "whatif:rank" },
        },
        {
            name = "whatif:changes",
            brief = "the changes so far",
            returns = { { "table[]", "`name`, `selection`, `argument` or nil, and `changed`: how many operations or calls" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):scale("spin", 0.5):changes()[1].changed)  --> 1]],
        },
        {
            name = "whatif:text",
            brief = "what the changes gain, or without changes a list of single ones",
            returns = { { "string", "the lines, each with its newline: with changes also what would stand in the way next" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):text():match("[^\n]+"))  --> Played unchanged, it takes 2.00 ms; measured were 2.00 ms (+0.0 %).]],
        },
        {
            name = "whatif:code",
            brief = "the changes as code: the lines that they concern, what to write there, what to check",
            options = { { "as", "string", "`\"pytorch\"`, `\"cuda\"`, `\"cupy\"` or `\"lua\"`", default = "the language of the recording" } },
            returns = { { "string", "the lines, each with its newline; without changes those of the three best single ones" } },
            about = [[Of each change at most five lines are shown, those that take the longest first, with what stands there where the recording has it. What to write is an example with names of its own, before (`-`) and after (`+`), in PyTorch 2.11, CUDA 13, CuPy 14 or a script. Which data an operation needs is not in the records: `Check:` says what has to hold.]],
            example = [[
local x = lab.empty(1 << 20, { device = "cpu" })
local tl = lab.profile(function() for _ = 1, 4 do x:cuda() lab.spin(1) end end)
print(lab.whatif(tl):pin("*HtoD*"):code{ as = "pytorch" }:match("+[^\n]+"))  --> +loader = DataLoader(data, batch_size=256, pin_memory=True)]],
            see = { "whatif:rank" },
        },
        {
            name = "whatif:json",
            brief = "the same as one JSON object",
            options = {
                { "code", "boolean", "with a list `code`: of each change `language`, `how`, `write`, `check`, and `lines` with `where`, `source`, `name`, `count` and `time_us`", default = "false" },
                { "as", "string", "as of `whatif:code`", default = "the same" },
            },
            returns = { { "string", "`measured_us`, `identity_us`, `before_us`, `after_us`, `range_us`, `edits`, `refused`; with changes `next`, what the verdict of `whatif:timeline` says: `cause` and `gain_us`, or null, and `sentence`; without changes `remedies`, as `whatif:rank` has them" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):json():match('"refused": %a+'))  --> "refused": null]],
        },
        {
            name = "whatif:scale",
            brief = "operations that take longer or shorter, by a factor",
            arguments = { { "selection", "string", "of which operations or calls" }, { "factor", "number", "0.5: half the time" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):scale("spin", 2):predict().after_us > tl.makespan_us)  --> true]],
        },
        {
            name = "whatif:remove",
            brief = "operations and calls that are neither called nor run",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[Calls are any of the host: `cudaMalloc`, `cudaFree`, synchronisations, its own work. With a copy the synchronisation right behind it goes, and with a call the host's time before it: all where that is below 50 us, as it only launches; what is usual before a call where it is longer; and where its line makes no other calls, what is longer than usual before a line.]],
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):remove("spin"):predict().after_us)  --> 0.0]],
        },
        {
            name = "whatif:pin",
            brief = "copies from or to pageable memory, as fast as pinned ones",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[At the rate of the timeline's large pinned copies, else of what the bus of such a GPU reaches. The host still waits for a copy that it waited for.]],
            example = [[
local x = lab.empty(1 << 20, { device = "cpu" })
local tl = lab.profile(function() for _ = 1, 4 do x:cuda() lab.spin(1) end end)
print(lab.whatif(tl):pin("*HtoD*"):changes()[1].changed)  --> 4]],
            see = { "whatif:non_blocking" },
        },
        {
            name = "whatif:non_blocking",
            brief = "copies for which the host does not wait",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[Also not in the synchronisation right behind, as PyTorch has it. From and to pageable memory all copies block: only those of pinned memory are changed.]],
            example = [[
local x = lab.empty(1 << 24, { device = "cpu", pinned = true })
local tl = lab.profile(function() for _ = 1, 4 do x:cuda() lab.spin(2) end end)
print(lab.whatif(tl):non_blocking("*HtoD*"):changes()[1].changed)  --> 4]],
            see = { "whatif:pin" },
        },
        {
            name = "whatif:move",
            brief = "operations in a stream of their own",
            arguments = { { "selection", "string", "of which operations or calls" }, { "stream", "string", "its name; the same name is the same stream" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[What copies to the GPU still comes before the later work of its old stream, and no longer behind the earlier work; what copies from it the other way round. Kernels have no order with their old stream. Synchronisations of the old stream wait for all.]],
            example = [[
local x = lab.empty(1 << 24, { device = "cpu", pinned = true })
local tl = lab.profile(function() for _ = 1, 4 do x:cuda() lab.spin(2) end end)
print(lab.whatif(tl):move("*HtoD*", "copies"):changes()[1].changed)  --> 4]],
        },
        {
            name = "whatif:prefetch",
            brief = "copies to the GPU that are called earlier",
            arguments = { { "selection", "string", "of which operations or calls" }, { "ahead", "integer", "how many of these copies earlier: 2 with two copies for each batch is a batch" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[They have a stream of their own. Each comes behind the work that was called before the place to which it moves, so that one buffer more than before is enough.]],
            example = [[
local x = lab.empty(1 << 24, { device = "cpu", pinned = true })
local tl = lab.profile(function() for _ = 1, 4 do x:cuda() lab.spin(2) end end)
print(lab.whatif(tl):prefetch("*HtoD*", 1):changes()[1].changed)  --> 4]],
        },
        {
            name = "whatif:priority",
            brief = "kernels of another priority",
            arguments = { { "selection", "string", "of which operations or calls" }, { "priority", "integer", "the lower, the more urgent, as in `lab.stream`" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):priority("spin", -1))  --> whatif (1 change)]],
        },
        {
            name = "whatif:drop_sync",
            brief = "calls in which the host no longer waits",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):drop_sync("cudaDeviceSynchronize"))  --> whatif (1 change)]],
        },
        {
            name = "whatif:drop_wait",
            brief = "streams that wait no longer for events",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            example = [[
local tl = lab.profile(function()
    local s, e = lab.stream(), lab.event()
    lab.spin(1) e:record() s:wait_event(e)
    lab.with(s, lab.spin, 1)
    lab.synchronize()
end)
print(lab.whatif(tl):drop_wait("cudaStreamWaitEvent"))  --> whatif (1 change)]],
        },
        {
            name = "whatif:fuse",
            brief = "neighbours in a stream that are one launch",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[Kernels that move data through memory (by their names: elementwise, reductions, softmax, norms, copies) take as long as the longest, as the data is read and written once; products of matrices, and kernels that are not known, as long as all together. Half of the host's time before the launches that go stays, but at most 50 us. Where nothing else of the stream lies between, a run ends when its first kernel comes again.]],
            example = [[
local tl = lab.profile(function() for _ = 1, 9 do lab.spin(0.1) end end)
print(lab.whatif(tl):fuse("spin"):changes()[1].changed)  --> 8]],
        },
        {
            name = "whatif:batch",
            brief = "neighbours of the same name that are one launch, or one copy",
            arguments = { { "selection", "string", "of which operations" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[Neighbours are what was chosen of a stream with nothing else of it, and no wait of the host, between; of these all of one name become one. A kernel stands where the first was, and its blocks run in as many waves as all blocks together fill, and at worst as long as one after the other; a copy stands where the last was, and takes all bytes at the rate of the timeline's large copies, and once what the shortest took beyond that. Without large copies it is what the bus of such a GPU reaches.]],
            example = [[
local tl = lab.profile(function() for _ = 1, 9 do lab.spin(0.1) end end)
print(lab.whatif(tl):batch("spin"):predict().after_us < tl.makespan_us / 5)  --> true]],
            see = { "whatif:fuse" },
        },
        {
            name = "whatif:graph",
            brief = "launches without a wait between them, as one launch of a graph",
            arguments = { { "selection", "string", "of which operations or calls" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[It is assumed that a launch of the graph takes the host 8 us, and that nodes follow each other by 0.1 us. Both are assumptions; launches that were recorded took longer ([measured](../results/whatif.md)). Instantiation does not count.]],
            example = [[
local tl = lab.profile(function() for _ = 1, 9 do lab.spin(0.1) end end)
print(lab.whatif(tl):graph("*"):predict().after_us < tl.makespan_us)  --> true]],
        },
        {
            name = "whatif:threads",
            brief = "calls that another thread of the host makes, with the work before them",
            arguments = { { "selection", "string", "of which operations or calls: the copies of a loader's batches" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[What the host did before such a call goes with it, back to the call that last gave the GPU work or waited. The thread is at most two items ahead, as a loader of PyTorch with one worker is; the host goes on when the item is there. Likely is that the two threads take nothing from each other; at worst they take turns, as those of Python do that share one lock.]],
            example = [[
local x = lab.empty(1 << 20, { device = "cpu", pinned = true })
local tl = lab.profile(function() for _ = 1, 4 do lab.host_work(1) x:cuda() lab.spin(1) end end)
print(lab.whatif(tl):threads("*HtoD*"):predict().after_us < tl.makespan_us)  --> true]],
            see = { "whatif:prefetch" },
        },
        {
            name = "whatif:async",
            brief = "collectives, and copies from the GPU, for which later work does not wait",
            arguments = { { "selection", "string", "of which operations" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there is no such key, or argument" }, { "SL_ENOTFOUND", "nothing of its kind is chosen" } },
            about = [[As `async_op=True` of PyTorch's collectives. They stay in order among themselves, and behind the work before. Who needs a result first is not in the records: it is taken to be the first kernel of the optimizer or of the next step, or the host where it waits. From pageable memory nothing is asynchronous.]],
            example = [[
local x, y = lab.empty(1 << 24), lab.empty(1 << 24, { device = "cpu", pinned = true })
local tl = lab.profile(function() for _ = 1, 4 do y:copy_(x, { non_blocking = true }) lab.spin(2) end end)
print(lab.whatif(tl):async("*DtoH*"):predict().after_us < tl.makespan_us)  --> true]],
            see = { "whatif:move", "comm:all_reduce" },
        },
        {
            name = "whatif:buckets",
            brief = "all-reduces of gradients that are put together, or split",
            arguments = { { "bytes", "integer", "of a bucket, which ends with the gradient that fills it" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "one is to be several, and which kernels are of the backward pass is not known" }, { "SL_ENOTFOUND", "there is no collective, or of no all-reduce the size is known" } },
            about = [[Put together are the all-reduces of one stream, in their order, for which nothing has waited so far; the bucket begins where its last one did. One of two or more buckets' size becomes several, of which the k-th of n is taken to be there when k of n parts of the backward pass before it have run. How long a bucket takes lies on the line through the recorded all-reduces, small and large; where all have one size, 18 us of each are taken to be its start.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.ones(1 << 20, { device = "cuda:0" }), lab.ones(1 << 20, { device = "cuda:1" }) }
local tl = lab.profile(function() for _ = 1, 4 do comm:all_reduce(t) end lab.synchronize() end)
print(lab.whatif(tl):buckets(16 << 20):changes()[1].changed)  --> 6]],
            see = { "whatif:async", "whatif:channels" },
        },
        {
            name = "whatif:channels",
            brief = "collectives of another number of blocks",
            arguments = { { "blocks", "integer", "that each has, as `NCCL_MAX_NCHANNELS` says" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "no such number" }, { "SL_ENOTFOUND", "there is no collective" } },
            about = [[So many SMs are not there for kernels beside it. A block moves 31 GB/s, as was measured with NCCL on two H100s: fewer blocks make a collective slower where that does not reach its bandwidth. At worst its time grows as its blocks get fewer, at best it falls as they get more.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.ones(1 << 20, { device = "cuda:0" }), lab.ones(1 << 20, { device = "cuda:1" }) }
local tl = lab.profile(function() comm:all_reduce(t) lab.synchronize() end)
print(lab.whatif(tl):channels(1):predict().after_us > tl.makespan_us)  --> true]],
            see = { "whatif:buckets" },
        },
        {
            name = "whatif:profile",
            brief = "another GPU",
            arguments = { { "name", "string", "of a profile, as `lab.open` has them, or its file" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "there are no figures of the recorded GPU, or not all of the other one" }, { "SL_ENOTFOUND", "there is no such profile" } },
            about = [[What a kernel is bound by is not in the records. By the words of its name, a product, a convolution or attention takes as long as the arithmetic (`fp32_tflops`), what is elementwise, a reduction or a norm as the memory (`hbm_gb_per_s`), others are between; the range is from the one to the other, for each. Pinned copies go by `h2d_gb_per_s` and `d2h_gb_per_s`, and kernels share as many SMs as there are. Unchanged are the host, pageable copies, and collectives.]],
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):profile("a100"):predict().after_us > tl.makespan_us)  --> true]],
            see = { "whatif:scale", "lab.open" },
        },
        {
            name = "whatif:host_scale",
            brief = "all that the host does between and in its calls, by a factor",
            arguments = { { "factor", "number", "0.5: half the time; what it waits stays" } },
            returns = { { "whatif", "the object itself" } },
            errors = { { "SL_EINVAL", "the factor is negative" } },
            example = [[
local tl = lab.profile(function() lab.spin(2) lab.synchronize() end)
print(lab.whatif(tl):host_scale(0.5))  --> whatif (1 change)]],
        },
        {
            name = "whatif:export",
            brief = "the program with its changes as a script that can be run",
            arguments = { { "language", "\"lua\"|\"pytorch\"|\"cuda\"", "Lua for streamlab, Python with PyTorch 2.9 or later, or CUDA C++" } },
            returns = { { "string", "the script" } },
            errors = { { "SL_EINVAL", "there is no such language" }, { "SL_EUNSUPPORTED", "the program has several GPUs, processes or contexts, collectives, host functions in streams, threads that call CUDA at the same time, or the changes `threads`, `async`, `graph`, `batch` or `fuse`; or too little in it repeats; or nothing can be predicted of it" } },
            about = [[
It makes the same calls in the same streams: launches, copies of the same sizes from and to the same kinds of memory, memsets, records and waits of events, synchronisations, launches of graphs. What repeats is a loop, with the mean of the times.

- In the place of a kernel is one with as many blocks and threads, that is busy for as long; a kernel whose registers keep blocks off an SM has shared memory that does so. It takes no memory bandwidth from others, and computes nothing. The script measures at its begin what launching such a kernel adds.
- Before each call the host waits until the time at which the program made it, counted from the last call that waited. So what a call costs in the language of the script is no addition, as long as it is less than it was in the program.
- Copies of pageable memory take it from the processor's cache or not, whichever comes nearer to the time that they took.
- Copies take as long as the GPU needs for them, also where `scale` has changed that.
- Allocations and other calls are waiting as well; those that wait for the GPU do.
- Graphs of which a trace does not say the edges come behind what has ended before them in all launches.]],
            example = [=[
local tl = lab.profile(function() for _ = 1, 9 do lab.spin(0.1) end end)
print(lab.whatif(tl):export("cuda"):match("\n *(launch%b())"))  --> launch(4.85, kernels[0], streams[0], 100.73)]=],
            see = { "whatif:predict" },
        },
    },
}
