-- profiles.lua - the figures of a simulated GPU: a profile's name, file or table is read, completed
-- from its base, and made into settings for the core. It runs when a profile is first needed.

local _, core = ...

local parts, spreads = core.need("profile_parts"), core.need("spreads")
local days, costs = core.need("host_days"), core.need("kernel_costs")

local raise, refuse, type_name = core.raise, core.refuse, core.type_name
local sorted_keys, show_value = core.arguments.sorted_keys, core.arguments.show_value
local is_text = core.arguments.is_text

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
    { "rtx50", "b200" }, { "rtx40", "rtx4090" }, { "rtx30", "a10" }, { "rtx20", "t4" },
    { "gtx16", "t4" },
    { "gtx10", "v100" }, { "titan", "v100" }, { "rtxpro", "b200" }, { "rtx6000", "rtx4090" },
    { "rtxa", "a10" }, { "gb", "b200" }, { "gh", "h200" }, { "b[1-3]", "b200" }, { "h2", "h200" },
    { "h[18]", "h100" }, { "l[24]", "l4" }, { "a[2-46]", "a10" }, { "a1[06]", "a10" },
    { "a800", "a100" },
    { "quadro", "t4" }, { "t[4-9]", "t4" }, { "[kmp]%d", "v100" },
}

-- Profiles that had other names, as nearest_profile reads them.
local renamed = { h200calibrated = "h200" }

-- The built-in profile that was most likely meant (by a prefix, by generation, or by spelling),
-- and the words for it.
local function nearest_profile(typed)
    local name, known = typed:lower():gsub("^nvidia", ""):gsub("[%s_-]", ""), {}
    name = name:gsub("^geforce", ""):gsub("^tesla", "")
    if renamed[name] then return renamed[name], "the measured GPU is now %s" end
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
    if type(profile) == "table" then
        days.check(rawget(profile, "days"), "profile table")
        costs.check(rawget(profile, "kernels"), "profile table")
        return profile, "table"
    end
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
    days.check(rawget(result, "days"), "profile " .. name)
    costs.check(rawget(result, "kernels"), "profile " .. name)
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

-- The same of whole profiles. The names of spreads are free: they may have dots.
local function merge_profiles(into, t)
    local spread = spreads.merge(into.spread, rawget(t, "spread"))
    local kernels = costs.merge(into.kernels, rawget(t, "kernels"))
    local rest = {}
    for key, value in next, t do
        if key ~= "spread" and key ~= "days" and key ~= "kernels" then rest[key] = value end
    end
    merge(into, rest, 1)
    into.spread, into.kernels = spread, kernels
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
    chain[#chain + 1] = { profile = profile, name = name }
    for i, link in ipairs(chain) do
        if link.profile == base then
            local names = {}
            for k = i, #chain do names[#names + 1] = chain[k].name end
            refuse("open", "profile %s: 'base' leads back to itself: %s, %s", chain[1].name,
                   table.concat(names, ", "), link.name)
        end
    end
    local whole = load_profile(base, chain)
    merge_profiles(whole, t)
    whole.base, whole.days = nil, rawget(t, "days")
    return whole, name
end

-- Fills `flat` with name -> text or list of numbers; nested names are joined by dots. `shapes`
-- gets for a number 1, and for rows of numbers how long each is.
local function flatten(flat, shapes, t, prefix, label, depth)
    for _, key in ipairs(sorted_keys(t)) do
        local name, value = prefix .. tostring(key), rawget(t, key)
        local function fail(what)
            refuse("open", "%s: '%s' %s", label, name, what)
        end
        local is_list = type(value) == "table" and (rawlen(value) > 0 or next(value) == nil)
        if type(key) ~= "string" then fail("must be named") end
        -- spreads.lua and kernel_costs.lua read two of them; days are no figure.
        if name == "spread" or name == "days" or name == "kernels" then goto continue end
        if depth > max_depth then fail(too_deep) end
        if flat[name] ~= nil then fail("is given twice") end
        if type(value) == "string" then flat[name] = value
        elseif type(value) == "number" then flat[name], shapes[name] = { value }, 1
        elseif type(value) == "boolean" then flat[name] = { value and 1 or 0 }
        elseif is_list then
            local values, width = core.flat_list(value)
            if not values then fail(width) end
            flat[name], shapes[name] = values, width
        elseif type(value) == "table" then
            flatten(flat, shapes, value, name .. ".", label, depth + 1)
        else fail("is a " .. type_name(value)) end
        ::continue::
    end
end

-- A host is a profile, or what recordings on a real GPU have shown (kept_hosts.lua): "measured", or
-- the file of one.
local function load_host(host)
    local kept = is_text(host) and core.need("kept_hosts")
    if kept and kept.is_one(host) then return kept.profile(host), host end
    return load_profile(host)
end

-- The table of a profile with the host's part of another one, and its short name.
local function load_with_host(profile, host)
    local t, name = load_profile(profile)
    if not host then return t, name end
    local other, host_name = load_host(host)
    local of_host, whole = parts.host_of(other), {}
    if next(of_host) == nil then
        refuse("open", "host %s: it has no figure of a host, such as host.launch_us", host_name)
    end
    of_host.spread = spreads.of_host(rawget(other, "spread"))
    merge_profiles(whole, t)
    merge_profiles(whole, of_host)
    return whole, name .. " with host " .. host_name
end

-- {flat, shapes} of a profile, and its rows of spread and its name. Those of built-in profiles are
-- kept: they have thousands of figures, and a program may open many devices.
local known = {}

local function is_built_in(profile)
    return is_text(profile) and core.embedded(profile_path(profile)) ~= nil
end

local function flat_profile(profile, host)
    local key = is_built_in(profile) and (not host or is_built_in(host))
        and profile .. "\0" .. (host or "")
    if key and known[key] then return known[key] end
    local t, name = load_with_host(profile, host)
    local whole = { flat = {}, shapes = {}, name = name, spread = rawget(t, "spread"),
                    kernels = rawget(t, "kernels") }
    flatten(whole.flat, whole.shapes, t, "", "profile " .. name, 1)
    if key then known[key] = whole end
    return whole
end

-- The figures of a profile, as the core takes them: {flat, shapes, rows}; see flatten and
-- spreads.lua.
local function figures_of(profile, host, overrides)
    local whole = flat_profile(profile, host)
    local flat, shapes = {}, {}
    flatten(flat, shapes, overrides or {}, "", "overrides", 1)
    for key, value in next, whole.flat do
        if flat[key] == nil then flat[key], shapes[key] = value, whole.shapes[key] end
    end
    flat.profile = flat.profile or whole.name
    costs.check(rawget(overrides or {}, "kernels"), "overrides")
    local figures = { flat = flat, shapes = shapes,
                      kernels = costs.merge(whole.kernels, rawget(overrides or {}, "kernels")) }
    figures.rows = spreads.read(spreads.merge(whole.spread, rawget(overrides or {}, "spread")),
                                figures, "profile " .. whole.name)
    return figures
end

-- Flat figures as settings for the core, in order of name.
local function settings_of(flat)
    local settings = {}
    for i, key in ipairs(sorted_keys(flat)) do settings[i] = { key, flat[key] } end
    return settings
end

-- The `days` of a file, nil if it has none, and the name of its base.
local function days_of(path)
    local t = load_one(path)
    return rawget(t, "days"), rawget(t, "base")
end

return { names = profile_names, load = load_with_host, figures = figures_of,
         settings = settings_of, days = days_of }
