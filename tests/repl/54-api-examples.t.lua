-- 54-api-examples.t.lua - the examples of docs/api run on the simulator and print what they
-- say; and the options of each function are those that it accepts.

local T = require "tap"
local data = require "repl.api_data"
local shell = require "repl.shell"

local api = data.api
local folder <const> = shell.folder()
-- The program, as a word of the shell from any folder.
local program <const> = shell.quote(shell.program:find("^/") and shell.program
    or io.popen("pwd"):read("l") .. "/" .. shell.program)

local function lines_of(text)
    local lines = {}
    for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
        lines[#lines + 1] = line:match("^(.-)%s*$")
    end
    return lines
end

local function is_callable(entry)
    return entry.kind == "function" or entry.kind == "method"
end

-- ---- the form ----------------------------------------------------------------------------

local most_lines <const> = 8

-- What the example says that it prints, and how many lines of code it has.
local function expected(entry)
    local printed, n = {}, 0
    for _, line in ipairs(lines_of(entry.example)) do
        local text = line:match("%-%->%s?(.*)$")
        printed[#printed + 1] = text
        n = n + (line:find("^%s*%-%->") and 0 or 1)
    end
    return table.concat(printed, "\n"), n
end

local function check_form()
    local without, long = {}, {}
    for entry in api.each() do
        if entry.example then
            local _, n = expected(entry)
            long[#long + 1] = n > most_lines and ("%s (%d)"):format(entry.name, n) or nil
        elseif is_callable(entry) then
            without[#without + 1] = entry.name
        end
    end
    T.is(table.concat(without, " "), "", "every function and method has an example")
    T.is(table.concat(long, " "), "", "of at most 8 lines")
end

-- ---- what they print -----------------------------------------------------------------------

-- Runs the examples, each in a process and a folder of its own, some at a time.
local function run_all(entries)
    shell.sh(("cd %s && mkdir $(seq %d)"):format(folder, #entries))
    for i, entry in ipairs(entries) do
        shell.write(("%s/%d/example.lua"):format(folder, i), entry.example)
    end
    shell.sh(([[
cd %s && unset STREAMLAB_PROFILE; export P STREAMLAB_BACKEND=sim COLUMNS=80 LC_ALL=C
P=%s
seq %d | xargs -P 2 -I '{}' sh -c \
    'cd {} && "$P" --norc example.lua >out 2>err </dev/null; echo $? >status'
]]):format(folder, program, #entries))
end

local function check_output(i, entry)
    local function read(name)
        return shell.read(("%s/%d/%s"):format(folder, i, name)) or ""
    end
    local printed = table.concat(lines_of(read "out"), "\n")
    local want = expected(entry)
    local fine = read "status" == "0\n" and printed == want and read "err" == ""
    if not T.ok(fine, entry.name .. ": the example runs and prints what it says") then
        T.diag("printed:\n" .. printed .. "\nsaid:\n" .. want .. "\n" .. read "err")
    end
end

local function check_outputs()
    local entries = {}
    for entry in api.each() do
        entries[#entries + 1] = is_callable(entry) and entry.example and entry or nil
    end
    run_all(entries)
    for i, entry in ipairs(entries) do
        check_output(i, entry)
    end
end

-- The examples of the REPL's commands are lines for it. What they find here may differ.
local function check_commands()
    local refused = {}
    for entry in api.each() do
        if entry.kind == "command" then
            local _, err = shell.sh(("cd %s; export STREAMLAB_BACKEND=sim; "
                .. "printf '%%s\\n' %s | %s --norc -i"):format(folder,
                shell.quote(entry.example or entry.name), program))
            refused[#refused + 1] = (err:find("no such command") or err:find("usage:"))
                and entry.name .. ": " .. err or nil
        end
    end
    T.is(table.concat(refused, " "), "", "the REPL takes its commands' examples")
end

-- ---- options ---------------------------------------------------------------------------------

-- The names in order of the alphabet, as one text.
local function sorted(names)
    table.sort(names)
    return #names > 0 and table.concat(names, ", ") or "none"
end

local function sorted_words(text)
    local names = {}
    for name in text:gmatch("[^,%s]+") do
        names[#names + 1] = name
    end
    return sorted(names)
end

local function check_options()
    local answers, list = {}, folder .. "/options"
    local _, err = shell.sh("export STREAMLAB_BACKEND=sim; \"$P\" tests/repl/option_names.lua "
        .. list .. " >/dev/null")
    for line in (shell.read(list) or ""):gmatch("[^\n]+") do
        local name, answer = line:match("^(%S+)\t(.*)$")
        answers[name] = answer
    end
    T.is(err, "", "the functions were asked for their options")
    for entry in api.each() do
        local names = {}
        for i, option in ipairs(entry.options or {}) do
            names[i] = option[1]
        end
        if is_callable(entry) then
            local answer = answers[entry.name] or "not asked"
            T.is(sorted_words(answer), sorted(names), entry.name .. ": the options it knows")
        end
    end
end

check_form()
check_outputs()
check_commands()
check_options()
shell.remove(folder)
T.done()
