-- 23-peers.t.lua - streamlab calibrate on a machine with two GPUs: what goes from one to
-- the other is found again, and with one GPU nothing of it is measured.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
local shell = require "shell"

local folder = shell.folder()
local made_file <const>, odd_file <const> = folder .. "/made.lua", folder .. "/odd.lua"

local function calibrate(before, line)
    return shell.sh(('"$P" %s calibrate --quiet -o %s %s'):format(before, made_file, line))
end

-- Figures of a table by their keys in a profile.
local function figures_of(of, values)
    local figures = {}
    for key, figure in pairs(values) do
        figures[of .. "." .. key] = figure
    end
    return figures
end

local function is_found_again(of, want, tolerance)
    local made = shell.profile(made_file)
    for key, figure in pairs(figures_of(of, want)) do
        measured.near(measured.value(made, key), figure, tolerance, key)
    end
end

-- ---- copies and events ----------------------------------------------------------------------

local odd <const> = { gb_per_s = 61, latency_us = 4.2, pull_us = 31, pull_latency_us = 17.5,
                      host_gb_per_s = 7.7,
                      host_latency_us = 33, host_piece_bytes = 393216, host_duplex_factor = 0.77,
                      host_call_us_per_mib = 2.2, event_us = 9.4 }
measured.write_odd(odd_file, figures_of("peer", odd))
for index = 0, 1 do
    local out, err, code = calibrate(("--device %d --devices 2 --profile %s"):format(index,
        odd_file), "--only peers")
    tap.is(out .. err .. code, "0", ("the links of GPU %d are measured"):format(index))
    is_found_again("peer", odd, 0.002)
end
local text = shell.read(made_file)
tap.like(text, "\n    %-%- From one GPU to another%.\n    peer = {\n", "they have a heading")
tap.like(text, "peer%.gb_per_s: 256 MiB both ways at the same time take 1 times as long as one way",
    "both ways at once take no longer, as simulated")

local out, err, code = calibrate("--devices 2", "--profile t4 --only peers")
tap.is(out .. err .. code, "0", "GPUs without access to each other are measured")
local t4 = shell.profile("scripts/profiles/t4.lua").peer
local made = shell.profile(made_file).peer
tap.is(made.gb_per_s, 0, "and have none")
tap.is(made.latency_us, t4.latency_us, "nor a latency of their own")

-- ---- collectives ----------------------------------------------------------------------------

-- The tables come back as they are; the model's figures where no table corrects the model.
local h200 = shell.profile("scripts/profiles/h200.lua")
out, err, code = calibrate("--devices 2", "--profile h200 --only collectives")
tap.is(out .. err .. code, "0", "collectives are measured")
made = shell.profile(made_file)
for _, name in ipairs { "all_reduce", "all_gather", "reduce_scatter", "broadcast" } do
    tap.is_deeply(made.comm_us[name], h200.comm_us[name],
                  "the times of " .. name .. " are found again")
end
tap.is(made.comm.channels, 24, "and the number of channels")

local model <const> = { channels = 6, host_us = 23, channel_gb_per_s = 17, link_gb_per_s = 44,
                        base_us = 9, step_us = 6.5,
                        ll_channel_gb_per_s = 6.1, ll_link_gb_per_s = 21, ll_base_us = 5.5,
                        ll_step_us = 1.7 }
local figures = figures_of("comm", model)
figures["comm.ll128_base_us"] = 100
figures.comm_us = { all_reduce = {}, all_gather = {}, reduce_scatter = {}, broadcast = {} }
measured.write_odd(odd_file, figures)
out, err, code = calibrate("--devices 2 --profile " .. odd_file, "--only collectives")
tap.is(out .. err .. code, "0", "those of a machine that nobody built as well")
is_found_again("comm", model, 0.01)

-- An all_reduce of 12,000 bytes: 1.5 of it through the blocks takes 4 us by one block, the link 3
-- us; 10 us besides. With one block that is 10 + 5 us, with two 10 + sqrt(9 + 4).
local fit = measured.import "scripts/measure/calibrate/collective_fit.lua"
local rates = fit.rates({ { blocks = 1, us = 15 }, { blocks = 2, us = 10 + math.sqrt(13) } },
                        12000, 10)
tap.near(rates.channel, 4.5, 1e-9, "18,000 bytes in 4 us are 4.5 GB/s")
tap.near(rates.link, 4, 1e-9, "12,000 bytes in 3 us are 4 GB/s")
rates = fit.rates({ { blocks = 1, us = 14 }, { blocks = 2, us = 12 } }, 12000, 10)
tap.near(rates.channel, 4.5, 1e-9, "without a link that shows")
tap.is(rates.link, nil, "there is no rate of it")
tap.is(fit.rates({ { blocks = 1, us = 15 }, { blocks = 2, us = 15 } }, 12000, 10), nil,
    "blocks that make no difference have no rate")

-- ---- one GPU --------------------------------------------------------------------------------

os.remove(made_file)
out, err, code = calibrate("", "--backend sim --only peers")
tap.like(code .. err, "^2streamlab: calibrate: the part 'peers' needs two GPUs; streamlab "
    .. "%-%-devices 2 ",
    "a part for two GPUs is refused where there is one")
tap.is(shell.read(made_file), nil, "and writes nothing")

shell.remove(folder)
tap.done()
