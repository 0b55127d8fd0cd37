-- 30-refused.t.lua - which CUPTI is used for which driver, programs whose run time says nothing,
-- and what is said where nothing can be recorded. 10-record.t.lua has what CUPTI itself refuses.
package.path = "tests/record/?.lua;tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder, played = require "played" "libcuda.so.1"

local function sh(command)
    return shell.sh(("cd %s; export LC_ALL=C; %s"):format(folder, command))
end

-- ---- CUPTI's release ----------------------------------------------------------------------------

-- The played CUPTI under the name of a release, for a driver of that version.
local function record(name, driver)
    sh(("rm -rf lib; mkdir lib; ln -s %s/libcupti.so.13 lib/%s"):format(played, name))
    return sh(("STREAMLAB_CUDA_LIB=$PWD/lib PLAYED_DRIVER=%d LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH "
        .. '"$P" record -- %s/played_program streams exit 3'):format(driver,
        folder .. "/driver", played))
end

-- The driver alone: beside it the loader would find the CUPTI.
sh(("mkdir driver; ln -s %s/libcuda.so.1 driver"):format(played))
for driver, name in pairs { [12040] = "libcupti.so.12", [11080] = "libcupti.so.11.8",
                            [11040] = "libcupti.so.11.4", [13000] = "libcupti.so.13" } do
    local out, err, code = record(name, driver)
    tap.like(out, "6 operations in 2 streams", name .. " is used with a driver of its release")
    tap.is(err .. code, "3", name .. ": and nothing else is noticed")
end
local out, err, code = record("libcupti.so.13", 12090)
tap.like(err, "process %d+: libcupti.so.11.4 to .12 is not found",
    "a driver does not know the CUPTI of a later release")
tap.is(out .. code, "3", "the program runs as it would")

-- ---- what CUPTI refuses -------------------------------------------------------------------------

for number, reason in pairs {
    [15] = "CUPTI finds no driver that it can work with",
    [33] = "CUPTI does not know how to profile this virtual GPU",
    [40] = "this virtual GPU may not be profiled: its host has to allow that",
    [41] = "a GPU in confidential computing is not profiled",
    [999] = "CUPTI cannot be used",
} do
    out, err, code = sh(('PLAYED_CUPTI_CODE=%d STREAMLAB_CUDA_LIB=%s "$P" record -- '
        .. "%s/played_program streams exit 4"):format(number, played, played))
    tap.is(err:gsub("%d+:", "N:", 1), ("streamlab: record: process N: %s (cuptiSubscribe: error "
        .. "%d)\n"):format(reason, number), "CUPTI's code " .. number .. " is a sentence")
    tap.is(out .. code, "4", "and the program runs as it would")
end

-- ---- another profiler in the program ------------------------------------------------------------

-- CUPTI gives its buffers to who asks last.
local function record_with_driver(spools, what)
    return sh(('STREAMLAB_CUDA_LIB=%s LD_LIBRARY_PATH=%s PLAYED_DRIVER=13000 "$P" record --quiet '
        .. "--spools %s -- %s/played_program %s"):format(played, folder .. "/driver", spools,
        played, what))
end

out, err, code = record_with_driver("taken", "kernels 100 profiler kernels 50 wait exit 5")
tap.is(out .. err .. code, "5", "a program that starts a profiler of its own runs as it would")
local tl = lab.load(folder .. "/taken")
tap.is(tl.span_count, 100, "what was recorded before is there")
tap.is(tl.doubts[1] and tl.doubts[1].sentence, "The recording ends early: another profiler in the "
    .. "program, such as PyTorch's, has taken CUPTI over, and what came then is not recorded.",
    "and why there is no more")
out, err, code = record_with_driver("at-once", "profiler kernels 50 wait exit 5")
tap.throws_like(function() lab.load(folder .. "/at-once") end,
    "CUPTI has given no records: another profiler in the program, such as PyTorch's, may have "
    .. "taken it over at once", "where it takes all from the beginning, that is what may be")
record_with_driver("kept", "kernels 150 exit 5")
tl = lab.load(folder .. "/kept")
tap.is(tl.span_count .. " " .. #tl:calls() .. " " .. #tl.doubts, "150 0 0",
    "without one nothing is in doubt, and the recorder's own calls are not there")

-- ---- programs -----------------------------------------------------------------------------------

local with <const> = ("STREAMLAB_CUDA_LIB=%s "):format(played)

-- A run time that says nothing, as one before CUPTI's, is linked in, or is not used at all.
out = sh(with
    .. ('"$P" record --spools driver-calls -- %s/played_program driver 20'):format(played))
tap.like(out, "20 operations in 1 stream", "a program that calls the driver alone is recorded")
tl = lab.load(folder .. "/driver-calls")
tap.is(#tl.doubts, 0, "and each operation has the call that launched it")
tap.is(("%g"):format(tl:spans()[20].host_start_us - tl:spans()[1].host_start_us), "38",
    "with its time")

out, err, code = sh(with .. '"$P" record -- sh -c "exit 7"')
tap.is(out .. err .. code, "streamlab: record: nothing is recorded: the program did not use CUDA, "
    .. "or not in processes that it started itself (docker, ssh)\n7", "a program without CUDA")

-- A program with rights of its own is neither loaded into nor written for. Where this user can make
-- one, and the file system allows it; the sanitizer that looks for leaks cannot work in one.
sh("chmod 755 .; mkdir bin; mkdir -m 777 left; "
    .. ("cp %s/played_program bin/own; cp $(command -v id) bin/whose; "):format(played)
    .. "chown nobody bin/*; chmod 4755 bin/*")
local sanitized = (os.getenv "STREAMLAB_SANITIZE" or "") ~= ""
if sh "bin/whose -u" ~= sh "id -u" and not sanitized then
    for what, command in pairs { ["by its path"] = "bin/own", ["in PATH"] = "own" } do
        out, err, code = sh(with .. ('PATH="$PWD/bin:$PATH" "$P" record --spools left -- '
            .. "%s kernels 10 exit 8"):format(command))
        tap.is(err, ("streamlab: record: nothing is recorded: '%s' runs with rights of its own "
            .. "(setuid, setgid, capabilities), and such programs are not recorded; start "
            .. "streamlab with these rights\n"):format(command), "a setuid program, " .. what)
        tap.is(out .. code, "8", "runs as it would")
        tap.is(sh "ls left", "", "and leaves nothing")
    end
end

shell.remove(folder)
tap.done()
