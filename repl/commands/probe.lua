-- probe.lua - streamlab probe: what CUDA's calls do to the host and to streams.

local command = import "repl/run/command.lua"
local captures = import "scripts/measure/probe/captures.lua"
local table_of = import "scripts/measure/probe/table.lua"
local profile = import "scripts/measure/probe/profile.lua"

local usage = [[
usage: streamlab probe [options]
Calls each function of CUDA between two kernels in two streams, and reports
whether the host waited, whether the kernels ran together, and for how long; on
blocking streams and on those with cudaStreamNonBlocking. It compares this with
the old list of implicit synchronisations and with CUDA's documents. Takes
seconds. With --capture it makes the calls while a stream is captured, and
reports which ones the capture forbids.

the device, else the one that a script would get:
  --backend NAME    cuda or sim
  --device N        the backend's device number N, from 0
  --profile NAME    the simulated GPU: h200, ... or a profile's file
  --host NAME       the simulated host: that of another profile, or of a file
what to find out, and to write:
  --capture         which calls are errors while a stream is captured
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

local file_option = { read = command.some, name = "output" }
local options, words = command.read(usage, command.with_device {
    capture = true, host = { read = command.some }, json = true, o = file_option, output = file_option, save = { read = command.file(".lua") },
}, ...)
command.refuse_files(usage, words)
if options.base and not options.save then
    command.refuse(usage, "--base goes with --save")
elseif options.capture and options.save then
    command.refuse(usage, "--capture measures nothing that a profile has: leave out --save")
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
    return command.clean(device.name .. (device.simulated and simulated or ""))
end

local function save(rows, device, base, base_name)
    local note = ("calls measured by streamlab probe; all else from the profile %s")
        :format(base_name)
    local made, measured, differences = command.try(profile.make, base, rows, device.name, note)
    command.write(options.save, profile.text(made, measured))
    for _, row in ipairs(differences) do
        command.warn(profile.difference_text(row))
    end
end

local device = command.open_device(usage, options)
local base, base_name
if options.save then
    base, base_name = command.load_base(usage, options, device)
end
for _, path in ipairs { options.output or options.save, options.save } do
    command.try_file(path)
end

local rows = command.try(options.capture and lab.capture_probes or lab.probes)
local text
if options.capture then
    text = options.json and captures.json(rows) or captures.text(rows, title(device))
else
    text = options.json and json(rows) or table_of.text(rows, title(device))
end
if options.output then
    command.write(options.output, text)
else
    io.stdout:write(text)
end
if options.save then
    save(rows, device, base, base_name)
end
