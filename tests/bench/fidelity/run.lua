-- run.lua OUTFOLDER [--profile P] [--seeds A-B] [--runs N] [--against P] - how far the simulator is
-- from this machine's GPU: runs `streamlab compare` over all experiments, the puzzle's variants and
-- random scripts, and `streamlab probe` on both sides. --profile: the simulated GPU; --seeds: of
-- random.lua (default 1-200); --runs: on the GPU (default 5); --against: in the GPU's place another
-- simulated one. To be run in the repository's root, as scripts are named from there. Writes into
-- OUTFOLDER:
--   fidelity.jsonl, fidelity.svg    what compare's --jsonl and --svg write, of all scripts
--   fidelity.txt                    the summary
--   fidelity-probe.jsonl            a line for each row of probe, with what both sides say
--   dump/scripts/, dump/random/     all operations of both sides
-- All scripts run on the simulator twice; it is an error if that is not the same to the digit.
--
-- Exit status 0; 1 when something failed or a file cannot be written; 2 for wrong usage.

local here <const> = arg[0]:match("^.*/") or "./"
package.path = here .. "../../?.lua;" .. package.path
local json = require "both.json"
local files = require "bench.files"
local stop, quote, whole, write = files.stop, files.quote, files.whole, files.write

local experiments <const> = "scripts/experiments/"
local usage <const> = "usage: streamlab run.lua OUTFOLDER [--profile P] [--seeds A-B] [--runs N] "
    .. "[--against P]"

local function options_of(arguments)
    local options, i = { seeds = "1-200" }, 1
    while arguments[i] do
        local name = arguments[i]:match("^%-%-(%l+)$")
        if name == "profile" or name == "seeds" or name == "runs" or name == "against" then
            options[name] = arguments[i + 1] or stop(2, usage)
            i = i + 2
        elseif name or options.folder then stop(2, usage)
        else
            options.folder = arguments[i]
            i = i + 1
        end
    end
    return options.folder and options or stop(2, usage)
end

-- "--profile 'x' --runs '5'", of the names that are given.
local function given(options, ...)
    local words = {}
    for _, name in ipairs{ ... } do
        if options[name] then words[#words + 1] = "--" .. name .. " " .. quote(options[name]) end
    end
    return table.concat(words, " ")
end

-- The program that runs this script.
local function program()
    local i = -1
    while arg[i - 1] do i = i - 1 end
    return arg[i]
end

-- Runs a subcommand, whose stdout goes to a file. Gives its status.
local function run(path, ...)
    local _, how, status = os.execute(("LC_ALL=C %s %s > %s"):format(quote(program()),
        table.concat({ ... }, " "), quote(path)))
    return how == "exit" and status or stop(1, "ended by a signal: " .. table.concat({ ... }, " "))
end

-- Scripts -------------------------------------------------------------------------------------

-- All but random programs, which need a seed.
local function scripts()
    local list, pipe = {}, assert(io.popen("ls " .. experiments))
    for file in pipe:lines() do
        if file:find("%.lua$") and not file:find("^random") then
            list[#list + 1] = experiments .. file
        end
    end
    pipe:close()
    for _, variant in ipairs{ "nonblocking", "blocking", "pinned" } do
        list[#list + 1] = "scripts/puzzler.lua --variant " .. variant
    end
    return list
end

-- Compares a set of scripts. Gives the lines, and whether all of them have one. Its file grows
-- script by script, so that one that is interrupted is not for nothing.
local function compare(options, name, ...)
    local words = { ... }
    for i, word in ipairs(words) do words[i] = quote(word) end
    local path, dump = options.folder .. "/" .. name .. ".jsonl", options.folder .. "/dump/" .. name
    local seeds = name == "random" and given(options, "seeds") or ""
    local rounds = name == "random" and not options.against and "--rounds" or ""
    local status = run("/dev/null", "compare", given(options, "profile", "against", "runs"), rounds,
        seeds, "--jsonl", quote(path), "--dump", quote(dump), table.concat(words, " "))
    if status > 1 then stop(1, "the scripts cannot be compared") end
    local lines = whole(path)
    os.remove(path)
    return lines, status == 0
end

-- Simulates all of them again, beside what was measured: the summary, and the picture.
local function simulate_again(options)
    local path = options.folder .. "/fidelity"
    local again = path .. "-again.jsonl"
    local status = run(path .. ".txt", "compare --quiet --measured", quote(path .. ".jsonl"),
        given(options, "profile"), "--jsonl", quote(again), "--svg", quote(path .. ".svg"))
    io.stdout:write(whole(path .. ".txt"))
    if status ~= 0 or whole(again) ~= whole(path .. ".jsonl") then
        stop(1, again .. " is not the same: a script runs otherwise when it is simulated again")
    end
    os.remove(again)
end

-- CUDA's calls --------------------------------------------------------------------------------

local function probe(options, device)
    local path = options.folder .. "/probe.json"
    if run(path, "probe --json", device) ~= 0 then stop(1, "probe failed: " .. device) end
    local rows = json.read(whole(path))
    os.remove(path)
    return rows
end

local form <const> = '{"call": "%s", "memory": %s, "bytes": %s, "into": %s, "streams": "%s", '
    .. '"gpu_host_us": %.3f, "sim_host_us": %.3f, "gpu_total_us": %.3f, "sim_total_us": %.3f, '
    .. '"gpu_host_blocked": %s, "sim_host_blocked": %s, "gpu_serialised": %s, '
    .. '"sim_serialised": %s, "same": %s}\n'

local function text_or_null(text) return text == json.null and "null" or '"' .. text .. '"' end

local function number_or_null(number)
    return number == json.null and "null" or ("%d"):format(number)
end

-- Both sides' rows come in the same order; gives the lines, and how many are the same.
local function probe_lines(gpu, sim)
    local lines, same = {}, 0
    for i, g in ipairs(gpu) do
        local s = sim[i]
        for _, key in ipairs{ "call", "memory", "bytes", "into", "streams" } do
            if not s or g[key] ~= s[key] then stop(1, "probe has other rows on the simulator") end
        end
        local agree = g.host_blocked == s.host_blocked and g.serialised == s.serialised
        same = same + (agree and 1 or 0)
        lines[i] = form:format(g.call, text_or_null(g.memory), number_or_null(g.bytes),
            text_or_null(g.into), g.streams, g.host_us, s.host_us, g.total_us, s.total_us,
            g.host_blocked, s.host_blocked, g.serialised, s.serialised, agree)
    end
    return lines, same
end

local function compare_probes(options)
    local real = options.against and "--backend sim --profile " .. quote(options.against)
        or "--backend cuda"
    local lines, same = probe_lines(probe(options, real),
        probe(options, "--backend sim " .. given(options, "profile")))
    write(options.folder .. "/fidelity-probe.jsonl", table.concat(lines))
    print(("\nprobe: %d of %d rows the same in host_blocked and serialised"):format(same, #lines))
    for _, line in ipairs(lines) do
        if line:find('"same": false', 1, true) then io.stdout:write("  ", line) end
    end
end

-- All of it -----------------------------------------------------------------------------------

local function main()
    local options = options_of(arg)
    local file = io.open("scripts/puzzler.lua")
    if not file then stop(2, "it is to be run in the repository's root") end
    file:close()
    if not os.execute("mkdir -p " .. quote(options.folder .. "/dump")) then os.exit(1, true) end
    local lines, complete = compare(options, "scripts", table.unpack(scripts()))
    local random, all = compare(options, "random", experiments .. "random.lua")
    write(options.folder .. "/fidelity.jsonl", lines .. random)
    simulate_again(options)
    compare_probes(options)
    if not (complete and all) then stop(1, "a script failed") end
end

main()
