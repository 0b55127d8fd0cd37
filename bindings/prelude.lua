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
local function is_boolean(value) return type(value) == "boolean" end
-- A finite number from 0 on.
local function is_amount(value)
    return type(value) == "number" and value >= 0 and value < math.huge
end
local function is_count(value)
    return type(value) == "number" and math.tointeger(value) ~= nil and value >= 0
end

-- A list without holes, whose elements pass the test.
local function is_list(value, test)
    if type(value) ~= "table" then return false end
    local n = 0
    for _, element in next, value do
        if not test(element) then return false end
        n = n + 1
    end
    return n == rawlen(value)
end

-- The calls of those entries as a set: those that `wanted`, a list of names, has; nil: all.
local function wanted_calls(entries, wanted, op)
    local list, known, set = {}, {}, {}
    for _, entry in ipairs(entries) do
        if not known[entry.call] then list[#list + 1] = entry.call end
        known[entry.call] = true
    end
    for i = 1, rawlen(wanted or {}) do
        local name = rawget(wanted, i)
        if type(name) ~= "string" or not known[name] then
            local given = type(name) == "string" and ("%q"):format(name) or "a " .. type_name(name)
            core.raise("SL_ENOTFOUND", op, ("calls has %s, which is not probed; known: %s")
                       :format(given, table.concat(list, ", ")))
        end
        set[name] = true
    end
    return wanted and set or known
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
    is_table = is_table, is_count = is_count, show_value = show_value, is_boolean = is_boolean,
    is_amount = is_amount, is_list = is_list, wanted_calls = wanted_calls,
}

-- Devices --------------------------------------------------------------------------------

local default_profile = "h200"

-- Reading profiles: see profiles.lua.
local function profiles() return core.need("profiles") end

local open_options = {
    { "backend", "a string", is_text }, { "index", "a whole number from 0 on", is_count },
    { "profile", "a name, a file or a table",
      function(value) return is_text(value) or is_table(value) end },
    { "host", "a profile's name, a file or a table",
      function(value) return is_text(value) or is_table(value) end },
    { "overrides", "a table", is_table },
    { "tune", "true or false", is_boolean },
}

local function from_environment(name)
    local value = getenv(name)
    return value ~= "" and value or nil
end

-- Why the GPU that is there cannot be used, once that is known: the build has no code for it.
local unusable

-- Whether a script's options are for the simulator.
local function asks_simulated(opts) return opts.profile or opts.host or opts.overrides end

-- The backend, and whether it is the default; for a default "sim" also why it is no real GPU,
-- and that error's code.
local function choose_backend(opts)
    local backend = opts.backend or core.default("backend")
    if backend then return backend end
    if asks_simulated(opts) or core.default("profile") or core.default("host") then return "sim" end
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

-- The profile whose host's part counts, if it is another one. The program's and the environment's
-- are for scripts that name no profile.
local function choose_host(opts)
    if opts.host or opts.profile then return opts.host end
    return core.default("host") or from_environment("STREAMLAB_HOST")
end

-- For the program, which saves profiles: without `spread`, `days` and `kernels`, which are not of
-- the device measured.
function core.load_profile(...)
    local t, name = profiles().load(...)
    t.spread, t.days, t.kernels = nil, nil, nil
    return t, name
end

function core.chosen_profile() return choose_profile({}), choose_host({}) end

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
        if name then return { backend = backend, index = index, name = name } end
        raise("SL_ENOTFOUND", "open", why or ("there is no device %d: backend %s has %d")
              :format(index, backend, count))
    end
    local profile, label = profiles().load(core.chosen_profile())
    said_simulating = true
    if code == "SL_ENOTFOUND" then reason = reason:match("^[^:]*") end
    return { backend = backend, name = tostring(profile.name), reason = reason,
             profile = label }
end

-- One line when the default is the simulator. Without a plugin it has only the first words of
-- the reason, since most machines show it each day; lab.open{ backend = "cuda" } shows the rest.
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

local opened        -- called with each device that is opened, in place of the program's on_open

-- For the program, while it runs scripts by itself; nil ends that.
function core.set_opened(f) opened = f end

-- A simulated machine has as many GPUs as the program's option --devices says; without it, one and
-- those that the script itself opens.
local function check_index(index, is_asked)
    local count = core.default("devices") or not is_asked and 1
    if count and index >= count then
        raise("SL_ENOTFOUND", "open", ("there is no device %d: the simulated machine has %d; "
              .. "--devices %d gives it as many"):format(index, count, index + 1))
    end
end

-- An index that the script gives names a device of the machine that the current simulated device is
-- of: the one that is open, or a new one beside it. Device 0 of a machine that has one is the
-- beginning of a new machine.
local function find_machine(opts)
    check_index(opts.index or core.default("index") or 0, opts.index)
    if not opts.index then return end
    local open, current = core.beside(opts.index)
    if not open or opts.index == 0 then return nil, not open and current or nil end
    local is_other = opts.host or opts.overrides or opts.profile and opts.profile ~= open.profile
    if is_other then
        raise("SL_ESTATE", "open",
              ("device %d of this machine is open already (profile %s): without "
              .. "profile, host and overrides lab.open gives it"):format(opts.index, open.profile))
    end
    return open
end

-- The profile whose figures the core has itself (profile_figures.h); nil: the script has asked for
-- others, or the device is to have what others have.
local function find_built_in(opts, beside)
    local profile = choose_profile(opts)
    if beside or opts.overrides or choose_host(opts) or core.is_drawing then return end
    return core.has_figures(profile) and profile or nil
end

-- The figures of an open simulated device {figures, current}; see draws.lua. Nil: of another one.
function core.figures_of(device)
    local noted = core.noted_device(device)
    if noted and noted.built_in then
        noted.figures, noted.built_in = profiles().figures(noted.built_in), nil
        noted.current = noted.figures.flat
    end
    return noted
end

-- The figures of a device that is opened: those of the one beside it, unless the script asks for
-- others.
local function choose_figures(opts, beside)
    local known = beside and not asks_simulated(opts) and core.figures_of(beside)
    if known then return known.figures end
    return profiles().figures(choose_profile(opts), choose_host(opts), opts.overrides)
end

function lab.open(opts, ...)
    no_more(1, "open", ...)
    if is_text(opts) then
        refuse("open", "options must be a table, got string; write lab.open{ profile = \"%.60s\" }",
               opts)
    end
    opts = check_options(opts, open_options, "open")
    local backend, unasked, reason, code = choose_backend(opts)
    local settings, noted, beside = {}, nil, nil
    if backend == "sim" then
        local known
        known, beside = find_machine(opts)
        if known then
            known:make_current()
            return known
        end
        settings = find_built_in(opts, beside)
        noted = settings and { built_in = settings }
        if not settings then
            noted = core.need("draws").choose(choose_figures(opts, beside))
            settings = profiles().settings(noted.current)
        end
    elseif asks_simulated(opts)
        or (core.default("profile") or core.default("host")) and not opts.backend then
        refuse("open", "a profile is for the simulator, not for backend \"%s\"", backend)
    end
    -- --device names a GPU; it does not reach a simulator that the script asks for.
    local asked = opts.backend == "sim" or asks_simulated(opts)
    local index = opts.index or not asked and core.default("index") or 0
    local device, is_new
    if backend == "cuda" and unasked and index == 0 then
        device, is_new = try_gpu()
        if not device then return lab.open(opts) end
    else
        device, is_new = core.open(backend, index, settings, beside)
    end
    if reason then say_simulating(device, reason, code) end
    if noted then core.note_device(device, noted) end
    local tune = opts.tune
    if tune == nil and is_new then tune = core.default("tune") end
    if tune ~= nil then core.set_tuning(device, tune) end
    -- A device beside one that is recorded is recorded with it.
    local on_open = is_new and not core.is_recorded(device) and core.default("on_open")
    if opened then
        opened(device)
    elseif on_open then
        on_open()
    end
    return device
end

-- What could be opened: real GPUs, then a simulated one for each profile, the
-- default one first.
function lab.devices(...)
    no_more(0, "devices", ...)
    local list, names = {}, profiles().names()
    for index = 0, (core.device_count("cuda") or 0) - 1 do
        list[#list + 1] = { backend = "cuda", index = index,
                            name = core.device_name("cuda", index) }
    end
    table.sort(names, function(a, b)
        if (a == default_profile) ~= (b == default_profile) then return a == default_profile end
        return a < b
    end)
    for i, name in ipairs(names) do
        for index = 0, (i == 1 and core.default("devices") or 1) - 1 do
            list[#list + 1] = { backend = "sim", index = index, profile = name,
                                name = profiles().load(name).name }
        end
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

local function profile(op, opts, f, ...)
    local tl <close> = as(op, record, opts) -- stops without waiting if f raises
    return stop(op, tl, f(...))
end

-- The timeline, then what f returned; for the function `op`.
function core.profile(op, f, ...) return profile(op, nil, f, ...) end

-- Whether the argument behind f is for lab.profile and not for f: its only field has this name.
local function has_only(opts, name)
    return type(opts) == "table" and not getmetatable(opts) and rawget(opts, name) ~= nil
        and next(opts) == name and next(opts, name) == nil
end

function lab.profile(f, ...)
    check_function(f, 1, "profile")
    local opts = ...
    if has_only(opts, "spread") then
        return core.need("draws").profile("profile", opts.spread, f, select(2, ...))
    end
    if has_only(opts, "keep") then return profile("profile", opts, f, select(2, ...)) end
    return core.profile("profile", f, ...)
end

-- Files ------------------------------------------------------------------------------------

-- For the program, before it runs untrusted code: from now on no function of the laboratory
-- opens a file or starts a program. This cannot be undone.
function core.close_files()
    local function fail(path) return nil, tostring(path) .. ": no files are opened here" end
    core.refuse_files()
    io = { open = fail, write = io.write, stdout = io.stdout, stderr = io.stderr }
    os = nil
end

-- The other files -------------------------------------------------------------------------
--
-- They are read late, because reading them takes as long as the rest of the start.

local functions_of = {
    measuring = { "measure" }, tables = { "table" }, sweeping = { "sweep" },
    probing = { "probe", "probes", "claims" }, capturing = { "capture_probes" },
    kernels = { "kernel" },
    communicators = { "comm" }, tap = { "tap" }, ranks = { "ranks" },
    whatif = { "whatif" },
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
core.words = setmetatable({}, { __index = function(words, name)
    words[name] = core.need("words/" .. name)
    return words[name]
end })

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
