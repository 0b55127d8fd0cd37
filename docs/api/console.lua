return {
    title = "The console",
    order = 90,
    about = [[
What there is at the prompt besides Lua: lines that begin with a dot, which no Lua does, and three functions. A script has none of them. `?x` is short for `.help x`.

A file name may have spaces and may stand in quotes; `~/` is the home folder.

**What is shown.** `_` is the last value. In a shown table that holds another one twice, or itself, `<same as _.a>` names the place where it stood first, in terms of that `_`.
A tensor is shown with a corner of its values. While operations that use its memory are in flight, their number is shown instead, as in `tensor 4x4 float32 on cuda, 64 bytes
(2 operations in flight)`, and nothing waits for them: `lab.synchronize()` does. On a real GPU the values of device memory are copied, in the current stream; on the simulator
showing them costs no simulated time. While a recording runs (`.trace`, `lab.record`, `--trace`) no values are read, for a real GPU's copies would be in it.]],
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
One that is open already becomes current as it stands, with all that lives on it; else it is opened. Tensors and streams stay on the device that they were made on.
A simulated one whose virtual time has come to its end, after 46 days, cannot go on: a new one of that profile is opened.
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
It never waits, since that would be another experiment: it is the host's time, and where work is still on its way it says how many operations. `time(f)` waits.]],
            example = ".timer on",
            see = { "time" },
        },
        {
            name = ".trace",
            brief = "records what follows, and saves it as a trace",
            arguments = {
                { "FILE|off", "string", "a file that ends in .json, .json.gz, .svg or .html: begins to record for it; "
                    .. "`off`: stops and saves it", default = "whether it records" },
            },
            about = [[
The current GPU is recorded. `.trace off` waits for it, as `tl:stop()` does. What is still recorded when the REPL ends is saved then. `_` is the timeline afterwards.]],
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
                { "FILE", "string", "a script, or a trace that ends in .json or .json.gz" },
            },
            about = [[
A script runs with the globals of the console, so that what it leaves in globals is there afterwards; its locals are not. A trace becomes `_` and is shown.]],
            example = ".load scripts/puzzler.lua",
            see = { "lab.load" },
        },
        {
            name = ".save",
            brief = "saves the session as a script, or the last timeline",
            arguments = {
                { "FILE", "string", "one that ends in .lua gets the session; in .json, .json.gz, .svg or .html the timeline" },
            },
            about = [[
The script has the entries that ran without error, in their order; those that printed a value print it. Calls of `help` and `who` are left out. What `.device`, `.load`
and `.trace` did is done again: the script records and saves where the session did, and what is still recorded at its end it saves then, as the REPL does. It does not take
the place of a file that `.save` has not written.
The timeline is `_`, or else the latest one that was shown, or else the only one in a global.]],
            example = ".save overlap.lua",
            see = { "timeline:save" },
        },
        {
            name = ".quit",
            brief = "leaves, as Ctrl-D does",
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
            about = [[Tensors come with their bytes, and each with the variables that hold it. Garbage is collected first, so that nothing is listed which only waits for that.]],
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
It waits for earlier work first, so that only `f` counts. It tells the time until `f` returned, the time until all work was done, and on the simulator, whose times are
simulated ones, for how long the GPU worked.]],
            example = "time(function() lab.spin(2) end)",
            see = { "lab.measure", ".timer" },
        },
    },
}
