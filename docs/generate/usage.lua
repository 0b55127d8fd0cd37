-- usage.lua - takes the text of --help apart, so that the man page need not repeat it.

local usage = {}

-- What an option says begins here, unless its name is too long.
local text_column <const> = 21

-- "  --seed N          the seed": an option and its text. A lone word in capitals, as the last
-- of "  --from TIME, --to TIME", is none.
local function option_of(line)
    local gap, first = line:sub(text_column - 1, text_column - 1), line:sub(text_column)
    if gap == " " and first:find("^%S") and not first:find("^%u+$") then
        return line:sub(3, text_column - 1):match("^(.-)%s*$"), first
    end
    return line:match("^%s*(.-)%s*$"), ""
end

local function join(text, more)
    return text == "" and more or text .. " " .. more
end

-- Adds a line to the section. Lines of options are indented by two, what they say goes on
-- far to the right.
local function add_line(section, line)
    local last = section.items[#section.items]
    if line:find("^   ") and last then
        last[2] = join(last[2], line:match("^%s*(.*)$"))
    elseif line:find("^  ") then
        local name, text = option_of(line)
        section.items[#section.items + 1] = { name, text }
    elseif #section.prose == 0 or line:find("^Exit status") then
        section.prose[#section.prose + 1] = line
    else
        section.prose[#section.prose] = join(section.prose[#section.prose], line)
    end
end

-- Gives {usage = {"streamlab [options] ..."}, about = "...", sections = {{title =, items =
-- {{option, text}}, prose = {text}}}}. A section begins with a line that ends in ":".
function usage.parse(text)
    local parsed = { usage = {}, about = "", sections = {} }
    local section
    for line in text:gmatch("[^\n]+") do
        local form = line:match("^usage: (.*)") or line:match("^       (streamlab .*)")
        if form then
            table.insert(parsed.usage, form)
        elseif line:find("^%S.*:$") then
            section = { title = line:sub(1, -2), items = {}, prose = {} }
            table.insert(parsed.sections, section)
        elseif section or line:find("^ ") then
            if not section then
                section = { items = {}, prose = {} }
                table.insert(parsed.sections, section)
            end
            add_line(section, line)
        else
            parsed.about = join(parsed.about, line)
        end
    end
    return parsed
end

return usage
