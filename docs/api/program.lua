return {
    title = "The program",
    order = 110,
    about = [[
`streamlab` is a Lua 5.4 interpreter with the laboratory in the global `lab`. With a script it runs the script; without one it is a prompt (the REPL). `streamlab
--help` lists the options; this page says more about them.]],
    entries = {},
    more = [[
## Running scripts

Options go before the script; what follows the script's name are its own arguments: the table `arg` and `...`, as in `lua5.4`. The order is also that
of `lua5.4`: `LUA_INIT`, then `-e` and `-l` in the order given, then the script, and with `-i` the lines that you type. The first error ends the run. Without a
script, and if stdin is not a terminal, all of stdin is run as a script; `-` as the script's name does the same.

`--backend`, `--profile` and `--device` choose the device of a script that does not open one itself; without them it is that of `STREAMLAB_BACKEND`, else a real GPU if
one answers, else the simulator. If the device of these options cannot be opened, this is wrong usage, reported before the script runs. `--seed` is the seed of random
tensors without a seed of their own; the default is 0.

A script that is named as a subcommand (`lab`, `probe`, `calibrate`, `compare`, `show`, `diff`, `help`) runs as `./show`, or after `--`. Options that name a device may come before a subcommand; after
`-e`, `-i`, `-l`, `--trace` and `--check`, which are for scripts, such a name is a script's.

## Recording a run

`--trace FILE` records the whole run and saves it, also after an error, after Ctrl-C and after `os.exit`. The end of the file's name decides the format: `.json` and `.json.gz`
are traces for `streamlab show`, Perfetto and other tools, `.svg` is a picture, `.html` a page for the browser. The second device that the script opens goes to `x.2.json`
and so on; a script that opens no device has an empty timeline, and one that fails before it opens a device leaves no file, and an old one as it was. Whether the file can
be written is tried before the script runs. An operation that had not completed when the device failed, or when Ctrl-C ended the run, is left out.

## Files that are written

What the program and its subcommands write, and `timeline:save`, `results:csv`, `results:jsonl` and `results:plot`, is written whole or not at all. It goes to a file `streamlab-PID-N.tmp` in the same
folder, is flushed to disk there, and renamed at the end. So a full disk, Ctrl-C or the end of the program leaves an old file as it was. It keeps its mode, and its owner where that is allowed; a
symbolic link stays and leads to the new text; a pipe or a device is written to directly, and so is the file that stdout goes to (`/dev/stdout`). SIGTERM and SIGHUP remove the unfinished file; after SIGKILL the next program that writes to that folder
removes it. The folder must allow new files.

## Looking for races

`--check`, or `--check=warn`, is `lab.check("warn")` before the script begins: each race is reported on stderr, and one line at the end says how many there were. The exit
status is that of the script. `--check=error` is `lab.check("error")`: the call that would race raises, and the exit status is 1 unless the script catches that. The mode is
never the next word: `--check error` is refused, and a script of that name runs as `./error`. In the REPL both work as well. What a race is: [Races](races.md).

## The REPL

You get the REPL without a script on a terminal, or with `-i`. The prompt `lab[1]> ` has the entry's number; positions in errors and timelines are `lab[1]:1`. An entry that is not
complete continues on the next line, after `...> `. The globals `_PROMPT` and `_PROMPT2` replace the two.

- An **expression** prints its value: tables with their keys in order, tensors as shape, dtype, place and a corner of values, streams and events as a line of state,
  timelines as their chart. `_` is the last value. A `;` at the end hides it: `lab.rand(4096, 4096);`.
- A line may be **statements and then an expression**, as in `x = 5; x * 2`: its value is shown.
- **Local variables** end with their entry; write `x = 1` and not `local x = 1`.
- **Help**: `help()`, `help(x)` and `?x` describe a function, a method, a field or a value; any other word is searched for, and names of CUDA and PyTorch are known:
  `?cudaMemcpyAsync`.
- **Commands** begin with a dot (no Lua line begins so): `.help .device .streams .timer .trace .races .load .save .quit`.
- `who()` lists live streams, events and tensors with their bytes; `time(f)` says how long `f()` took.

When stdin is no terminal (`streamlab -i < lines`) there is no prompt, no banner and no editing; entries and what they print are the same.

### Keys

| key | |
|---|---|
| Left, Right, Ctrl-Left, Ctrl-Right (or Alt-) | by a character, by a word |
| Home, End, Ctrl-A, Ctrl-E | the beginning and the end of the line |
| Up, Down | the line above or below within an entry, then earlier and later entries |
| Ctrl-P, Ctrl-N | earlier and later entries |
| Ctrl-R | searches earlier entries for what is typed then; again for an earlier one. Enter runs what was found, Escape leaves it to be changed, Ctrl-G brings the line back |
| Tab | completes names, fields, methods and options, and within a string names of files; indents at the beginning of a line |
| Delete, Ctrl-D within a line | removes the character under the cursor |
| Ctrl-W, Ctrl-K, Ctrl-U | cuts the word before the cursor, the rest, the whole; Ctrl-Y puts it back |
| Ctrl-L | clears the screen |
| Ctrl-C | deletes what has been typed |
| Ctrl-D on an empty line | ends the program, as `exit`, `quit` and `.quit` do; within an unfinished entry it deletes the entry |

These are libedit's keys, and `~/.editrc` can change them.

A pasted block is one entry, which can still be changed before Enter runs it; if its last lines are an expression, its value is shown. Completion never runs code of the user's. A build without libedit reads lines as the
terminal gives them.

### History

Entries are kept in the file `STREAMLAB_HISTORY`; without that in `$XDG_STATE_HOME/streamlab/history`, else `~/.local/state/streamlab/history`. It can be read by its
owner only, and an entry of several lines comes back whole. `STREAMLAB_HISTORY=` with an empty value keeps none.

### The start file

On a terminal the REPL first runs a file of Lua: `STREAMLAB_RC`; without that `$XDG_CONFIG_HOME/streamlab/rc.lua`, else `~/.config/streamlab/rc.lua`, else
`~/.streamlabrc`. Its global variables exist at the prompt. An error in it is reported, and the REPL starts anyway. The program does not run it for scripts, for input that is not a terminal, with
`--norc` or `-E`, or if `STREAMLAB_RC` is empty.

## Errors and Ctrl-C

An error in a script ends it; at the prompt the next entry can be typed. It is printed on stderr: the message, which begins with the position, the line of the source with marks
below the place, the script's own frames where there is more than one, and a hint where one is known:

```text
streamlab: lab.lua:2: attempt to call a nil value (field 'strem')
 2 |     return lab.strem{name = "copies"}
   |                ^~~~~
hint: did you mean lab.stream?
stack traceback:
	lab.lua:2: in local 'copies'
	lab.lua:4: in main chunk
```

With `STREAMLAB_DEBUG=1` it is the message and all frames, those of the laboratory and of C too.

Ctrl-C stops what runs, with the error `interrupted!`: a script ends with status 130, at the prompt the next entry can be typed, and the device works as before. At the
prompt itself it drops what has been typed. A second Ctrl-C within two seconds ends the program with status 130 and without a trace. What is stopped, and what is as it was
afterwards, is in [Conventions and errors](conventions.md#ctrl-c).

## Colour

`--color always` and `--color never` decide. With `auto`, the default: none if `NO_COLOR` is set and not empty; else what `CLICOLOR_FORCE` says if that is set, `0`
being never; else colour on a terminal whose `TERM` is not `dumb`. The same holds for charts, errors and the prompt.

## streamlab lab

Course labs, with tests that grade programs for streams: values, overlap, makespans, waits of the host, races. A lab is a folder with `lab.lua`, `README.md`, `starter.lua`, `tests/visible.lua`, and for those
who grade `tests/hidden.lua` and `solution.lua`; a submission is one Lua file that defines the functions that `lab.lua` names. [Teaching with labs](../teaching.md) is for teachers, [the guide's
chapter 15](../guide/15-labs.md) for students. Assertions are those of [`lab.tap`](tap.md).

`lab check` is the student's: it runs the visible tests and prints them as TAP, with what was seen and asked, the line to look at, the chart, the hint, and what the program printed. In a lab's folder it needs no
arguments; a file that is named alone is checked by the lab in its folder. With `-v`, of `grade` too, it also says what was seen by assertions that passed: the figures for a threshold.

`lab grade` runs all tests of a submission, or of a class: a folder with files `NAME.lua` (or `.LUA`), or with folders `NAME` that have one `.lua` file each, there
or in folders below. Hidden files and `__MACOSX` are left out, what else is no submission is named on stderr, and a folder with no `.lua` file or with two gets 0 points and a remark. It prints a line a student, and
writes with `-o` what the file's name ends in says: `.json` is Gradescope's `results.json`, `.tap` is TAP, `.xml` JUnit, `.csv` a table with a line a student, whose last column, `remark`, says why somebody has no
points. For a class as `.json` it takes a folder, which is made: each student's file is written when this student is graded. One submission with `--format` and without `-o` is printed so. The status does not
depend on the points; it is 1 for a path that is not there, a test that could not be run, and results that could not be written, which stderr names and which concern no other student.

`lab new` writes a small complete lab. `lab pack` tests a lab (the solution must have all points, the starter at most 20 %, each of `wrong/*.lua` must fail exactly the tests that its first line names, as in
`-- fails: 1.2 2.1`), then writes `ID-student.zip` (with `lua-primer.md` if that lies beside the lab's folder) and `ID-gradescope.zip`. It refuses a symbolic link that leads out of the lab's folder.

The GPU is the simulated one that `lab.lua` names, whatever `STREAMLAB_BACKEND` and `STREAMLAB_PROFILE` say, so that a submission has the same points everywhere; `--profile` is refused, and `--backend cuda` asks for
the real one. Each test runs in a process of its own without files, network and other programs, with 5 s of the processor, 20 s in all, 512 MiB and 64 KiB of output, unless `lab.lua` says otherwise.

```sh
streamlab lab new my-lab
streamlab lab check my-lab my-lab/solution.lua
streamlab lab grade my-lab submissions -o class.csv
streamlab lab pack my-lab
streamlab --backend cuda lab grade my-lab my-lab/solution.lua
```

## streamlab probe

Calls each function of `lab.cuda`, and others that may wait, between two kernels of 10 ms in two streams; on blocking streams and on those that are exempt from the NULL stream's
rules. The table has for each call and size how long it took, whether the host waited for the kernel, and whether the kernels ran together. A call is also made without a
kernel: one that takes 16 ms by itself does not wait, and gets longer kernels. Calls that are given a stream get the first one, which has a kernel; `cudaStreamWaitEvent` gets the second.

Below is what documents say of the call, and whether it holds here: by the *old list* of implicit synchronisations of NVIDIA's guides up to CUDA 11, by the *old guide*'s list of
what is asynchronous with respect to the host, and by *CUDA*'s present documents. It takes less than a second on the simulator and some seconds on a GPU.

`--json` prints an array with an object for each measurement, in the order of the table: `call`; `memory`, of copies and memsets, else null; `bytes`, or null; `into`, the stream
that the call was given: `"NULL"`, `"first"`, `"second"` or null; `streams`: `"blocking"` or `"nonblocking"`; `host_us`, `total_us`, `host_blocked`, `serialised`, as of `lab.probes`.
`lab.probes` and `lab.claims` are the same for scripts.

`--save FILE.lua` also writes a profile, with which the simulator answers as the GPU did: what each call costs the host, whether it waits, and whether it serialises. All else
comes from `--base`. A last run on the simulator compares; what a profile cannot express is listed on stderr, row by row.

```sh
streamlab probe
streamlab probe --profile t4
streamlab probe --backend cuda --save my_gpu.lua --json -o my_gpu.json
streamlab probe --profile my_gpu.lua
```

## streamlab calibrate

Measures the GPU that a script would get, and writes a profile of all that it finds: `streamlab --profile FILE.lua` then takes as long on the simulator as that GPU took. It takes
minutes on a real GPU, which should have nothing else to do. The simulated GPU can be measured as well: that finds its own profile again.

It measures part by part, and says so on stderr unless `--quiet` is given; `--only` chooses among the parts, by their names with commas between them. What is not measured comes
from `--base`: without it the simulated GPU's own profile, on a real one that of an H200. Times of the device are those of a timeline, medians of many repetitions; times of the host are
those of calls through Lua while a timeline is recorded, as scripts have them: launches, products, copies and events in a sequence of all sorts, other calls in loops.

A machine that others use is slow for seconds at a time. So the parts that are sensitive to it run again and again over the whole calibration, on a real GPU 7 times, those of the host 15 times, and once on a
simulated one, or `--passes N` times; each value is the median over its passes. A virtual machine's processor may be slower for minutes, and all times of the host with it: the file's
head has `host.reference_ms`, what a fixed loop of Lua took between the passes.

In the file each value says how it was found and how much its repetitions differ, or from which profile it is. After the values come other findings, for which a
profile has no field. The file is written when the simulator has accepted it. Until then, after each part, what is measured goes to `FILE.lua.partial`, which stays after Ctrl-C, and after a part that
failed (the others go on, and the exit status is 1); it is a profile as well, once its name ends in `.lua`.

`--difference A.lua B.lua` measures nothing: it sets two profiles side by side, the figures that are furthest apart first, and says how many are within 3 %
of each section, within 3 and within 10 % of the device's, of the host's, and of all; and what `host.reference_ms` was in both. Times below 3 us count as near within 0.1 us, since the clock ticks. Figures that neither file has measured are left out.

```sh
streamlab calibrate --backend cuda -o my_gpu.lua
streamlab --profile my_gpu.lua script.lua
streamlab calibrate --backend cuda --only latencies,host --base my_gpu.lua -o again.lua
streamlab calibrate --difference my_gpu.lua again.lua
```

## streamlab compare

Runs scripts on the GPU and on the simulator, both recorded, and sets them side by side: how far are the simulator's makespans, overlaps and orders from the GPU's? Each `SCRIPT` is a file, or in one word a
file and its arguments: `"scripts/puzzler.lua --variant pinned"`. What is compared are the timelines that it records with `lab.profile` or `lab.record`, its *parts*; if it records none, the whole run. A script's makespan is the sum of
its parts'. On the GPU it runs once to warm up and then `--runs` times, of which the median counts; on the simulator, which is opened again for each script, once. With `--rounds` all scripts run once before any runs again, so that a minute in which the machine is slow falls on one run of each.

Scripts run in one process, each with globals of its own. What they print is not shown, `os.exit` ends the script only, `lab.open` is refused, and `math.random` gives the same numbers in each run. An error is reported with the script's name, and the
others go on; the status is then 1.

With `-v`, and of a single script, it prints for each part, three at most and the furthest off first: how many neighbours start in another order, which pairs overlap on both sides, both charts on one scale, and what
[`timeline:diff`](timelines.md#timeline-diff) and [`timeline:explain`](timelines.md#timeline-explain) say. Of several scripts it ends with a summary: the makespans' errors, |simulated / measured - 1|, by kind of script and of all; how far the GPU's own runs spread,
(longest - shortest) / median, and how many simulated makespans lie within, from the shortest to the longest; the pairs; the ten that are furthest off. Kinds go by the file: `random` (`random.lua`, or any with `--seeds`), `puzzler` (`puzzler.lua`), `experiments` (in a folder of that name), `others`.

*Pairs.* A lane is the operations of one kind in one stream; streams and operations of the two sides are matched by the order of issue. How long a pair of lanes overlaps is a share of the part's makespan, in each run of that run's own. It
counts if that is more than 5 % on the simulator, or as the median of the GPU's runs, and is the same on both if more than 1 % on the simulator says the same as more than 1 % as that median. A GPU is not deterministic: engines that find several
commands ready take them in an order of their own, and the same pair may overlap in one run and not in the next. It is *steady* if all of the GPU's runs say the same of 1 %; what is not steady no simulator can predict. Likewise pairs of operations; those
that have no partner in one of the runs are left out. `all steady in` says in how many scripts all steady pairs are the same, of those that have any.

`--against PROFILE` takes a second simulated GPU in the GPU's place. `--measured FILE` takes what an earlier `--jsonl FILE` has measured: no GPU is needed, the simulator runs again, and the figures of pairs are those of the file. Which scripts they are is
then in the file as well, unless some are named.

`--jsonl FILE` writes, and `--json` prints, a line a script: `script`, the word as it was given; `seed`, that of `--seeds`, or null; `gpu_us`, `gpu_min_us`, `gpu_max_us`, `sim_us`; `lane_pairs`, `lane_pairs_same`, `lane_pairs_steady`, `lane_pairs_steady_same`, and the same four as `op_pairs`. `--svg FILE` is a picture of
all scripts: predicted makespans against measured ones, and below it the ratio of the two beside how far the GPU's own runs lie from their median. `--dump FOLDER` writes a text file for each script, with the operations of both sides, of the GPU those of the median run: a line `# part 1 sim makespan_us ... runs_us ...`, then a line an operation, with tabs between the fields
that its second line names.

```sh
streamlab compare scripts/puzzler.lua
streamlab compare --jsonl h200.jsonl --svg h200.svg scripts/experiments/*.lua
streamlab compare --measured h200.jsonl --profile my_h200.lua
streamlab compare --against sim:a100 --profile h200 "scripts/puzzler.lua --n 256"
```

## streamlab show

Prints what is in a trace: a line on what it is, the chart, the summary and the explanation. The file is a `.json` or `.json.gz` of streamlab, of PyTorch's profiler or
of others that write such; `-` is stdin. No GPU is opened. What is left out of the file is listed on stderr.

Times of `--from` and `--to` count from the first operation: `12ms`, `3.5us`, `2s`, `100ns`; a bare number is in us. `--columns` is from 20 to 4096. With `-o` the file
is written instead of printing, and may be given several times; with `--chart`, `--summary` or `--explain` both are done. The keys of `--json` are those of
`timeline:json`.

```sh
streamlab --trace run.json first.lua
streamlab show run.json
streamlab show --chart --rows engines --from 2ms --to 4ms run.json
streamlab show -o run.svg -o run.html run.json
```

## streamlab diff

Sets two traces side by side: both charts on one scale of time, makespan and lower bound, busy times and overlaps by kind, the makespan's parts; then what moved, in
words, and what there is to gain in each. `--from`, `--to`, `--rows` and `--columns` are as for `show`; one of the two files may be `-`.

`--json` prints one object: `"a"` and `"b"`, each as of `show --json`, and `"change"`, what b has more than a: `makespan_us`, `wall_us`, `lower_bound_us`, `busy_us`,
`overlap_us`.

## streamlab help

`streamlab help NAME` prints what `help("NAME")` says in the REPL: about a function, a method or a page, about a function of CUDA or PyTorch, or where words are found.
Without a name it lists everything.

```sh
streamlab help stream:wait_event
streamlab help cudaMemcpyAsync
```

## Editors

`make docs` writes `build/share/streamlab.d.lua`, from which the Lua language server (LuaLS) knows all functions, their arguments and their options. A script's folder
needs a file `.luarc.json` that says where it lies; [docs/luarc.json](../luarc.json) is one to begin with.

## Environment variables

| | |
|---|---|
| `STREAMLAB_BACKEND` | `cuda` or `sim`, where neither `lab.open` nor `--backend` says |
| `STREAMLAB_PROFILE` | the profile of a simulated GPU where none is given; unlike `--profile` it does not ask for a simulated one |
| `STREAMLAB_CUDA_PLUGIN` | the file of the CUDA backend; empty or `none`: do without |
| `STREAMLAB_CUDA_LIB` | folders, with colons between them, in which `libcublasLt`, `libcublas` and `libcupti` are looked for first |
| `STREAMLAB_CUPTI` | `0`: timelines of real GPUs have their times from events |
| `STREAMLAB_BLAS` | the library with which the simulator multiplies matrices, a file or a name for the loader, or `none` |
| `STREAMLAB_HISTORY`, `STREAMLAB_RC` | files of the REPL, see there |
| `STREAMLAB_DEBUG` | `1`: errors are printed with all frames |
| `COLUMNS`, `NO_COLOR`, `CLICOLOR_FORCE`, `TERM`, `LC_ALL`, `LC_CTYPE`, `LANG` | how wide charts are, whether there are colours and which characters |
| `XDG_STATE_HOME`, `XDG_CONFIG_HOME`, `HOME` | where the history and the start file are |
| `LUA_INIT`, `LUA_PATH`, `LUA_CPATH`, each also with `_5_4` | as in `lua5.4` |

CUDA's own work as in any program: `CUDA_VISIBLE_DEVICES` says which GPUs there are, `CUDA_DEVICE_MAX_CONNECTIONS` how many channels, and with `CUDA_LAUNCH_BLOCKING=1`
every launch waits for its kernel. `-E` ignores `STREAMLAB_BACKEND`, `STREAMLAB_PROFILE`, the REPL's start file and the variables of Lua.

## Files

| | |
|---|---|
| `streamlab_cuda.so` | the CUDA backend, beside the program or in `../lib/streamlab` from there |
| `$XDG_STATE_HOME/streamlab/history`, `~/.local/state/streamlab/history` | the REPL's history |
| `$XDG_CONFIG_HOME/streamlab/rc.lua`, `~/.config/streamlab/rc.lua`, `~/.streamlabrc` | the REPL's start file, the first that is there |

## Exit status

| | |
|---|---|
| 0 | success; the REPL, whatever went wrong in its entries |
| 1 | an error in a script; a real GPU that failed after the script's last call (one line on stderr says so); a trace or stdout that could not be written; of `calibrate` a part that failed; of `compare` a script that failed; of `calibrate`, `compare`, `show`, `diff` and `lab` a file that cannot be read or written; of `help` a name that nothing is known about; of `lab check` a test that failed, of `lab grade` one that could not be run |
| 2 | wrong usage; also a device that the options name and that cannot be opened, and a trace file that cannot be written |
| 130 | ended by Ctrl-C |

A script's `os.exit(n)` gives `n`.]],
}
