-- 22-graphs.t.lua - streamlab calibrate on simulated GPUs: it finds what graphs cost on
-- the device and the host again; and what it says without the parts whose figures it needs.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
local shell = require "shell"

local folder = shell.folder()
local made_path, odd_path = folder .. "/made.lua", folder .. "/odd.lua"

local function calibrate(line)
    return shell.sh('"$P" calibrate --backend sim --quiet ' .. line .. " -o " .. made_path)
end

local near <const> = measured.near
local short_us <const> = 0.1          -- shorter times are compared as if they were that long

local function is_found_again(made, truth, tolerance)
    for _, group in ipairs { "graph", "host_graph" } do
        for key, wanted in pairs(truth[group]) do
            local name = group .. "." .. key
            if type(wanted) == "number" then
                near(made[group][key], wanted, tolerance, name, short_us)
            else
                for _, point in ipairs(made[group][key]) do
                    near(point[2], measured.at(wanted, point[1]), tolerance,
                         name .. " at " .. point[1], short_us)
                end
            end
        end
    end
end

-- ---- a GPU that nobody built --------------------------------------------------------------------

local odd <const> = {
    graph = { gap_us = 1.7, switch_us = 2.6, fork_us = 0.41, join_us = 0.93, cross_us = 0.66,
              root_us = 0.83, launch_gap_us = 3.9 },
    host_graph = {
        begin_us = 1.3, end_us = 2.9, capture_kernel_us = 1.1, capture_copy_us = 1.6,
        capture_memset_us = 0.9, capture_host_func_us = 0.7, capture_event_us = 0.35,
        instantiate_us = { { 1, 11 }, { 50, 80 }, { 700, 1500 }, { 20000, 90000 } },
        instantiate_other_us = 2.2, instantiate_edge_us = 0.4, upload_us = 0.77,
        launch_us = { { 1, 3.1 }, { 300, 5 }, { 20000, 70 } }, branch_us = 2.4,
        cross_node_us = 0.19, copy_us = 0.8, memset_us = 1.9, host_func_us = 3.3, submit_us = 4.4,
        update_us = { { 1, 0.9 }, { 20000, 3000 } },
    },
}

shell.write(odd_path, "return " .. measured.text_of {
    base = "textbook", stream_gap_us = 2.3, engine_switch_us = 4.1, submit_us = 7.7,
    graph = odd.graph, host_graph = odd.host_graph } .. "\n")
local _, err, code = calibrate("--profile " .. odd_path
    .. " --base h200 --only graph_launches,latencies,graphs,graph_calls")
tap.is(code, 0, "graphs of an odd GPU are measured")
if code ~= 0 then
    tap.diag(err)
    tap.done()
    os.exit(1)
end
local made, text = shell.profile(made_path), shell.read(made_path)
is_found_again(made, odd, 0.02)
tap.like(text, "\n        fork_us = 0%.4[01]%d*, +%-%- a kernel, 2 to 16 behind it",
         "each says how")
tap.like(text, "\n        cross_node_us = 0%.19, +%-%- [^\n]*\n[^}]*spread 0%.0 %%",
    "and how much it varies")
tap.like(text:gsub("\n%-%-   ", " "), "\n%-%- host_graph%.instantiate_other_us: a copy 2%.2 us, "
    .. "a memset 2%.2 us, a host function 2%.2 us\n", "what the mean of several hides is a finding")
tap.like(text, "\n%-%- host_graph%.upload_us: for each kernel of 1 0%.77 us, ",
    "as what other sizes give")
tap.is(shell.sh('"$P" --profile ' .. made_path
    .. " -e 'local g = lab.graph(function() lab.spin(1) end) print(g:launch() == nil)'"), "true\n",
    "the simulator takes the file")

-- ---- a host whose calls differ by up to 25 % from each other ------------------------------------

shell.write(folder .. "/noisy.lua", ("return {base = '%s', chance = {seed = 7, calls = 0.25}}\n")
    :format(odd_path))
_, _, code = calibrate("--profile " .. folder .. "/noisy.lua --base textbook --passes 7 --only "
    .. "graph_launches,latencies,graphs,graph_calls")
tap.is(code, 0, "graphs of a noisy host are measured")
is_found_again(shell.profile(made_path), odd, 0.1)

-- ---- a GPU that has none of these costs ---------------------------------------------------------

_, _, code = calibrate("--profile textbook --base h200 --only "
    .. "graph_launches,latencies,graphs,graph_calls")
tap.is(code, 0, "and those of textbook")
made = shell.profile(made_path)
local textbook = shell.profile("scripts/profiles/textbook.lua")
is_found_again(made, { graph = textbook.graph, host_graph = {} }, 0.02)
for _, key in ipairs { "fork_us", "join_us", "cross_us", "root_us" } do
    near(made.graph[key], 0, 0.02, "graph." .. key .. ", which is 0,", short_us)
end
for _, key in ipairs { "begin_us", "end_us", "cross_node_us", "instantiate_edge_us" } do
    near(made.host_graph[key], 0, 0.001, "host_graph." .. key .. ", which is 0,", short_us)
end

-- ---- without the parts that they need -----------------------------------------------------------

_, _, code = calibrate("--profile textbook --base h200 --only graphs")
tap.is(code, 0, "one part alone")
made, text = shell.profile(made_path), shell.read(made_path)
local h200 = shell.profile("scripts/profiles/h200.lua")
near(made.graph.gap_us, textbook.graph.gap_us + h200.stream_gap_us - textbook.stream_gap_us, 0.02,
     "with the base's stream_gap_us, the difference to it", short_us)
tap.like(text, "\n        branch_us = 1%.05, +%-%- not measured; from h200\n",
    "what calls cost is the base's")
tap.like(text, "; not measured, from h200:.* host_graph", "and the note has it")

local _, message, status = calibrate("--only graph")
tap.is(status, 2, "a part that there is not is refused")
tap.like(message, "%-%-only needs parts of graph_launches,host,device,.*,graphs,graph_calls,",
         "with a sentence")

shell.remove(folder)
tap.done()
