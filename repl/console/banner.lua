-- banner.lua - the REPL's first lines: which GPU is used, and how to get help. It opens no
-- device, because creating a context on a real GPU takes a second.

local text = import "repl/run/text.lua"

local banner = {}

local most_gpu_lines <const> = 4

-- "NVIDIA H200", or "NVIDIA H200, simulated (profile h200)", and its number if it is not the
-- first: of an open device, or of what internals.foresee says.
local function name_of(gpu)
    if gpu.backend == "sim" then
        local what = type(gpu.profile) == "string" and gpu.profile or "a table"
        return ("%s, simulated (profile %s)"):format(gpu.name, what)
    end
    return gpu.name .. (gpu.index > 0 and (" (cuda:%d)"):format(gpu.index) or "")
end

-- One sentence about the current GPU, or about the one that the first call will open. Why a
-- simulated one was taken has been said if it is open.
local function gpu_text()
    local current = internals.current_device()
    if current then
        return "GPU: " .. name_of(current)
    end
    local fine, gpu = pcall(internals.foresee)
    if not fine then
        return "no GPU: " .. (type(gpu) == "table" and gpu.message or tostring(gpu))
    end
    return "GPU: " .. name_of(gpu) .. (gpu.reason and ": " .. gpu.reason or "")
end

local ways <const> = {
    "help() to start,", "?lab.matmul for a name,", ".help for commands,", "Tab completes,",
    "Ctrl-D ends",
}

-- How to go on; a line ends only behind a comma.
local function add_ways(lines)
    local line = ways[1]
    for i = 2, #ways do
        if text.width(line) + 1 + text.width(ways[i]) > internals.columns() then
            lines[#lines + 1], line = line, ways[i]
        else
            line = line .. " " .. ways[i]
        end
    end
    lines[#lines + 1] = line
end

-- What is here, and on which GPU.
local function first_lines()
    local first = ("streamlab %s: `lab` is the laboratory"):format(lab.version)
    local lines = text.wrap(first, "", "  ")
    local gpu = text.wrap(text.clean(gpu_text(), true), "", "  ")
    for i = 1, math.min(#gpu, most_gpu_lines) do
        lines[#lines + 1] = gpu[i] .. (i == most_gpu_lines and #gpu > i and " ..." or "")
    end
    return lines
end

function banner.text()
    return table.concat(first_lines(), "\n")
end

function banner.show()
    local lines = first_lines()
    add_ways(lines)
    io.write(table.concat(lines, "\n"), "\n")
end

return banner
