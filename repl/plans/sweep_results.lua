-- sweep_results.lua - what streamlab merge makes of a sweep: its table as text, as a file, as a
-- plot.

local command = import "repl/run/command.lua"
local sweeps = import "repl/plans/sweeps.lua"

local kind = { name = sweeps.name, work = sweeps.work,
               problem_with_body = sweeps.problem_with_body,
               problem_with_point = sweeps.problem_with_point,
               problem_with_result = sweeps.problem_with_result,
               merge_options = { "output", "x", "y", "by", "log", "run" } }

-- The curves where none are named: the first value over the first axis, a curve for each value of
-- the second.
local function plot_options(made, axes, options)
    return { x = options.x or axes[1], y = options.y or made.columns[#axes + 1],
             by = options.by or not options.x and axes[2] or nil, log = options.log,
             file = options.output }
end

local function save(made, axes, options)
    local path = options.output
    local suffix = path:lower():match("%.%w+$")
    if suffix == ".csv" then
        command.try(made.csv, made, path)
    elseif suffix == ".jsonl" then
        command.try(made.jsonl, made, path)
    elseif suffix == ".svg" then
        command.checked(made.plot, made, plot_options(made, axes, options))
    else
        command.refuse(("-o needs a file that ends in .csv, .jsonl or .svg, got '%s'"):format(path))
    end
end

function kind.merge(read, results, options)
    local made, reason = command.try(sweeps.table, read, results)
    if not made then
        command.fail(reason)
    end
    if options.output then
        save(made, read.body.axes, options)
    end
    if options.run then
        local fine, problem = sweeps.go_on(read, made)
        if not fine then
            command.fail(problem)
        end
    elseif not options.output then
        made:show()
    end
    return true
end

return kind
