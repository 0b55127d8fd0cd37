-- completion.lua - bash's completion of the command line: completion.bash with what repl/usage
-- describes in it.

local command_line = import "repl/run/command_line.lua"
local commands = import "docs/generate/commands.lua"
local lists = import "repl/run/lists.lua"
local values = import "repl/run/values.lua"

local completion = {}

-- The options of a command, as they are written.
local function options_of(line)
    local options, listed = {}, {}
    for _, row in ipairs(command_line.rows(line)) do
        for _, item in ipairs(command_line.names(row)) do
            local option = item.dash .. item.name
            options[#options + 1] = not listed[option] and option or nil
            listed[option] = true
        end
    end
    return options
end

-- What stands behind an option: words, "profiles", "files" or "" for what is not completed; nil:
-- nothing.
local function value_of(row, item)
    local read = command_line.reader(row, item.name)
    if not read then
        return nil
    elseif row.one_of then
        return table.concat(row.one_of, " ")
    elseif read == values.profile then
        return "profiles"
    end
    return item.value:find("^ F") and "files" or ""
end

-- Lines of a case: "' --backend') echo 'cuda sim' ;;". The value of "--check[=MODE]" is never the
-- next word.
local function value_lines(out, name, line)
    local listed = {}
    for _, row in ipairs(command_line.rows(line)) do
        for _, item in ipairs(command_line.names(row)) do
            local value = not listed[item.name] and value_of(row, item)
            local equals = item.value:find("^%[") and "=" or ""
            out[#out + 1] = value and ("    '%s %s%s%s') echo '%s' ;;"):format(name, item.dash,
                item.name, equals, value) or nil
            listed[item.name] = true
        end
    end
end

local function word_line(name, words)
    return #words > 0 and ("    '%s') echo '%s' ;;"):format(name, table.concat(words, " ")) or nil
end

function completion.files()
    local all = lists.append({ { name = "", line = commands.program } }, commands.all())
    local parts = { options = {}, actions = {}, values = {} }
    for _, item in ipairs(all) do
        table.insert(parts.options, word_line(item.name, options_of(item.line)))
        table.insert(parts.actions, word_line(item.name, commands.actions(item.line)))
        value_lines(parts.values, item.name, item.line)
    end
    local text = embedded_text("docs/generate/completion.bash"):gsub("    # (%l+)\n", function(name)
        return parts[name] and table.concat(parts[name], "\n") .. "\n"
    end)
    return { ["completion.bash"] = text }
end

return completion
