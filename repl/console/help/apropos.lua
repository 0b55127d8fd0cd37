-- apropos.lua - finds entries and pages by words: in names, CUDA's and PyTorch's names,
-- briefs, arguments and texts, the best first.

local api = import "repl/run/api.lua"
local lists = import "repl/run/lists.lua"

local apropos = {}

-- What a word is worth, by where it was found.
local worth <const> = {
    name = 100, foreign = 95, name_begins = 60, in_name = 50, brief_word = 40,
    in_foreign = 35, in_brief = 30, item = 25, in_text = 10,
    phrase = 40,        -- several words that stand together
}

-- ---- what there is to search in -----------------------------------------------------------

local function texts_of(list, from, texts)
    for _, item in ipairs(list or {}) do
        for i = from, #item do
            texts[#texts + 1] = item[i]
        end
    end
end

local function foreign_names(entry)
    return lists.map(api.foreign_names(entry), function(name) return name:lower() end)
end

local function item_names(entry)
    local names = {}
    for _, list in ipairs { entry.arguments or {}, entry.options or {} } do
        for _, item in ipairs(list) do
            names[item[1]:lower()] = true
        end
    end
    return names
end

local function all_text(entry)
    local texts = { entry.about or "", entry.blocks or "" }
    for _, list in ipairs { "arguments", "options", "returns", "errors" } do
        texts_of(entry[list], 1, texts)
    end
    return table.concat(texts, "\n"):lower()
end

-- What is searched in, made when an entry is first looked at.
local records = {}

local function record_of(entry)
    local record = records[entry]
    if not record then
        record = {
            name = entry.name:lower(), key = entry.key:lower(), brief = entry.brief:lower(),
            foreign = foreign_names(entry), items = item_names(entry), text = all_text(entry),
        }
        records[entry] = record
    end
    return record
end

-- ---- scores ---------------------------------------------------------------------------------

local function contains(text, word)
    return text:find(word, 1, true) ~= nil
end

local function has_word(text, word)
    local at = 1
    while true do
        local from, to = text:find(word, at, true)
        if not from then
            return false
        elseif not text:sub(from - 1, from - 1):find("[%w_]")
            and not text:sub(to + 1, to + 1):find("[%w_]") then
            return true
        end
        at = to + 1
    end
end

local function name_score(record, word)
    if record.name == word or record.key == word then
        return worth.name
    elseif record.key:sub(1, #word) == word then
        return worth.name_begins
    end
    return contains(record.name, word) and worth.in_name or 0
end

-- Torch's names are also known without "torch." and by their last part.
local function foreign_score(record, word)
    local best = 0
    for _, name in ipairs(record.foreign) do
        if name == word or name == "torch." .. word then
            return worth.foreign
        elseif contains(name, word) then
            best = worth.in_foreign
        end
    end
    return best
end

-- One or two letters must be a word there.
local function text_score(record, word)
    local is_in = #word < 3 and has_word or contains
    if has_word(record.brief, word) then
        return worth.brief_word
    elseif is_in(record.brief, word) then
        return worth.in_brief
    elseif record.items[word] then
        return worth.item
    end
    return is_in(record.text, word) and worth.in_text or 0
end

local function word_score(record, word)
    return math.max(name_score(record, word), foreign_score(record, word),
        text_score(record, word))
end

-- The sum over all words, and whether they are more than mentioned; nil if one is not found.
local function score(entry, words, phrase)
    local record, sum = record_of(entry), 0
    for _, word in ipairs(words) do
        local found = word_score(record, word)
        if found == 0 then
            return nil
        end
        sum = sum + found
    end
    local strong = sum > worth.in_text * #words
    if #words > 1 and (contains(record.brief, phrase) or contains(record.text, phrase)) then
        sum, strong = sum + worth.phrase, true
    end
    -- Of fields there are many, and they are rarely what is looked for.
    return entry.kind == "field" and sum - 5 or sum, strong
end

-- ---- searching -------------------------------------------------------------------------------

local function words_of(text)
    local words = {}
    for word in text:lower():gmatch("%S+") do
        words[#words + 1] = word
    end
    return words
end

-- A letter alone is a name or an argument's: every text has the word "a".
local function is_letter(words)
    return #words == 1 and words[1]:find("^%w$") ~= nil
end

local function letter_score(entry, words)
    local record = record_of(entry)
    local points = record.key == words[1] and worth.name or record.items[words[1]] and worth.item
    return points or nil, true
end

-- A list of {entry =, score =, strong =}, the best first, equal ones in the order of pages.
-- Where not `strong` the entry only mentions the words.
function apropos.entries(text)
    local words, found = words_of(text), {}
    local phrase = table.concat(words, " ")
    local score_of = is_letter(words) and letter_score or score
    for entry in api.each() do
        local points, strong = score_of(entry, words, phrase)
        if points and #words > 0 then
            found[#found + 1] = {
                entry = entry, score = points, strong = strong, order = #found,
            }
        end
    end
    table.sort(found, function(a, b)
        if a.score ~= b.score then
            return a.score > b.score
        end
        return a.order < b.order
    end)
    return found
end

-- Whether the entry has the name in CUDA or PyTorch with the same capitals.
local function has_foreign(entry, name)
    for other in ((entry.cuda or "") .. " " .. (entry.pytorch or "")):gmatch("[%w_.]+") do
        if other == name or other == "torch." .. name then
            return true
        end
    end
    return false
end

-- The entries that have this very name in CUDA or PyTorch: torch.cuda.Stream is not
-- torch.cuda.stream, but may be written so where there is no other.
function apropos.of_foreign_name(name)
    local found, same = {}, {}
    for entry in api.each() do
        if foreign_score(record_of(entry), name:lower()) == worth.foreign then
            found[#found + 1] = entry
            same[#same + 1] = has_foreign(entry, name) and entry or nil
        end
    end
    return #same > 0 and same or found
end

-- The pages whose title or prose has all the words. The page of what is not here is searched for
-- names alone, and that of topics for these.
function apropos.pages(text)
    local words, found = words_of(text), {}
    for _, page in ipairs(api.pages()) do
        local whole = table.concat({ page.title, page.about or "", page.more or "" }, "\n"):lower()
        local has_all = #words > 0 and not is_letter(words)
            and lists.all(words, function(word) return contains(whole, word) end)
        found[#found + 1] = has_all and not page.missing and not page.topics
            and page or nil
    end
    return found
end

-- The entry's name that is spelt most like the text, or nil.
function apropos.nearest(text)
    local names = {}
    for entry in api.each() do
        names[entry.name] = entry.name
        names[entry.key] = names[entry.key] or entry.name
        for _, name in ipairs(api.foreign_names(entry)) do
            names[name] = names[name] or name
        end
    end
    local last = text:match("[^.:]+$") or text
    local name = internals.nearest(text, names) or internals.nearest(last, names)
    return name and names[name]
end

return apropos
