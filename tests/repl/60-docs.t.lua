-- 60-docs.t.lua - the listings of the pages run, and print what stands below them; links of
-- all pages lead somewhere.
--
-- Of the fenced blocks of a page, by what stands behind the ```:
--   lua      a script, which must run. It is a file of scripts/guide/, which the paragraph
--            before it names; where the two differ, the file counts.
--   python   the same if a file is named; it is not run.
--   console  commands, each behind "$ ", and what they print, together with stderr. They
--            run in a folder that all pages share, in which build/streamlab is the program.
--            Those of the guide and of the README write to build/ alone.
--   others   are not looked at. One without any name is a mistake.
-- All of it is on the simulator, 80 columns wide. A comment <!-- not run: why --> before a
-- block does not run it, and <!-- run if: command --> runs it where that command succeeds;
-- <!-- page runs if: command --> is about all blocks of a page. Where programs print something else
-- than before,
--     LUA_PATH='tests/?.lua;;' build/streamlab tests/repl/60-docs.t.lua write
-- writes the pages again, and the pictures that they show. Those of docs/reference are made of
-- docs/api, whose examples 54-api-examples.t.lua runs.

local T = require "tap"
local shell = require "repl.shell"

-- Files by a pattern of the shell, in the order of their names.
local function files(pattern)
    local list, pipe = {}, assert(io.popen("ls " .. pattern))
    for path in pipe:lines() do
        list[#list + 1] = path
    end
    pipe:close()
    return list
end

-- The guide's chapters in their order, since some use files of those before them; then pages
-- which may use files of the guide.
local pages <const> = files("docs/guide/[0-9]*.md")
pages[#pages + 1] = "docs/puzzler.md"
pages[#pages + 1] = "README.md"
-- What these make lies in a folder of its own.
local other_pages <const> = { "docs/teaching.md", "docs/notebook.md" }
-- Pictures of the pages, and what the commands above call them.
local pictures <const> = {
    ["docs/pictures/puzzler_blocking.svg"] = "build/blocking.svg",
    ["docs/pictures/overlap.svg"] = "build/overlap.svg",
    ["docs/pictures/pytorch.svg"] = "build/pytorch.svg",
    ["docs/pictures/copies.svg"] = "build/copies.svg",
    ["docs/pictures/cuda_free.svg"] = "build/cudaFree.svg",
    ["docs/pictures/event.svg"] = "build/event.svg",
    ["docs/pictures/nine.svg"] = "build/nine.svg",
    ["docs/pictures/pipeline.svg"] = "build/pipeline.svg",
    ["docs/pictures/prefetch.svg"] = "build/prefetch.svg",
}

local writing <const> = arg[1] == "write"
local folder <const> = shell.folder()

-- The folder looks like a clone to those who build and run there, but its docs/ is missing,
-- so that no command writes to the real one.
local function furnish()
    local here, program = io.popen("pwd"):read("l"), shell.program
    if not program:find("^/") then
        program = here .. "/" .. program
    end
    os.execute(("cd %s && mkdir build && ln -s %s %s build && ln -s %s %s ."):format(
        shell.quote(folder), shell.quote(program), shell.quote(program:match("^.*/") .. "tests"),
        shell.quote(here .. "/scripts"), shell.quote(here .. "/tests")))
end

local function run(command)
    local out, _, code = shell.sh(("exec 2>&1; cd %s; export STREAMLAB_BACKEND=sim "
        .. "LC_ALL=C.UTF-8; unset COLUMNS NO_COLOR STREAMLAB_PROFILE "
        .. "STREAMLAB_HOST\n%s"):format(shell.quote(folder), command))
    return out, code
end

-- ---- a page's blocks ----------------------------------------------------------------

-- A list of {language =, from =, to =, paragraph =}, in which lines from + 1 to to - 1 are
-- the block's text, and the paragraph is what stands before it.
local function find_blocks(lines)
    local blocks, block, paragraph, ended = {}, nil, "", false
    for i, line in ipairs(lines) do
        if block and line == "```" then
            block.to, block, paragraph = i, nil, ""
        elseif not block and line:find("^```") then
            block = { language = line:sub(4), from = i, paragraph = paragraph }
            blocks[#blocks + 1] = block
        elseif not block and line == "" then
            ended = true
        elseif not block then
            local follows = not ended or line:find("^<!%-%-")
            paragraph, ended = follows and paragraph .. " " .. line or line, false
        end
    end
    assert(not block, "a block without end")
    return blocks
end

-- What the commands of a block print, as lines.
local function printed(lines, block)
    local fresh = {}
    for i = block.from + 1, block.to - 1 do
        local command = lines[i]:match("^%$ (.+)")
        if command then
            fresh[#fresh + 1] = lines[i]
            for line in run(command):gmatch("([^\n]*)\n") do
                fresh[#fresh + 1] = line
            end
        end
    end
    return fresh
end

-- Where two lists of lines first differ, or nil.
local function first_difference(got, want)
    for i = 1, math.max(#got, #want) do
        if got[i] ~= want[i] then
            return i
        end
    end
end

-- Where the page's own condition fails, none of its blocks runs.
local function skip_page(lines, blocks)
    local condition = table.concat(lines, "\n"):match("<!%-%- page runs if: (.-) %-%->")
    local skipped = condition ~= nil and select(2, run(condition)) ~= 0
    for _, block in ipairs(blocks) do block.skipped = skipped end
end

local function is_skipped(block)
    local condition = block.paragraph:match("<!%-%- run if: (.-) %-%->%s*$")
    return block.skipped or block.paragraph:find("<!%-%- not run: [^>]+ %-%->%s*$") ~= nil
        or condition and select(2, run(condition)) ~= 0
end

local function name_of(path, block)
    return ("%s:%d"):format(path, block.from)
end

local function check_output(path, lines, block, fresh)
    local shown = table.move(lines, block.from + 1, block.to - 1, 1, {})
    local at = first_difference(fresh, shown)
    if not writing and not T.ok(not at, name_of(path, block) .. ": it prints what is shown") then
        T.diag(("  line %d should be: %s\n  it is: %s"):format(block.from + at,
            fresh[at] or "the end", shown[at] or "the end"))
    end
end

local listed = {}       -- the files of scripts/guide that a page shows
local commands = {}     -- the text of the blocks of commands that are run, of all pages

local function check_script(path, lines, block, file)
    local shown = table.concat(lines, "\n", block.from + 1, block.to - 1) .. "\n"
    listed[file or 0] = true
    if not writing then
        T.is(shown, file and shell.read(file) or "a file of scripts/guide",
            name_of(path, block) .. ": the listing is the file that is named before it")
    end
    -- Most run in a block of commands, where what they print is compared.
    local command = file and ("$ build/streamlab %s\n"):format(file)
    local shown_below = file and table.concat(commands):find(command, 1, true)
    if file and block.language == "lua" and not shown_below and not is_skipped(block) then
        local out, code = run("build/streamlab " .. file)
        if not T.is(code, 0, file .. " runs") then
            T.diag(out)
        end
    end
end

local function read_lines(path)
    local lines = {}
    for line in assert(io.open(path)):lines() do
        lines[#lines + 1] = line
    end
    return lines
end

-- Checks all blocks. Gives the page as it should be, as a text.
local function check_page(path)
    local lines, whole, at = read_lines(path), {}, 1
    local blocks = find_blocks(lines)
    skip_page(lines, blocks)
    for _, block in ipairs(blocks) do
        local fresh
        if block.language == "" and not writing then
            T.ok(false, name_of(path, block) .. ": a block says what it is")
        elseif block.language == "lua" or block.language == "python" then
            local file = block.paragraph:match("`(scripts/guide/[%w_%-]+%.%a+)`[^`]*$")
            fresh = writing and file and read_lines(file)
            if file or block.language == "lua" then
                check_script(path, lines, block, file)
            end
        elseif block.language == "console" and not is_skipped(block) then
            fresh = printed(lines, block)
            check_output(path, lines, block, fresh)
        end
        if fresh then
            table.move(lines, at, block.from, #whole + 1, whole)
            table.move(fresh, 1, #fresh, #whole + 1, whole)
            at = block.to
        end
    end
    table.move(lines, at, #lines, #whole + 1, whole)
    return table.concat(whole, "\n") .. "\n"
end

-- ---- links ----------------------------------------------------------------------------

local anchors_of = {}

-- The names under which a page's headings can be linked to, as on GitHub, and its anchors.
local function anchors(path)
    local names, code = anchors_of[path] or {}, false
    if anchors_of[path] then
        return names
    end
    for line in io.lines(path) do
        code = code ~= (line:find("^```") ~= nil)
        local heading = not code and line:match("^#+ (.+)")
        if heading then
            names[heading:lower():gsub("[^%w _-]", ""):gsub(" ", "-")] = true
        end
        for name in line:gmatch('<a id="([^"]+)">') do
            names[name] = true
        end
    end
    anchors_of[path] = names
    return names
end

-- The first link of a page that leads nowhere, or nil.
local function dead_link(path)
    for target in shell.read(path):gmatch("%]%(([^)%s]+)%)") do
        local file, anchor = target:match("^([^#]*)#?(.*)$")
        local from = path:match("^.*/") or ""
        local to = file == "" and path or from .. file
        if not target:find("^https?:") and (not io.open(to)
            or anchor ~= "" and not anchors(to)[anchor]) then
            return target
        end
    end
end

local function check_links()
    for _, path in ipairs(files("*.md docs/*.md docs/*/*.md scripts/*/README.md")) do
        T.is(dead_link(path), nil, path .. ": all links lead somewhere")
    end
end

-- Each page of results is in their list, which says of what machine it is.
local function check_results()
    local index = shell.read "docs/results/README.md"
    for _, path in ipairs(files("docs/results/*.md")) do
        local name = path:match("[^/]*$")
        T.ok(name == "README.md" or index:find("(" .. name .. ")", 1, true),
            path .. " is in the list of results")
    end
end

-- ---- all of it ------------------------------------------------------------------------

local function note_commands(path)
    local lines = read_lines(path)
    local blocks = find_blocks(lines)
    skip_page(lines, blocks)
    for _, block in ipairs(blocks) do
        if block.language == "console" and not is_skipped(block) then
            commands[#commands + 1] = table.concat(lines, "\n", block.from, block.to) .. "\n"
        end
    end
end

local function check_pages(paths)
    for _, path in ipairs(paths) do
        note_commands(path)
    end
    for _, path in ipairs(paths) do
        local fresh = check_page(path)
        if writing then
            shell.write(path, fresh)
        end
    end
end

furnish()
check_pages(pages)
T.is(table.concat(files(folder .. "/"), " "), "build scripts tests",
    "following the guide and the README leaves nothing outside of build/")
for _, file in ipairs(files("scripts/guide/*")) do
    T.ok(listed[file], file .. " is shown by a page")
end
check_pages(other_pages)
for path, name in pairs(pictures) do
    local fresh = shell.read(folder .. "/" .. name)
    if writing then
        shell.write(path, fresh)
    end
    T.ok(shell.read(path) == fresh, path .. " is " .. name .. " as it is made now")
end
shell.remove(folder)
check_links()
check_results()
T.done()
