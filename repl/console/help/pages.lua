-- pages.lua - how help looks: an entry, a page, the list of all pages.

local api = import "repl/run/api.lua"
local lists = import "repl/run/lists.lua"
local sheet = import "repl/console/help/sheet.lua"

local pages = {}

-- ---- an entry --------------------------------------------------------------------------

-- "integer: how many. Default: 3" of an argument or option {name, type, text, default =}.
local function typed(page, item)
    local text = item.default and ("%s. Default: %s"):format(item[3], item.default) or item[3]
    return page:styled("code", item[2]) .. page:marked(": " .. text)
end

-- The text of {label, text}.
local function plain(page, item)
    return page:marked(item[2] or "")
end

-- Items with their labels, and what text_of(page, item) gives.
local function add_items(page, title, items, text_of)
    if not items or #items == 0 then
        return
    end
    page:heading(title)
    page:rows(lists.map(items, function(item) return { item[1], text_of(page, item) } end), 2)
end

local function add_example(page, entry)
    if not entry.example then
        return
    end
    page:heading("Example")
    for line in (entry.example:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
        page:line("  " .. line)
    end
end

-- What stands at the end in a word or two each.
local function add_names(page, entry)
    local rows = {}
    for _, row in ipairs {
        { "CUDA", entry.cuda }, { "PyTorch", entry.pytorch },
        { "differs", entry.differs and page:marked(entry.differs) },
        { "See also", entry.see and table.concat(entry.see, ", ") },
    } do
        if row[2] and row[2] ~= "" then
            rows[#rows + 1] = row
        end
    end
    page:gap()
    page:rows(rows)
end

-- "method of events", "command of the REPL"
local function what_it_is(entry)
    if entry.kind == "method" or entry.kind == "field" then
        return ("%s of %s"):format(entry.kind, api.plural(entry.class))
    elseif entry.kind == "command" or entry.kind == "global" then
        return (entry.kind == "command" and "command" or "function") .. " of the REPL"
    end
end

local function add_title(page, entry)
    local what = what_it_is(entry)
    local title = page:styled("strong", api.signature(entry))
    page:hanging("", what and title .. "  (" .. what .. ")" or title)
    local type_text = entry.kind == "field" and page:styled("code", entry.type) .. ": " or ""
    page:hanging("", type_text .. page:marked(entry.brief))
end

function pages.entry(entry)
    local page = sheet.new()
    add_title(page, entry)
    add_items(page, "Arguments", entry.arguments, typed)
    add_items(page, "Options", entry.options, typed)
    add_items(page, "Returns", entry.returns, plain)
    if entry.blocks then
        page:heading("Blocks")
        page:hanging("  ", page:marked(entry.blocks))
    end
    add_items(page, "Errors", entry.errors, plain)
    if entry.about then
        page:gap()
        page:markdown(entry.about)
    end
    add_example(page, entry)
    add_names(page, entry)
    return page
end

-- ---- lists -----------------------------------------------------------------------------

-- Entries with one line each; each(entry) gives the label, or it is the signature.
function pages.add_list(page, entries, label_of)
    page:rows(lists.map(entries, function(entry)
        return { (label_of or api.signature)(entry), page:marked(entry.brief) }
    end), 2)
end

local kinds <const> = {
    { "Functions", { ["function"] = true, global = true } }, { "Methods", { method = true } },
    { "Fields", { field = true } }, { "Commands", { command = true } },
}

local function add_entries(page, entries)
    for _, kind in ipairs(kinds) do
        local some = lists.select(entries, function(entry) return kind[2][entry.kind] end)
        if #some > 0 then
            page:heading(kind[1])
            pages.add_list(page, some)
        end
    end
end

-- A whole page: its prose, and its entries with a line each.
function pages.page(of)
    local page = sheet.new()
    page:heading(of.title)
    page:markdown(of.about or "")
    add_entries(page, of.entries)
    if of.more then
        page:gap()
        page:markdown(of.more)
    end
    if of.entries[1] then
        page:gap()
        page:hanging("", page:marked(("`?%s` says more, and so for the others."):format(
            of.entries[1].name)))
    end
    return page
end

-- ---- topics ----------------------------------------------------------------------------

local folders <const> = { guide = "docs/guide/%s.md", labs = "scripts/labs/%s/README.md",
    experiments = "scripts/experiments/%s.lua" }

-- A topic: its words, what they mean here, entries with a line each, and files to read.
function pages.topic(topic)
    local page, entries, files = sheet.new(), {}, {}
    for _, name in ipairs(topic.see) do
        local folder, file = name:match("^(%a+)/(.*)$")
        entries[#entries + 1] = not folder and api.entry(name) or nil
        files[#files + 1] = folder and folders[folder]:format(file) or nil
    end
    page:heading(topic[1])
    page:hanging("", page:marked(topic[2]))
    page:gap()
    pages.add_list(page, entries, api.called)
    page:gap()
    page:hanging("Read ", table.concat(files, ", "))
    return page
end

-- ---- what there is ----------------------------------------------------------------------

-- What can be called of a page, in groups of the same beginning: "lab.device", "devices",
-- "open" and "d:make_current". Only the first of each has that beginning.
local function groups(page, of)
    local list, by_start = {}, {}
    for _, entry in ipairs(of.entries) do
        local name = api.called(entry)
        local start = entry.kind == "command" and "." or name:sub(1, #name - #entry.key)
        local group = by_start[start]
        if not group and entry.kind ~= "field" then
            group = { page:styled("code", name) }
            by_start[start], list[#list + 1] = group, group
        elseif entry.kind ~= "field" then
            group[#group + 1] = page:styled("code", entry.kind == "command" and name or entry.key)
        end
    end
    return list
end

function pages.overview()
    local page = sheet.new()
    local rows, prose = {}, {}
    for _, of in ipairs(api.pages()) do
        local list = groups(page, of)
        for i, group in ipairs(list) do
            rows[#rows + 1] = { i == 1 and of.title or "", table.concat(group, " ") }
        end
        prose[#prose + 1] = #list == 0 and of.title or nil
    end
    rows[#rows + 1] = #prose > 0 and { "To read", table.concat(prose, ", ") } or nil
    page:rows(rows)
    page:gap()
    page:hanging("", page:marked("`d`, `s`, `e`, `g`, `k`, `t`, `tl`, `r`, `comm`, `w`, `th`, "
        .. "`rk`: a device, stream, event, graph, kernel, tensor, timeline, results, communicator, "
        .. "work, thread, ranks (`t` also of `lab.tap`). `?lab.matmul` or `help(lab.matmul)` says "
        .. "all about one, `?events` shows a page, `help \"cudaFree\"` searches."))
    return page
end

return pages
