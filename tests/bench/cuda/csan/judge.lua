-- judge.lua - what a tool said of a program, read from its exit status and its output.
--
-- An answer is {state, lines, said, status}. state: "race", "accident", "silent", or "failed":
-- it did not get to its end for another reason. A race counts only if it is reported of the two
-- lines of the program that are marked A and B; "elsewhere" if it is of others.

local judge = {}

-- The numbers of the lines marked A and B.
function judge.marks(text)
    local marks, number = {}, 0
    for line in text:gmatch("([^\n]*)\n") do
        number = number + 1
        local mark = line:match("# ([AB])$") or line:match("%-%- ([AB])$")
        if mark then
            assert(not marks[mark], "two lines are marked " .. mark)
            marks[mark] = number
        end
    end
    assert(marks.A and marks.B, "a line is not marked")
    return marks
end

-- The first line that says something.
local function first_line(...)
    for _, text in ipairs { ... } do
        for line in text:gmatch("[^\n]+") do
            if line:find("%w") then return line end
        end
    end
    return ""
end

-- The innermost line of a file in a Python stack, 0 if there is none.
local function line_in(file, stack)
    local found = 0
    for path, line in stack:gmatch('File "([^"\n]*)", line (%d+)') do
        if path:match("[^/]*$") == file then found = tonumber(line) end
    end
    return found
end

-- Whether two lines are A and B, in any order.
local function meets(one, other, marks)
    return one == marks.A and other == marks.B or one == marks.B and other == marks.A
end

-- PyTorch's report has a stack of the current and of the previous access each; behind them
-- comes the stack of the allocation.
local function pytorch_reports(file, err)
    local reports = {}
    for text in (err .. "CSAN detected"):gmatch("a possible data race(.-)%f[C]CSAN detected") do
        local current, previous = text:match("^(.-)\nPrevious access by stream (.*)$")
        previous = (previous or ""):gsub("\nTensor was allocated.*", "")
        reports[#reports + 1] = { kind = "race", line_in(file, current or ""),
                                  line_in(file, previous) }
    end
    return reports
end

local function streamlab_reports(file, err)
    local reports = {}
    local place = file:gsub("%p", "%%%0") .. ":(%d+)"
    for text in ("\n" .. err):gsub("\nstreamlab: ", "\n\0"):gmatch("\0([^\0]*)") do
        local kind = text:match("^(%a+): ")
        if kind == "race" or kind == "accident" then
            reports[#reports + 1] = { kind = kind,
                tonumber(text:match("\n  first%s+[^\n]-" .. place)) or 0,
                tonumber(text:match("\n  second%s+[^\n]-" .. place)) or 0 }
        end
    end
    return reports
end

-- tool: "pytorch" or "streamlab". run: {status, out, err}, and the program's file and marks.
function judge.answer(tool, run)
    local reports = (tool == "pytorch" and pytorch_reports or streamlab_reports)(run.file, run.err)
    local answer = { status = run.status, said = first_line(run.err, run.out) }
    for _, report in ipairs(reports) do
        local hit = meets(report[1], report[2], run.marks)
        if hit or not answer.state then
            answer.state = hit and report.kind or "elsewhere"
            answer.lines = { report[1], report[2] }
        end
        if hit then break end
    end
    if answer.state then return answer end
    local ended = run.status == 0 and ("\n" .. run.out):find("\nresult[ \t]")
    answer.state = ended and "silent" or "failed"
    return answer
end

-- The cell of an answer (nil: the tool was not there, for `missing`), and whether it is right:
-- true, false, or nil where nothing can be said.
function judge.cell(rules, answer, missing)
    if not answer then return missing, nil end
    local state = answer.state
    if state == "failed" then
        return answer.status == 124 and "ran out of time"
               or ("failed, exit status %d"):format(answer.status), nil
    end
    if state == "elsewhere" then
        return ("**reports lines %d and %d**"):format(table.unpack(answer.lines)), false
    end
    if state == "silent" then
        if rules == "ordered" then return "silent", true end
        return "**misses it**", false
    end
    if rules == "ordered" then return "**false alarm**", false end
    if state == rules then return "finds it", true end
    return ("**calls it %s %s**"):format(state == "accident" and "an" or "a", state), false
end

return judge
