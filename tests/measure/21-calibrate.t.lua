-- 21-calibrate.t.lua - streamlab calibrate: it finds the figures of a simulated GPU again, the
-- file is a profile and says where each value is from; and what it refuses.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
local shell = require "shell"
local sh, read = shell.sh, shell.read

local folder = shell.folder()
local file = folder .. "/made.lua"

local function calibrate(line)
    return sh('"$P" calibrate ' .. line)
end

local function load_profile(path)
    return read(path) and shell.profile(path) or {}
end

local counts <const> = {
    "sm_count", "max_threads_per_sm", "max_blocks_per_sm", "shared_bytes_per_block",
    "max_threads_per_block", "memory_bytes", "async_engine_count", "max_grids", "connections",
    "launch_queue_depth", "priority_least", "priority_greatest",
    "priority_levels",
}
local latencies <const> = {
    "submit_us", "stream_gap_us", "cross_stream_us", "record_us", "host_func_in_us",
    "host_func_out_us", "event_tick_ns", "wake_us", "kernel_fixed_us",
}
local host <const> = {
    "host.launch_us", "host.matmul_us", "host.memcpy_async_us", "host.memset_us",
    "host.record_us", "host.record_untimed_us", "host.wait_us", "host.query_us",
    "host.synchronize_us", "host.host_func_us", "host.stream_create_us", "host.event_create_us",
    "host.tensor_alloc_us", "host.pinned_alloc_us",
}
local parts <const> = "device,queue,latencies,host"

-- ---- an A100 ------------------------------------------------------------------------------

local out, err, code = calibrate("--backend sim --profile a100 --base textbook --only " .. parts
    .. " -o " .. file)
tap.is(out .. code, "0", "an A100 is measured")
tap.like(err, "^part 1 of 4, host: what calls cost the host\n.*\npart 2 of 4, device: ",
    "and its parts are reported")
tap.like(err, "\n    channels\n", "with what they do")
tap.like(err, "made%.lua: %d+ values in %d+ s\n$", "and the end")
tap.is(read(file .. ".partial"), nil, "nothing else is left")
local made, truth = load_profile(file), load_profile("scripts/profiles/a100.lua")
measured.found_again(made, truth, counts, 0)
measured.found_again(made, truth, latencies, 0.01)
measured.found_again(made, truth, host, 0.01)
tap.is(made.name, truth.name, "its name")
tap.is(table.concat(made.compute_capability, "."), "8.0", "its compute capability")
tap.is(made.hbm_gb_per_s, load_profile("scripts/profiles/textbook.lua").hbm_gb_per_s,
    "what is not measured is the base's")

local text = read(file)
tap.like(text, "^%-%- NVIDIA A100%-SXM4%-80GB, as the simulator sees it%.\n",
    "the file has a title")
tap.like(text, "on NVIDIA A100%-SXM4%-80GB %(simulated, profile a100%)%.\n",
    "and where it was measured")
tap.like(text, "\n    %-%- Latencies%.\n    submit_us = 3,  +%-%- an idle stream's empty kernel",
    "a value says how it was found")
tap.like(text, "\n    hbm_gb_per_s = 4250,  +%-%- not measured; from textbook\n",
         "or that it was not")
tap.like(text, "\n        query_us = 0%.34,  +%-%- event:query and stream:query; "
    .. "spread 0%.0 %%\n", "nested ones as well, with the spread")
tap.like(text, "\n%-%- connections: of 40 streams, one after the other, the 9th was the first that "
    .. "waited\n", "findings are comments")
local widest = 0
for line in text:gmatch("[^\n]+") do
    widest = math.max(widest, #line)
end
tap.ok(widest <= 100, "in 100 columns")
tap.is(sh('"$P" --profile ' .. file .. " -e 'print(lab.device().sm_count)'"), "108\n",
    "the simulator takes the file")

local function without_times(s)
    return (s:gsub("in %d+ s:", "in N s:"))
end
local again = folder .. "/again.lua"
out, err, code = calibrate("--backend sim --profile a100 --base textbook --quiet --only " .. parts
    .. " -o " .. again)
tap.is(code, 0, "another time")
tap.ok(not err:find("part 1", 1, true), "and quietly")
tap.is(without_times(read(again)), without_times(text), "the text is the same")

-- ---- a GPU that nobody built --------------------------------------------------------------

-- A profile's file has no globals, so each change is a line of its own.
local odd = folder .. "/odd.lua"
local changed = {
    sm_count = 57, max_threads_per_sm = 1536, max_blocks_per_sm = 24, max_grids = 37,
    connections = 5, copy_connections = 3, launch_queue_depth = 517, priority_greatest = -4,
    priority_levels = 3, submit_us = 7.7, stream_gap_us = 2.3, cross_stream_us = 0.4,
    record_us = 0.9, host_func_in_us = 31, engine_switch_us = 4.1,
    host_func_out_us = 0.7, event_tick_ns = 512,
    wake_us = 12.5, kernel_fixed_us = 3.3,
}
local textbook = read("scripts/profiles/textbook.lua"):gsub("\nreturn {", "\nlocal t = {")
local lines = { textbook }
for key, value in pairs(changed) do
    lines[#lines + 1] = ("t.%s = %s"):format(key, value)
end
for _, path in ipairs(host) do
    lines[#lines + 1] = ("t.%s = t.%s * 1.7 + 0.11"):format(path, path)
end
lines[#lines + 1] = "t.memory_bytes = 'unlimited'"
lines[#lines + 1] = "return t\n"
shell.write(odd, table.concat(lines, "\n"))
out, err, code = calibrate("--profile " .. odd .. " --base t4 --quiet --only " .. parts
    .. " -o " .. again)
tap.is(code, 0, "an odd GPU is measured")
made, truth = load_profile(again), load_profile(odd)
measured.found_again(made, truth, counts, 0)
measured.found_again(made, truth, latencies, 0.05)
measured.found_again(made, truth, { "engine_switch_us" }, 0.01)
measured.found_again(made, truth, host, 0.02)

-- ---- parts --------------------------------------------------------------------------------

out, err, code = calibrate("--profile a100 --only host --quiet -o " .. again)
tap.is(code, 0, "one part is measured")
tap.like(read(again), "\n    sm_count = 108,  +%-%- not measured; from a100\n",
    "the rest is the simulated GPU's own")
tap.like(read(again), "; not measured, from a100: .*connections", "which a note tells, too")

-- ---- differences --------------------------------------------------------------------------

local function difference(line)
    return calibrate("--difference " .. line)
end
out, err, code = difference(file .. " " .. file)
tap.is(err .. code, "0", "a profile beside itself")
tap.like(out, "\nAll: %d+ figures, apart by 0%.0 %% in the median; %d+ within 3 %%, "
    .. "%d+ within 10 %%\n$",
    "is not apart from itself")
tap.ok(not out:find("hbm_gb_per_s", 1, true), "what neither has measured is left out")
local n, within = out:match("\nAll: (%d+) figures.* (%d+) within 3 ")
tap.is(n, within, "all of it is within 3 %")
tap.like(out, "\nA: [^\n]*/made%.lua\nB: [^\n]*/made%.lua\n", "and which files it were")
shell.write(folder .. "/a.lua", "return {a_us = 10, b_us = 100, both = {{1, 5}, {2, 6}}, c = 1, "
    .. "host = {wait_us = 0.4, query_us = 0.4}, gemm_grid_us = {tf32 = {{64, 128, 7}}}}")
shell.write(folder .. "/b.lua", "return {a_us = 9, b_us = 101, both = {{1, 4}, {3, 6}}, "
    .. "d = {{1, 1}}, host = {wait_us = 0.31, query_us = 0.6}, "
    .. "gemm_grid_us = {tf32 = {{64, 128, 7}}}}")
out, err, code = difference(folder .. "/a.lua " .. folder .. "/b.lua")
tap.like(out, "^ +A +B +apart\nhost%.query_us +0%.4 +0%.6 +33%.3 %%\n"
    .. "host%.wait_us +0%.4 +0%.31 +22%.5 %%  near\nboth at 1 +5 +4 +20%.0 %%\n"
    .. "a_us +10 +9 +10%.0 %%\nb_us +100 +101 +1%.0 %%\n"
    .. "gemm_grid_us%.tf32 at 64 x 128 +7 +7 +0%.0 %%\n", "the worst comes first")
tap.like(out, "\n1 of 3 near: Others %(worst: both at 1, 20%.0 %%%)\n1 of 1 near: Products of "
    .. "matrices\n1 of 2 near: What each call costs [^\n]* %(worst: host%.query_us, 33%.3 %%%)\n",
    "each section has its worst")
tap.like(out, "\nboth at 2 is not in B\nc is not in B\nboth at 3 is not in A\nd is not in A\n",
    "what only one has is reported")
tap.like(out, "\nTimes below 3 us are near within 0%.1 us, [^\n]*\n"
    .. "Device: 4 figures, apart by 5%.5 %% in the median; 2 within 3 %%, 3 within 10 %%\n"
    .. "Host: 2 figures, apart by 27%.9 %% in the median; 1 within 3 %%, 1 within 10 %%\n"
    .. "All: 6 figures, apart by 15%.0 %% in the median; 3 within 3 %%, 4 within 10 %%\n$",
    "and how many are near")
shell.write(folder .. "/a.lua", "return {submit_us = 10, host_cold = {launch_us = 9}, "
    .. "calls = {cudaFree = {us = 9}}, h2d_staging_cold_gb_per_s = {{1, 5}}, host_gb_per_s = 9, "
    .. "stage_bytes = 9, wake_us = 9}")
out = difference(folder .. "/a.lua " .. folder .. "/a.lua")
tap.like(out, "\nDevice: 1 figures, [^\n]*\nHost: 6 figures, ", "what the host's speed changes")

-- ---- what goes wrong ----------------------------------------------------------------------

local function refused(line, want, sentence, name)
    local o, e, c = calibrate(line)
    tap.is(o .. c, tostring(want), name .. " is refused")
    tap.like(e, "^streamlab: calibrate: " .. sentence, name .. " has a sentence")
end
local to = " --backend sim -o " .. folder .. "/x.lua"
refused("", 2, "%-o NAME%.lua is needed", "nowhere to write to")
refused("-o x.txt", 2, "%-o needs a file that ends in %.lua, got 'x%.txt'", "another suffix")
refused("x" .. to, 2, "no files are needed, got 'x'", "a file")
refused("--only kernls" .. to, 2, "%-%-only needs parts of graph_launches,host,device,",
        "an unknown part")
refused("--only host,," .. to, 2, "%-%-only needs parts of ", "an empty part")
refused("--backend sim --device 64 -o " .. folder .. "/x.lua", 2,
    "there is no device 64: backend sim has 64 devices", "a missing device")
refused("--passes 0" .. to, 2, "%-%-passes needs a whole number from 1 to 99, got '0'", "no pass")
refused("--base nosuch" .. to, 2, "there is no profile \"nosuch\"", "an unknown base")
refused("--difference a100", 2, "%-%-difference needs two profiles, got 1", "one profile")
refused("--difference a100 " .. folder .. "/none.lua", 1, "", "a profile that is not there")
tap.is(read(folder .. "/x.lua"), nil, "and leaves no file")
refused("--backend sim -o " .. folder .. "/no/x.lua", 1, "cannot write [^\n]*/no/x%.lua",
    "a file that cannot be written")

-- A base that the simulator does not take is found out at the end; nothing measured is lost.
shell.write(folder .. "/broken.lua", "return {sm_count = 3}")
refused("--only host --quiet --base " .. folder .. "/broken.lua" .. to, 1,
    "the simulator does not take the profile: [^\n]*; "
    .. "what was measured is in [^\n]*x%.lua%.partial\n",
    "a base that lacks something")
tap.like(read(folder .. "/x.lua.partial"), "\n        launch_us = 3%.8,", "and the file has it")
tap.is(read(folder .. "/x.lua"), nil, "under that name only")

out, err, code = calibrate("--help")
tap.is(err .. code, "0", "--help is no error")
tap.like(out, "^usage: streamlab calibrate %-o NAME%.lua %[options%]\n", "and explains")
widest = 0
for line in out:gmatch("[^\n]+") do
    widest = math.max(widest, #line)
end
tap.ok(widest <= 80, "in 80 columns")

shell.remove(folder)
tap.done()
