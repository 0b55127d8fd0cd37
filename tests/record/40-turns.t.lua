-- 40-turns.t.lua - the programs of gpu.sh by turns, played: turns.lua runs each part, and its table
-- has what these print. Python is played by a program that says how long its loop took.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played = require "played" "played_program"

-- Plain loops take 2 s each by what they print, recorded ones 2.1, and mended ones 0.5.
local function play(path, key, program)
    shell.write(folder .. "/" .. path, ([[
#!/bin/sh
%s/%s
case "$*" in *" after") echo "%s=0.5"; exit;; esac
if [ -n "$STREAMLAB_RECORD" ]; then echo "%s=2.1"; else echo "%s=2.0"; fi
]]):format(played, program or "played_program streams", key, key, key))
    os.execute(("chmod +x %s/%s"):format(folder, path))
end
os.execute(("mkdir -p %s/bin %s/out/bin"):format(folder, folder))
play("bin/python3", "loop_s")
play("out/bin/sample", "per_call_us")
play("out/bin/cublas", "loop_s")

local function turns(parts)
    return shell.sh(('TURNS=1 STREAMLAB_CUDA_LIB=%s PATH="%s/bin:$PATH" '
        .. '"$P" tests/record/turns.lua %s/out %s'):format(played, folder, folder, parts))
end

local out, _, code = turns "calls native without"
tap.is(code, 0, "the parts run")
tap.like(out, "sample launches +per_call_us +2 +2%.1 +%+5%.0 %%",
    "a row has both, and what was added")
tap.like(out, "a call takes 0%.10 us more; taken off are %d%.%d%d us an operation or call",
    "and what a call costs stands beside what is taken off")
tap.like(out, "cupy +loop_s +2 +2%.1 +%+5%.0 %%", "a program of Python has a row")
tap.like(out, "cupy %-%-python +loop_s +2 +2%.1 ", "and one with its lines")
tap.like(out, "6 operations, 8 calls, %d+ bytes", "the spools are described")
tap.like(out, "1 waits of streams: 1 for a known record, 0 for an event without one; 0 are not "
    .. "resolved", "with their waits")
tap.like(out, "sample records +per_call_us [^\n]*\n +env STREAMLAB_RECORD_WITHOUT=event",
    "and a row for each kind of record that is left out")
tap.like(out, "# recording adds %+5%.0 %% in the median of 3 loops", "and there is a sum")

tap.like(turns "two", "nccl +loop_s +2 +2%.1 .*nccl %-%-python +loop_s +2 +2%.1 ",
    "programs on two GPUs have rows like these")

out, _, code = turns "planted"
tap.is(code, 0, "planted causes run, too")
tap.like(out, "needless_waits.*tiny_kernels", "from the first to the last of seven")
tap.like(out, "nothing is recorded: [^\n]*measured", "that one marks no measured loop is said")
if io.open(played .. "/played_ranges") then
    play("bin/python3", "loop_s", "played_ranges loop")
    out = turns "planted"
    tap.like(out, "needless_waits +2 s, mended 0%.5 s: gained 75%.0 %%, stated %d+%.%d %%",
        "what is said can be gained stands beside what is gained")
    tap.like(out, "2 operations, %d calls", "of the measured loop alone")
    local longest = 0
    for line in out:gmatch "[^\n]+" do longest = math.max(longest, utf8.len(line)) end
    tap.ok(longest <= 100, "a part's table has at most 100 columns")
end

shell.write(folder .. "/bin/python3", "#!/bin/sh\necho oops >&2; exit 3\n")
out, _, code = turns "two"
tap.like(out, "nccl is left out: there is no torch", "a library that is not there is said")
tap.is(code, 0, "and is no failure")
shell.remove(folder)
tap.done()
