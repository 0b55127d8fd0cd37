-- 73-calibrate-peers.t.lua - streamlab calibrate on a machine with two GPUs: what goes from one to the other
-- is found again, and with one GPU nothing of it is measured.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()
local made_file <const>, odd_file <const> = folder .. "/made.lua", folder .. "/odd.lua"

local function calibrate(before, line)
    return shell.sh(('"$P" %s calibrate --quiet -o %s %s'):format(before, made_file, line))
end

local function write_odd(figures)
    local text = shell.read("scripts/profiles/textbook.lua"):gsub("\nreturn {", "\nlocal t = {")
    shell.write(odd_file, text .. "\n" .. figures .. "\nreturn t\n")
end

local function is_found_again(of, want, tolerance)
    local made = shell.profile(made_file)[of]
    for key, figure in pairs(want) do
        local got = made[key]
        tap.ok(math.abs(got - figure) <= tolerance * figure,
            ("%s.%s is found again: %g for %g"):format(of, key, got, figure))
    end
end

-- ---- copies and events ----------------------------------------------------------------------

local odd <const> = { gb_per_s = 61, latency_us = 4.2, pull_us = 31, pull_latency_us = 17.5, host_gb_per_s = 7.7,
                      host_latency_us = 33, event_us = 9.4 }
local lines = {}
for key, figure in pairs(odd) do
    lines[#lines + 1] = ("t.peer.%s = %s"):format(key, figure)
end
write_odd(table.concat(lines, "\n"))
for index = 0, 1 do
    local out, err, code = calibrate(("--device %d --devices 2 --profile %s"):format(index, odd_file), "--only peers")
    tap.is(out .. err .. code, "0", ("the links of GPU %d are measured"):format(index))
    is_found_again("peer", odd, 0.002)
end
local text = shell.read(made_file)
tap.like(text, "\n    %-%- From one GPU to another%.\n    peer = {\n", "they have a heading")
tap.like(text, "\n%-%- peer: 256 MiB both ways at once: 6[01]%.%d GB/s each\n", "both ways at once is a finding")

local out, err, code = calibrate("--devices 2", "--profile t4 --only peers")
tap.is(out .. err .. code, "0", "GPUs without access to each other are measured")
local t4 = shell.profile("scripts/profiles/t4.lua").peer
local made = shell.profile(made_file).peer
tap.is(made.gb_per_s, 0, "and have none")
tap.is(made.latency_us, t4.latency_us, "nor a latency of their own")

-- ---- one GPU --------------------------------------------------------------------------------

os.remove(made_file)
out, err, code = calibrate("", "--backend sim --only peers")
tap.like(code .. err, "^2streamlab: calibrate: the part 'peers' needs two GPUs; streamlab %-%-devices 2 ",
    "a part for two GPUs is refused where there is one")
tap.is(shell.read(made_file), nil, "and writes nothing")

shell.remove(folder)
tap.done()
