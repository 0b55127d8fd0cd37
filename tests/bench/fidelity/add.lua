-- add.lua - adds measurements of random programs to the benchmark (docs/benchmark.md).
--
--   streamlab add.lua RECORDS.jsonl --day D --machine M --gpu G --driver V --used U [--runs N]
--   streamlab add.lua --family F --seeds A-B --used U
--
-- RECORDS.jsonl is what measure.lua or `streamlab compare --jsonl` wrote on a GPU; its records of
-- random programs are taken, the others are left. Those of compare, which counts what overlaps, are
-- marked as recorded. --day is 2026-11-22 or the like, --machine a
-- letter for each machine (or session of a virtual one), --gpu and --driver as lab.device() has
-- them, --runs how many there were (default 5). --used is "held-out", or "adjusting" if these seeds
-- were looked at while the simulator was adjusted. The second form corrects that for seeds that are
-- there. --file FILE is the benchmark instead of docs/results/benchmark.jsonl; one that is not
-- there is begun.
--
-- Exit status 0; 1 when a file cannot be read or written, or does not fit; 2 for wrong usage.

local root <const> = (arg[0]:match("^.*/") or "./") .. "../../../"
package.path = root .. "tests/?.lua;" .. package.path
local files = require "bench.files"
local stop, quote, whole, write = files.stop, files.quote, files.whole, files.write

-- The program's own files, which find each other so.
function import(path) return dofile(root .. path) end

local benchmark_files = import "scripts/measure/benchmark/benchmark_files.lua"
local families = import "scripts/measure/benchmark/families.lua"
local records = import "repl/compare/records.lua"

local usage <const> = "usage: streamlab add.lua RECORDS.jsonl --day D --machine M --gpu G --driver "
    .. "V --used held-out|adjusting [--runs N] [--file FILE], or: --family F --seeds A-B --used U "
    .. "[--file FILE]"

local function options_of(arguments)
    local known = { day = true, machine = true, gpu = true, driver = true, used = true, runs = true,
                    file = true, seeds = true, family = true }
    local options, i = {}, 1
    while arguments[i] do
        local name = arguments[i]:match("^%-%-(%l+)$")
        if name then
            options[name] = known[name] and arguments[i + 1] or stop(2, usage)
            i = i + 2
        elseif options.records then stop(2, usage)
        else
            options.records = arguments[i]
            i = i + 1
        end
    end
    options.used = ({ ["held-out"] = "held out", adjusting = "adjusting" })[options.used]
        or stop(2, usage)
    options.file = options.file or root .. "docs/results/benchmark.jsonl"
    return options
end

-- The benchmark; an empty one if there is none.
local function read_benchmark(path)
    local file = io.open(path)
    if not file then return { digests = {}, list = {} } end
    file:close()
    local benchmark, wrong = benchmark_files.measurements(whole(path))
    if not benchmark then stop(1, path .. ": " .. wrong) end
    return benchmark
end

local function write_benchmark(path, benchmark)
    local text, wrong = benchmark_files.measurements_text(benchmark)
    if text then wrong = select(2, benchmark_files.measurements(text)) end
    if wrong then stop(1, ("%s would be wrong: %s"):format(path, wrong)) end
    write(path, text)
end

-- Adding ----------------------------------------------------------------------------------------

-- The program that runs this script.
local function program()
    local i = -1
    while arg[i - 1] do i = i - 1 end
    return arg[i]
end

-- Whether a program has copies of pageable memory: --list prints each of its steps.
local function has_pageable(family, seed)
    local pipe = assert(io.popen(("%s --backend sim %s%s --seed %d --list"):format(
        quote(program()), quote(root .. family.script), family.arguments, seed)))
    local text = pipe:read("a")
    if not pipe:close() then stop(1, ("%s --seed %d fails"):format(family.script, seed)) end
    return text:find("iB, pageable", 1, true) ~= nil
end

local function measurement_of(record, family, options)
    return { family = family.name, seed = record.seed, day = options.day, machine = options.machine,
             gpu = options.gpu, driver = options.driver, us = record.gpu_us,
             min_us = record.gpu_min_us, max_us = record.gpu_max_us,
             runs = math.tointeger(tonumber(options.runs or 5)),
             pageable = has_pageable(family, record.seed),
             recorded = record.lane_pairs ~= nil, used = options.used }
end

-- The file's digest of a family becomes that of the generator, if it has none.
local function check_digest(benchmark, family, options)
    local digest = benchmark_files.digest(family, function(path) return whole(root .. path) end)
    local known = benchmark.digests[family.name] or digest
    if known ~= digest then
        stop(1, ("%s is not that of %s: its digest is %s, not %s"):format(family.script,
            options.file, digest, known))
    end
    benchmark.digests[family.name] = digest
end

local function add(benchmark, options)
    local list, line = records.read(whole(options.records))
    if not list then
        stop(1, ("%s:%d: not a line of compare --jsonl"):format(options.records, line))
    end
    local n = 0
    for _, record in ipairs(list) do
        local family = record.seed and families.of(record.script)
        if family then
            check_digest(benchmark, family, options)
            table.insert(benchmark.list, measurement_of(record, family, options))
            n = n + 1
        end
    end
    return n
end

-- Correcting ------------------------------------------------------------------------------------

local function mark(benchmark, options)
    local first, last = options.seeds:match("^(%d+)%-(%d+)$")
    if not first or not families[options.family] then stop(2, usage) end
    local n = 0
    first, last = tonumber(first), tonumber(last)
    for _, m in ipairs(benchmark.list) do
        if m.family == options.family and m.seed >= first and m.seed <= last then
            m.used = options.used
            n = n + 1
        end
    end
    return n
end

local function main()
    local options = options_of(arg)
    if (options.records == nil) == (options.seeds == nil) then stop(2, usage) end
    local benchmark = read_benchmark(options.file)
    local n = (options.records and add or mark)(benchmark, options)
    if n == 0 then stop(1, "there is no measurement of a random program among these") end
    write_benchmark(options.file, benchmark)
    print(("%d measurements %s, %s has %d"):format(n, options.records and "added" or "marked",
        options.file, #benchmark.list))
end

main()
