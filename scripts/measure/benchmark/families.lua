-- families.lua - the families of the benchmark's random programs: which script draws them from a
-- seed. Plain Lua: tests/bench reads this file outside of the program.
--
-- A family: name; script, from the repository's root, and its arguments; shared, the files that
-- decide with the script what a seed draws; gpus, how many a program needs.

local families = {}

local program <const>, steps <const>, work <const> = "scripts/lib/random_program.lua",
    "scripts/lib/random_steps.lua", "scripts/lib/random_work.lua"

local function experiment(name) return "scripts/experiments/" .. name .. ".lua" end

families.list = {
    { name = "mixed", script = experiment "random", shared = { program }, gpus = 1 },
    { name = "captured", script = experiment "random", arguments = " --graph",
      shared = { program }, gpus = 1 },
    { name = "graphs", script = experiment "random_graphs", shared = { program, steps, work },
      gpus = 1 },
    { name = "kernels", script = experiment "random_kernels", shared = { program, work },
      gpus = 1 },
    { name = "calls", script = experiment "random_calls", shared = { program, steps, work },
      gpus = 1 },
    { name = "gpus", script = experiment "random_gpus", shared = { program }, gpus = 2 },
    { name = "apart", script = experiment "random_gpus", arguments = " --apart",
      shared = { program }, gpus = 2 },
}

for _, family in ipairs(families.list) do
    family.arguments = family.arguments or ""
    families[family.name] = family
end

-- The family of a script with its arguments, as `streamlab compare` has it; or nil.
function families.of(word)
    for _, family in ipairs(families.list) do
        local wanted = family.script .. family.arguments
        if word:sub(-#wanted) == wanted then return family end
    end
end

return families
