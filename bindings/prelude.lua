-- prelude.lua - the part of the module that is simpler in Lua: which device and profile to open,
-- to-be-closed guards, and functions that the module's other Lua files share (measuring.lua,
-- probing.lua, tap.lua).
--
-- All are built into the module. This one runs when the module is required, the others when one
-- of their functions is first called (at the end of this file). Each gets the module's table and
-- a table of internal functions. Their chunks are named "=streamlab": positions and tracebacks
-- skip them and show the user's own lines. Functions in the module's table at the end of the
-- prelude are wrapped in C functions (call_prelude).
--
-- as(op, f, ...) calls f, a function of the module, so that its errors name `op`.

local lab, core = ...

local function copy(t)
    local result = {}
    for key, value in next, t or {} do result[key] = value end
    return result
end

-- The globals of these files: the libraries as they were when the module was loaded, so that a
-- script's own variables ("type", "next") do no harm. io and os may be missing.
local _ENV <const> = {
    collectgarbage = collectgarbage or function() end, error = error,
    getmetatable = getmetatable, io = io, ipairs = ipairs, load = load, math = copy(math),
    next = next, os = os, pcall = pcall, rawequal = rawequal, rawget = rawget, rawlen = rawlen,
    rawset = rawset, select = select, setmetatable = setmetatable, string = copy(string),
    table = copy(table), tonumber = tonumber, tostring = tostring, type = type,
    utf8 = utf8 and copy(utf8),
}

local raise, type_name, as = core.raise, core.type_name, core.as
local use, record = lab.use, lab.record
local getenv = not core.ignores_environment and os and os.getenv or function() end

-- Raises SL_EINVAL for the function `op`; the text is a format for what follows, if anything does.
local function refuse(op, text, ...)
    raise("SL_EINVAL", op, select("#", ...) > 0 and string.format(text, ...) or text)
end
core.refuse = refuse

local function check_function(f, arg, op)
    if type(f) == "function" then return end
    refuse(op, "argument %d (f) must be a function, got %s", arg, type_name(f))
end

-- Raises if an argument behind the n-th is not nil; `...` are these arguments.
local function no_more(n, op, ...)
    for i = 1, select("#", ...) do
        local extra = select(i, ...)
        if extra ~= nil then
            refuse(op, "argument %d is one too many, got %s", n + i, type_name(extra))
        end
    end
end

local function sorted_keys(t)
    local keys = {}
    for key in next, t do keys[#keys + 1] = key end
    table.sort(keys, function(a, b)
        if type(a) == type(b) and (type(a) == "number" or type(a) == "string") then return a < b end
        return type(a) < type(b)
    end)
    return keys
end

-- For messages, a value that an option does not take: as it was written, if it is short.
local function show_value(value)
    if type(value) == "number" then return ("%.14g"):format(value) end
    if type(value) == "string" and #value <= 40 then
        return '"' .. core.safe(value) .. '"'
    end
    if type(value) == "table" and next(value) == nil then return "an empty table" end
    return type_name(value)
end

-- Raises unless opts is nil or a table whose names are all in `known`, a list of
-- {name, wanted, test}; gives the table.
local function check_options(opts, known, op)
    if opts == nil then return {} end
    if type(opts) ~= "table" then
        refuse(op, "options must be a table, got %s", type_name(opts))
    end
    local names, by_name = {}, {}
    for i, entry in ipairs(known) do names[i], by_name[entry[1]] = entry[1], entry end
    for _, key in ipairs(sorted_keys(opts)) do
        local entry = by_name[key]
        if not entry then
            refuse(op, "unknown option '%s'; known: %s", tostring(key), table.concat(names, ", "))
        elseif not entry[3](opts[key]) then
            refuse(op, "option '%s' must be %s, got %s", key, entry[2], show_value(opts[key]))
        end
    end
    return opts
end

local function is_text(value)
    return type(value) == "string" and not value:find("\0", 1, true)
end
local function is_table(value) return type(value) == "table" end
local function is_count(value)
    return type(value) == "number" and math.tointeger(value) ~= nil and value >= 0
end

-- "; did you mean NAME?" for the most similar of the known names, between quotes if they are given;
-- "" if none is similar.
local function did_you_mean(name, known, quote)
    local near = type(name) == "string" and core.nearest(name, known)
    return near and "; did you mean " .. (quote or "") .. near .. (quote or "") .. "?" or ""
end

-- Checks of arguments, for all files.
core.arguments = {
    check_function = check_function, no_more = no_more, check_options = check_options,
    did_you_mean = did_you_mean, sorted_keys = sorted_keys, is_text = is_text,
    is_table = is_table, is_count = is_count,
}

-- Profiles -------------------------------------------------------------------------------

local default_profile = "h200"
local too_deep = "is nested too deeply, or contains itself"
local max_depth = 8
-- Of a profile: its file's size, and what computing it takes.
local most_profile_bytes <const>, most_instructions <const>, most_bytes <const> =
    4 << 20, 10000000, 16 << 20

local function profile_path(name) return "scripts/profiles/" .. name .. ".lua" end

local function profile_names()
    local names = {}
    for _, path in ipairs(core.embedded_names()) do
        names[#names + 1] = path:match("^scripts/profiles/(.+)%.lua$")
    end
    table.sort(names)
    return names
end

-- For GPUs without a profile: how their names begin, and the profile of their generation or the
-- nearest one.
local generations = {
    {"rtx50", "b200"}, {"rtx40", "rtx4090"}, {"rtx30", "a10"}, {"rtx20", "t4"}, {"gtx16", "t4"},
    {"gtx10", "v100"}, {"titan", "v100"}, {"rtxpro", "b200"}, {"rtx6000", "rtx4090"},
    {"rtxa", "a10"}, {"gb", "b200"}, {"gh", "h200"}, {"b[1-3]", "b200"}, {"h2", "h200"},
    {"h[18]", "h100"}, {"l[24]", "l4"}, {"a[2-46]", "a10"}, {"a1[06]", "a10"}, {"a800", "a100"},
    {"quadro", "t4"}, {"t[4-9]", "t4"}, {"[kmp]%d", "v100"},
}

-- The built-in profile that was most likely meant (by a prefix, by generation, or by spelling),
-- and the words for it.
local function nearest_profile(typed)
    local name, known = typed:lower():gsub("^nvidia", ""):gsub("[%s_-]", ""), {}
    name = name:gsub("^geforce", ""):gsub("^tesla", "")
    for _, profile in ipairs(profile_names()) do
        if #name >= 3 and profile:sub(1, #name) == name then return profile, "did you mean %s?" end
        known[profile] = true
    end
    for _, item in ipairs(known[name] and {} or generations) do
        local digits = name:find("%d") or name:find("^titan") or name:find("^quadro")
        if digits and name:find("^" .. item[1]) then return item[2], "the nearest is %s" end
    end
    local near = known[name] and name or core.nearest(name, known)
    return near, near and "did you mean %s?"
end

-- The text of a profile, its chunk's name, and its short name. `asker` begins an error's text.
local function read_profile(profile, asker)
    if profile:find("/", 1, true) or profile:find("%.lua$") then
        if not io then raise("SL_EUNSUPPORTED", "open", "there is no io library") end
        local file, reason = io.open(profile, "rb")
        if not file then
            raise("SL_ENOTFOUND", "open", asker .. "cannot read profile " .. reason)
        end
        local text
        text, reason = file:read(most_profile_bytes + 1)
        file:close()
        if not text and reason then
            raise("SL_EIO", "open", ("cannot read profile %s: %s"):format(profile, reason))
        end
        text = text or ""
        if #text > most_profile_bytes then
            refuse("open", "broken profile: %s has more than %d MB", profile,
                   most_profile_bytes >> 20)
        end
        return text, "@" .. profile, (profile:match("([^/]*)$"):gsub("%.lua$", ""))
    end
    local text = core.embedded(profile_path(profile))
    if not text then
        local near, sentence = nearest_profile(profile)
        raise("SL_ENOTFOUND", "open",
              ("%sthere is no profile \"%s\"; known: %s, or the name of a file that ends in .lua%s")
              :format(asker, profile, table.concat(profile_names(), ", "),
                      near and "; " .. sentence:format(near) or ""))
    end
    return text, "@" .. profile_path(profile), profile
end

-- The error of a profile that gave no value, or of its file.
local function complaint(chunk_name, message)
    if message ~= "not enough memory" then return tostring(message) end
    return ("%s takes more than %d MB of memory"):format(chunk_name:sub(2), most_bytes >> 20)
end

-- The table of one profile, which is a name, a file or a table, and its short name. The file
-- runs with no globals: it can compute for a moment, and nothing else.
local function load_one(profile, asker)
    if type(profile) == "table" then return profile, "table" end
    local text, chunk_name, name = read_profile(profile, asker)
    local chunk, message = load(text, chunk_name, "t", {})
    if not chunk then refuse("open", "broken profile: %s", message) end
    local ok, result = core.compute(chunk, most_instructions, most_bytes)
    core.check_interrupt("open")        -- a profile that the user stopped is not broken
    if not ok then
        refuse("open", "broken profile: %s", complaint(chunk_name, result))
    end
    if type(result) ~= "table" then
        refuse("open", "broken profile: %s must return a table, it returns %s", chunk_name:sub(2),
               type_name(result))
    end
    return result, name
end

-- The table in `t` that holds a key, and its last name: for "a.b" what is in a, and "b".
local function place_of(t, key)
    if type(key) ~= "string" or not key:find(".", 1, true) then return t, key end
    for outer in key:gmatch("([^.]+)%.") do
        if type(t[outer]) ~= "table" then t[outer] = {} end
        t = t[outer]
    end
    return t, key:match("[^.]*$")
end

-- Puts what `t` has into the table `into`. A list replaces another; an empty table empties one.
local function merge(into, t, depth)
    for key, value in next, t do
        local at, last = place_of(into, key)
        local is_named = type(value) == "table" and rawlen(value) == 0 and next(value) ~= nil
        if is_named and depth < max_depth then
            if type(at[last]) ~= "table" then at[last] = {} end
            merge(at[last], value, depth + 1)
            value = next(at[last]) ~= nil and at[last] or nil
        elseif type(value) == "table" and next(value) == nil then
            value = nil
        end
        at[last] = value
    end
end

-- The table of a profile, completed from its base (another profile), and its short name. chain:
-- the profiles that have led here, each the base of the one before.
local function load_profile(profile, chain)
    local by = chain and chain[#chain]
    local t, name = load_one(profile, by and ("profile %s: 'base': "):format(by.name) or "")
    local base = rawget(t, "base")
    if base == nil then return t, name end
    if not is_text(base) then
        refuse("open", "profile %s: 'base' must be the name of a profile, got %s", name,
               show_value(base))
    end
    chain = chain or {}
    chain[#chain + 1] = {profile = profile, name = name}
    for i, link in ipairs(chain) do
        if link.profile == base then
            local names = {}
            for k = i, #chain do names[#names + 1] = chain[k].name end
            refuse("open", "profile %s: 'base' leads back to itself: %s, %s", chain[1].name,
                   table.concat(names, ", "), link.name)
        end
    end
    local whole = load_profile(base, chain)
    merge(whole, t, 1)
    whole.base = nil
    return whole, name
end

-- Appends the numbers of a list, and of lists in it, in reading order.
local function add_values(values, list, fail, depth)
    if depth > max_depth then fail(too_deep) end
    local n = rawlen(list)
    for key in next, list do
        if math.type(key) ~= "integer" or key < 1 or key > n then
            fail("mixes list items and named ones")
        end
    end
    for i = 1, n do
        local value = rawget(list, i)
        if type(value) == "number" then values[#values + 1] = value
        elseif type(value) == "boolean" then values[#values + 1] = value and 1 or 0
        elseif type(value) == "table" then add_values(values, value, fail, depth + 1)
        else fail("has an item that is a " .. type_name(value)) end
    end
    return values
end

-- Fills `flat` with name -> text or list of numbers; nested names are joined by dots.
local function flatten(flat, t, prefix, label, depth)
    for _, key in ipairs(sorted_keys(t)) do
        local name, value = prefix .. tostring(key), rawget(t, key)
        local function fail(what)
            refuse("open", "%s: '%s' %s", label, name, what)
        end
        local is_list = type(value) == "table" and (rawlen(value) > 0 or next(value) == nil)
        if type(key) ~= "string" then fail("must be named") end
        if depth > max_depth then fail(too_deep) end
        if flat[name] ~= nil then fail("is given twice") end
        if type(value) == "string" then flat[name] = value
        elseif type(value) == "number" then flat[name] = {value}
        elseif type(value) == "boolean" then flat[name] = {value and 1 or 0}
        elseif is_list then flat[name] = add_values({}, value, fail, depth)
        elseif type(value) == "table" then flatten(flat, value, name .. ".", label, depth + 1)
        else fail("is a " .. type_name(value)) end
    end
    return flat
end

-- The settings for the core, in order of name.
local function settings_of(profile, overrides)
    local t, name = load_profile(profile)
    local flat = flatten({}, t, "", "profile " .. name, 1)
    for key, value in next, flatten({}, overrides or {}, "", "overrides", 1) do
        flat[key] = value
    end
    flat.profile = flat.profile or name
    local settings = {}
    for i, key in ipairs(sorted_keys(flat)) do settings[i] = {key, flat[key]} end
    return settings
end

-- Devices --------------------------------------------------------------------------------

local open_options = {
    {"backend", "a string", is_text}, {"index", "a whole number from 0 on", is_count},
    {"profile", "a name, a file or a table",
     function(value) return is_text(value) or is_table(value) end},
    {"overrides", "a table", is_table},
}

local function from_environment(name)
    local value = getenv(name)
    return value ~= "" and value or nil
end

-- Why the GPU that is there cannot be used, once that is known: the build has no code for it.
local unusable

-- The backend, and whether it is the default; for a default "sim" also why it is no real GPU,
-- and that error's code.
local function choose_backend(opts)
    local backend = opts.backend or core.default("backend")
    if backend then return backend end
    if opts.profile or opts.overrides or core.default("profile") then return "sim" end
    backend = from_environment("STREAMLAB_BACKEND")
    if backend and backend ~= "sim" and backend ~= "cuda" then
        raise("SL_ENOTFOUND", "open",
              ("STREAMLAB_BACKEND is \"%.40s\": the backends are cuda and sim"):format(backend))
    end
    if backend then return backend end
    local count, reason, code = core.device_count("cuda")
    if (count or 0) > 0 and not unusable then return "cuda", true end
    return "sim", true, unusable or reason, code
end

local function choose_profile(opts)
    return opts.profile or core.default("profile") or from_environment("STREAMLAB_PROFILE")
        or default_profile
end

-- For the program, which saves profiles.
core.load_profile = load_profile
function core.chosen_profile() return choose_profile({}) end

local said_simulating = false

-- For the program: what the first call would open, without opening it: {backend, name, index or
-- profile, and reason if the simulator is the default}. The caller shows the reason, so it is
-- not shown again when the device is opened.
function core.foresee()
    local backend, _, reason, code = choose_backend({})
    local index = core.default("index") or 0
    if backend ~= "sim" then
        local count, why = core.device_count(backend)
        local name = (count or 0) > index and core.device_name(backend, index)
        if name then return {backend = backend, index = index, name = name} end
        raise("SL_ENOTFOUND", "open", why or ("there is no device %d: backend %s has %d")
              :format(index, backend, count))
    end
    local profile = load_profile(choose_profile({}))
    said_simulating = true
    if code == "SL_ENOTFOUND" then reason = reason:match("^[^:]*") end
    return {backend = backend, name = tostring(profile.name), reason = reason,
            profile = choose_profile({})}
end

-- One line when the default is the simulator. Without a plugin it has only the first words of
-- the reason, since most machines show it each day; lab.open{backend = "cuda"} shows the rest.
local function say_simulating(device, reason, code)
    if said_simulating then return end
    said_simulating = true
    if code == "SL_ENOTFOUND" then reason = reason:match("^[^:]*") end
    core.notice(core.safe(("simulating %s (profile %s): %s"):format(device.name, device.profile,
        reason)))
end

-- Opens the first GPU, as the default. Gives nothing if the build has no code for that GPU,
-- which shows only when it is opened.
local function try_gpu()
    local fine, device, is_new = pcall(core.open, "cuda", 0, {})
    if fine then return device, is_new end
    if type(device) ~= "table" or device.code ~= "SL_EUNSUPPORTED" then error(device, 0) end
    unusable = device.message
end

function lab.open(opts, ...)
    no_more(1, "open", ...)
    if is_text(opts) then
        refuse("open", "options must be a table, got string; write lab.open{profile = \"%.60s\"}",
               opts)
    end
    opts = check_options(opts, open_options, "open")
    local backend, unasked, reason, code = choose_backend(opts)
    local settings = {}
    if backend == "sim" then
        settings = settings_of(choose_profile(opts), opts.overrides)
    elseif opts.profile or opts.overrides or core.default("profile") and not opts.backend then
        refuse("open", "a profile is for the simulator, not for backend \"%s\"", backend)
    end
    -- --device names a GPU; it does not reach a simulator that the script asks for.
    local asked = opts.backend == "sim" or opts.profile or opts.overrides
    local index = opts.index or not asked and core.default("index") or 0
    local device, is_new
    if backend == "cuda" and unasked and index == 0 then
        device, is_new = try_gpu()
        if not device then return lab.open(opts) end
    else
        device, is_new = core.open(backend, index, settings)
    end
    if reason then say_simulating(device, reason, code) end
    local on_open = is_new and core.default("on_open")
    if on_open then on_open() end
    return device
end

-- What could be opened: real GPUs, then a simulated one for each profile, the
-- default one first.
function lab.devices(...)
    no_more(0, "devices", ...)
    local list, names = {}, profile_names()
    for index = 0, (core.device_count("cuda") or 0) - 1 do
        list[#list + 1] = {backend = "cuda", index = index, name = core.device_name("cuda", index)}
    end
    table.sort(names, function(a, b)
        if (a == default_profile) ~= (b == default_profile) then return a == default_profile end
        return a < b
    end)
    for _, name in ipairs(names) do
        list[#list + 1] = {backend = "sim", index = 0, profile = name,
                           name = load_profile(name).name}
    end
    return list
end

-- Guards ---------------------------------------------------------------------------------
--
-- Both use to-be-closed variables and not pcall: an error passes as it is, and a
-- message handler further out still sees the frames of f.

function lab.with(stream, f, ...)
    local _ <close> = as("with", use, stream)
    check_function(f, 2, "with")
    return f(...)
end

local function stop(op, tl, ...)
    as(op, tl.stop, tl)
    return tl, ...
end

-- The timeline, then what f returned; for the function `op`.
function core.profile(op, f, ...)
    local tl <close> = as(op, record)       -- stops without waiting if f raises
    return stop(op, tl, f(...))
end

function lab.profile(f, ...)
    check_function(f, 1, "profile")
    return core.profile("profile", f, ...)
end

-- Files ------------------------------------------------------------------------------------

-- For the program, before it runs untrusted code: from now on no function of the laboratory
-- opens a file or starts a program. This cannot be undone.
function core.close_files()
    local function fail(path) return nil, tostring(path) .. ": no files are opened here" end
    core.refuse_files()
    io = {open = fail, write = io.write, stdout = io.stdout, stderr = io.stderr}
    os = nil
end

-- The other files -------------------------------------------------------------------------
--
-- They are read late, because reading them takes as long as the rest of the start.

local functions_of = {
    measuring = {"measure"}, tables = {"table"}, sweeping = {"sweep"},
    probing = {"probe", "probes", "claims"}, tap = {"tap"},
}

-- The module as these files see it, with the functions that they add; scripts cannot change it.
local module = copy(lab)
module.cuda = copy(lab.cuda)

local has_run, running = {}, {}

local function run(file)
    if running[file] then
        raise("SL_ESTATE", file, "it is being loaded, and cannot be called meanwhile")
    end
    running[file] = true
    has_run[file] = core.chunk("bindings/" .. file .. ".lua", _ENV)(module, core) or true
end

-- Runs a file once, and gives what it returned. If it is interrupted, it runs again. The
-- collector is stopped meanwhile, since a finalizer of the script may call what is being loaded.
function core.need(file)
    if has_run[file] then return has_run[file] end
    local collects = collectgarbage("isrunning")
    collectgarbage("stop")
    local nested = running[file]
    local ok, err = pcall(run, file)
    running[file] = nested
    if collects then collectgarbage("restart") end
    if not ok then error(err, 0) end
    return has_run[file]
end

-- core.words.NAME is what bindings/words/NAME.lua returns, which runs when it is first used.
core.words = setmetatable({}, {__index = function(words, name)
    words[name] = core.need("words/" .. name)
    return words[name]
end})

-- For what says that a name is missing; see bindings/elsewhere.lua.
function core.elsewhere(name, marked)
    core.need("elsewhere")
    return core.find_elsewhere(name, marked)
end

for file, names in next, functions_of do
    for _, name in ipairs(names) do
        lab[name] = function(...)
            core.need(file)
            return module[name](...)
        end
    end
end
