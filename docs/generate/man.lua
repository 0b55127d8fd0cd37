-- man.lua - the man pages: streamlab.1 of repl/usage and docs/api/program.lua,
-- streamlab-lua.3 of all entries.

local api = import "repl/run/api.lua"
local command_line = import "repl/run/command_line.lua"
local commands = import "docs/generate/commands.lua"
local lists = import "repl/run/lists.lua"
local mdoc = import "docs/generate/mdoc.lua"

local man = {}

-- "November 2, 2026"; of a build that is to be repeated, its day.
local function today()
    local epoch = tonumber(os.getenv("SOURCE_DATE_EPOCH"))
    return (os.date("!%B %d, %Y", epoch):gsub(" 0", " "))
end

local function head(title, section)
    return table.concat {
        ".\\\" Made from docs/api.\n",
        ".Dd ", today(), "\n", ".Dt ", title, " ", section, "\n", ".Os\n",
    }
end

-- ---- streamlab(1) ------------------------------------------------------------------------

-- ".Nm streamlab" with the rest of a line of usage.
local function synopsis(lines)
    local out = {}
    for i, line in ipairs(lines) do
        local rest = line:gsub("^streamlab%s*", "")
        out[i] = ".Nm streamlab\n.Ar " .. mdoc.argument(rest, true) .. "\n"
    end
    return table.concat(out)
end

-- A text in one line.
local function words_of(text)
    return (text:gsub("%s+", " "):gsub(" $", ""))
end

-- The groups of options, a line and a list each, and what stands below them.
local function groups_text(line)
    local out = {}
    for _, group in ipairs(line) do
        local rows = lists.map(lists.select(group, function(row) return row[2] end), function(row)
            return { row[1], mdoc.prose(command_line.row_text(row)) }
        end)
        if group.title and #rows > 0 then
            out[#out + 1] = ".Pp\n" .. mdoc.prose(group.title:gsub("^%l", string.upper) .. ":")
        end
        out[#out + 1] = #rows > 0 and mdoc.tagged(rows) or ""
    end
    local before, status = (line.ending or ""):match("^(.-)(Exit status.*)$")
    for _, text in ipairs { before, status } do
        out[#out + 1] = text ~= "" and ".Pp\n" .. mdoc.prose(words_of(text)) or ""
    end
    return table.concat(out)
end

-- The prose of docs/api/program.lua in parts, {title =, text =}: each begins with a heading of
-- the second level, but for the first.
local function parts_of(page)
    local parts, fenced = { { lines = {} } }, false
    for line in ((page.about or "") .. "\n" .. (page.more or "") .. "\n"):gmatch("([^\n]*)\n") do
        local title = not fenced and line:match("^## (.*)$")
        fenced = fenced ~= (line:find("^```") ~= nil)
        if title then
            parts[#parts + 1] = { title = title:gsub("`", ""), lines = {} }
        else
            table.insert(parts[#parts].lines, line)
        end
    end
    for _, part in ipairs(parts) do
        part.text = mdoc.markdown(table.concat(part.lines, "\n"))
    end
    return parts
end

-- Subcommands have a heading each, what there is to say about them, in the words of the page
-- and not once more in those of --help, and their own options.
local function subcommand_text(command, parts)
    local about = mdoc.prose(words_of(command.line.about))
    for i, part in ipairs(parts) do
        if part.title == "streamlab " .. command.name then
            about = table.remove(parts, i).text:gsub("^%.Pp\n", "")
            break
        end
    end
    return (".Ss streamlab %s\n"):format(command.name)
        .. synopsis(command_line.usage(command.line)) .. ".Pp\n" .. about
        .. groups_text(command.line)
end

-- What manuals have as sections of their own.
local sections <const> = {
    ["Environment variables"] = "ENVIRONMENT", ["Files"] = "FILES", ["Exit status"] = "EXIT STATUS",
}

local function part_text(part)
    local text = part.text:gsub("^%.Pp\n", "")
    local section = sections[part.title]
    if section then
        return ".Sh " .. section .. "\n" .. text
    end
    return (part.title and ".Ss " .. mdoc.argument(part.title) .. "\n" or ".Pp\n") .. text
end

local function program_page()
    local line, parts = commands.program, parts_of(api.page("program"))
    local out = {
        head("STREAMLAB", 1), ".Sh NAME\n.Nm streamlab\n.Nd a laboratory for GPU streams\n",
        ".Sh SYNOPSIS\n", synopsis(command_line.usage(line)), ".Sh DESCRIPTION\n",
        mdoc.prose(words_of(line.about)), groups_text(line),
    }
    for _, command in ipairs(commands.all()) do
        out[#out + 1] = subcommand_text(command, parts)
    end
    for _, part in ipairs(parts) do
        out[#out + 1] = part_text(part)
    end
    out[#out + 1] = ".Sh SEE ALSO\n.Xr lua 1 ,\n.Xr streamlab-lua 3\n"
    return table.concat(out)
end

-- ---- streamlab-lua(3) ----------------------------------------------------------------------

-- Rows of arguments or options {name, type, text, default =}.
local function item_rows(items)
    local rows = {}
    for i, item in ipairs(items or {}) do
        local default = item.default and (". Default: " .. item.default) or ""
        rows[i] = { item[1], mdoc.prose(("%s: %s%s"):format(item[2], item[3], default)) }
    end
    return rows
end

local function add_list(out, title, rows)
    if #rows > 0 then
        out[#out + 1] = ".Pp\n" .. title .. ":\n" .. mdoc.tagged(rows, " -compact")
    end
end

local function pairs_rows(items)
    local rows = {}
    for i, item in ipairs(items or {}) do
        rows[i] = { item[1], mdoc.prose(item[2] or "") }
    end
    return rows
end

-- Its names elsewhere.
local function foreign_text(entry)
    local words = {}
    words[1] = entry.cuda and "CUDA: " .. entry.cuda or nil
    words[#words + 1] = entry.pytorch and "PyTorch: " .. entry.pytorch or nil
    words[#words + 1] = entry.differs and "what differs: " .. entry.differs or nil
    return #words > 0 and ".Pp\n" .. mdoc.prose(table.concat(words, "; ")) or ""
end

local function lines_of(text)
    local lines = {}
    for line in (text:gsub("%s+$", "") .. "\n"):gmatch("([^\n]*)\n") do
        lines[#lines + 1] = line
    end
    return lines
end

local function entry_text(entry)
    local out = {
        ".It Ic " .. mdoc.argument(api.signature(entry), true) .. "\n",
        mdoc.prose((entry.type and "`" .. entry.type .. "`: " or "") .. entry.brief),
    }
    add_list(out, "Arguments", item_rows(entry.arguments))
    add_list(out, "Options", item_rows(entry.options))
    add_list(out, "Returns", pairs_rows(entry.returns))
    if entry.blocks then
        out[#out + 1] = ".Pp\n" .. mdoc.prose("Blocks " .. entry.blocks)
    end
    add_list(out, "Errors", pairs_rows(entry.errors))
    out[#out + 1] = entry.about and mdoc.markdown(entry.about) or ""
    out[#out + 1] = entry.example and mdoc.code(lines_of(entry.example)) or ""
    out[#out + 1] = foreign_text(entry)
    return table.concat(out)
end

-- The page of the program has a man page of its own.
local function page_text(page)
    local out = {
        ".Sh " .. mdoc.argument(page.title:upper()) .. "\n",
        (mdoc.markdown(page.about or ""):gsub("^%.Pp\n", "")),
    }
    if #page.entries > 0 then
        out[#out + 1] = ".Bl -tag -width Ds\n"
        for _, entry in ipairs(page.entries) do
            out[#out + 1] = entry_text(entry)
        end
        out[#out + 1] = ".El\n"
    end
    out[#out + 1] = mdoc.markdown(page.more or "")
    return table.concat(out)
end

local function library_page()
    local out = {
        head("STREAMLAB-LUA", 3), ".Sh NAME\n.Nm streamlab-lua\n",
        ".Nd Lua functions of the laboratory for GPU streams\n",
        ".Sh SYNOPSIS\n", mdoc.code { 'local lab = require "streamlab"' },
        ".Sh DESCRIPTION\n", mdoc.prose("`lab` is a global in " ..
            "the program; elsewhere it is what `require` gives. What holds for each noun is in "
            .. "a section of its own."),
    }
    for _, page in ipairs(api.pages()) do
        out[#out + 1] = page.file ~= "program" and page_text(page) or ""
    end
    out[#out + 1] = ".Sh SEE ALSO\n.Xr lua 1 ,\n.Xr streamlab 1\n"
    return table.concat(out)
end

function man.files()
    return { ["streamlab.1"] = program_page(), ["streamlab-lua.3"] = library_page() }
end

return man
