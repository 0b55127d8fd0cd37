-- 86-stable-names.t.lua - the names that docs/stability.md promises are still there.
-- stable_names.txt has those of 1.0, a line each: where, a tab, the name.
--   script    what a script can use: lab.matmul, timeline:show
--   json      keys of tl:json(), with those of the objects in it: streams.busy_us
--   trace     keys of a trace: of the file, its header "streamlab", and "args"
--   profile   keys of a profile
--
--     LUA_PATH='tests/?.lua;;' build/streamlab tests/repl/86-stable-names.t.lua write
-- adds the names that have come since. Run it for a new minor version; nothing is taken out before
-- the next major version.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local data = require "api_data"
local json = debug.getregistry()["streamlab.environment"].import "repl/run/json.lua"

local list <const> = "tests/repl/stable_names.txt"

-- ---- what there is ------------------------------------------------------------------------------

local found = {}
local function note(where, name) found[where .. "\t" .. name] = true end

for name in pairs(data.names()) do
    note("script", name)
end

-- A program with something of each kind, on two GPUs.
local program <const> = [[
local s, t = lab.stream{name = "s"}, lab.stream{name = "t", priority = -1}
local x = lab.rand(512, 512)
local g = lab.graph(function() for i = 1, 3 do x:relu() end end)
local tl = lab.profile(function()
    x:to("cpu", {stream = s})
    lab.matmul(x, x, {stream = t})
    t:wait_event(s:record_event())
    x:to("cpu", {pinned = true, non_blocking = true, stream = t})
    g:launch(t)
    lab.comm{devices = {0, 1}}:all_reduce{lab.ones(64), lab.ones(64, {device = "cuda:1"})}
    lab.synchronize()
end)
tl:save(arg[1])
print(tl:json())
]]
local folder <const> = shell.folder()
shell.write(folder .. "/p.lua", program)
local out, err, code = shell.sh(('cd %s && "$P" --profile h200 --devices 2 p.lua '
    .. 't.json'):format(folder))
tap.is(code .. err, "0", "a program with something of each kind runs")

local function is_array(value) return #value > 0 end

-- Of lists the objects in them, of tables by kind or engine the table's own name.
local by_name <const> = { count = true, busy_us = true, engine_busy_us = true, overlap_us = true,
                          engine_overlap_us = true, communication_us = true }
local function note_json(object, before)
    for key, value in pairs(object) do
        if type(key) == "string" then
            note("json", before .. key)
        end
        if type(value) == "table" and not by_name[key] then
            note_json(value, is_array(object) and before or before .. key .. ".")
        end
    end
end
note_json(json.read(out), "")

local trace <const> = json.read(shell.read(folder .. "/t.json"))
for key in pairs(trace) do
    note("trace", key)
end
for key in pairs(trace.streamlab) do
    note("trace", "streamlab." .. key)
end
for _, event in ipairs(trace.traceEvents) do
    for key in pairs(event) do
        note("trace", "event." .. key)
    end
    for key in pairs(event.args or {}) do
        note("trace", "args." .. key)
    end
end
shell.remove(folder)

-- A profile's keys by what the built-in ones have, to the second level: host.launch.
local function note_keys(profile, before, depth)
    for key, value in pairs(profile) do
        if type(key) == "string" then
            note("profile", before .. key)
            if type(value) == "table" and depth < 2 then
                note_keys(value, before .. key .. ".", depth + 1)
            end
        end
    end
end
for path in io.popen "ls scripts/profiles/*.lua":lines() do
    local profile = dofile(path)
    profile.spread, profile.host_days = nil, nil         -- their keys are names that are free
    note_keys(profile, "", 1)
end

-- ---- what is promised ---------------------------------------------------------------------------

local promised = {}
for line in io.lines(list) do
    promised[#promised + 1] = line
end

if arg[1] == "write" then
    for _, line in ipairs(promised) do
        found[line] = true
    end
    promised = {}
    for line in pairs(found) do
        promised[#promised + 1] = line
    end
    table.sort(promised)
    shell.write(list, table.concat(promised, "\n") .. "\n")
end

-- Whether the simulator still takes a key of a profile that no built-in profile has any more: what
-- it refuses else is the value.
local function takes_key(name)
    local outer, inner = name:match "^([^.]*)%.?(.*)$"
    local value = 1
    if inner ~= "" then value = { [inner] = 1 } end
    local ok, failure = pcall(lab.open, { profile = { base = "textbook", [outer] = value } })
    return ok or not tostring(failure):find "unknown key"
end

local gone, counts = {}, {}
for _, line in ipairs(promised) do
    local where, name = line:match "^(%l+)\t(.+)$"
    counts[where] = (counts[where] or 0) + 1
    if not found[line] and not (where == "profile" and takes_key(name)) then
        gone[#gone + 1] = line
    end
end
for where, least in pairs { script = 250, json = 40, trace = 40, profile = 80 } do
    tap.ok(counts[where] >= least, ("%d names are promised of %s"):format(counts[where], where))
end
tap.is(table.concat(gone, "\n"), "", "all promised names are there")
tap.ok(not takes_key "no_such_key_us" and takes_key "hbm_gb_per_s",
       "a key that is gone would be found")
tap.done()
