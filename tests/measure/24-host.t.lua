-- 24-host.t.lua - streamlab calibrate --host: the host's part alone, as factors of a
-- base's figures; the days of several measurements; and what it refuses.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
local near = measured.near
local shell = require "shell"

local folder = shell.folder()
local file = folder .. "/my_host.lua"

local function calibrate(line) return shell.sh('"$P" calibrate --backend sim ' .. line) end

-- ---- a host that is not h200's --------------------------------------------------------------

local h200 = shell.profile("scripts/profiles/h200.lua")
local wanted <const> = { calls = 1.3, uploads_warm = 1, uploads_cold = 0.8, downloads = 1.1 }

-- A figure, or the rates of a table, so many times as large.
local function scaled(value, by)
    if type(value) == "number" then
        return value * by
    end
    local rows = {}
    for i, row in ipairs(value) do
        rows[i] = { row[1], row[2] * by }
    end
    return rows
end

local figures = { base = "h200", host = {}, host_cold = {}, calls = {} }
for _, group in ipairs { "host", "host_cold" } do
    for key, value in pairs(h200[group]) do
        figures[group][key] = key:find("_us$") and scaled(value, wanted.calls) or value
    end
end
for call, costs in pairs(h200.calls) do
    figures.calls[call] = { us = scaled(costs.us, wanted.calls) }
end
for key, group in pairs { h2d_staging_cold_gb_per_s = "uploads_cold",
                          d2h_staging_gb_per_s = "downloads",
                          d2h_staging_cold_gb_per_s = "downloads" } do
    figures[key] = scaled(h200[key], wanted[group])
end
local odd = shell.write(folder .. "/odd.lua", "return " .. measured.text_of(figures) .. "\n")

local out, err, code = calibrate("--profile " .. odd .. " --base h200 --host --seconds 1 -o "
    .. file)
tap.is(code, 0, "the host's part is measured")
tap.is(err, "programs on NVIDIA H200\n1 round\nthe same programs on the simulator\n",
    "with its progress")
tap.is(out, [[
what calls cost             1.30 x h200  (1.30 to 1.30)  us
cached pageable uploads     1.00 x h200  (1.00 to 1.00)  GB/s
uncached pageable uploads   0.80 x h200  (0.80 to 0.80)  GB/s
pageable downloads          1.10 x h200  (1.10 to 1.10)  GB/s
]], "and how the host compares")

local made = dofile(file)
tap.is(made.base, "h200", "the file has its base")
tap.is(#made.days, 1, "and one day")
tap.like(made.days[1].date, "^%d%d%d%d%-%d%d%-%d%d %d%d:%d%d$", "with its date")
tap.is(made.days[1].rounds, 1, "and how many rounds there were")
for group, factor in pairs(wanted) do
    near(made.days[1][group].median, factor, 0.03, group .. " has its factor")
end
near(made.host.launch_us, 1.3 * h200.host.launch_us, 0.03, "launches cost so much more")
near(made.host_cold.matmul_us, 1.3 * h200.host_cold.matmul_us, 0.03, "cold calls as well")
near(made.calls.cudaFree.us, 1.3 * h200.calls.cudaFree.us, 0.03, "and others")
near(made.h2d_staging_cold_gb_per_s[3][2], 0.8 * h200.h2d_staging_cold_gb_per_s[3][2], 0.03,
    "uncached uploads are slower")
near(made.d2h_staging_gb_per_s[3][2], 1.1 * h200.d2h_staging_gb_per_s[3][2], 0.03,
    "downloads are faster")
tap.is(made.host_cold.bytes, nil, "what no factor scales stays with the base")
tap.is(made.sm_count, nil, "so does the GPU")
tap.like(shell.read(file):gsub("\n%-%-   ", " "),
         "\n%-%- the last day: pinned, 256 x 256, what calls cost: [%d.]+ us; "
    .. "simulated [%d.]+ us, once fitted [%d.]+ us\n", "programs are listed one by one")

-- ---- as a profile and as a host's part ------------------------------------------------------

local function launch_us(options)
    local text = shell.sh('"$P" ' .. options .. [[ -e 'lab.spin(0.001)
        local before = lab.now_us()
        lab.spin(0.001)
        print(lab.now_us() - before)']])
    return tonumber(text)
end
near(launch_us("--profile " .. file), 1.3 * h200.host.launch_us, 0.03, "it is a profile")
near(launch_us("--profile t4 --host " .. file), 1.3 * h200.host.launch_us, 0.03,
    "and a host for another GPU")

-- ---- days -----------------------------------------------------------------------------------

out, err, code = calibrate("--profile h200 --host --quiet -o " .. file)
tap.is(err .. code, "0", "a second measurement")
tap.like(out, "^what calls cost +1%.00 x h200 .*\nall 2 days:\n"
    .. "what calls cost +1%.15 x h200  %(1%.00 to 1%.30%)  us\n", "is added to the first")
made = dofile(file)
tap.is(#made.days, 2, "which stays")
near(made.host.launch_us, 1.15 * h200.host.launch_us, 0.03, "the median of both counts")
tap.is(made.spread, nil, "the base's spread holds: two days do not show how days differ")

-- Nine days, the factors of their calls 1.1, 1.2, ..., 1.9; with the new one of 1, ten. In order
-- they are 1, 1, 1, 1.1, 1.1, 1.1, ...: the 10th percentile of 30 is at place 3.9, the 90th at
-- 27.1.
local function day(factor)
    local range = { low = factor, median = factor, high = factor }
    return { date = "2026-01-01 12:00", rounds = 40, calls = range, uploads_warm = range,
             uploads_cold = range, downloads = range }
end
local days = {}
for i = 1, 9 do
    days[i] = day(1 + i / 10)
end
shell.write(file, "return " .. measured.text_of { base = "h200", days = days })
out, err, code = calibrate("--profile h200 --host --quiet -o " .. file)
tap.is(err .. code, "0", "a tenth day")
made = dofile(file)
near(made.host.launch_us, 1.45 * h200.host.launch_us, 1e-3, "the median of all days counts")
near(made.spread["what calls cost"].low, 1.09 / 1.45, 1e-3, "from five days on percentiles do: low")
near(made.spread["what calls cost"].high, 1.81 / 1.45, 1e-3, "and high")
tap.is(made.spread["pageable downloads"].keys[2], "d2h_staging_gb_per_s", "each row has its keys")
tap.like(out, "all 10 days:\nwhat calls cost +1%.45 x h200  %(1%.09 to 1%.81%)", "which are shown")

-- A base whose uploads are cached always.
out, err, code = calibrate("--profile t4 --host --quiet -o " .. folder .. "/t4.lua")
tap.is(err .. code, "0", "a host without a table of uncached uploads")
tap.is(out:find("uncached", 1, true), nil, "has no factor for them")
tap.is(dofile(folder .. "/t4.lua").base, "t4", "a simulated GPU's profile is the base")

out, err, code = calibrate("--profile h200 --base t4 --host -o " .. folder .. "/other.lua")
tap.is(code, 0, "another GPU's profile can be the base")
tap.like(err, "^the GPU is NVIDIA H200, and the profile t4 is of Tesla T4: %-%-base chooses "
    .. "another one\n", "which is said")
tap.like(err, "\nstreamlab: calibrate: pageable downloads: no factor brings the simulator closer "
    .. "than to 1%.%d%d times the measured time\n", "and what its engines are too slow for")
-- Of eight calls three are products, of two kernels in two sizes of three, two other kernels, two
-- copies, and a record with a wait. With h200's figures that is 2 x 16.1 + 11.4 + 2 x 4.7
-- + 2 x 3.45 + 1.5 = 61.4 us, with t4's 3 x 10.14 + 2 x 4.94 + 2 x 1.82 + 0.7 = 44.6 us: 1.38
-- times. The programs draw their calls at random, so that they have a little more of some.
near(tonumber(out:match("^what calls cost +([%d.]+) x t4 ")), 1.38, 0.1, "calls have their factor")

-- ---- at the end of a calibration ------------------------------------------------------------

local whole = folder .. "/whole.lua"
out, err, code = calibrate("--profile t4 --base h200 --only device,host,gemm -o " .. whole)
tap.is(out .. code, "0", "parts on which programs depend")
tap.like(err, "^programs: what the host takes in them\n    1 round\npart 1 of 3, host: .*\n"
    .. "    the same programs on the simulator\n[^\n]*\n$",
    "run behind these, and on the simulator before the end")
local text = shell.read(whole)
tap.like(text, "\n    spread = {\n        %[\"what calls cost\"%] = { keys = { "
    .. "\"host%.event_create_us\",[^}]*},%s+low%s+=%s+1,%s+high%s+=%s+1 },\n    },\n",
    "calls have a row of spread")
tap.like(text, "\n%-%- programs: what calls cost: what the parts found, times [%d.]+\n",
    "for programs have decided what they cost")
tap.ok(not text:find("pageable uploads", 1, true), "what other parts measure is not scaled")
made = dofile(whole)
near(made.host.launch_us, shell.profile("t4").host.launch_us, 0.02, "launches cost what they do")
tap.is(made.gemm_kernels, nil, "products of one kernel each are not those of the base")

out, err, code = calibrate("--profile t4 --base h200 --only host --quiet -o " .. whole)
tap.is(out .. err .. code, "0", "other parts alone")
tap.is(dofile(whole).spread, nil, "are not enough for programs")

-- ---- what is refused ------------------------------------------------------------------------

local function refused(line, status, sentence, name)
    local o, e, c = calibrate(line)
    tap.is(o .. c, tostring(status), name .. " is refused")
    tap.like(e, "^streamlab: calibrate: " .. sentence, name .. " has a sentence")
end
refused("--host", 2, "%-o NAME%.lua is needed: where the profile goes\n", "nowhere to write to")
refused("--host --only host -o x.lua", 2, "%-%-host measures the host's part as a whole, without "
    .. "%-%-only\n", "--only")
refused("--host --passes 3 -o x.lua", 2, "%-%-host measures [^\n]*, without %-%-passes\n",
    "--passes")
refused("--host --base t4 -o " .. file, 1, ".*/my_host%.lua has a host's part relative to h200, "
    .. "and not to t4; name another file, or use %-%-base\n", "another base")
refused("--host -o " .. odd, 1, ".*/odd%.lua is there already and has no days of a host's part; "
    .. "name another file, or remove it\n", "another profile")

local function malformed(text, sentence)
    shell.write(file, 'return {base = "h200", days = ' .. text .. "}")
    refused("--profile h200 --host -o " .. file, 1, "profile my_host: " .. sentence, text)
    local o, e, c = shell.sh('"$P" --profile ' .. shell.quote(file) .. " -e 'lab.spin(1)'")
    tap.is(o .. c, "2", text .. " is no profile, either")
    tap.like(e, "profile my_host: " .. sentence, "for the same reason")
end
malformed("3", "'days' must be a list, got 3\n")
malformed("{a = {}}", "'days' must be a list, it has the key \"a\"\n")
malformed("{3}", "day 1 must be a table, got 3\n")
malformed("{{rounds = 3}}", "day 1 needs 'date', a text, got nothing\n")
malformed('{{date = "x", rounds = 0}}', "day 1 needs 'rounds', a whole number above 0, got 0\n")
malformed('{{date = "x", rounds = 1, calls = 2}}',
    "day 1 needs a table of low, median and high in 'calls', got 2\n")
malformed('{{date = "x", rounds = 1, calls = {low = 1, median = 0}}}',
    "day 1 needs 'calls%.median', a number above 0, got 0\n")
malformed('{{date = "x", rounds = 1, calls = {low = 1, median = 2, high = 1.5}}}',
    "day 1 has 'calls' out of order: low 1, median 2, high 1%.5\n")

shell.remove(folder)
tap.done()
