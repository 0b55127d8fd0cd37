return {
    title = "The program",
    order = 110,
    about = [[
`streamlab` is a Lua 5.4 interpreter with the laboratory in the global `lab`. With a script it runs the script; without one it is a prompt (the REPL). `streamlab
--help` lists the options, and `streamlab show --help` those of `show`; this page says more about them.]],
    entries = {},
    more = [[
## Running scripts

Options go before the script; what follows the script's name are its own arguments: the table `arg` and `...`, as in `lua5.4`. The order is also that
of `lua5.4`: `LUA_INIT`, then `-e` and `-l` in the order given, then the script, and with `-i` the lines that you type. The first error ends the run. Without a
script, and if stdin is not a terminal, all of stdin is run as a script; `-` as the script's name does the same.

`--backend`, `--profile`, `--host` and `--device` choose the device of a script that does not open one itself; without them it is that of `STREAMLAB_BACKEND`, else a real GPU if
one answers, else the simulator. Scripts open the GPUs of `--devices` as `lab.open{ index = 1 }` or name them as `"cuda:1"`; without it a machine has those that a script opens. If the device of these options cannot be opened, this is wrong usage, reported before the script runs. `--seed`, 0 without it, counts for
tensors without a seed of their own. `--tune` is `lab.open{ tune = true }` for each real GPU that is opened.

A script that is named as a subcommand runs as `./show`, or after `--`. Options that name a device may come before a subcommand; after
`-e`, `-i`, `-l`, `--trace`, `--check` and `--spread`, which are for scripts, such a name is a script's.

## Recording a run

`--trace` saves also after an error, after Ctrl-C and after `os.exit`. The end of the file's name decides the format: `.json` and `.json.gz`
are traces for `streamlab show`, Perfetto and other tools, `.svg` is a picture, `.html` a page for the browser, `.et` and `.goal` are for simulators of larger machines. All GPUs of a machine are in one file (of `.et`, in one for each). A second simulated machine that the script opens goes to `x.2.json`
and so on; a script that opens no device has an empty timeline, and one that fails before it opens a device leaves no file, and an old one as it was. Whether the file can
be written is tried before the script runs. An operation that had not completed when the device failed, or when Ctrl-C ended the run, is left out.

## A range instead of one figure

`--spread N` runs the script N + 1 times without output before it runs as usual: once as it is, and N times with figures
drawn from what the profile says about their uncertainty. What the script records with `lab.profile` and `lab.record`
then has a range (`timeline.range_us`), the k-th recording that of the k-th recordings of all draws, and so has the
recording of `--trace`. The last run alone writes files and starts commands (see
[streamlab predict](#streamlab-predict)). All runs get the same numbers from `math.random`. The draws depend only on the profile and on N.
On a real GPU the range is that of N more runs. If a draw fails, a line on stderr says why, and the script runs without
ranges. [`streamlab predict`](#streamlab-predict) prints ranges alone, and on which figures they depend.

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
| Up, Down | the line above or below within an entry, then earlier and later entries that begin as what is typed before the cursor |
| Ctrl-P, Ctrl-N | the same without moving within an entry |
| Ctrl-R | searches earlier entries for what is typed then; again for an earlier one. Enter runs what was found, Escape leaves it to be changed, Ctrl-G brings the line back |
| Tab | completes names, fields, methods and options, and within a string names of files; indents at the beginning of a line |
| Delete, Ctrl-D within a line | removes the character under the cursor |
| Ctrl-W, Alt-D, Ctrl-K, Ctrl-U | cuts the word before the cursor, the one behind it, the rest, the whole; Ctrl-Y puts it back |
| Ctrl-T | exchanges two characters |
| Ctrl-_ | takes back the latest change, again the one before it |
| Ctrl-L | clears the screen |
| Ctrl-C | deletes what has been typed |
| Ctrl-D on an empty line | ends the program, as `exit`, `quit` and `.quit` do; within an unfinished entry it deletes the entry |

While you type, words of Lua have colours, the bracket that belongs to the one at the cursor is marked, one that belongs to none is red, and below the line stands what the function takes
whose call the cursor is in. Further lines of an entry are indented; `end` and closing brackets move back. Without colours (`NO_COLOR`) only the first is missing; a plain terminal (`TERM=dumb`)
gets no escape sequences, and moves a long line sideways.

A pasted block is one entry, which can still be changed before Enter runs it; if its last lines are an expression, its value is shown. Completion never runs code of the user's.

### History

Entries are kept in the file `STREAMLAB_HISTORY`; without that in `$XDG_STATE_HOME/streamlab/history`, else `~/.local/state/streamlab/history`. It can be read by its
owner only, and an entry of several lines comes back whole. `STREAMLAB_HISTORY=` with an empty value keeps none.

### The start file

On a terminal the REPL first runs a file of Lua: `STREAMLAB_RC`; without that `$XDG_CONFIG_HOME/streamlab/rc.lua`, else `~/.config/streamlab/rc.lua`, else
`~/.streamlabrc`. Its global variables exist at the prompt. An error in it is reported, and the REPL starts anyway. The program does not run it for scripts, for input that is not a terminal, with
`--norc` or `-E`, or if `STREAMLAB_RC` is empty.

## The server

`--server` is the REPL for notebooks and editors: it runs
entries, completes and explains, and sends values as text and pictures. `-e` and a script run before the first request. [Notebooks](../notebook.md) has the protocol, and the kernel for Jupyter.

`--display FILE` is for who runs a script and shows pictures beside its text: each timeline that the script shows, explains or summarises is written to FILE as a page, and each plot as an
SVG, as the event `display` of the same protocol, a line of JSON each. What is printed stays the same, and comes line by line. [The playground](../playground.md) is made with it.

## Errors and Ctrl-C

An error in a script ends it; at the prompt the next entry can be typed. It is printed on stderr: the message, which begins with the position, the line of the source with marks
below the place, the script's own frames where there is more than one, and a hint where one is known:

```text
streamlab: lab.lua:2: attempt to call a nil value (field 'strem')
 2 |     return lab.strem{ name = "copies" }
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

With `--color auto`: none if `NO_COLOR` is set and not empty; else what `CLICOLOR_FORCE` says if that is set, `0`
being never; else colour on a terminal whose `TERM` is not `dumb`. The same holds for charts, errors and the prompt.

## streamlab lab

A course lab has tests that grade programs for streams: values, overlap, makespans, waits of the host, races. A lab is a
folder with `lab.lua`, `README.md`, `starter.lua`, `tests/visible.lua`, and for graders also `tests/hidden.lua` and
`solution.lua`. A submission is one Lua file that defines the functions named in `lab.lua`. [Teaching with
labs](../teaching.md) is for teachers, [chapter 15 of the guide](../guide/15-labs.md) for students. The assertions are
those of [`lab.tap`](tap.md).

`lab check` is for students: it runs the visible tests and prints them as TAP, with what was seen and asked, the line to
look at, the chart, the hint, and what the program printed. In a lab's folder it needs no arguments; a file given
without a lab is checked by the lab in the file's folder. With `-v` (also of `grade`) it prints what passed assertions
saw, too: use these figures to choose thresholds.

`lab grade` runs all tests of a submission, or of a class: a folder with files `NAME.lua` (or `.LUA`), or with folders
`NAME` that have one `.lua` file each, there or in folders below. Hidden files and `__MACOSX` are left out; anything
else that is not a submission is named on stderr; a folder with no `.lua` file or with two gets 0 points and a remark.
Of a `.csv` the last column, `remark`, says why a student has no points. The exit status does not depend on the points; it is 1 for a path that does not exist, a test that could not be run, and results that
could not be written. Each is named on stderr, and the other students are graded as usual. In a
plan ([streamlab work](#streamlab-work)) a point is a submission.

`lab new` writes a small complete lab. `lab pack` first tests a lab: the solution and each variant in `right/` must have
all points, the starter at most 20 %, and each variant in `wrong/` must fail exactly the tests that its first line names,
as in `-- fails: 1.2 2.1`. A variant is a program, `NAME.lua`, or a change of the solution, `NAME.change`: below a line
`-- replace:` lines that the solution has in one place, where `...` stands for lines between two others, and below
`-- by:` those that take their place; [Teaching with labs](../teaching.md#right-and-wrong-variants) has an example. The
other subcommands take it as the program that it makes, which `lab print` prints and whose lines messages count.
Then `lab pack` writes `ID-student.zip` (with `lua-primer.md` if that is beside the lab's folder) and `ID-gradescope.zip`. It
refuses a symbolic link that leads out of the lab's folder.

The GPU is the simulated one that `lab.lua` names, whatever `STREAMLAB_BACKEND` and `STREAMLAB_PROFILE` say, so that a
submission has the same points everywhere. `--profile` is refused; `--backend cuda` uses the real GPU. Each test runs in
a process of its own, without files, network and other programs; its limits are 5 s of processor time, 20 s in total,
512 MiB and 64 KiB of output, unless `lab.lua` says otherwise.

```sh
streamlab lab new my-lab
streamlab lab check my-lab my-lab/solution.lua
streamlab lab grade my-lab submissions -o class.csv
streamlab lab pack my-lab
streamlab --backend cuda lab grade my-lab my-lab/solution.lua
```

## streamlab probe

This subcommand calls each function of `lab.cuda`, and others that may wait, between two kernels of 10 ms in two
streams; once with blocking streams and once with streams that are exempt from the NULL stream's rules. The table says
for each call and size how long it took, whether the host waited for the kernel, and whether the kernels ran together.
Each call is also made without a kernel: a call that takes 16 ms by itself does not wait, and gets longer kernels. A
call that takes a stream gets the first one, which has a kernel; `cudaStreamWaitEvent` gets the second.

Below the table is what documents say of the calls, and whether it holds here: the *old list* of implicit
synchronisations in NVIDIA's guides up to CUDA 11, the *old guide*'s list of what is asynchronous with respect to the
host, and *CUDA*'s present documents. The subcommand takes less than a second on the simulator and some seconds on a
GPU.

`--json` prints an array with an object for each measurement, in the order of the table: `call`; `memory`, for copies
and memsets, else null; `bytes`, or null; `into`, the stream that the call was given: `"NULL"`, `"first"`, `"second"` or
null; `streams`: `"blocking"` or `"nonblocking"`; `host_us`, `total_us`, `host_blocked`, `serialised`, as in
`lab.probes`. In scripts, use `lab.probes` and `lab.claims`.

The profile of `--save` has what each call costs the host, whether it waits, and whether it serialises. At the end the probes run on
the simulator with this profile and are compared; what a profile cannot express is listed on stderr, row by row.

`--capture` makes the calls while a stream is captured instead, in each mode and with both kinds of streams, and prints
which ones are errors, with CUDA's numbers, and whether they spoil the capture: a star stands behind such a number. With
`--json` the objects have the fields `call`, `of`, `mode`, `streams`, `number`, `error`, `spoils`, `end_number` and
`end_error` of `lab.capture_probes`, null for nil.

```sh
streamlab probe
streamlab probe --capture
streamlab probe --profile t4
streamlab probe --backend cuda --save my_gpu.lua --json -o my_gpu.json
streamlab probe --profile my_gpu.lua
```

## streamlab calibrate

This subcommand measures the GPU that a script would get, and writes a profile with the results. On the simulator,
`streamlab --profile FILE.lua` then takes as long as that GPU took. On a real GPU the measurement takes 90 seconds, and
nothing else should use the GPU meanwhile. A simulated GPU can be measured as well: that gives its own profile again.

It measures part by part, and reports progress on stderr. Times on the device come from a timeline, as medians of many
repetitions. Times on the host are those of calls through Lua while a timeline is recorded, as in scripts: launches,
products, copies and events in a sequence of all sorts, other calls in loops.

The program reads `calibrate`, `probe` and `compare --benchmark` from `scripts/measure` of its install or checkout when
they run; a copy of the program alone does without them, and says where it looked.

On a machine with two GPUs it also measures copies, events and collectives between them, these through NCCL. `streamlab
--devices 2 calibrate --backend sim` measures two simulated ones.

A machine that others use is slow for seconds at a time. So the parts that are sensitive to that run in several passes
over the whole calibration. Each value is the median over its passes. Each part runs once, and again while there is time: `--seconds N` is about how long all
takes, on whatever GPU, and the progress says how many passes were left out. A virtual machine's processor may be slower for minutes, and then all
times of the host are longer. So the head of the file has `host.reference_ms`: how long a fixed loop of Lua took between
the passes.

The file says for each value how it was found and how much its repetitions differ, or from which profile it comes. After
the values comes what they hide, such as the times of which one is the mean. The file is written once the simulator has accepted
it. Until then, the results are saved after each part in `FILE.lua.partial`. That file stays after Ctrl-C, and after a
part that failed (the other parts are measured, and the exit status is 1). It is a profile as well, if you rename it to
end in `.lua`.

`--host` takes `--seconds` and a little, and leaves the GPU's figures to the base. The same small programs run on the GPU again and again, and then on the simulator, whose figures
are scaled until these programs take the host as long. There are four factors of the base's figures: what calls cost;
rates of pageable uploads from the host's caches; rates of those that are in no cache; rates of pageable downloads. At
the end they are printed, with their 10th and 90th percentile over the rounds. `-o FILE.lua` gets a profile with
`base`, the figures that were scaled, and rows of `spread`; `--profile FILE.lua` predicts for this machine, and `--host
FILE.lua` combines this host with another GPU. Each measurement is kept as a row of `days` in the file. If the file is
there already with days of the same base, the new measurement is added: the figures are then those of the median of all
days, and the spreads cover all days. Other files are not overwritten.

`--difference A.lua B.lua` measures nothing: it compares two profiles, and prints the figures that differ most first. It
says how many figures are within 3 % in each section, how many are within 3 % and within 10 % among the device's, the
host's, and all; and the `host.reference_ms` of both. Times below 3 us count as close if they differ by at most 0.1 us,
since the clock ticks. Figures that neither file has measured are left out.

```sh
streamlab calibrate --backend cuda -o my_gpu.lua
streamlab --profile my_gpu.lua script.lua
streamlab calibrate --backend cuda --only latencies,host --base my_gpu.lua -o again.lua
streamlab calibrate --difference my_gpu.lua again.lua
streamlab calibrate --backend cuda --host -o my_host.lua
streamlab --profile my_host.lua script.lua
```

## streamlab compare

This subcommand runs scripts on the GPU and on the simulator, records both, and compares them: how far are the
simulator's makespans, overlaps and orders from the GPU's? The timelines that a script records with `lab.profile`
or `lab.record` are its *parts*. A script's makespan is the
sum of the makespans of its parts. On the simulator, which is opened again for each script, it runs once.

Makespans are those without a recorder: on the GPU CUPTI takes part of the time, so that programs of small calls take up
to 1.4 times as long as without it, graphs of short nodes up to three times. Before the first recording each script
therefore runs as often without one, on both sides: `lab.profile` times its function on the host's clock until the
device is idle, as `lab.measure` and [the benchmark](../benchmark.md) do, instead of recording it, and gives the script
the simulator's timeline. Pairs, orders and charts are those of recordings. So are the makespans, as the output and the
field `recorded` say, of a script that calls `lab.record`, or records nothing; in a plan that several processes work
on; and with `--against`, where recording costs nothing.

Scripts run in one process, each with globals of its own. Their output is not shown, the first run of each alone writes
files and starts commands (see [streamlab predict](#streamlab-predict)), `os.exit` ends only the script,
`lab.open` gives the other GPUs of that machine (`lab.open{ index = 1 }`) and refuses everything else, and `math.random` gives the same numbers in each run. An error is reported with the script's
name, and the other scripts still run; the exit status is then 1.

For a single script, and with `-v` for all, it prints details of each part (at most three, those with the largest error
first): how many neighbours start in another order, which pairs overlap on both sides, both charts on one scale, and the
output of [`timeline:diff`](timelines.md#timeline-diff) and [`timeline:explain`](timelines.md#timeline-explain). After
several scripts comes a summary. It has the errors of the makespans, |simulated / measured - 1|, by kind of script and
for all; how much the GPU's own runs vary, (longest - shortest) / median, and how many simulated makespans lie between
the shortest and the longest run; the pairs; and the ten scripts with the largest errors. The kind of a script comes
from its file: `random` (`random.lua`, or any with `--seeds`), `puzzler` (`puzzler.lua`), `experiments` (in a folder of
that name), `others`.

*Pairs.* A lane is the operations of one kind in one stream; streams and operations of the two sides are matched by the
order of issue. The overlap of a pair of lanes is measured in percent of the part's makespan, for each run in percent of
that run's own. A pair counts if its overlap is more than 5 % on the simulator, or in the median of the GPU's runs. It
is the same on both sides if its overlap is more than 1 % on both, or on neither; the GPU's is again the median. A GPU
is not deterministic: engines that find several commands ready choose an order of their own, and the same pair may
overlap in one run and not in the next. A pair is *steady* if its overlap is more than 1 % in all of the GPU's runs, or
in none; no simulator can predict a pair that is not steady. The same holds for pairs of operations; operations without
a partner in one of the runs are left out. `all steady in` gives the number of scripts in which all steady pairs are the
same, out of the scripts that have steady pairs.

Draws of `--spread` are as those of [streamlab predict](#streamlab-predict). They give the
simulated range, which the line of each script, its record (`sim_low_us`, `sim_high_us`) and the picture have; the
summary says how wide the ranges are, and for how many scripts the measured median lies in its range.

`--measured` needs no GPU: only the simulator runs again, and the figures of pairs are those of the file.

The lines of `--jsonl` and `--json` have `script`, the word as you gave it; `seed`, that of
`--seeds`, or null; `gpu_us`, `gpu_min_us`, `gpu_max_us`, `sim_us`; with `--spread` also `sim_low_us` and `sim_high_us`;
of a real GPU `recorded`, whether these are times of recordings (in older files it is missing: they are); `lane_pairs`, `lane_pairs_same`,
`lane_pairs_steady`, `lane_pairs_steady_same`, and the same four as `op_pairs`. Below the makespans, the picture of `--svg` has the ratio of the two, beside how far the GPU's own runs
lie from their median. In the files of `--dump` the operations of
the GPU are from the median run. Such a file has a line `# part 1 sim makespan_us ... runs_us ...`, then one line for each
operation. Its second line names the fields, which are separated by tabs.

[The benchmark](../benchmark.md) explains `--benchmark`. It simulates each program once, and with `--spread N` also N
times for a range; or it reads the predictions of another simulator. The tables have the error |predicted / measured - 1| (median, nine tenths,
worst) and the median of the ratio, of programs with pinned memory only, of those with pageable copies, of all, and by
day and machine; how many measured medians lie in the stated range and how wide this is; the spread of the GPU's own
runs; and the error of another day's measurement as a prediction. `--json` prints one
object for each row: `table`, `programs`, `occasion`, and its figures.

```sh
streamlab compare scripts/puzzler.lua
streamlab compare --jsonl h200.jsonl --svg h200.svg scripts/experiments/*.lua
streamlab compare --measured h200.jsonl --profile my_h200.lua
streamlab compare --against sim:a100 --profile h200 "scripts/puzzler.lua --n 256"
streamlab compare --benchmark --profile my_h200.lua --used held-out
```

## streamlab predict

This subcommand says how long scripts take on the simulated GPU, as a range: it prints the makespan with the profile's
figures and
the range in which nine tenths of the makespans of machines are expected: from the lowest to the highest of twenty draws, of more without those beyond one twentieth on either side,
and wider by what no figure of the profile varies (the key `makespan` of its `spread`). Fewer than 19 draws hold less: n of them n - 1 of n + 1 makespans. A script's makespan is the sum of those of its recordings, each of which has a line of its own if there are several, or that of
the whole run if it records nothing. It may open devices itself: they are drawn as well.

The draws change no files: each finds the files as they were before the first run, and what it writes goes
to a temporary folder, where it can read it again. `io.popen` and `os.execute` give a draw what they gave the first run;
a command that this run did not start is an error. What modules in C write is not diverted, and code that is loaded
from a file that the script has written is that of the first run. Values are computed once: a draw copies what an
earlier run has computed from the same operands, and computes what is new, or did not fit into a quarter of the host's
memory. On a terminal stderr shows which run it is, elsewhere a line every 10 s.

Below that it names up to three rows of the profile's `spread` that matter most, and by how much the makespan differs
between the row's low and its high factor, as far as the draws show it (by least squares over all rows). Less than
0.2 % of the makespan does not count.

`--json` prints one line for each script: `script`, `seed`, `makespan_us`, `low_us`, `high_us`, `runs`; `recordings`, a
list of the same three times; `figures`, a list of `name` and `effect_us` (below 0 where a higher factor makes it
faster), all rows, the strongest first.

```sh
streamlab predict scripts/puzzler.lua
streamlab predict --spread 100 --host my_host.lua "scripts/puzzler.lua --variant pinned"
```

## streamlab hosts

What calls cost the host, and how fast it stages copies of pageable memory, differs between machines and between minutes
of one machine. Each recording on a real GPU shows it: from its launches, copies, memsets and waits for events comes one
factor of what calls cost, from its uploads and downloads of pageable memory one each of the staging's rates, all
relative to the profile of that GPU. The program keeps them in a file, a line for each day, machine and GPU, in which
the latest recordings weigh most; this subcommand prints it, the line of this machine with a star.

`predict`, and `compare` with a real GPU, use that line where a GPU answers, the profile is its own, and no profile and
no host is named, neither by options nor by environment variables; a line on stderr says so. On a machine without a GPU,
in scripts and in labs nothing is used unasked. Anywhere `--host measured`, or `lab.open{ host = "measured" }`, asks for
it, and the name of a saved recording for what that one shows; `--host h200` has the profile's own.

Programs of another kind find another host, and so do those of the next minute. So of a line's factor counts what lies
beyond that: calls at 1.5 count as 1.5 / 1.2, and between 0.83 and 1.2 the profile's figures stay; for uploads the two
ends are 0.8 and 1.15, for downloads 0.9 and 1.08. A saved recording's factors count in full, for the program that it
is of.

With trace files it prints what these show, also of other programs' copies. What a call of another program costs is not
comparable, since a profile's figures have the script's part in them.

```sh
streamlab hosts
streamlab hosts run.json
streamlab predict --host run.json script.lua
```

## streamlab record

This subcommand runs another program, `streamlab record -- python3 train.py`, records what that gives its GPUs, and
prints what `streamlab show` prints of a trace. The program is not changed: the CUDA driver loads a library into it
(`CUDA_INJECTION64_PATH`), which asks CUPTI for records and writes them to a file. So it needs CUDA's toolkit, or the
CUPTI that PyTorch brings; a build of streamlab has the library where `cupti.h` of CUDA 12.8 or
later was.

Of each wait the record says for which event it was, and of each copy which memory was pageable: nothing has to be
guessed, as in traces of PyTorch's profiler. Calls that only ask or set something (`cudaGetDevice`) are left out.
stdin, stdout, the exit status and Ctrl-C are the program's. One that is killed loses the last second of its recording
at most, and the timeline says so. Where nothing can be recorded, a sentence on stderr says why, and the program runs
all the same: another profiler uses CUPTI (PyTorch's is one), the user may not profile, CUPTI is not there (that of CUDA
11.4 to 13 will do), the program is setuid. A profiler that the program starts itself may take CUPTI's records from there
on: the recording ends there, and says so. Or CUPTI refuses it, as PyTorch's under CUDA 13, which warns of that; its own
profile then lacks the GPU.

Recording slows the host down, not the GPU: a loop that the GPU holds up takes as long as before, one that the host holds
up does not. The output begins with an estimate of both, and what it says can be gained is of the program without its
recorder (`timeline:verdict`). On fast cores of an H200's host a launch of an empty kernel takes 1.2 us longer (3.3 us
without), a record of an event 0.4 us (0.15 us without).

`--python` finds the line of Python at which each call is made: of the innermost function that is the program's own, not
of a package (`site-packages`) or of Python's library. Operations and calls have it as those of a script have theirs,
`train.py:31 in step`, and all sentences name it. A thread that runs no Python, as that in which PyTorch computes
gradients, gets the line at which the thread stands that last made a call at one: `train.py:31 in step (other thread)`.
Frames are read without the interpreter's lock, so that nothing waits for it; of CPython 3.10 to 3.14, not of builds
without that lock. A call takes about 0.1 us longer for that, and 0.03 us for each function of a package in between; on
a thread without Python 2 us.

`--stacks` does the same for C, C++ and CUDA: the innermost function of the program or of a library of its own, not of
the system's, of CUDA's or of a Python package. What has been compiled with `-g` (DWARF 2 to 5, uncompressed) has lines,
`solver.cu:210 in step`, other functions say where they are in the file, `solver+0x1234 in step`. With both options
calls have the line of Python where there is one.

Ranges that the program or a library marks with NVTX 3 (`torch.cuda.nvtx.range`, `nvtxRangePush`) are recorded as well
(`timeline:ranges`), with domains, registered texts and marks; what was open when the program first used a GPU begins
there. Where no line is known, sentences name the innermost one in which an operation was launched. If `NVTX_INJECTION64_PATH` names another tool, that one gets them.

Every process that uses a GPU leaves a file of its own, a spool; `--spools FOLDER` keeps them. `streamlab show` and
`lab.load` read a spool, and a folder of spools as one timeline, which `--children` prints. `--for` counts from the
program's first use of a GPU.

```sh
streamlab record -- python3 train.py --epochs 1
streamlab record --python -- python3 train.py
streamlab record --stacks -- ./simulation
streamlab record --for 5s -o run.json.gz -- ./simulation
streamlab record --children --spools spools -- torchrun --nproc-per-node 2 train.py
```

## streamlab show

This subcommand prints the contents of a trace. No GPU is opened. What it leaves out of the file is listed on stderr.

Of `--from` and `--to` a bare number is in us, and `100ns` is a time, too. `--columns` is from 20 to 4096. With `-o`
and `--chart`, `--summary` or `--explain` the file is written and the part printed. The keys of `--json` are those of
`timeline:json`. `--stream` prints what `timeline:explain` says of one stream.

`--by KEY` prints `timeline:by` as a table, the row with the most time first, steps in their order. `time` is the sum of
the durations; `covered` and `alone` together are the time in which at least one operation of the row ran, which is less
where they ran at the same time as each other. Names that are the same when they are cut in the middle end in
their row's number: a wider `--columns`, or `--json`, has the whole ones. Operations of which the file does not say it have a row of their own, `(no
operator)`. `--step` and `--range` print of `timeline:part`. Of ranges that come several times the time between two of them
is left out, which is said first: charts and figures are as if the ranges followed each other.

`--idle` prints `timeline:idle`, for each GPU: `no kernel` and `nothing` are the times in which no kernel ran, and in
which nothing did. A cause may have more of the latter, where a copy, and not a kernel, came behind a gap.

```sh
streamlab --trace run.json first.lua
streamlab show run.json
streamlab show --chart --rows engines --from 2ms --to 4ms run.json
streamlab show --by operator --step 3..5 trace.json.gz
streamlab show -o run.svg -o run.html run.json
```

## streamlab diff

This subcommand compares two traces. Times and columns are as for `show`; one of the two files may be `-`.

`--json` prints one object: `"a"` and `"b"`, each as in `show --json`, and `"change"`, the values of b minus those of a:
`makespan_us`, `wall_us`, `lower_bound_us`, `busy_us`, `overlap_us`.

## streamlab whatif

This subcommand plays a recorded program again with changes, as [`lab.whatif`](whatif.md#lab-whatif) does, and says how
long it would take. Changes apply in the order in which they are given, `--host-scale` last. Without changes it lists
single ones by what they would gain.

`--json` prints one object: `measured_us`, `identity_us` (the program played unchanged), `before_us`, `after_us`,
`range_us` (a list of two), `edits`, `refused` (a text, or null); without changes `remedies`.

```sh
streamlab whatif trace.json.gz
streamlab whatif --pin 'Memcpy HtoD*' --non-blocking 'Memcpy HtoD*' trace.json.gz
streamlab whatif --scale 'operator=aten::mm' 0.5 --drop-sync 'line=train.py*' trace.json.gz
```

## streamlab work

This subcommand works on the points of a plan. A plan is a file of JSON lines, a line for each point, that
[`lab.sweep`](measuring.md#lab-sweep) with the option `plan` writes, or `streamlab lab grade --plan FILE` (a point is a
submission), or `streamlab compare --plan FILE` (a point is a script with a seed). It has the points with a digest each,
SHA-256 of the point and of all that decides about its result: the script and the files of Lua that it has loaded, its
arguments, the default device with the profile's figures, and streamlab's version. What a script reads besides, such as
data or a profile that it opens itself, is not in it. A plan of another minor version is read, and a line on stderr
says so, since simulated times may differ; one of another major version is refused.

The result of a point goes into a file of its own, `p.results/DIGEST.json` for the plan `p.jsonl`. A point with such a
file is not worked on again. So workers may be killed at any time, and started again, on this machine or on any other
that shares the folder; two that work on the same point do no harm. A point that fails has a file
`DIGEST.failed.json` with the message, and the next worker tries it again. Ctrl-C stops
at once, SIGTERM after the point; a second SIGTERM is not waited for.

In a task of a Slurm array the variables `SLURM_ARRAY_TASK_ID`, `_MIN`,
`_STEP` and `_COUNT` say what `--shard` says elsewhere. A worker starts once for all points of its part. For each it runs the script again
from its beginning, which costs some milliseconds and whatever the script does before the sweep.

A plan that was changed by hand is refused, and so is one whose script, lab or profile has changed since. Run the script
again: points that are as they were keep their results only if all of that is as it was. Old results stay in the folder
until you remove it.

```sh
streamlab sweep.lua                         # writes p.jsonl
streamlab work p.jsonl
parallel --joblog p.log streamlab work p.jsonl --shard {}/4 ::: 1 2 3 4
parallel --joblog p.log --resume-failed streamlab work p.jsonl --shard {}/4 ::: 1 2 3 4
parallel --sshloginfile nodes.txt --workdir . --joblog p.log streamlab work p.jsonl --shard {}/64 ::: $(seq 64)
```

With GNU parallel, `--resume-failed` starts the workers again that failed or were killed. On other machines,
`--sshloginfile` names them, a line `4/node1` for four workers; each needs the same folder (`--workdir .`) and the
program.

## streamlab merge

This subcommand puts the results of a plan together. The table, the file or the lines are the same, byte for byte,
however many processes have worked on the plan. Without options the table of a sweep is printed, the lines of `lab
grade`, or the summary of `compare`.

Points without a result are named on stderr, with the message of those that failed.

```sh
streamlab merge p.jsonl
streamlab merge p.jsonl -o t.csv
streamlab merge p.jsonl -o t.svg -x kib -y median_us --by pinned --log xy
```

## streamlab sbatch

The number of tasks follows from `--per-task` and `--per-point`; where no point has a result, eight are worked on now.
The limit of time in it is twice what a task should take; Slurm sends SIGTERM half a minute before. Options of `sbatch`
on its own command line override those in the script.

```sh
streamlab sbatch p.jsonl --per-task 10m -o p.sh
sbatch --partition=short p.sh
streamlab merge p.jsonl -o t.csv            # says which points are missing
sbatch p.sh                                 # again: only these are worked on
```

## streamlab help

`streamlab help NAME` prints what `help("NAME")` prints in the REPL.

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
| `STREAMLAB_HOST` | the profile whose host's part the simulated host has where no host and, in the script, no profile is given; it does not ask for a simulated GPU |
| `STREAMLAB_PROFILE` | the profile of a simulated GPU where none is given; unlike `--profile` it does not ask for a simulated one |
| `STREAMLAB_CUDA_PLUGIN` | the file of the CUDA backend; empty or `none`: do without |
| `STREAMLAB_NCCL` | the file of NCCL, `libnccl.so.2`, for `lab.comm` on real GPUs; without it the loader's one or that of PyTorch's package is taken |
| `STREAMLAB_CUDA_LIB` | folders, with colons between them, in which `libcublasLt`, `libcublas` and `libcupti` are looked for first |
| `STREAMLAB_CUPTI` | `0`: times in timelines of real GPUs come from events, not from CUPTI |
| `STREAMLAB_BLAS` | the library with which the simulator multiplies matrices, a file or a name for the loader, or `none` |
| `STREAMLAB_HOSTS` | the file of what recordings have shown of the host; empty: none is kept |
| `STREAMLAB_HISTORY`, `STREAMLAB_RC` | the REPL's history and start file, see above |
| `STREAMLAB_DEBUG` | `1`: errors are printed with all frames |
| `COLUMNS`, `NO_COLOR`, `CLICOLOR_FORCE`, `TERM`, `LC_ALL`, `LC_CTYPE`, `LANG` | how wide charts are, whether there are colours and which characters |
| `XDG_STATE_HOME`, `XDG_CONFIG_HOME`, `HOME` | where the history, what hosts have shown and the start file are |
| `LUA_INIT`, `LUA_PATH`, `LUA_CPATH`, each also with `_5_4` | as in `lua5.4` |

CUDA's own variables work as in any program: `CUDA_VISIBLE_DEVICES` says which GPUs there are,
`CUDA_DEVICE_MAX_CONNECTIONS` how many channels, and with `CUDA_LAUNCH_BLOCKING=1` every launch waits for its kernel.
`-E` ignores `STREAMLAB_BACKEND`, `STREAMLAB_PROFILE`, `STREAMLAB_HOST`, the REPL's start file and the variables of Lua.

## Files

| | |
|---|---|
| `streamlab_cuda.so` | the CUDA backend, beside the program or in `../lib/streamlab` from there |
| `$XDG_STATE_HOME/streamlab/history`, `~/.local/state/streamlab/history` | the REPL's history |
| `$XDG_STATE_HOME/streamlab/hosts`, `~/.local/state/streamlab/hosts` | what recordings on real GPUs have shown of the host: at most 200 lines |
| `$XDG_CONFIG_HOME/streamlab/rc.lua`, `~/.config/streamlab/rc.lua`, `~/.streamlabrc` | the REPL's start file, the first that is there |

## Exit status

| | |
|---|---|
| 0 | success; the REPL, whatever went wrong in its entries |
| 1 | an error in a script; a real GPU that failed after the script's last call (one line on stderr says so); a trace or stdout that could not be written; of subcommands what their `--help` says |
| 2 | wrong usage; also a device that the options name and that cannot be opened, and a trace file that cannot be written |
| 130 | ended by Ctrl-C |
| 143 | ended by SIGTERM |

A script's `os.exit(n)` gives `n`.]],
}
