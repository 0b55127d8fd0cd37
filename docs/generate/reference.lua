-- reference.lua - the pages of docs/reference: one for each file of docs/api, README.md with
-- all entries, cuda-pytorch.md, and facts.md of docs/facts.

local api = import "repl/run/api.lua"
local command_line = import "repl/run/command_line.lua"
local commands = import "docs/generate/commands.lua"
local links = import "docs/generate/links.lua"
local names = import "docs/generate/names.lua"
local facts = import "docs/generate/facts.lua"

local reference = {}

-- ---- words ---------------------------------------------------------------------------

-- A sentence of a brief.
local function sentence(text)
    return (text:gsub("^%l", string.upper):gsub("([^.])$", "%1."))
end

local function code(text)
    return "`" .. text .. "`"
end

-- A type, in a table: classes are links.
local function type_text(text, page)
    local shown = code((text:gsub("|", "\\|")))
    local class = text:match("^%a+$") and api.page(text)
    if class and class.class == text and class ~= page then
        return ("[%s](%s.md)"):format(shown, class.file)
    end
    return shown
end

local function cell(text, page)
    return (links.linked(text, page):gsub("\n", " "):gsub("\\?|", "\\|"))
end

-- ---- an entry --------------------------------------------------------------------------

local function add_items(out, title, items, page)
    if not items or #items == 0 then
        return
    end
    out("| ", title, " | type | default | |\n|---|---|---|---|\n")
    for _, item in ipairs(items) do
        out("| ", code(item[1]), " | ", type_text(item[2], page), " | ",
            cell(item.default or "", page), " | ", cell(item[3], page), " |\n")
    end
    out("\n")
end

local function add_outcome(out, entry)
    local page, some = entry.page, false
    for _, item in ipairs(entry.returns or {}) do
        out("- Returns ", type_text(item[1], page):gsub("\\|", "|"), ": ",
            links.linked(item[2], page), "\n")
        some = true
    end
    if entry.blocks then
        out("- Blocks ", links.linked(entry.blocks, page), "\n")
        some = true
    end
    for _, item in ipairs(entry.errors or {}) do
        out("- Raises ", code(item[1]), ": ", links.linked(item[2], page), "\n")
        some = true
    end
    out(some and "\n" or "")
end

-- `a`, `b`
local function codes(list)
    local words = {}
    for word in (list or ""):gmatch("[^,%s][^,]*") do
        words[#words + 1] = code(word)
    end
    return table.concat(words, ", ")
end

local function add_names(out, entry)
    local parts = {}
    if entry.cuda then
        parts[#parts + 1] = "CUDA: " .. codes(entry.cuda)
    end
    if entry.pytorch then
        parts[#parts + 1] = "PyTorch: " .. codes(entry.pytorch)
    end
    if entry.differs then
        parts[#parts + 1] = "What differs: " .. links.linked(entry.differs, entry.page)
    end
    local see = {}
    for i, name in ipairs(entry.see or {}) do
        see[i] = links.to(name, entry.page)
    end
    if #see > 0 then
        parts[#parts + 1] = "See also: " .. table.concat(see, ", ")
    end
    if #parts > 0 then
        out(table.concat(parts, "<br>\n"), "\n\n")
    end
end

-- A section with all there is to know.
local function add_entry(out, entry)
    local page = entry.page
    out("## ", code(entry.name), "\n\n<a id=\"", links.anchor(entry), "\"></a>\n\n")
    out("**", code(api.signature(entry)), "**<br>\n")
    out(entry.type and code(entry.type) .. ": " or "", links.linked(sentence(entry.brief), page),
        "\n\n")
    add_items(out, "argument", entry.arguments, page)
    add_items(out, "option", entry.options, page)
    add_outcome(out, entry)
    if entry.about then
        out(links.linked(entry.about, page):gsub("%s+$", ""), "\n\n")
    end
    if entry.example then
        local in_repl = entry.kind == "command" or entry.kind == "global"
        out("```", in_repl and "text" or "lua", "\n", entry.example:gsub("%s+$", ""), "\n```\n\n")
    end
    add_names(out, entry)
end

-- ---- command lines ---------------------------------------------------------------------

-- What --help prints.
local function usage_text(line)
    return "```text\n" .. command_line.text(line) .. "```\n\n"
end

-- The prose about subcommands, each below what its --help prints.
local function with_usage(text)
    local usage_of = {}
    for _, command in ipairs(commands.all()) do
        usage_of[command.name] = usage_text(command.line)
    end
    return (text:gsub("(\n## streamlab (%l+)\n\n)", function(heading, name)
        return heading .. usage_of[name]
    end))
end

-- ---- a page ----------------------------------------------------------------------------

-- Of a field all stands in the table, unless there is more to say.
local function has_section(entry)
    return entry.kind ~= "field" or entry.about or entry.example
end

local function add_contents(out, page)
    local fields = {}
    out("| | |\n|---|---|\n")
    for _, entry in ipairs(page.entries) do
        if entry.kind == "field" then
            fields[#fields + 1] = entry
        else
            out("| ", links.to(entry.name, page, api.signature(entry)), " | ",
                cell(entry.brief, page), " |\n")
        end
    end
    out("\n")
    if #fields == 0 then
        return
    end
    out("| field | type | |\n|---|---|---|\n")
    for _, entry in ipairs(fields) do
        local name = has_section(entry) and links.to(entry.name, page, api.called(entry))
            or ("<a id=\"%s\"></a>%s"):format(links.anchor(entry), code(api.called(entry)))
        out("| ", name, " | ", type_text(entry.type, page), " | ", cell(entry.brief, page), " |\n")
    end
    out("\n")
end

-- A function that adds texts, and the list they are added to.
local function collector()
    local parts = {}
    return function(...)
        for i = 1, select("#", ...) do
            parts[#parts + 1] = (select(i, ...))
        end
    end, parts
end

local function finished(parts)
    return (table.concat(parts):gsub("%s+$", "")) .. "\n"
end

-- The beginning of a page.
local function head(title, source)
    return ("# %s\n\n*Made by `make docs` from %s: change that.*\n\n"):format(title, source)
end

local function add_prose(out, text, page)
    if text then
        out(links.linked(text, page):gsub("%s+$", ""), "\n\n")
    end
end

local function page_text(page)
    local out, parts = collector()
    local is_program = page.file == "program"
    out(head(page.title, "docs/api/" .. page.file .. ".lua"
        .. (is_program and " and repl/usage" or "")))
    add_prose(out, page.about, page)
    out(is_program and usage_text(commands.program) or "")
    if #page.entries > 0 then
        add_contents(out, page)
    end
    for _, entry in ipairs(page.entries) do
        if has_section(entry) then
            add_entry(out, entry)
        end
    end
    add_prose(out, is_program and with_usage(page.more) or page.more, page)
    return finished(parts)
end

-- ---- the index --------------------------------------------------------------------------

local function add_index(out, page)
    out("## [", page.title, "](", page.file, ".md)\n\n")
    local some, fields = false, {}
    for _, entry in ipairs(page.entries) do
        if entry.kind == "field" then
            fields[#fields + 1] = links.to(entry.name, nil, api.called(entry))
        else
            out(some and "" or "| | |\n|---|---|\n", "| ",
                links.to(entry.name, nil, api.signature(entry)), " | ", cell(entry.brief), " |\n")
            some = true
        end
    end
    out(some and "\n" or "")
    if #fields > 0 then
        out("Fields: ", table.concat(fields, ", "), "\n\n")
    end
end

local function index_text()
    local out, parts = collector()
    local prose = {}
    out(head("Reference", "docs/api"), "All that scripts can call. In the REPL `?lab.matmul` ",
        "says the same, and so does `streamlab help lab.matmul`.\n\n")
    for _, page in ipairs(api.pages()) do
        if #page.entries == 0 then
            prose[#prose + 1] = ("- [%s](%s.md)\n"):format(page.title, page.file)
        end
    end
    out(table.concat(prose), "- [", names.title, "](cuda-pytorch.md)\n",
        "- [Facts about streams, with their sources](facts.md)\n\n")
    for _, page in ipairs(api.pages()) do
        if #page.entries > 0 then
            add_index(out, page)
        end
    end
    return finished(parts)
end

function reference.files()
    local files = { ["README.md"] = index_text() }
    files["cuda-pytorch.md"] = head(names.title, "docs/api") .. names.text()
    files["facts.md"] = head(facts.title, "docs/facts") .. facts.text()
    for _, page in ipairs(api.pages()) do
        files[page.file .. ".md"] = page_text(page)
    end
    return files
end

return reference
