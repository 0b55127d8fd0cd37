-- feedback.lua - what a student reads about a test, made from its report.
--
-- It depends on the lab and the submission alone, not on the machine: there are no times of the
-- machine, no paths, no addresses, and lines are as long on every terminal.

local case = import "repl/labs/case.lua"
local lists = import "repl/run/lists.lua"
local text = import "repl/run/text.lua"

local feedback = {}

local columns <const> = 76      -- TAP puts "# " before each line

local sigkill <const>, sigxcpu <const> = 9, 24

-- Addresses differ from run to run: `print` shows them for a table.
local function without_addresses(s)
    return (s:gsub("0x%x%x%x%x%x%x+", "0x..."))
end

-- Matching "\n+$" takes quadratic time in a text with many newlines.
local function without_last_newlines(s)
    return s:match("^.*[^\n]") or ""
end

-- Appends the lines of a text, none longer than it may be.
local function add(lines, s)
    for line in (s .. "\n"):gmatch("([^\n]*)\n") do
        local folded = utf8.len(line) and text.fold(line, columns) or { line }
        lists.append(lines, folded)
    end
end

local function add_field(lines, label, s)
    if s ~= "" then
        add(lines, ("  %-6s %s"):format(label, (s:gsub("\n", "\n         "))))
    end
end

-- Where to look, and the chart; "as above" if they are the previous assertion's.
local function add_view(lines, record, before)
    local same = before and before.look == record.look
    add_field(lines, "look", same and record.look ~= "" and "as above" or record.look)
    if record.chart ~= "" and not (before and before.chart == record.chart) then
        lines[#lines + 1] = without_last_newlines(record.chart)
    end
end

local function used_up(limits)
    return ("it used up its %g s of processor time"):format(limits.processor_s)
end

-- The message of an error, and what helps.
local function message_of(record)
    return record.look == "" and record.name or record.name .. "\n" .. record.look
end

local most_alike <const> = 3        -- failures of a kind, of which each is shown

-- What failures have in common that differ by a number alone, one for each item of a list, say.
local function kind_of(record)
    return record.kind == "failed" and record.name:gsub("%d+", "#") or nil
end

-- How many failures of each kind there are.
local function count_kinds(records)
    local count = {}
    for _, record in ipairs(records) do
        local kind = kind_of(record)
        if kind then
            count[kind] = (count[kind] or 0) + 1
        end
    end
    return count
end

-- `like`: how many failures it stands for.
local function add_record(lines, record, before, limits, verbose, like)
    if record.kind == "passed" and verbose then
        add(lines, "passed: " .. record.name)
        add_field(lines, "seen", record.seen)
        add_field(lines, "asked", record.asked)
    elseif record.kind == "error" then
        lines[#lines + 1] = "error: " .. message_of(record)
    elseif record.kind == "used up" then
        lines[#lines + 1] = "error: " .. used_up(limits) .. " and was stopped"
    elseif record.kind == "said" then
        add(lines, record.name)
    elseif record.kind == "skipped" then
        add(lines, "skipped: " .. record.name)
        add_field(lines, "why", record.seen)
    elseif record.kind == "failed" or record.kind == "note"
        or record.kind == "raced" and record.name ~= "" then
        add(lines, "failed: " .. record.name)
        if like > 1 then
            add(lines, ("  and %d more, which differ by a number alone"):format(like - 1))
        end
        add_field(lines, "seen", record.seen)
        add_field(lines, "asked", record.asked)
        add_view(lines, record, before)
    end
end

-- Which time was over when a process ended without the end of its report; nil if none was. The
-- system also kills a process when it has no more memory.
local function time_over(child, limits)
    if child.timed_out then
        return ("it took longer than %g s"):format(limits.wall_s)
    elseif child.signal == sigxcpu or child.signal == sigkill and not child.report_too_long
        and child.processor_s >= limits.processor_s then
        return used_up(limits)
    end
end

-- Why it ended so, as a sentence; nil if that says nothing about the submission.
local function why_stopped(child, limits)
    local time = time_over(child, limits)
    if time then
        return time .. " and was stopped"
    elseif child.report_too_long then
        return "it made more assertions than a report can hold"
    elseif child.signal and child.signal ~= sigkill then
        return ("its process ended with signal %d"):format(child.signal)
    end
end

-- What the teacher reads about a process that ended without a report and for no known reason.
local function why_not_run(child)
    if child.out_of_memory then
        return "there is no memory for what its process wrote"
    elseif child.signal == sigkill then
        return "its process was killed; is there too little memory for so many at a time (-j)?"
    end
    return child.errors
end

-- What the submission printed. In hidden tests students do not see it: it could reveal the tests.
local function printed_by(child)
    local printed = without_last_newlines(without_addresses(child.output))
    return child.truncated and printed .. "\n(what it printed beyond this is left out)" or printed
end

-- The kinds of records that a passed test may have.
local harmless = { passed = true, skipped = true, said = true, lacking = true, loading = true,
    loaded = true, ["end"] = true }

-- What the records say: {passed =, raised =, lacking =}, and their lines.
local function sum_up(records, limits, verbose)
    local result, lines, before = { passed = true, raised = false, lacking = {} }, {}, nil
    local count, shown = count_kinds(records), {}
    for _, record in ipairs(records) do
        local kind = kind_of(record)
        local like = kind and count[kind] > most_alike and count[kind] or 1
        result.passed = result.passed and harmless[record.kind] == true
        result.raised = result.raised or record.kind == "error" or record.kind == "used up"
        if record.kind == "lacking" then
            result.lacking[#result.lacking + 1] = record.name
        end
        if not (like > 1 and shown[kind]) then
            add_record(lines, record, before, limits, verbose, like)
            before = record.kind == "failed" and record or before
        end
        shown[kind or ""] = true
    end
    return result, lines
end

-- Whether races are all that failed. The record of a race has the reports of the assertion that
-- found it, if one did.
local function raced_alone(records, kinds)
    if not kinds.raced or kinds.note then
        return false
    end
    for _, record in ipairs(records) do
        if record.kind == "failed" and (record.look == "" or record.look ~= kinds.raced.look) then
            return false
        end
    end
    return true
end

-- Why no test of this submission can pass, as far as this one's process says; else nil.
local function problem_of(child, kinds, limits)
    if kinds.mistake then
        return message_of(kinds.mistake)
    elseif kinds.loading and not kinds.loaded then
        local time = kinds["used up"] and used_up(limits)
            or not kinds["end"] and time_over(child, limits)
        return time and time .. " while it was loaded, and was stopped" or nil
    end
end

-- The result of a test whose process has ended: {passed =, raced =, output =, printed =, problem =,
-- broken =, lacking =}. raced: the race checker found something. problem: why this and all other
-- tests of the submission fail. The last two are for the teacher: where the lab itself did not
-- work, and what this system could not do to confine the submission. verbose: with what assertions
-- saw that passed.
function feedback.of(test, child, limits, verbose)
    local records, kinds = case.read(child.report), {}
    for _, record in ipairs(records) do
        kinds[record.kind] = record
    end
    local result, lines = sum_up(records, limits, verbose)
    result.problem = problem_of(child, kinds, limits)
    result.raced = kinds.raced ~= nil
    if not kinds["end"] then
        local reason = not child.out_of_memory and why_stopped(child, limits) or nil
        result.passed, result.raised = false, true
        result.broken = not reason and why_not_run(child) or nil
        add(lines, "error: " .. (reason
            or "the test could not be run; if this comes again, tell your teacher"))
    end
    -- The hint is about the task, so it is not shown when an error ended the test.
    if test.hint and not result.passed and not result.raised then
        add(lines, "hint: " .. (raced_alone(records, kinds) and "Mend the race first. " or "")
            .. test.hint)
    end
    result.printed = test.hidden and "" or printed_by(child)
    if result.printed ~= "" then
        lines[#lines + 1] = "printed:\n  " .. result.printed:gsub("\n", "\n  ")
    end
    result.output = without_addresses(table.concat(lines, "\n"))
    return result
end

return feedback
