-- banner.lua - what the REPL says at the start: which GPU there is, and how to go on. It
-- opens nothing: making a context on a real GPU takes a second.

local text = import "repl/console/text.lua"

local banner = {}

local most_gpu_lines <const> = 4

-- One sentence about the GPU that the first call will open.
local function gpu_text()
    if internals.current_device() then
        return "GPU: " .. tostring(internals.current_device()):gsub("^device ", "")
    end
    local fine, gpu = pcall(internals.foresee)
    if not fine then
        return "no GPU: " .. (type(gpu) == "table" and gpu.message or tostring(gpu))
    end
    if gpu.backend ~= "sim" then
        return "GPU: " .. gpu.name .. (gpu.index > 0 and (" (cuda:%d)"):format(gpu.index) or "")
    end
    local what = type(gpu.profile) == "string" and gpu.profile or "a table"
    return ("GPU: %s, simulated (profile %s)%s"):format(gpu.name, what,
        gpu.reason and ": " .. gpu.reason or "")
end

function banner.show()
    local first = ("streamlab %s: `lab` is the laboratory"):format(lab.version)
    local lines = text.wrap(first, "", "  ")
    local gpu = text.wrap(text.clean(gpu_text(), true), "", "  ")
    for i = 1, math.min(#gpu, most_gpu_lines) do
        lines[#lines + 1] = gpu[i] .. (i == most_gpu_lines and #gpu > i and " ..." or "")
    end
    lines[#lines + 1] = "help() to start, ?lab.matmul for a name,"
    lines[#lines + 1] = ".help for commands, Tab completes,"
    lines[#lines + 1] = "Ctrl-D ends"
    io.write(table.concat(lines, "\n"), "\n")
end

return banner
