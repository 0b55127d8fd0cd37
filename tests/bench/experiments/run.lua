-- run.lua FOLDER - runs all experiments, each in a process of its own, and CUDA's calls between two
-- kernels, on the device that this script gets: --backend, --profile. Writes FOLDER/NAME.txt (what
-- it printed), FOLDER/NAME.err, and of all of them FOLDER/summary.jsonl, one object a line:
--   {"device", "backend", "profile"}
--   {"experiment", "status", "verdicts": [{"word", "claim", "figures"}], "table"}
--   {"call", "memory", "into", "says", "word", "figures"}        of streamlab probe
--
-- Exit status 0; 1 when an experiment failed or a file cannot be written; 2 for wrong usage.

local lab = require "streamlab"

local here <const> = arg[0]:match("^.*/") or "./"
local scripts <const> = here .. "../../../scripts/experiments/"

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function whole(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

-- JSON ------------------------------------------------------------------------------------

local function json_string(text)
    return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- Fields in the order given: {{name, value}, ...}; a value is a string, a number, a list of lists
-- of fields, or nil, which is left out.
local function object(fields)
    local parts = {}
    for i = 1, #fields do
        local name, value = fields[i][1], fields[i][2]
        if type(value) == "table" then
            local items = {}
            for k, item in ipairs(value) do items[k] = object(item) end
            value = "[" .. table.concat(items, ", ") .. "]"
        elseif type(value) == "string" then value = json_string(value)
        end
        if value ~= nil then parts[#parts + 1] = json_string(name) .. ": " .. value end
    end
    return "{" .. table.concat(parts, ", ") .. "}"
end

-- Experiments -----------------------------------------------------------------------------

-- A script that takes --seed draws experiments and has no verdict.
local function names()
    local list, pipe = {}, assert(io.popen("ls " .. quote(scripts)))
    for file in pipe:lines() do
        local name = file:match("^(.*)%.lua$")
        if name and not whole(scripts .. file):find("--seed", 1, true) then
            list[#list + 1] = name
        end
    end
    pipe:close()
    return list
end

-- The program that runs this script.
local function program()
    local i = -1
    while arg[i - 1] do i = i - 1 end
    return arg[i]
end

-- {word, claim, figures} of a line; nil if it is no verdict.
local function verdict(line)
    local word, claim, figures = line:match("^Verdict: ([%l ]+): ([^:]+): (.+)$")
    return word and { { "word", word }, { "claim", claim }, { "figures", figures } }
end

-- What was printed without charts, which have | in their rows, and without the verdicts.
local function tables(text)
    local kept = {}
    for paragraph in (text .. "\n\n"):gmatch("(.-)\n\n+") do
        paragraph = ("\n" .. paragraph):gsub("\nVerdict: [^\n]*", ""):gsub("^\n+", "")
        if paragraph ~= "" and not paragraph:find("|", 1, true) then kept[#kept + 1] = paragraph end
    end
    return table.concat(kept, "\n\n")
end

local function run(name, folder, options)
    local path = folder .. "/" .. name
    local _, _, status = os.execute(("LC_ALL=C COLUMNS=100 %s %s %s > %s 2> %s"):format(
        quote(program()), options, quote(scripts .. name .. ".lua"), quote(path .. ".txt"),
        quote(path .. ".err")))
    local text, verdicts = whole(path .. ".txt"), {}
    for line in text:gmatch("[^\n]+") do verdicts[#verdicts + 1] = verdict(line) end
    return status, object{ { "experiment", name }, { "status", status }, { "verdicts", verdicts },
                           { "table", tables(text) } }
end

-- CUDA's calls ----------------------------------------------------------------------------

local function least_and_most(rows, claim, field)
    local least, most = math.huge, -math.huge
    for _, row in ipairs(rows) do
        if row.call == claim.call and row.memory == claim.memory and row.into == claim.into
            and (not claim.streams or claim.streams == row.streams) then
            least, most = math.min(least, row[field]), math.max(most, row[field])
        end
    end
    return least, most
end

local probe_words <const> = { yes = "holds", no = "no longer holds", partly = "depends" }

local function probed(rows)
    local lines = {}
    for _, claim in ipairs(lab.claims(rows)) do
        if claim.holds then
            local kernels_from, kernels_to = least_and_most(rows, claim, "total_us")
            local host_from, host_to = least_and_most(rows, claim, "host_us")
            lines[#lines + 1] = object{ { "call", claim.call }, { "memory", claim.memory },
                { "into", claim.into }, { "says", claim.says },
                { "word", probe_words[claim.holds] },
                { "figures", ("in %d of %d cases; kernels of 10 ms in two streams took %.1f to "
                    .. "%.1f ms, the call %.3f to %.3f ms"):format(claim.agree, claim.rows,
                    kernels_from / 1000, kernels_to / 1000, host_from / 1000, host_to / 1000) } }
        end
    end
    return lines
end

-- All of it -------------------------------------------------------------------------------

local function main(folder)
    if not folder or arg[2] then
        io.stderr:write("usage: streamlab [--backend B] [--profile P] run.lua FOLDER\n")
        os.exit(2, true)
    end
    local device = lab.device()
    local options = "--backend " .. device.backend
        .. (device.simulated and " --profile " .. quote(device.profile) or "")
    assert(os.execute("mkdir -p " .. quote(folder)))
    local lines, failed = { object{ { "device", device.name }, { "backend", device.backend },
                                    { "profile", device.profile } } }, false
    for _, name in ipairs(names()) do
        local status, line = run(name, folder, options)
        lines[#lines + 1] = line
        if status ~= 0 then
            failed = true
            io.stderr:write(("%s failed with status %d; %s/%s.err says why\n"):format(name, status,
                            folder, name))
        end
    end
    table.move(probed(lab.probes()), 1, 1000, #lines + 1, lines)
    local file <close> = assert(io.open(folder .. "/summary.jsonl", "w"))
    assert(file:write(table.concat(lines, "\n"), "\n"))
    os.exit(failed and 1 or 0, true)
end

main(arg[1])
