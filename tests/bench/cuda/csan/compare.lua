-- compare.lua - runs the pairs in programs/ with both tools and makes tables of what they say.
-- main.lua is the program.

local name, path = ...
local here = path:match("^(.*)/[^/]*$") or "."
local folder = name:match("^(.*%.)[^.]*$") or ""
local judge, programs = require(folder .. "judge"), require(folder .. "programs")

local compare = {}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function read(path)
    local file = io.open(path, "rb")
    if not file then return "" end
    local text = file:read("a")
    file:close()
    return text
end

-- Runs a command in `folder`, at most two minutes; {status, out, err}. A signal is 128 and more.
local function execute(folder, command, out)
    local _, how, status = os.execute(("cd %s && timeout -k 5 120 %s < /dev/null > %s 2> %s")
        :format(quote(folder), command, quote(out .. ".out"), quote(out .. ".err")))
    return { status = how == "signal" and 128 + status or status,
             out = read(out .. ".out"), err = read(out .. ".err") }
end

local asks_torch <const> = [[import torch; print("PyTorch", torch.__version__, "on",]]
    .. [[ torch.cuda.get_device_name())]]
local asks_lab <const> = [[print(require "streamlab".device().name)]]

-- The tools, in the order of their columns. judged: how to read them. ending: of the programs.
-- command(file): what is run. asks: what is run first, to see whether the tool is there; it
-- prints its name.
function compare.tools(streamlab, python)
    local function lab(backend, title)
        local run = ("env -u STREAMLAB_BACKEND -u STREAMLAB_PROFILE %s --backend %s ")
            :format(quote(streamlab), backend)
        return { id = backend, title = title, judged = "streamlab", ending = ".lua",
                 asks = run .. "-e " .. quote(asks_lab),
                 command = function(file) return run .. "--check=warn " .. file end }
    end
    python = quote(python)
    return {
        { id = "pytorch", title = "PyTorch's sanitizer", judged = "pytorch", ending = ".py",
          asks = python .. " -c " .. quote(asks_torch),
          command = function(file)
              return ("env TORCH_CUDA_SANITIZER=1 %s %s"):format(python, file)
          end },
        lab("cuda", "streamlab, GPU"), lab("sim", "streamlab, simulator"),
    }
end

-- Sets tool.name, or tool.missing to a cell that says why there is none.
function compare.ask(tool, outdir)
    local run = execute(outdir, tool.asks, outdir .. "/ask." .. tool.id)
    if run.status == 0 then
        tool.name = run.out:match("[^\n]+") or "?"
        if tool.id == "sim" then tool.name = "as an " .. tool.name end
    else
        tool.missing = tool.id == "pytorch"
            and (run.err:find("No module named 'torch'", 1, true) and "no PyTorch here"
                 or "PyTorch does not work here")
            or tool.id == "cuda" and "no GPU here" or "does not run"
    end
end

-- What one tool says of one program; nil if the tool is missing. OUTDIR is absolute.
function compare.run(tool, program, outdir)
    if tool.missing then return nil end
    local file = program.name .. tool.ending
    local run = execute(here .. "/programs", tool.command(file),
                        ("%s/%s.%s"):format(outdir, program.name, tool.id))
    run.file, run.marks = file, judge.marks(read(("%s/programs/%s"):format(here, file)))
    return judge.answer(tool.judged, run)
end

-- One row a program: {program, answers = {[tool id] = answer}}.
function compare.run_all(tools, outdir)
    local rows = {}
    for _, program in ipairs(programs) do
        local row = { program = program, answers = {} }
        for _, tool in ipairs(tools) do
            row.answers[tool.id] = compare.run(tool, program, outdir)
        end
        rows[#rows + 1] = row
    end
    return rows
end

-- The table as Markdown, and how often each tool was right and wrong.
function compare.table(tools, rows)
    local lines, counts = {}, {}
    local titles = { "program", "what it does", "by the rules" }
    for i, tool in ipairs(tools) do
        titles[3 + i], counts[tool.id] = tool.title, { right = 0, wrong = 0, open = 0 }
    end
    lines[1] = "| " .. table.concat(titles, " | ") .. " |"
    lines[2] = "|" .. ("---|"):rep(#titles)
    for _, row in ipairs(rows) do
        local program = row.program
        local cells = { "`" .. program.name .. "`", program.what, program.rules }
        for i, tool in ipairs(tools) do
            local cell, right = judge.cell(program.rules, row.answers[tool.id], tool.missing)
            local count = right == nil and "open" or right and "right" or "wrong"
            cells[3 + i], counts[tool.id][count] = cell, counts[tool.id][count] + 1
        end
        lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
    end
    local sums = { "| | **right** | " }
    for i, tool in ipairs(tools) do
        local count = counts[tool.id]
        sums[1 + i] = count.right + count.wrong == 0 and "" or
            ("%d of %d"):format(count.right, count.right + count.wrong)
    end
    lines[#lines + 1] = table.concat(sums, " | ") .. " |"
    return table.concat(lines, "\n") .. "\n", counts
end

-- Who took part.
function compare.header(tools)
    local names = {}
    for _, tool in ipairs(tools) do
        names[#names + 1] = ("%s: %s"):format(tool.title, tool.name or tool.missing)
    end
    return table.concat(names, "; ") .. ".\n"
end

-- What each said, as Markdown.
function compare.said(tools, rows)
    local lines = { "| program | tool | exit status | first line |", "|---|---|---|---|" }
    for _, row in ipairs(rows) do
        for _, tool in ipairs(tools) do
            local answer = row.answers[tool.id]
            if answer then
                lines[#lines + 1] = ("| `%s` | %s | %d | %s |"):format(row.program.name,
                    tool.title, answer.status, (answer.said:gsub("|", "\\|")))
            end
        end
    end
    return table.concat(lines, "\n") .. "\n"
end

-- The page with another table between its two marks; nil if it has none.
function compare.page(page, text)
    local before, after = page:match("^(.-<!%-%- table %-%->\n).-(<!%-%- end of table %-%->.*)$")
    return before and before .. text .. after
end

-- Programs of which the sanitizer's source says something else than the sanitizer did.
function compare.misread(rows)
    local names = {}
    for _, row in ipairs(rows) do
        local answer = row.answers.pytorch
        local reports = answer and (answer.state == "race" and "reports" or answer.state)
        if answer and reports ~= row.program.reads then
            names[#names + 1] = ("%s: %s, not %s"):format(row.program.name, reports,
                                                          row.program.reads)
        end
    end
    return names
end

return compare
