-- entries.lua - the scripts that are to be compared, as the command line names them.
--
-- An entry: script, the word as given; seed or nil; path and arguments, for a run; name, for
-- people; kind: "random", "puzzler", "experiments" or "others"; unrecorded: whether what it records
-- is timed instead (repl/run/alone.lua), nil here.

local entries = {}

-- Plain Lua, since tests/bench reads this file outside of the program.
local function can_be_read(path)
    local file <close> = io.open(path)
    return file ~= nil
end

-- The file and the arguments of a word: a file of the whole word, or the word split at blanks.
local function split(word)
    local words = {}
    for part in word:gmatch("%S+") do
        words[#words + 1] = part
    end
    if #words < 2 or can_be_read(word) then
        return word, {}
    end
    return words[1], table.move(words, 2, #words, 1, {})
end

local function kind_of(path, seed)
    local stem = path:match("([^/]*)$"):gsub("%.lua$", "")
    if seed or stem == "random" then
        return "random"
    elseif stem == "puzzler" then
        return "puzzler"
    end
    return ("/" .. path):find("/experiments/", 1, true) and "experiments" or "others"
end

function entries.new(word, seed)
    local path, arguments = split(word)
    local name = word
    if seed then
        table.move({ "--seed", tostring(seed) }, 1, 2, #arguments + 1, arguments)
        name = ("%s --seed %d"):format(word, seed)
    end
    return { script = word, seed = seed, path = path, arguments = arguments, name = name,
             kind = kind_of(path, seed) }
end

-- Those of a list of words; `seeds` is {first, last}, or nil.
function entries.list(words, seeds)
    local list = {}
    for _, word in ipairs(words) do
        if not seeds then
            list[#list + 1] = entries.new(word)
        end
        for seed = seeds and seeds[1] or 1, seeds and seeds[2] or 0 do
            list[#list + 1] = entries.new(word, seed)
        end
    end
    return list
end

return entries
