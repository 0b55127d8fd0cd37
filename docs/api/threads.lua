return {
    title = "Threads",
    class = "thread",
    order = 35,
    about = [[
A thread of the host runs a Lua function beside the script, as a C++ program does with `std::thread`: several of them launch work, wait, and page-lock memory at the same time. On the
simulated GPU each has a clock of its own in virtual time, so that the contention of the driver's lock is part of the experiment; the outcome is the same in every run. The rules are in
[threads.md](../design/threads.md). On a real GPU Lua code of one thread runs at a time, while calls of CUDA, waits and `lab.host_work` of the others go on.

The function runs in a Lua state of its own. It shares no variables with the script: arguments and results are copied. They may be nil, booleans, numbers, strings, tables of these that do
not contain themselves, and streams, events and tensors of the same machine, which are then the same objects in both. Each thread has a current stream of its own, first the default
stream; `lab` is the laboratory, with the devices that were open when the thread was started.]],
    entries = {
        {
            name = "lab.thread",
            brief = "runs a function on a thread of its own",
            arguments = {
                { "f", "function", "a Lua function; its only variables from outside are `lab` and Lua's own globals" },
                { "...", "any", "its arguments" },
            },
            returns = { { "thread", "the thread, which has begun" } },
            errors = {
                { "SL_EINVAL", "`f` is a function of C, or uses a local variable from outside; an argument cannot be handed over" },
                { "SL_ESTATE", "the system starts no thread" },
                { "SL_EUNSUPPORTED", "a page has no threads" },
            },
            about = [[
A table is handed over as a copy: what the thread puts into it is lost to the script, so return what you want back.

The thread's globals are its own: reading one that only the script has is an error, also where it is a function; define that inside of `f`, or in a module that `f` requires. Setting one
that is neither a function nor nil gives a notice, since the script will not see it. In a thread `lab.open`, `lab.check`, `os.exit`, `debug.sethook` and `lab.kernel{ cpu = }` are refused. A thread that is not joined is joined at the end of
the program, which then reports its error; `local th <close> = lab.thread(f)` joins it at the end of the block. Ctrl-C stops all threads, also those that catch its error and go on.]],
            example = [[
local th = lab.thread(function()
    local s = lab.stream()
    for _ = 1, 3 do lab.spin(0.1, { stream = s }) end
    return s
end)
th:join():synchronize()]],
            see = { "thread:join" },
        },
        {
            name = "thread:join",
            brief = "waits until the thread has ended",
            returns = { { "any", "what the function has returned" } },
            blocks = "until the function has returned",
            errors = { { "SL_ESTATE", "it has been joined; all threads wait for each other" }, { "SL_EINVAL", "a result cannot be handed over" } },
            about = [[If the function has failed, raises its error, which names the line in the thread.]],
            example = [[
local th = lab.thread(function(a, b) return a + b end, 1, 2)
print(th:join())  --> 3]],
        },
        {
            name = "thread:done",
            brief = "asks whether the thread has ended",
            returns = { { "boolean", "true if the function has returned, or failed" } },
            about = [[Takes the host as long as `event:query`.]],
            example = [[
local th = lab.thread(function() lab.host_work(1) end)
print(th:done())  --> false
lab.host_work(2)
print(th:done())  --> true]],
        },
        { name = "thread.traceback", type = "string", brief = "where it failed, once a join has raised its error; else `nil`" },
        { name = "thread.number", type = "integer", brief = "1, 2, ... in the order in which the threads of a machine were started" },
    },
}
