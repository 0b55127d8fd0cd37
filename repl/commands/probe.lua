-- probe.lua - streamlab probe: what CUDA's calls do to the host and to streams.

local command = import "repl/run/command.lua"
local table_of = import "repl/calibrate/probe/table.lua"
local profile = import "repl/calibrate/probe/profile.lua"

local usage = [[
usage: streamlab probe [options]
Calls each function of CUDA between two kernels in two streams, and reports
whether the host waited, whether the kernels ran together, and for how long; on
blocking streams and on those with cudaStreamNonBlocking. It compares this with
the old list of implicit synchronisations and with CUDA's documents. Takes
seconds.

the device, else the one that a script would get:
  --backend NAME    cuda or sim
  --device N        the backend's device number N, from 0
  --profile NAME    the simulated GPU: h200, ... or a profile's file
what to write:
  --json            one object for each measurement, in an array
  -o, --output FILE write to this file, not to stdout
  --save FILE       also write a profile, which ends in .lua, with which the
                    simulator gives the same results
  --base NAME       the profile for all other figures: a name or a file; without
                    it the simulated GPU's own, or h200
others:
  -h, --help        print this and stop
Exit status: 0 success, 1 the device failed or a file cannot be written, 2 wrong
usage.
]]

local function whole(text)
    local number = text:match("^%d+$") and math.tointeger(tonumber(text))
    if not number or number > 1023 then
        return nil, "a whole number from 0 to 1023"
    end
    return number
end

local function lua_file(text)
    if not text:find("[^/]%.lua$") then
        return nil, "a file that ends in .lua"
    end
    return text
end

local file_option = { read = command.some, name = "output" }
local known = {
    json = true, backend = { read = command.one_of("cuda", "sim") }, device = { read = whole },
    profile = { read = command.some }, o = file_option, output = file_option,
    save = { read = lua_file }, base = { read = command.some },
}

local options, words = command.read(usage, known, ...)
if #words > 0 then
    command.refuse(usage, ("no files are needed, got '%s'"):format(words[1]))
elseif options.base and not options.save then
    command.refuse(usage, "--base goes with --save")
end

-- ---- output ---------------------------------------------------------------------------------

local function text_or_null(value)
    return value and ('"%s"'):format(value) or "null"
end

local function json(rows)
    local out = {}
    for i, row in ipairs(rows) do
        out[i] = ('  {"call": "%s", "memory": %s, "bytes": %s, "into": %s, "streams": "%s", '
            .. '"host_us": %.3f, "total_us": %.3f, "host_blocked": %s, "serialised": %s}'):format(
            row.call, text_or_null(row.memory), row.bytes or "null", text_or_null(row.into),
            row.streams, row.host_us, row.total_us, row.host_blocked, row.serialised)
    end
    return "[\n" .. table.concat(out, ",\n") .. "\n]\n"
end

local function title(device)
    local simulated = " (simulated, profile " .. device.profile .. ")"
    return command.clean(device.name .. (device.backend == "sim" and simulated or ""))
end

-- The base's table and what it is called.
local function load_base(device)
    local base = options.base
    if not base and device.backend == "sim" then
        base = options.profile or internals.chosen_profile()
    end
    return command.checked(usage, internals.load_profile, base or "h200")
end

local function tell_difference(row)
    local size = row.bytes and (", %d bytes"):format(row.bytes) or ""
    io.stderr:write(("streamlab: probe: the profile cannot say what %s%s%s did with %s streams\n")
        :format(row.call, row.memory and " (" .. row.memory .. ")" or "", size, row.streams))
end

local function save(rows, device, base, base_name)
    local note = ("calls measured by streamlab probe; all else from the profile %s")
        :format(base_name)
    local made, measured, differences = command.try(profile.make, base, rows, device.name, note)
    command.write(options.save, profile.text(made, measured))
    for _, row in ipairs(differences) do
        tell_difference(row)
    end
end

local device = command.open_device(usage, options)
local base, base_name
if options.save then
    base, base_name = load_base(device)
end
for _, path in ipairs { options.output or options.save, options.save } do
    command.try_file(path)
end

local rows = command.try(lab.probes)
local text = options.json and json(rows) or table_of.text(rows, title(device))
if options.output then
    command.write(options.output, text)
else
    io.stdout:write(text)
end
if options.save then
    save(rows, device, base, base_name)
end
