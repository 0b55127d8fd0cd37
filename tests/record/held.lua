-- held.lua - what spools hold, a few lines for each process: counts, what is in doubt, what
-- recording cost, the verdict. For turns.lua; with folders as arguments it prints that of them.
local held = {}

local function count(list, f)
    local n = 0
    for _, item in ipairs(list) do
        n = n + (f(item) and 1 or 0)
    end
    return n
end

-- Waits of streams for records that are known: the trace has an event for each.
local function known_waits(tl)
    local path = os.tmpname() .. ".json"
    tl:save(path)
    local file <close> = assert(io.open(path))
    local _, n = file:read("a"):gsub('"name": ?"Stream Wait Event"', "")
    os.remove(path)
    return n
end

-- Of the time of all operations, the percentage that has a line of the program, and how many of
-- graphs lack the launch that ran them.
function held.lines(tl)
    local all, with, loose = 0, 0, 0
    for _, span in ipairs(tl:spans()) do
        local us = span.end_us - span.start_us
        all = all + us
        with = with + (span.where and span.where ~= "" and us or 0)
        loose = loose + (span.node and not span.graph and 1 or 0)
    end
    return all > 0 and 100 * with / all or 0, loose
end

-- A sentence in lines of at most 96 columns, with four of indent.
local function print_wrapped(text)
    local line = "   "
    for word in text:gmatch "%S+" do
        if #line + 1 + #word > 96 and line ~= "   " then
            print(line)
            line = "     "
        end
        line = line .. " " .. word
    end
    print(line)
end

local function describe(name, bytes, tl, seconds)
    local calls = tl:calls()
    local function count_calls(kind, word)
        return count(calls, function(c) return c.kind == kind and c.name:find(word) end)
    end
    local lines, loose = held.lines(tl)
    local waits, known = count_calls("stream_wait", ""), known_waits(tl)
    print(("  %s: %d operations, %d calls, %d bytes (%.1f an operation), read in %.2f s"):format(
        name, tl.span_count, #calls, bytes, bytes / math.max(tl.span_count, 1), seconds))
    print(("    %d waits of streams: %d for a known record, %d for an event without one; %d are "
        .. "not resolved"):format(waits, known, waits - known,
        count_calls("plain", "StreamWaitEvent")))
    print(("    %d launches of graphs; %d nodes without one; %.1f %% of the GPU's time has a line")
        :format(count_calls("plain", "GraphLaunch"), loose, lines))
    for _, doubt in ipairs(tl.doubts) do
        print_wrapped(doubt.kind .. ": " .. doubt.sentence)
    end
    local verdict = tl:verdict()
    if verdict.recording then
        print_wrapped(verdict.recording)
    end
    print_wrapped(verdict.sentence)
end

-- The timelines of the spools in a folder, or a part of each, the longest file first: {name =,
-- bytes =, tl = or problem =, seconds = that reading took}.
function held.read(folder, part)
    local function load(path)
        local tl = lab.load(path)
        return part and tl:part(part) or tl
    end
    local list = {}
    for path in io.popen(("ls -S '%s'/*.spool 2>/dev/null"):format(folder)):lines() do
        local start = os.clock()
        local fine, tl = pcall(load, path)
        local file <close> = assert(io.open(path))
        local problem = not fine and tostring(tl):gsub("^held.lua:%d+: ", "") or nil
        list[#list + 1] = { name = path:match("([^/]*)%.spool$"), bytes = file:seek("end"),
                            tl = fine and tl or nil, problem = problem,
                            seconds = os.clock() - start }
    end
    return list
end

function held.print(folder, part)
    for _, one in ipairs(held.read(folder, part)) do
        if one.tl then
            describe(one.name, one.bytes, one.tl, one.seconds)
        else
            print(("  %s: %d bytes"):format(one.name, one.bytes))
            print_wrapped(one.problem)
        end
    end
end

if arg and arg[0] and arg[0]:find("held%.lua$") then
    for _, folder in ipairs(arg) do
        print(folder)
        held.print(folder)
    end
end
return held
