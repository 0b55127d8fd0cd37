-- 55-generated-docs.t.lua - what is made of docs/api: the pages of docs/reference are what `make
-- docs` writes, LuaLS's file has everything, the man pages are mdoc without faults.

local T = require "tap"
local data = require "repl.api_data"
local shell = require "repl.shell"

local folder <const> = shell.folder()

local function generate(what)
    local _, err, code = shell.sh(("\"$P\" docs/generate/main.lua %s %s/%s"):format(what, folder,
        what))
    T.is(err .. code, "0", what .. " is made")
end

-- ---- docs/reference ------------------------------------------------------------------------

local function files_in(path)
    local names = {}
    for name in io.popen("ls " .. shell.quote(path)):lines() do
        names[#names + 1] = name
    end
    return names
end

local function check_reference()
    generate "reference"
    local made = files_in(folder .. "/reference")
    T.is(table.concat(files_in "docs/reference", " "), table.concat(made, " "),
        "docs/reference has the pages that are made, and no others")
    for _, name in ipairs(made) do
        local is, should = shell.read("docs/reference/" .. name), shell.read(("%s/reference/%s")
            :format(folder, name))
        if not T.ok(is == should, "docs/reference/" .. name .. " is what `make docs` writes") then
            T.diag(shell.sh(("diff docs/reference/%s %s/reference/%s | head -10"):format(name,
                folder, name)))
        end
    end
end

-- ---- LuaLS ---------------------------------------------------------------------------------

-- The comments that stand above a line of the file.
local function comments_above(text, line)
    local at = text:find("\n" .. line, 1, true)
    if not at then
        return nil
    end
    local lines = {}
    for comment in text:sub(1, at):gmatch("[^\n]*") do
        if comment:find("^%-%-%-") then
            lines[#lines + 1] = comment
        elseif comment ~= "" then
            lines = {}
        end
    end
    return table.concat(lines, "\n")
end

-- The parameters in the tags and in the function are the same.
local function check_parameters(text)
    local wrong, tags, n = {}, {}, 0
    for line in text:gmatch("[^\n]*") do
        local name, list = line:match("^function ([%w_.:]+)%((.*)%) end$")
        if name then
            n = n + 1
            wrong[#wrong + 1] = table.concat(tags, ", ") ~= list and name or nil
        end
        tags = line:find("^%-%-%-") and tags or {}
        tags[#tags + 1] = line:match("^%-%-%-@param ([%w_.]+)")
    end
    T.is(table.concat(wrong, " "), "", "each parameter has a tag of its name, in order")
    T.ok(n > 5, "of all functions")
end

-- The classes in types, which are what follows a name in a tag, are declared.
local function check_classes(text)
    local unknown = {}
    for line in text:gmatch("\n%-%-%-(@[^\n]*)") do
        for name in line:gsub("#.*", ""):gmatch("%f[%w]streamlab%.[%a_][%w_.]*") do
            local declared = text:find("---@class " .. name .. "\n", 1, true)
            unknown[#unknown + 1] = not declared and name or nil
        end
    end
    T.is(table.concat(unknown, " "), "", "classes that types name are there")
end

local function check_editor()
    generate "editor"
    local text = shell.read(folder .. "/editor/streamlab.d.lua")
    T.like(text, "^%-%-%-@meta streamlab\n", "LuaLS's file says what it is")
    local globals = {}
    local lab = assert(load(text, "=streamlab.d.lua", "t", globals))()
    T.ok(lab == globals.lab, "it is Lua that makes and returns lab")
    local missing = {}
    for name, kind in pairs(data.names()) do
        local key, class = name:match("[^.:]+$"), name:match("^%a+")
        local found
        if kind == "field" then
            local fields = comments_above(text, class == "lab" and "lab = {}" or "local " .. class
                .. " = {}")
            found = fields and fields:find("@field " .. key .. " ", 1, true)
        else
            found = text:find("\nfunction " .. name .. "(", 1, true)
        end
        missing[#missing + 1] = not found and name or nil
    end
    table.sort(missing)
    T.is(table.concat(missing, " "), "", "with all functions, methods and fields")
    check_parameters(text)
    check_classes(text)
end

local function check_event_in_editor()
    local text = shell.read(folder .. "/editor/streamlab.d.lua")
    T.like(text, "\n%-%-%-@param stream%? streamlab.stream [^\n]*\n"
        .. "%-%-%-@return streamlab.event # the event itself\nfunction event:record%(stream%) "
        .. "end\n",
        "a method with an argument that may be left out")
    T.like(text, "\n%-%-%-@class streamlab.options.event\n%-%-%-@field timing%? boolean [^\n]*\n"
        .. "%-%-%-@field enable_timing%? boolean [^\n]*\n\n",
        "options are a class")
    T.like(text, "\n%-%-%-@param options%? streamlab.options.event\n%-%-%-@return [^\n]*\n"
        .. "function lab.event%(options%) end\n", "which is the last argument")
    T.like(text, "\n%-%-%-@class streamlab.event\n%-%-%-@field timing boolean [^\n]*\n",
        "fields are in their class")
end

-- ---- man pages -----------------------------------------------------------------------------

-- How man shows the page.
local function shown(name)
    return (shell.sh(("mandoc -T ascii %s/man/%s | sed 's/.\b//g'"):format(folder, name)))
end

local function check_man_pages()
    generate "man"
    local program, library = shell.read(folder .. "/man/streamlab.1"),
        shell.read(folder .. "/man/streamlab-lua.3")
    T.like(program, "\n%.Dt STREAMLAB 1\n", "streamlab(1)")
    T.like(library, "\n%.Dt STREAMLAB%-LUA 3\n", "streamlab-lua(3)")
    if not os.execute "command -v mandoc >/dev/null" then
        T.skip("there is no mandoc", 8)
        return
    end
    -- The other page is not installed, nor is there always a list of those that are.
    local faults = shell.sh(("mandoc -T lint %s/man/* 2>/dev/null | "
        .. "grep -v 'referenced manual not found'"):format(folder))
    T.is(faults, "", "mandoc finds no fault")
    local text, functions = shown "streamlab.1", shown "streamlab-lua.3"
    local options = {}
    for option in (shell.run { "--help" }):gmatch("\n  (%-[%-%w]+)") do
        options[#options + 1] = not text:find(option, 1, true) and option or nil
    end
    T.is(table.concat(options, " "), "", "streamlab(1) has all options of --help")
    T.like(text, "record the whole run and save it; FILE ends in .json", "with what they do")
    T.like(text, "%-%-summary\n%s+busy times", "and those of subcommands")
    T.like(text, "%-%-from TIME, %-%-to TIME\n%s+a part of it",
           "an option that has no room for its "
        .. "text beside it is whole")
    T.is(select(2, text:gsub("Prints what a trace", "")), 1, "what show does is said once")
    T.like(functions, "e:record%(%[stream%]%)\n%s+records the event in a stream", "streamlab-lua(3)"
        .. " has the functions")
    T.like(functions, "\n +print%(e:query%(%)%)  %-%->", "and examples as they are")
end

check_reference()
check_editor()
check_event_in_editor()
check_man_pages()
shell.remove(folder)
T.done()
