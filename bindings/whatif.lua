-- whatif.lua - lab.whatif: a recorded program with changes, and how long it would take. l_whatif.c
-- plays it; bindings/words/whatif.lua has what is printed.

local lab, core = ...

local as, refuse, type_name = core.as, core.refuse, core.type_name
local no_more = core.arguments.no_more
local is_text = core.arguments.is_text
local did_you_mean, check_options = core.arguments.did_you_mean, core.arguments.check_options

local edits, by_name = core.edits(), {}
for _, edit in ipairs(edits) do by_name[edit.name] = edit end

-- Of each object: what l_whatif.c gives, and the changes so far.
local meta, states, check_self = core.need("classes"){
    name = "streamlab.whatif", what = "what lab.whatif gave", call = "w:%s()",
}
local methods = meta.__methods

function meta.__tostring(w)
    local n = #check_self(w, "tostring").edits
    return string.format("whatif (%d change%s)", n, n == 1 and "" or "s")
end

local function us(ns) return ns / 1000 end

-- ---- another GPU ------------------------------------------------------------------------------

local profiles = core.need("profiles")

-- The profile whose name is a word of the device's: h200 of "NVIDIA H200".
local function profile_of(timeline)
    local device = timeline.device_name:lower():gsub("(rtx) ", "%1")
    local found
    for _, name in ipairs(profiles.names()) do
        local word = name:gsub("_", " ")
        local is_its = device:find("%f[%w]" .. word .. "%f[%W]")
        if is_its and #name > #(found or "") then found = name end
    end
    return found or (timeline.device_name == "textbook GPU" and "textbook") or nil
end

-- How often the figures of the recorded GPU another one has.
local function ratios_to(name, timeline)
    local recorded = profile_of(timeline)
    if not recorded then
        refuse("profile", "no figures of the recorded GPU '%s' are known; known are %s",
               core.safe(timeline.device_name), table.concat(profiles.names(), ", "))
    end
    local to, from = profiles.load(name), profiles.load(recorded)
    local function ratio(key)
        if type(to[key]) ~= "number" then
            refuse("profile", "profile \"%s\" has no %s", core.safe(name), key)
        end
        return to[key] / from[key]
    end
    return { compute = ratio "fp32_tflops", memory = ratio "hbm_gb_per_s",
             h2d = ratio "h2d_gb_per_s", d2h = ratio "d2h_gb_per_s", sms = ratio "sm_count" }
end

-- Each change is a method: its selection, then its argument. It gives the object, so that changes
-- follow each other.
for _, edit in ipairs(edits) do
    local name = edit.name
    methods[name] = function(w, ...)
        local state = check_self(w, name)
        local selection, argument
        if edit.selects then
            selection, argument = ...
        else
            argument = ...
        end
        local most = (edit.selects and 1 or 0) + ((edit.number or edit.text) and 1 or 0)
        no_more(1 + most, name, select(most + 1, ...))
        if edit.selects and not is_text(selection) then
            refuse(name, "it needs a selection, \"Memcpy HtoD*\" or \"operator=aten::mm\", got %s",
                   type_name(selection))
        elseif edit.number and type(argument) ~= "number" then
            refuse(name, "it needs a number, got %s", type_name(argument))
        elseif edit.text and not is_text(argument) then
            refuse(name, "it needs the name of a %s, got %s",
                   name == "profile" and "GPU" or "stream", type_name(argument))
        end
        if name == "profile" then as(name, state.gpu, ratios_to(argument, state.of)) end
        local n = as(name, state.change, name, selection, edit.number and argument or nil,
                     edit.text and argument or nil)
        state.edits[#state.edits + 1] = { name = name, selection = selection,
                                          argument = argument, changed = n }
        return w
    end
end

-- ---- lines, and what to write there ----------------------------------------------------------

local as_option = {
    "as", "\"pytorch\", \"cuda\", \"cupy\" or \"lua\"",
    function(value) return is_text(value) and core.words.code.languages[value] ~= nil end,
}
local json_options = { as_option, { "code", "true or false", core.arguments.is_boolean } }

-- Of all operations and calls.
local function all_lines(state, op)
    state.all = state.all or as(op, state.lines, "remove", "*")
    return state.all
end

local function language_of(state, op)
    return core.words.code.language(state.own, all_lines(state, op))
end

-- A few words on what to write for a row of rank(); nil: nothing is known.
local function how(state, language, row)
    local function of(name, argument)
        local lines = as("rank", state.lines, name, row.selection or "*")
        return core.words.code.of({ name = name, argument = argument }, lines,
                                  all_lines(state, "rank"), language).how
    end
    local first, also = of(row.edit, row.argument), row.also and of(row.also)
    return first and also and also ~= first and first .. ", " .. also or first
end

-- Changes do not change it.
local function identity_of(state, op)
    state.found = state.found or as(op, state.identity)
    return state.found
end

function methods.identity(w, ...)
    no_more(1, "identity", ...)
    local found = identity_of(check_self(w, "identity"), "identity")
    return { measured_us = us(found.measured), replayed_us = us(found.replayed),
             error = found.error, problem = found.problem,
             knows_needs = found.knows_needs or false }
end

local function public(found)
    return { before_us = us(found.before), after_us = us(found.after),
             range_us = { low = us(found.low), high = us(found.high) } }
end

-- Where the records do not carry a prediction there is none, but why.
function methods.predict(w, ...)
    no_more(1, "predict", ...)
    local state = check_self(w, "predict")
    local problem = identity_of(state, "predict").problem
    if problem then return { refused = problem } end
    return public(as("predict", state.predict))
end

local function played(w, op, ...)
    no_more(1, op, ...)
    local state = check_self(w, op)
    local problem = as(op, state.identity).problem
    if problem then refuse(op, "no change is predicted: %s", problem) end
    return state
end

-- What is predicted as a timeline; and the program without changes, less what recording took.
function methods.timeline(w, ...)
    return as("timeline", played(w, "timeline", ...).timeline)
end

function methods.before(w, ...)
    return as("before", as("before", core.whatif, played(w, "before", ...).of).timeline)
end

local selects <const> = {}
for _, edit in ipairs(edits) do selects[edit.name] = edit.selects or nil end

local function remedy_of(state, language, found)
    local row = public(found)
    row.edit, row.also = found.edit, found.also
    row.selection = selects[found.edit] and found.selection or nil
    row.argument = found.name
        or (found.number ~= 0 and (math.tointeger(found.number) or found.number)) or nil
    row.how = how(state, language, row)
    return row
end

-- Rows, each with those that stand under it as `more`; and pairs of rows.
function methods.rank(w, ...)
    no_more(1, "rank", ...)
    local state = check_self(w, "rank")
    if identity_of(state, "rank").problem then return {}, {} end
    if #state.edits > 0 then
        refuse("rank", "it is about the program as recorded: call it before the first change")
    end
    local found, pairs_found = as("rank", state.rank)
    local all, rows, both, language = {}, {}, {}, language_of(state, "rank")
    for i, one in ipairs(found) do
        all[i] = remedy_of(state, language, one)
        if one.under == i then
            rows[#rows + 1] = all[i]
        else
            local above = all[one.under]
            above.more = above.more or {}
            table.insert(above.more, all[i])
        end
    end
    for i, pair in ipairs(pairs_found) do
        both[i] = public(pair)
        both[i].first, both[i].second = all[pair.first], all[pair.second]
    end
    return rows, both
end

local keys <const> = { kernel = true, operator = true, module = true, line = true }

local function slopes_by(state, by)
    local rows, named = {}, false
    for i, found in ipairs(as("derivative", state.slopes, by)) do
        rows[i] = { name = found.name, host = found.host, count = found.count,
                    time_us = us(found.time), gain = found.gain }
        named = named or found.name ~= nil
    end
    return rows, named
end

-- By operator, or where no operation has one by kernel.
function methods.derivative(w, by, ...)
    no_more(2, "derivative", ...)
    local state = check_self(w, "derivative")
    if by ~= nil and not keys[by] then
        refuse("derivative", "it is by kernel, operator, module or line, got '%s'%s",
               core.safe(string.sub(tostring(by), 1, 40)), did_you_mean(tostring(by), keys, "'"))
    end
    if identity_of(state, "derivative").problem then return {} end
    local rows, named = slopes_by(state, by or "operator")
    if by == nil and not named then rows = slopes_by(state, "kernel") end
    return rows
end

-- The changes so far: {name =, selection =, argument =, changed = how many} each.
function methods.changes(w, ...)
    no_more(1, "changes", ...)
    local list = {}
    for i, edit in ipairs(check_self(w, "changes").edits) do
        list[i] = { name = edit.name, selection = edit.selection, argument = edit.argument,
                    changed = edit.changed }
    end
    return list
end

-- Of each change what words/code.lua gives; without changes, of the best single ones.
local function codes_of(w, language)
    local state, list = check_self(w, "code"), {}
    local function add(name, selection, argument)
        local lines = as("code", state.lines, name, selection or "")
        list[#list + 1] = core.words.code.of({ name = name, selection = selection,
                                               argument = argument }, lines,
                                             all_lines(state, "code"), language)
    end
    for _, edit in ipairs(state.edits) do add(edit.name, edit.selection, edit.argument) end
    for _, row in ipairs(#list > 0 and {} or table.move(w:rank(), 1, 3, 1, {})) do
        add(row.edit, row.selection, by_name[row.edit].number and row.argument)
        if row.also then add(row.also, row.selection) end
    end
    return list
end

-- What bindings/words/whatif.lua says of it: single changes where there are none.
local function facts_of(w)
    local facts = { identity = w:identity(), changes = w:changes() }
    if facts.identity.problem then return facts end
    if #facts.changes > 0 then
        facts.prediction, facts.next = w:predict(), w:timeline():verdict()
    else
        facts.remedies, facts.pairs = w:rank()
        facts.slopes = w:derivative()
    end
    return facts
end

function methods.text(w, ...)
    no_more(1, "text", ...)
    check_self(w, "text")
    return core.words.whatif.text(facts_of(w))
end

function methods.json(w, opts, ...)
    no_more(2, "json", ...)
    local state = check_self(w, "json")
    opts = check_options(opts, json_options, "json")
    local facts = facts_of(w)
    if opts.code and not facts.identity.problem then
        facts.code = codes_of(w, opts.as or language_of(state, "json"))
    end
    return core.words.whatif.json(facts)
end

function methods.code(w, opts, ...)
    no_more(2, "code", ...)
    local state = check_self(w, "code")
    local language = check_options(opts, { as_option }, "code").as
    return core.words.code.text(codes_of(w, language or language_of(state, "code")))
end

-- Changes that make one call or operation of several.
local joins <const> = { graph = true, batch = true, fuse = true }

-- The program with its changes as a script. In a language that there is not, or of a program that
-- cannot be written: an error.
function methods.export(w, language, ...)
    no_more(2, "export", ...)
    local state = check_self(w, "export")
    local scripts = core.need("exports/scripts")
    local names = scripts.names()
    if not scripts.has(language) then
        refuse("export", "it needs a language, \"%s\", got %s", table.concat(names, "\", \""),
               is_text(language) and ("'%s'"):format(core.safe(string.sub(language, 1, 40)))
               or type_name(language))
    end
    local problem = as("export", state.identity).problem
    for _, edit in ipairs(state.edits) do
        if joins[edit.name] then
            problem = ("what '%s' makes of several operations is in no script yet"):format(
                edit.name)
        end
    end
    if problem then core.raise("SL_EUNSUPPORTED", "export", problem) end
    return scripts.write(language, { changes = w:changes(), actions = as("export", state.actions) })
end

core.define_class(meta)

function lab.whatif(timeline, ...)
    no_more(1, "whatif", ...)
    local w = setmetatable({}, meta)
    local state = as("whatif", core.whatif, timeline)
    state.edits, state.of = {}, timeline
    states[w] = state
    return w
end

-- ---- beside the losses of a timeline ----------------------------------------------------------

local most_ranked <const> = 20000 -- operations: half a second
local most_played <const> = 10000 -- of which a page has predictions: so many of the best
local most_rows <const>, most_timelines <const> = 8, 3

local function is_played(timeline)
    for _, doubt in ipairs(timeline.doubts) do
        if doubt.kind == "played" then return true end
    end
    return false
end

-- w:rank() of the timeline; none of a long one, or of one that is a prediction itself.
local function remedies(timeline)
    if timeline.keep == "summary" or timeline.span_count > most_ranked or is_played(timeline) then
        return {}
    end
    return (lab.whatif(timeline):rank())
end

-- What its best changes would gain, as text; "" if none does.
local function best_remedies(timeline)
    local rows = remedies(timeline)
    return #rows > 0 and core.words.whatif.best(rows) or ""
end

local function remedies_json(timeline) return core.words.whatif.array(remedies(timeline)) end

-- The changed program of a row of w:rank().
local function changed(timeline, row)
    local w = lab.whatif(timeline)
    if row.selection then
        methods[row.edit](w, row.selection, row.argument)
    else
        methods[row.edit](w, row.argument)
    end
    if row.also then methods[row.also](w, row.selection) end
    return w:timeline()
end

local function ns(time_us) return math.tointeger(time_us * 1000 // 1) end

-- What single changes would gain, for a page of the timeline: rows of {what =, command =,
-- after_ns =, low_ns =, high_ns =, timeline = as predicted or nil}, and before_ns.
local function page(timeline)
    local rows = { before_ns = 0 }
    for i, row in ipairs(remedies(timeline)) do
        if i > most_rows then break end
        local shown = i <= most_timelines and timeline.span_count <= most_played
        rows[i] = {
            what = core.words.whatif.remedy(row), command = core.words.whatif.command(row),
            after_ns = ns(row.after_us), low_ns = ns(row.range_us.low),
            high_ns = ns(row.range_us.high), timeline = shown and changed(timeline, row) or nil,
        }
        rows.before_ns = ns(row.before_us)
    end
    return rows
end

-- The metatable is for tests.
return { whatif = meta, best_remedies = best_remedies, remedies_json = remedies_json, page = page }
