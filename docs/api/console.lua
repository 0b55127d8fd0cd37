return {
    title = "The console",
    order = 90,
    about = [[
At the prompt you have, besides Lua, commands that begin with a dot (no Lua line begins so) and four functions. Scripts do not have them. `?x` is short for `.help x`, and a line that begins with `!` is
run by a shell: `!ls`.

A file name may have spaces and may stand in quotes; `~/` is the home folder.

**What is shown.** `_` is the last value, and `Out[n]` the first value of entry n, which the prompt `lab[n]>` has read. Tables and timelines stay there; a tensor, stream or event that no variable
holds is freed as without it. `Out = nil` forgets all of them. A script that `.save` writes has no `Out`. If a table contains another table twice, or itself, `<same as _.a>` says where the same table was shown before.
A tensor is shown with a corner of its values. While operations that use its memory are in flight (issued, but not done), their number is shown instead, as in `tensor 4x4 float32 on cuda, 64 bytes
(2 operations in flight)`; the prompt does not wait for them, `lab.synchronize()` does. On a real GPU the values are copied, in the current stream; on the simulator
showing them takes no simulated time. During a recording (`.trace`, `lab.record`, `--trace`) no values are read, since a real GPU's copies would be in it.]],
    entries = {
        {
            name = ".help",
            brief = "lists the commands, or describes something",
            arguments = {
                { "WORD", "string", "a function, a method, a field, a command, or a word to search for", default = "the list" },
            },
            about = [[`.help matmul` and `?matmul` say the same.]],
            example = ".help matmul",
            see = { "help" },
        },
        {
            name = ".device",
            brief = "describes the current GPU, or changes to another one",
            arguments = {
                { "NAME", "string", "`cuda`, `cuda:1`, `sim`, a profile as `t4`, or a file of one", default = "the current GPU" },
            },
            about = [[
If the GPU is open already, it becomes current again, with its tensors and streams; else it is opened. Tensors and streams stay on the device that they were made on.
The clock of a simulated GPU ends after 46 days of virtual time; then a new GPU of that profile is opened.
`lab.devices()` lists what can be opened.]],
            example = ".device t4",
            see = { "lab.open", "lab.devices", "device:make_current" },
        },
        {
            name = ".streams",
            brief = "lists the streams and whether they have work",
            about = [[A star marks the current stream.]],
            example = ".streams",
            see = { "who", "lab.stream" },
        },
        {
            name = ".timer",
            brief = "shows after each entry how long it took",
            arguments = { { "on|off", "\"on\"|\"off\"", "whether to" } },
            about = [[
It shows the host's time, and how many operations are still in flight. It never waits for them, since a wait would change the experiment. `time(f)` waits.]],
            example = ".timer on",
            see = { "time" },
        },
        {
            name = ".trace",
            brief = "records what follows, and saves it as a trace",
            arguments = {
                { "FILE|off", "string", "a file that ends in .json, .json.gz, .svg, .html, .et or .goal: begins to record for it; "
                    .. "`off`: stops and saves it", default = "whether it records" },
            },
            about = [[
It records the current GPU. `.trace off` waits for the GPU, as `tl:stop()` does; afterwards `_` is the timeline. A recording that still runs when the REPL ends is saved then.]],
            example = ".trace first.json",
            see = { "lab.record", "timeline:save" },
        },
        {
            name = ".races",
            brief = "lists what the race checker has found",
            about = [[What `lab.races` gives, as reports. `lab.check("warn")` turns the checker on.]],
            example = ".races",
            see = { "lab.races", "lab.check" },
        },
        {
            name = ".load",
            brief = "runs a script here, or reads a trace",
            arguments = {
                { "FILE", "string", "a script, or a trace that ends in .json, .json.gz or .sqlite" },
            },
            about = [[
A script runs with the global variables of the prompt, and can set them; its local variables are gone afterwards. A trace becomes `_` and is shown.]],
            example = ".load scripts/puzzler.lua",
            see = { "lab.load" },
        },
        {
            name = ".save",
            brief = "saves the session as a script, or the last timeline",
            arguments = {
                { "FILE", "string", "one that ends in .lua gets the session; in .json, .json.gz, .svg, .html, .et or .goal the timeline" },
            },
            about = [[
The script has the entries that ran without error, in their order; those that printed a value print it. Calls of `help` and `who` are left out. The script also does what `.device`, `.load`
and `.trace` did: it records and saves at the same places, and saves a recording that still runs at its end. `.save` overwrites only scripts that `.save` has written.
The timeline that is saved is `_`, or else the latest one that was shown, or else the only one in a global variable.]],
            example = ".save overlap.lua",
            see = { "timeline:save" },
        },
        {
            name = ".quit",
            brief = "ends the program, as Ctrl-D does",
            example = ".quit",
        },
        {
            name = "help",
            brief = "says what something is and how it is used",
            arguments = {
                { "what", "any", "a function, an object, a name, or a word to search for", default = "an overview" },
            },
            about = [[`?x` is short for it, and needs no quotes.]],
            example = "help(lab.matmul)",
            see = { ".help" },
        },
        {
            name = "who",
            brief = "lists the streams, events and tensors that are alive",
            about = [[Each is listed with the variables that hold it, tensors also with their bytes. Garbage is collected first, so that the list has no objects that nothing refers to.]],
            example = "who()",
            see = { ".streams", "lab.live" },
        },
        {
            name = "time",
            brief = "runs a function and says how long it took",
            arguments = {
                { "f", "function", "what to run" },
                { "...", "any", "its arguments" },
            },
            returns = { { "any", "what f returned" } },
            blocks = "until the device has done all its work",
            about = [[
It waits for earlier work first, so that only `f` counts. It prints the time until `f` returned and the time until all work was done; on the simulator (in simulated time) also
how long the GPU worked.]],
            example = "time(function() lab.spin(2) end)",
            see = { "timeit", "lab.measure", ".timer" },
        },
        {
            name = "timeit",
            brief = "runs a function many times and says how long a run takes",
            arguments = { { "f", "function", "what to run" } },
            options = {
                { "reps", "integer", "how often it is measured", default = "as often as takes 0.2 s, from 5 to 1000 times" },
                { "warmup", "integer", "how often it runs before that", default = "as of lab.measure" },
                { "hold", "stream[]|boolean", "as for `lab.measure`", default = "none" },
            },
            blocks = "until the device has done all its work",
            about = [[It prints the median, the shortest and the longest time of what `lab.measure` gives, as Python's `%timeit` does.]],
            example = "timeit(function() lab.spin(0.1) end)",
            see = { "lab.measure", "time" },
        },
    },
}
