-- machine.lua - which machine a calibration ran on, for the head of its file.
--
-- The driver's version and the clocks come from nvidia-smi, where there is one and it shows the
-- GPU under the number that it has here; else they are left out.

local machine = {}

local fields <const> = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem"

local function output(line)
    local pipe = io.popen(line .. " 2>/dev/null")
    local text = pipe and pipe:read("a")
    if pipe then
        pipe:close()
    end
    return text or ""
end

local function columns_of(text)
    local list = {}
    for column in text:match("[^\n]*"):gmatch("[^,]+") do
        list[#list + 1] = column:match("^%s*(.-)%s*$")
    end
    return list
end

local function of_driver(device)
    local shown = columns_of(output(("nvidia-smi --query-gpu=%s --format=csv,noheader -i %d")
        :format(fields, device.index)))
    if shown[1] ~= device.name or #shown < 6 then
        return ""
    end
    local cuda = output("nvidia-smi"):match("CUDA Version:%s*([%d.]+)")
    return (", driver %s%s; SM clock %s of at most %s, memory clock %s of at most %s"):format(
        shown[2], cuda and ", CUDA " .. cuda or "", shown[3], shown[4], shown[5], shown[6])
end

function machine.text(device)
    if device.simulated then
        return ("on %s (simulated, profile %s)"):format(device.name, device.profile)
    end
    return "on " .. device.name .. of_driver(device)
end

return machine
