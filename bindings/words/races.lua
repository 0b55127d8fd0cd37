-- races.lua - a race in words: what warn mode prints and tostring(race) gives, and what error
-- mode adds to its error.
--
--     race: stream "consumer" reads at lab.lua:14 what stream "producer" may still be writing
--       first   lab.lua:12  fill_f32 writes  in stream "producer"
--               | x:fill_(7, {stream = producer})
--       second  lab.lua:14  mul_f32 reads    in stream "consumer"
--               | local y = lab.mul(x, x, {stream = consumer})
--       memory  tensor 1 (4x4 float32 on the device), made at lab.lua:9
--       fix     insert consumer:wait_stream(producer) before lab.lua:14
--       here    the stale value was read
--
-- A race is a table as lab.races() gives it; `facts` is what the checker knows besides
-- (l_races.c). Reports are made in finalizers, too: nothing here depends on what a script has
-- done to the library of strings.

local _, core = ...
local gsub, rep, sub = string.gsub, string.rep, string.sub
local concat, rawget, rawlen, setmetatable, tostring =
    table.concat, rawget, rawlen, setmetatable, tostring

local indent <const>, all_columns <const> = 10, 1 << 20
local said_by <const> = #"streamlab: "          -- stands before what warn mode prints

-- Fields ------------------------------------------------------------------------------------

-- How a script would write the stream of an access: by its name, where that can be a variable,
-- else by `role`; then the second value says which stream that is.
local function stream_in_script(access, facts, role)
    local name, made = sub(access.stream or "", 1, 60), sub(facts.made, 1, 100)
    local default = (access.stream_id or 0) == 0 and "lab.default_stream()"
                    or facts.in_per_thread and "lab.per_thread_stream()"
    if default and not access.device then return default, "" end
    if default then return role, role .. " is " .. default .. " of gpu" .. access.device end
    if string.find(access.stream or "", "^[%a_][%w_]*$") then return name, "" end
    if made == "" then return "<" .. name .. ">", "" end
    return role, role .. ' is "' .. name .. '", made at ' .. made
end

-- `word`, unless the other stream has that name.
local function role(word, other) return other.stream == word and "other" or word end

-- The stream of an access whose work others can wait for, or that can wait: of a node of a graph
-- the one of the launch, or, between nodes of one launch, the one of the capture.
local function stream_to_wait(access, facts, in_capture, role_name)
    if in_capture then
        return stream_in_script({ stream = facts.captured, stream_id = 1 },
                                { made = facts.captured_made }, role_name)
    end
    return stream_in_script(access.graph and facts or access, facts, role_name)
end

-- An asynchronous collective: scripts have no name for its stream (communicators.lua).
local function is_asynchronous(access)
    return access.by == "stream" and string.find(access.stream or "", "^comm %d+$") ~= nil
           and string.find(access.what or "", "^nccl") ~= nil
end

-- The same if one of the two is an asynchronous collective; nil: none is.
local function asynchronous_remedy(first, second, facts)
    local place = "before " .. (second.where or "") .. ", where "
    if is_asynchronous(first) then
        return facts.remedy == "host_waits" and "work:synchronize()" or "work:wait()",
               place .. "work is what " .. (first.where or "") .. " gave"
    end
    if not is_asynchronous(second) then return nil end
    local waited, meaning = stream_to_wait(first, facts.first, false, role("first", second))
    return "caller:wait_stream(" .. waited .. ")",
           place .. "caller is the stream of that call" .. (meaning ~= "" and ", and " or "")
               .. meaning
end

-- What would order the two, and where.
local function remedy(race, facts)
    local first, second = race.first, race.second
    local call, call_place = asynchronous_remedy(first, second, facts)
    if call then return call, call_place end
    if facts.remedy == "free_later" then
        return "g:update(f)", "before " .. (second.launched or "")
    end
    if facts.remedy == "thread_joins" then
        return "th:join()", "between " .. (first.where or "") .. " and " .. (second.where or "")
               .. ", where th is the thread that does one of the two"
    end
    local in_capture = facts.remedy == "capture_waits"
    local waited, meaning = stream_to_wait(first, facts.first, in_capture, role("first", second))
    local place = "before " .. (not in_capture and second.launched or second.where or "")
    local text, meanings = waited .. ":synchronize()", {}
    if facts.remedy ~= "host_waits" then
        local waits, of_second = stream_to_wait(second, facts.second, in_capture,
                                                role("second", first))
        text = waits .. ":wait_stream(" .. waited .. ")"
        meanings[1] = of_second ~= "" and of_second or nil
    end
    meanings[#meanings + 1] = meaning ~= "" and meaning or nil
    if second.by == "host_func" and (in_capture or not second.launched) then
        place = "before the host function of " .. (second.where or "") .. " is launched"
    end
    if meanings[1] then place = place .. ", where " .. table.concat(meanings, ", and ") end
    return text, place
end

local chances <const> = {
    unknown = "a wait that is not known any more",
    from_pageable = "a copy from pageable memory waits for its stream before it begins",
    to_pageable = "a copy to pageable memory waits until it has arrived",
    blocking_copy = "a blocking copy from pageable memory waits until it has arrived",
    null_stream = "waiting for the NULL stream waits for the blocking streams as well",
    graph_source = "a launch of a graph reads pageable memory that its nodes copy before it "
        .. "returns",
}

-- What orders the two of an accident.
local function accident(facts)
    local text = chances[facts.chance] or facts.chance_call .. " waits for the work of the device"
    return facts.chance_where == "" and text or text .. " (" .. facts.chance_where .. ")"
end

local places <const> = {
    device = "on the device", pageable = "in pageable memory", pinned = "in pinned memory",
}

-- Rows ------------------------------------------------------------------------------------

-- Names are the user's, and may have in them what a terminal would obey.
local function clean(text) return core.clip(text, all_columns) end

-- The text from column `at` on, its words on as many lines as it needs.
local function fold(text, at, next_at, columns)
    local lines = ""
    for word, blanks in string.gmatch(text, "([^ ]+)( *)") do
        local width = #gsub(word, "[\x80-\xBF]", "")
        if lines ~= "" and at + width > columns then
            lines, at = gsub(lines, " +$", "") .. "\n" .. rep(" ", next_at), next_at
        end
        lines, at = lines .. word .. blanks, at + width + #blanks
    end
    return gsub(lines, " +$", "") .. "\n"
end

local function row(label, text, columns)
    return "  " .. label .. rep(" ", indent - 2 - #label)
           .. fold(clean(text), indent, indent, columns)
end

-- The script's line at that position, as much as fits.
local function source(where, columns, cache)
    local line = core.source_line(cache, where or "")
    if not line then return "" end
    return rep(" ", indent) .. "| " .. core.clip_end(line, columns - indent - 2) .. "\n"
end

-- Sentences -------------------------------------------------------------------------------

local verbs <const> = {
    read = "reads", write = "writes", free = "frees", allocate = "allocates",
    atomic = "updates",
}
local doings <const> = {
    read = "reading", write = "writing", free = "freeing", allocate = "allocating",
    atomic = "updating",
}

-- A graph without a name of its own is "graph 1".
local function graph_text(name)
    return string.find(name, "^graph %d+$") and name or 'graph "' .. name .. '"'
end

-- Who it is that touches the memory.
local function actor(access)
    if access.by == "host" then
        return "the host" .. (access.thread and " (thread " .. access.thread .. ")" or "")
    end
    local gpu = access.device and "gpu" .. access.device
    local stream = "stream \"" .. (gpu and gpu .. ": " or "") .. (access.stream or "") .. "\""
    if access.stream_id == 0 then stream = "the default stream" .. (gpu and " of " .. gpu or "") end
    if access.graph then stream = graph_text(access.graph) .. " in " .. stream end
    return (access.by == "host_func" and "a host function in " or "") .. stream
end

local function headline(race)
    local first, second = race.first, race.second
    local at = second.where and " at " .. second.where or ""
    local text = actor(second) .. " " .. verbs[second.access] .. at .. " what "
    if race.kind == "use after free" then return text .. (first.what or "") .. " has freed" end
    text = text .. actor(first)
    if race.kind == "accident" then
        return text .. " " .. verbs[first.access] .. ", in order only by chance"
    end
    if first.access == "free" then return text .. " may have freed" end
    return text .. " may still be " .. doings[first.access]
end

-- "fill_f32 writes", "reads", "cudaFree frees". What the host and its functions do is named by
-- its verb, but for calls.
local function deed(access)
    local what, verb = access.what or "", verbs[access.access]
    local plain = access.by ~= "stream" and verb ~= "frees" and (what == "read" or what == "write")
    return (plain or what == "") and verb or what .. " " .. verb
end

-- Both accesses have their positions, what they do and who makes them one below the other.
local function access_text(access, other)
    local function pad(text, beside) return text .. rep(" ", #beside - #text) end
    local unknown = "(no position)"
    return pad(access.where or unknown, other.where or unknown) .. "  "
           .. pad(deed(access), deed(other)) .. "  "
           .. (access.by == "stream" and "in " or "by ") .. actor(access)
end

-- Which bytes of it, unless both touch the same from its beginning.
local function memory_text(race)
    local text, n = race.tensor, race.bytes
    local whole = race.first_byte == 0 and race.first.bytes == n and race.second.bytes == n
    if not whole and n > 0 then
        text = text .. ", bytes " .. race.first_byte .. " to " .. race.first_byte + n - 1
               .. " of it"
    end
    return race.made and text .. ", made at " .. race.made or text
end

-- What became of it on the simulator; nil where that is not known.
local function outcome(race)
    if race.stale == nil then return nil end
    if not race.stale then return "in this run it went right; nothing guarantees it" end
    if race.first.access == "free" then return "the memory was used before it was freed" end
    if race.second.access == "free" then return "the memory was freed while it was in use" end
    if race.second.access == "read" then return "the stale value was read" end
    if race.first.access == "read" then return "the first has read what the second wrote" end
    return "the second was overwritten by the first"
end

-- A wait for an event that orders nothing, of the second access.
local idle_waits <const> = {
    unrecorded = "waits for an event that has no record yet, which is no wait (another thread may "
        .. "record it later)",
    unordered = "waits for an event that another thread has recorded; nothing makes that thread "
        .. "record it first",
}

local function idle_wait(race, facts)
    local why = idle_waits[facts.idle]
    local by = facts.idle_is_first and race.first or race.second
    return why and actor(by) .. " " .. why .. " (" .. facts.idle_where .. ")" or nil
end

-- The whole -------------------------------------------------------------------------------

local function title(race, columns, colour)
    local kind = race.kind
    local label = kind .. ":"
    if colour then
        label = (kind == "accident" and "\27[1;33m" or "\27[1;31m") .. label .. "\27[0m"
    end
    return label .. " " .. fold(clean(headline(race)), said_by + #kind + 2, 4, columns)
end

-- Of a node of a graph: which launch it was.
local function launch_row(access, columns)
    return access.launched and row("", "launched at " .. access.launched, columns) or ""
end

-- The file of whom reports are for, who can change no other; nil: all files are theirs.
local changeable

local function can_change(where)
    return not changeable or sub(where, 1, #changeable + 1) == changeable .. ":"
end

-- 'stream "copies", made at mine.lua:9'.
local function stream_with_place(access, facts)
    local known = access.graph and facts or access
    if known.stream_id == 0 then return "the default stream" end
    local made = facts.made or ""
    return 'stream "' .. (known.stream or "") .. '"' .. (made ~= "" and ", made at " .. made or "")
end

-- What a function has to do whose caller makes the second access: its author cannot change the
-- caller's lines. nil: nothing of that kind helps.
local function fix_of_function(race, facts)
    local first, second = race.first, race.second
    local ending = " before your function returns"
    if is_asynchronous(first) then
        return "wait for the collective of " .. (first.where or "") .. ending
    elseif is_asynchronous(second) or first.by ~= "stream" then
        return nil
    elseif facts.remedy == "host_waits" then
        return "the host must wait for " .. stream_with_place(first, facts.first) .. ","
               .. ending
    elseif facts.remedy ~= "stream_waits" then
        return nil
    end
    local waits = can_change(facts.second.made or "") and stream_with_place(second, facts.second)
                  or "the stream that is current when your function is called"
    return waits .. " must wait for " .. stream_with_place(first, facts.first) .. "," .. ending
end

local function fix(race, facts)
    local second = race.second
    local in_words = not can_change(second.launched or second.where or "")
                     and fix_of_function(race, facts)
    if in_words then return in_words end
    local text = "insert " .. race.remedy .. " " .. race.remedy_where
    if race.kind ~= "use after free" then return text end
    return text .. ", so that the graph names other memory, or free it behind the last launch"
end

local function report(race, facts, columns, colour, cache)
    local first, second, times = race.first, race.second, race.count - 1
    local became = outcome(race)
    local lines = {
        title(race, columns, colour),
        row("first", access_text(first, second), columns),
        source(first.where, columns, cache),
        launch_row(first, columns),
        row("second", access_text(second, first), columns),
        first.where ~= second.where and source(second.where, columns, cache) or "",
        launch_row(second, columns),
        row("memory", memory_text(race), columns),
        race.accident and row("order", "kept only by undocumented behaviour of the driver: "
                              .. race.accident, columns) or "",
        race.idle_wait and row("wait", race.idle_wait, columns) or "",
        row("fix", fix(race, facts), columns),
        became and row("here", became, columns) or "",
        times > 0 and "  (and " .. times .. " more time" .. (times > 1 and "s" or "")
            .. ")\n" or "",
    }
    return sub(concat(lines), 1, -2)
end

local words = {}

local race_meta = {
    __name = "streamlab.race",
    __tostring = function(race) return tostring(rawget(race, "message")) end,
}
-- All reports, with an empty line between them.
local list_meta = {
    __name = "streamlab.races",
    __tostring = function(list)
        local reports = {}
        for i = 1, rawlen(list) do reports[i] = tostring(rawget(list, i)) end
        return #reports > 0 and concat(reports, "\n\n") or "no races found"
    end,
}

-- A list of races, which prints as their reports.
function words.list(races) return setmetatable(races, list_meta) end

local most_columns = all_columns

-- From here on no report has wider lines: for those who put it below a label (course labs), so that
-- no line is broken twice.
function words.narrow(columns) most_columns = columns end

-- From here on reports are for who can change that file alone, `name` as in positions: what calls
-- its functions is a lab's test.
function words.narrow_to_file(name) changeable = name end

-- Adds to a race its fields that are texts; `message` is the report, in so many columns. Lines of
-- files are kept in the table `cache`.
function words.describe(race, facts, columns, colour, cache)
    local place = facts.gpu >= 0 and "on gpu" .. facts.gpu or places[facts.place]
    race.tensor = string.format("tensor %d (%s %s %s)", facts.tensor_id, facts.shape, facts.dtype,
                                place)
    race.accident = race.kind == "accident" and accident(facts) or nil
    race.idle_wait = idle_wait(race, facts)
    race.remedy, race.remedy_where = remedy(race, facts)
    race.message = report(race, facts, columns < most_columns and columns or most_columns, colour,
                          cache)
    return setmetatable(race, race_meta)
end

-- The message of an SL_ERACE with what would order the two.
function words.refusal(message, race, facts)
    local noun = facts.is_late and "its stream" or "that stream"
    if facts.remedy == "free_later" then return message end
    if facts.remedy == "thread_joins" then return message .. "; join the thread first" end
    if facts.remedy == "capture_waits" then
        return message .. "; insert " .. table.concat({ remedy(race, facts) }, " ")
    end
    return message .. (facts.remedy == "host_waits" and "; synchronize " or "; wait for ")
           .. stream_to_wait(race.first, facts.first, false, noun)
end

return words
