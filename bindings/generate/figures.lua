-- figures.lua - prints the figures of the profiles that are built in, as a C file: reading and
-- completing a profile takes longer than all else when the simulator is opened. The Makefile runs
-- it with a program that does not have them yet.
local core = debug.getregistry()["streamlab.internals"]
local profiles = core.need("profiles")

local function quote(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

-- Exact in base 16.
local function numbers(values)
    local list = {}
    for i, value in ipairs(values) do
        assert(value > -math.huge and value < math.huge, "a figure is not finite")
        list[i] = ("%a"):format(value)
    end
    return table.concat(list, ", ")
end

local function setting(name, value)
    if type(value) == "string" then
        return ("{ %s, NULL, 0, %s }"):format(quote(name), quote(value))
    end
    local list = #value > 0 and numbers(value) or "0"
    return ("{ %s, (const double[]){ %s }, %d, NULL }"):format(quote(name), list, #value)
end

print('#include "bindings/profile_figures.h"\n')
local list = {}
for i, profile in ipairs(profiles.names()) do
    local settings = profiles.settings(profiles.figures(profile).flat)
    print(("static const sl_setting profile_%d[] = {"):format(i))
    for _, item in ipairs(settings) do print("    " .. setting(item[1], item[2]) .. ",") end
    print("};\n")
    list[i] = ("    { %s, profile_%d, %d },"):format(quote(profile), i, #settings)
end
print("const lsl_figures lsl_built_in_figures[] = {")
print(table.concat(list, "\n"))
print("    { NULL, NULL, 0 },\n};")
