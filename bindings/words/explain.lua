-- explain.lua - an explanation as text for a terminal: the verdict, where the total time went,
-- then the findings with their script lines and remedies.
--
-- The largest are shown, the others added up. What the same cause did to another engine's row is
-- shown with it.

local _, core = ...
local say, duration, fold = core.words.say, core.duration, core.fold

local most_findings <const>, most_parts <const> = 6, 6
local least_permille <const> = 2        -- of the makespan: smaller losses are only added up
local indent <const> = 4                -- of a finding's text, behind its number
local time_columns <const> = 9
local least_columns <const> = 24

-- Of sums over absurdly long spans.
local function add(a, b)
    return a > math.maxinteger - b and math.maxinteger or a + b
end

-- ---- findings --------------------------------------------------------------------------

-- The line of the script of what was waited for, else the waiter's, as much as fits.
local function source_line(r, columns)
    local side = r.by or r.waiter
    if not side or side.source == "" then return "" end
    return (" "):rep(indent) .. "| " .. core.clip_end(side.source, columns - indent - 2) .. "\n"
end

local idle <const> = {
    { "compute", "The compute engine was idle" }, { "comm", "No collective ran for" },
    { "h2d", "The H2D engine was idle" }, { "d2h", "The D2H engine was idle" },
    { "p2p", "The P2P engine was idle" }, { "copy", "The copy engine was idle" },
    { "host", "Host functions did not run for" },
}

-- What else the cause of finding `first` held up: by engine, and beside the kernels that ran.
local function others_of(e, first)
    local sums = {}
    for i = first + 1, e.n_findings do
        local lost_ns, _, same_as = e.loss(i)
        if same_as == first then
            local r = e.finding(i)
            local key = r.idle and r.engine or r.engine ~= "comm" and "beside" or "others"
            local sum = sums[key] or { lost_ns = 0, count = 0 }
            sum.lost_ns, sum.count = add(sum.lost_ns, lost_ns), sum.count + r.count
            sums[key] = sum
        end
    end
    return sums
end

-- "The D2H engine was idle 14.2 ms (199 gaps) for the same reason"; `more`: than the finding
-- itself says of it
local function same_reason(what, sum, more, counted, columns)
    if not sum then return "" end
    local line = ("%s %s%s%s for the same reason"):format(what, duration(sum.lost_ns),
        more and " more" or "", sum.count > 1 and (" (%d %s)"):format(sum.count, counted) or "")
    return (" "):rep(indent) .. fold(line, indent, columns)
end

local function others(e, r, first, columns)
    local lines, sums = {}, others_of(e, first)
    for i, engine in ipairs(idle) do
        lines[i] = same_reason(engine[2], sums[engine[1]], r.idle and r.engine == engine[1],
                               "gaps", columns)
    end
    return table.concat(lines) .. same_reason("Kernels had room beside what ran for", sums.beside,
                                              not r.idle, "times", columns)
end

-- "1.20 ms to gain: ", by ending this cause alone
local function gain(r)
    if not r.gain_ns then return "Gain not known: " end
    return r.gain_ns > 0 and duration(r.gain_ns) .. " to gain: " or "No gain alone: "
end

local function finding(e, i, number, columns)
    local r = e.finding(i)
    local remedy = say(r, "remedy")
    return ("%2d. "):format(number) .. fold(gain(r) .. say(r, "sentence"), indent, columns)
           .. source_line(r, columns) .. others(e, r, i, columns)
           .. (remedy and (" "):rep(indent) .. "-> " .. fold(remedy, indent + 3, columns) or "")
end

local function rest(n, rest_ns, shown)
    if n == 0 then return "" end
    return ("%s%d %s%s, %s in total\n"):format((" "):rep(indent), n, shown > 0 and "more " or "",
        n == 1 and "loss" or "losses", duration(rest_ns))
end

local function findings(e, columns)
    local least_ns = e.trace.makespan_ns // 1000 * least_permille
    local lines, n_rest, rest_ns = {}, 0, 0
    for i = 1, e.n_findings do
        local lost_ns, gain_ns, same_as = e.loss(i)
        local is_large = #lines < most_findings and (lost_ns >= least_ns or gain_ns >= least_ns)
        if same_as == i and is_large then
            lines[#lines + 1] = finding(e, i, #lines + 1, columns)
        elseif same_as == i then
            n_rest, rest_ns = n_rest + 1, add(rest_ns, lost_ns)
        end
    end
    local title = e.inferred and "Where time was lost (inferred from the records)"
                  or "Where time was lost (known exactly: the GPU is simulated)"
    return fold(title, 0, columns) .. table.concat(lines) .. rest(n_rest, rest_ns, #lines)
end

-- ---- the makespan's parts --------------------------------------------------------------

local function part(time_ns, words)
    return ("%9s  "):format(duration(time_ns)) .. words
end

local function chain(e, columns)
    local lines, rest_ns = {}, 0
    for i = 1, e.n_parts do
        if i <= most_parts then
            local r = e.part(i)
            lines[i] = part(r.lost_ns, fold(say(r, "part"), time_columns + 2, columns))
        else
            rest_ns = add(rest_ns, e.part_ns(i))
        end
    end
    if rest_ns > 0 then lines[#lines + 1] = part(rest_ns, "other parts\n") end
    local title = "Critical path: where the total time went, from the last operation backwards"
    if e.stream then
        title = ("Stream \"%s\" ended after %s of %s: where that time went, from its last "
                 .. "operation backwards"):format(e.stream.name, duration(e.stream.time_ns),
                                        duration(e.trace.makespan_ns))
    end
    return fold(title, 0, columns) .. table.concat(lines)
end

-- explain(explanation, columns, with_verdict): text in lines of at most so many columns
return function(e, columns, with_verdict)
    columns = math.max(columns, least_columns)
    if e.stream then return chain(e, columns) end
    local has_spans = e.trace.n_spans > 0
    local verdict = (with_verdict or not has_spans)
                    and core.words.doubts.text(e.trace, columns)
                    .. fold(core.words.opening(e), 0, columns)
    local range = e.trace.range and fold(core.words.range.sentence(e.trace.range), 0, columns)
    local guessed = e.trace.guessed
                    and fold(core.words.guessed.sentence(e.trace.guessed), 0, columns)
    local communication = e.trace.communication
        and fold(core.words.communication.sentence(e.trace.communication), 0, columns)
    return (verdict or "") .. (range or "") .. (guessed or "") .. (communication or "")
           .. (has_spans and chain(e, columns) or "")
           .. (e.n_findings > 0 and findings(e, columns) or "")
end
