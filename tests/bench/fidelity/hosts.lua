-- hosts.lua OUT.jsonl SECONDS [--host FILE] SCRIPT A-B [SCRIPT A-B]... - how well random programs
-- of a GPU are predicted with the host's part that recordings on that machine have shown until
-- then.
--
--   STREAMLAB_HOSTS=hosts streamlab --backend cuda tests/bench/fidelity/hosts.lua out.jsonl 60
--       scripts/experiments/random.lua 6001-6150
--   streamlab tests/bench/fidelity/hosts.lua --score out.jsonl
--
-- The programs run in groups of 25 seeds, each group in five rounds. Before a group each of its
-- programs is simulated with the profile h200 and with what is kept of this machine so far, with
-- ranges of twenty draws; then it runs, and each recording is kept. So no program is predicted by
-- what it has itself shown. It ends after the seconds. --host FILE: the GPU is a simulated one with
-- that host's part, to try this without one. --score prints errors and ranges of such a file.
--
-- Exit status 0; 1 when a file cannot be written; 2 for wrong usage.

local here <const> = arg[0]:match("^.*/") or "./"
package.path = here .. "../../?.lua;" .. package.path
local json = require "both.json"

local core = debug.getregistry()["streamlab.internals"]
local kept, draws = core.need("kept_hosts"), core.need("draws")
local usage <const> = "usage: streamlab hosts.lua OUT.jsonl SECONDS [--host FILE] SCRIPT A-B ..., "
    .. "or: --score OUT.jsonl"
local group_size <const>, rounds <const>, n_draws <const> = 25, 5, 20

local function stop(status, text)
    io.stderr:write(text, "\n")
    os.exit(status)
end

-- Running ---------------------------------------------------------------------------------------

-- What a script records: it ends where lab.profile has returned.
local profile, recorded, ended = lab.profile, nil, {}
function lab.profile(f)
    recorded = profile(f)
    error(ended, 0)
end

local function run(script, seed)
    local environment = setmetatable({ arg = { [0] = script, "--seed", tostring(seed) } },
                                     { __index = _G })
    environment._G = environment
    collectgarbage()
    collectgarbage()
    local fine, problem = pcall(assert(loadfile(script, "t", environment)))
    if not fine and problem ~= ended then error(problem, 0) end
    return recorded
end

-- {us, low_us, high_us} on h200 with that host; and whether it copies pageable memory.
local function predict(script, seed, host)
    local makespans, us, pageable = {}, nil, false
    for k = 0, n_draws do
        draws.begin(k, n_draws)
        lab.open{ backend = "sim", profile = "h200", host = host }
        local tl = run(script, seed)
        if k > 0 then makespans[k] = tl.makespan_us else us = tl.makespan_us end
        for _, span in ipairs(k == 0 and tl:spans() or {}) do
            pageable = pageable or span.name:find("Pageable", 1, true) ~= nil
        end
    end
    local low_us, high_us = draws.range(makespans)
    draws.begin()
    return { us = us, low_us = low_us, high_us = high_us }, pageable
end

local function times_text(times)
    return ('{"us": %.2f, "low_us": %.2f, "high_us": %.2f}'):format(times.us, times.low_us,
        times.high_us)
end

local function line_of(script, seed, pageable, runs, predictions, factors)
    table.sort(runs)
    return ('{"script": "%s", "seed": %d, "pageable": %s, "us": %.2f, "min_us": %.2f, "max_us": '
        .. '%.2f, "runs": %d, "h200": %s, "measured": %s, "host": "%s"}\n'):format(
            script:match("[^/]*$"), seed, tostring(pageable), runs[(#runs + 1) // 2], runs[1],
            runs[#runs], #runs, times_text(predictions.h200), times_text(predictions.measured),
            factors)
end

-- The programs of a group: predicted, then run in rounds; their lines.
local function run_group(group, gpu)
    local row = kept.latest(gpu.name)
    local host, list = row and kept.table(row), {}
    for seed = group.first, group.last do
        local h200, pageable = predict(group.script, seed)
        list[#list + 1] = { seed = seed, runs = {}, pageable = pageable,
                            predictions = { h200 = h200,
                                            measured = host and predict(group.script, seed, host)
                                                or h200 } }
    end
    gpu:make_current()
    for _ = 1, rounds do
        for _, item in ipairs(list) do
            local tl = run(group.script, item.seed)
            table.insert(item.runs, tl.makespan_us)
            if tl.simulated then kept.add{ { gpu = gpu.name, found = kept.seen(tl) } } end
        end
    end
    local lines = {}
    for i, item in ipairs(list) do
        lines[i] = line_of(group.script, item.seed, item.pageable, item.runs, item.predictions,
                           row and kept.factors_text(row) or "")
    end
    return table.concat(lines)
end

-- Groups of all scripts in turn.
local function groups_of(words)
    local groups = {}
    for i = 1, #words, 2 do
        local a, b = (words[i + 1] or ""):match("^(%d+)%-(%d+)$")
        if not a then stop(2, usage) end
        for first = math.tointeger(a), math.tointeger(b), group_size do
            groups[#groups + 1] = { script = words[i], first = first, at = #groups + i,
                                    last = math.min(first + group_size - 1, math.tointeger(b)) }
        end
    end
    table.sort(groups, function(x, y)
        if x.first % 1000 ~= y.first % 1000 then return x.first % 1000 < y.first % 1000 end
        return x.script < y.script
    end)
    return groups
end

local function measure(words)
    local out, seconds = table.remove(words, 1), tonumber(table.remove(words, 1))
    if not seconds then stop(2, usage) end
    local host
    if words[1] == "--host" then
        table.remove(words, 1)
        host = table.remove(words, 1)
    end
    local gpu = host and lab.open{ backend = "sim", profile = "h200", host = host } or lab.device()
    local groups = groups_of(words)
    local file, begin_ns = assert(io.open(out, "w")), core.wall_ns()
    for _, group in ipairs(groups) do
        if core.wall_ns() - begin_ns > seconds * 1e9 then break end
        file:write(run_group(group, gpu))
        file:flush()
    end
    file:close()
end

-- Scores ----------------------------------------------------------------------------------------

local function share(list, part)
    table.sort(list)
    return list[math.max(1, math.ceil(part * #list))]
end

local function score(list, which)
    local errors, widths, inside = {}, {}, 0
    for i, item in ipairs(list) do
        local p = item[which]
        errors[i], widths[i] = math.abs(p.us / item.us - 1), (p.high_us - p.low_us) / p.us
        inside = inside + (p.low_us <= item.us and item.us <= p.high_us and 1 or 0)
    end
    return ("%4.1f, %4.1f, %4.1f %%  inside %5.1f %%, width %4.1f %%"):format(
        100 * share(errors, 0.5), 100 * share(errors, 0.9), 100 * share(errors, 1),
        100 * inside / #list, 100 * share(widths, 0.5))
end

local function print_scores(path)
    local kinds, names = {}, {}
    local function add(name, item)
        if not kinds[name] then names[#names + 1] = name end
        kinds[name] = kinds[name] or {}
        table.insert(kinds[name], item)
    end
    for line in assert(io.lines(path)) do
        local item = json.read(line)
        add(item.script .. (item.pageable and ", pageable" or ", pinned only"), item)
        add(item.script .. ", all", item)
    end
    table.sort(names)
    for _, name in ipairs(names) do
        for _, which in ipairs{ "h200", "measured" } do
            print(("%-34s %3d  %-8s %s"):format(name, #kinds[name], which,
                score(kinds[name], which)))
        end
    end
end

if arg[1] == "--score" and arg[2] then
    print_scores(arg[2])
elseif #arg >= 4 then
    measure(table.move(arg, 1, #arg, 1, {}))
else
    stop(2, usage)
end
os.exit(0)
