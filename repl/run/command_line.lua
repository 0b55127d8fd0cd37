-- command_line.lua - the command line of the program or of a subcommand, which a table describes
-- (repl/usage): what --help prints, and how words are read. The reference, the man page and the
-- completion of shells are made of the same tables.
--
-- A table has
--   usage     "streamlab show [options] FILE"; or a list of such lines
--   about     what the command does
--   ending    what stands below the options
-- and groups { title = TITLE or nil, ROW, ... }. A row is { NAMES, TEXT, FIELDS... }: the left
-- column of --help, and the right one, in which indentation does not matter. A row whose names are
-- "-v, --verbose", "--columns N" or the like describes options:
--   read      what reads the value (values.lua); a table of these by option, where they differ
--   second    what reads a second value, the word behind the first: both are a list then
--   one_of    the words that the value may be
--   default   the value where an option as "--check[=MODE]" stands without one
--   list      true: it may be given several times, and its values are a list
--   free      true: whatever comes next is the value, also what looks like an option
--   field     what the value is called, else by the option's long name
--   with      an option without which this one means nothing
--   of        "grade pack": the actions that have it, where a command has several
-- Without TEXT it is not in --help, whose other rows speak of it. `--help` need not be described.

local lists = import "repl/run/lists.lua"
local values = import "repl/run/values.lua"

local command_line = {}

local text_column <const> = 20
local help_row <const> = { "-h, --help", "print this and stop" }

-- ---- options of a table ------------------------------------------------------------------------

-- "-x, --by NAME, --log[=X]": { { dash = "-", name = "x", value = "", field = "x" }, { dash = "--",
-- name = "by", value = " NAME", field = "by" }, ... }; {} of a row that describes no options.
function command_line.names(row)
    local names = {}
    for part in (row[1] .. ", "):gmatch("(.-), ") do
        local dash, name, value = part:match("^(%-%-?)(%w[%w-]*)(.*)$")
        if name then
            names[#names + 1] = { dash = dash, name = name, value = value,
                field = row.field or name }
        end
    end
    local last = names[#names]
    if #names == 2 and names[1].dash == "-" and last.dash == "--" then
        names[1].value, names[1].field = last.value, last.field      -- two names of one thing
    end
    return names
end

-- What the option's value is read with; nil: it has none.
function command_line.reader(row, name)
    local read = row.one_of and values.one_of(row.one_of) or row.read
    return type(read) == "table" and read[name] or type(read) == "function" and read or nil
end

-- All rows of a table, that of --help among them.
function command_line.rows(line)
    local rows = {}
    for _, group in ipairs(line) do
        lists.append(rows, group)
    end
    if not lists.any(rows, function(row) return row[1] == "--help" end) then
        rows[#rows + 1] = help_row
    end
    return rows
end

local function has_action(row, action)
    return not row.of or (" " .. row.of .. " "):find(" " .. (action or "") .. " ", 1, true)
end

-- The options by name.
local function index(line, action)
    local known = {}
    for _, row in ipairs(command_line.rows(line)) do
        local names = has_action(row, action) and command_line.names(row) or {}
        for _, item in ipairs(names) do
            known[item.name] = { row = row, dash = item.dash,
                optional = item.value:find("^%[=") ~= nil, field = item.field,
                read = command_line.reader(row, item.name) }
        end
    end
    return known
end

-- ---- --help ------------------------------------------------------------------------------------

local function lines_of(text)
    local lines = {}
    for line in text:gmatch("[^\n]+") do
        lines[#lines + 1] = line:match("^%s*(.-)%s*$")
    end
    return lines
end

-- A row's text in one line.
function command_line.row_text(row)
    return table.concat(lines_of(row[2]), " ")
end

local function add_row(out, row)
    local lines = lines_of(row[2])
    local first = "  " .. row[1]
    if #first < text_column then
        out[#out + 1] = ("%-" .. text_column .. "s%s"):format(first, table.remove(lines, 1))
    else
        out[#out + 1] = first
    end
    for _, line in ipairs(lines) do
        out[#out + 1] = (" "):rep(text_column) .. line
    end
end

-- Lines of usage as a list.
function command_line.usage(line)
    return type(line.usage) == "table" and line.usage or { line.usage }
end

-- All that --help prints. Its first line is printed where the command line is wrong.
function command_line.text(line)
    local out = { "usage: " .. table.concat(command_line.usage(line), "\n       "),
        (line.about:gsub("%s+$", "")) .. "\n" }
    for _, group in ipairs(line) do
        out[#out + 1] = group.title and group.title .. ":"
        for _, row in ipairs(group) do
            if row[2] then
                add_row(out, row)
            end
        end
    end
    local rows = command_line.rows(line)
    if rows[#rows] == help_row then
        add_row(out, help_row)
    end
    out[#out + 1] = line.ending
    return (table.concat(out, "\n"):gsub("%s+$", "")) .. "\n"
end

-- ---- reading -----------------------------------------------------------------------------------

-- "--name", "--name=value", "-n", "-nvalue": the option, as it was written, and the value.
local function split(known, word)
    local name, value = word:match("^%-%-([^=]*)=?(.*)$")
    if name then
        return known[name], "--" .. name, word:find("=", 1, true) and value or nil, name
    end
    name = word:sub(2, 2)
    local option = known[name]
    if option and not option.read and #word > 2 then
        return nil, word        -- letters are not joined
    end
    return option, "-" .. name, #word > 2 and word:sub(3) or nil, name
end

-- What the option's value is, and whether it is the word that follows; or nil and a sentence.
local function find_value(option, shown, value, following)
    if not option.read then
        if value then
            return nil, shown .. " takes no value"
        end
        return true
    elseif value then
        return value
    elseif option.optional then
        if following and option.row.one_of and option.read(following) then
            return nil, ("%s takes its mode behind '=', as %s=%s (to run a script of that name, "
                .. "write ./%s)"):format(shown, shown, following, following)
        end
        return option.row.default
    elseif not following then
        return nil, shown .. " needs a value"
    elseif following:find("^%-%-") and not option.row.free then
        return nil, ("%s needs a value, and '%s' is an option; %s%s%s takes it as the value")
            :format(shown, following, shown, option.dash == "--" and "=" or "", following)
    end
    return following, nil, true
end

-- Takes an option into `options`. Gives how many of the following words were its value; or nil and
-- a sentence.
local function take(options, known, word, following, next_word)
    local option, shown, value, name = split(known, word)
    if not option or option.dash ~= shown:match("^%-%-?") then
        local near = name and #name > 1 and internals.nearest(name, known)
        return nil, ("unrecognized option '%s'"):format(shown)
            .. (near and ("; did you mean --%s?"):format(near) or "")
    end
    local text, problem, is_following = find_value(option, shown, value, following)
    if not text then
        return nil, problem
    elseif not option.read then
        options[option.field] = true
        return 0
    end
    local result, needed = option.read(text)
    if result == nil then
        return nil, ("%s needs %s, got '%s'"):format(shown, needed, text)
    end
    if option.row.second then
        local second, wanted = option.row.second(next_word or "")
        if not is_following or second == nil then
            return nil, ("%s needs %s behind '%s'%s"):format(shown, wanted or "a second value",
                text, next_word and (", got '%s'"):format(next_word) or "")
        end
        result = { result, second }
    end
    if option.row.list then
        options[option.field] = lists.append(options[option.field] or {}, { result })
    else
        options[option.field] = result
    end
    return (is_following and 1 or 0) + (option.row.second and 1 or 0)
end

-- A sentence about an option that goes with another one, which is not given.
local function lacks(options, known)
    local sentences = {}
    for name, option in pairs(known) do
        local with = option.row.with
        if with and options[option.field] ~= nil and not options[with] then
            sentences[#sentences + 1] = ("%s%s goes with --%s"):format(option.dash, name, with)
        end
    end
    table.sort(sentences)
    return sentences[1]
end

-- Reads words: options, anywhere before a "--", and others. Gives the options and the others; at
-- --help and --version it stops. Or nil and a sentence that says what is wrong. `action` says which
-- options there are, where a command has several. With `first` reading stops at the first word that
-- is no option: the third result is its index, and the fourth whether a "--" was before it.
function command_line.read(line, words, action, first)
    local known, options, others = index(line, action), {}, {}
    local i, ended = 1, false
    while i <= #words and not ended and not options.help and not options.version do
        local word = words[i]
        if word == "--" then
            ended = true
        elseif word:find("^%-.") then
            local taken, problem = take(options, known, word, words[i + 1], words[i + 2])
            if not taken then
                return nil, problem
            end
            i = i + taken
        elseif first then
            break
        else
            others[#others + 1] = word
        end
        i = i + 1
    end
    local problem = not options.help and lacks(options, known)
    if problem then
        return nil, problem
    end
    return options, table.move(words, i, #words, #others + 1, others), i, ended
end

return command_line
