-- kept_hosts.lua - the host's part as recordings on real GPUs show it (host_part.lua), kept in a
-- file of the user: a line for each day, machine and GPU.
--
--   2026-11-30 16:02 host="node7" gpu="NVIDIA H200" base=h200 recordings=12 calls=1.21/830
--
-- in one line, with uploads=0.85/22 and downloads= behind it. A factor is followed by how many
-- calls it is of. Later recordings of a day outweigh earlier ones, since hosts change within
-- minutes. The file is that of STREAMLAB_HOSTS (empty: none is kept), else $XDG_STATE_HOME or
-- ~/.local/state, streamlab/hosts. What cannot be read there is left out, and what cannot be
-- written is lost: a recording does not fail for it.

local lab, core = ...

local parts = core.need("host_part")
local raise, refuse = core.raise, core.refuse
local getenv = os and os.getenv or function() end

local kept = {}

local most_lines <const>, most_bytes <const> = 200, 1 << 20
local default_base <const> = "h200"
-- Of how many calls the part of a day's factor has half of the weight against a recording's.
local half_of <const> = { calls = 100, uploads = 4, downloads = 4 }
local groups <const> = { "calls", "uploads", "downloads" }

-- The file --------------------------------------------------------------------------------------

-- Its path, nil if there is none.
function kept.path()
    local path, state, home = getenv("STREAMLAB_HOSTS"), getenv("XDG_STATE_HOME"), getenv("HOME")
    if path then return path ~= "" and path or nil end
    if state and state:sub(1, 1) == "/" then return state .. "/streamlab/hosts" end
    return home and home ~= "" and home .. "/.local/state/streamlab/hosts" or nil
end

local function quoted(text) return '"' .. text:gsub('[%c"]', "?") .. '"' end

local function line_of(row)
    local words = { row.at, "host=" .. quoted(row.host), "gpu=" .. quoted(row.gpu),
                    "base=" .. row.base, ("recordings=%d"):format(row.recordings) }
    for _, id in ipairs(groups) do
        local found = row[id]
        if found then
            words[#words + 1] = ("%s=%.4f/%d"):format(id, found.factor, found.calls)
        end
    end
    return table.concat(words, " ") .. "\n"
end

-- A line as a row {at, host, gpu, base, recordings, calls = {factor, calls}, ...}; nil: it is none.
local function row_of(line)
    local at, host, gpu, base, recordings = line:match('^(%d%d%d%d%-%d%d%-%d%d %d%d:%d%d) '
        .. 'host="([^"]*)" gpu="([^"]*)" base=([%w_-]+) recordings=(%d+)')
    if not at then return end
    local row = { at = at, host = host, gpu = gpu, base = base,
                  recordings = math.tointeger(tonumber(recordings)) or 0 }
    for _, id in ipairs(groups) do
        local factor, calls = line:match(" " .. id .. "=([%d.]+)/(%d+)")
        factor, calls = tonumber(factor), math.tointeger(tonumber(calls))
        if factor and factor >= 0.01 and factor <= 100 and calls then
            row[id] = { factor = factor, calls = calls }
        end
    end
    return row
end

local missing <const>, empty <const> = 2, ""      -- ENOENT

-- Its bytes; nil, and why it cannot be read.
local function read(path)
    if not path or not io then return empty end
    local file, why, code = io.open(path, "rb")
    if not file then return code == missing and empty or nil, why end
    local text
    text, why = file:read(most_bytes)
    file:close()
    return text or not why and empty or nil, why
end

-- All rows, the oldest first; and why there are none though there is a file: it can be no file of
-- hosts, and is left as it is.
function kept.list()
    local rows, path = {}, kept.path()
    local text, why = read(path)
    if not text then return rows, ("cannot read %s: %s"):format(path, why:gsub("^.*: ", "")) end
    for line in text:gmatch("[^\n]+") do rows[#rows + 1] = row_of(line) end
    if #rows > 0 or not text:find("%S") then return rows end
    return rows, path .. " is no file of hosts: it has none of the lines that recordings add"
end

local function write(rows)
    local lines, _, problem = {}, kept.list()
    if problem then return false, problem end
    for i = math.max(1, #rows - most_lines + 1), #rows do lines[#lines + 1] = line_of(rows[i]) end
    return core.write_state(kept.path(), table.concat(lines))
end

-- Whether that is done; if not, why, where more is known than that it cannot be written.
function kept.forget()
    local rows, problem = kept.list()
    if #rows == 0 and not problem then return true end
    return write({})
end

-- Machines ---------------------------------------------------------------------------------------

local function host_name()
    local file = io and io.open("/proc/sys/kernel/hostname", "rb")
    local name = file and file:read("l") or ""
    if file then file:close() end
    return (name:gsub('[%c"]', "?"))
end

-- The latest row of this machine; of that GPU, if one is named. Nil: there is none.
function kept.latest(gpu)
    local host, rows = host_name(), kept.list()
    for i = #rows, 1, -1 do
        if rows[i].host == host and (not gpu or rows[i].gpu == gpu) then return rows[i] end
    end
end

-- The profile whose figures the factors are of.
local bases = {}

local function base_of(gpu)
    if bases[gpu] then return bases[gpu] end
    local profiles, found = core.need("profiles"), default_base
    for _, name in ipairs(profiles.names()) do
        if name ~= default_base and profiles.load(default_base).name ~= gpu
            and profiles.load(name).name == gpu then
            found = name
        end
    end
    bases[gpu] = found
    return found
end

local function flat_of(base) return core.need("profiles").figures(base).flat end

-- Keeping ---------------------------------------------------------------------------------------

local function mixed(old, new, half)
    if not old then return { factor = new.factor, calls = new.calls } end
    local weight = new.calls / (new.calls + math.min(half, old.calls))
    return { factor = old.factor ^ (1 - weight) * new.factor ^ weight,
             calls = old.calls + new.calls }
end

-- Into the row of the day, or a new one behind the others.
local function add(rows, gpu, found)
    local at, host = os.date("%Y-%m-%d %H:%M"), host_name()
    local row = { host = host, gpu = gpu, base = base_of(gpu), recordings = 0 }
    for i = #rows, 1, -1 do
        local old = rows[i]
        if old.host == host and old.gpu == gpu and old.base == row.base
            and old.at:sub(1, 10) == at:sub(1, 10) then
            row = table.remove(rows, i)
            break
        end
    end
    row.at, row.recordings = at, row.recordings + 1
    for id, new in next, found do row[id] = mixed(row[id], new, half_of[id]) end
    rows[#rows + 1] = row
end

-- What a recording shows, relative to the profile of its GPU: {calls, uploads, downloads}, of which
-- each may be missing, and the profile's name.
function kept.seen(tl)
    local base = base_of(tl.device_name)
    return parts.seen(tl, flat_of(base)), base
end

-- Adds what recordings show to the file: a list of {gpu =, found = what kept.seen gives}. Whether
-- it is written.
function kept.add(list)
    if not kept.path() then return true end
    local rows = kept.list()
    for _, item in ipairs(list) do add(rows, item.gpu, item.found) end
    return write(rows)
end

-- Using -----------------------------------------------------------------------------------------

local word <const> = "measured"         -- lab.open{host = "measured"}
local endings <const> = { "%.json$", "%.json%.gz$", "%.sqlite$", "%.spool$" }

-- Whether a host's name is the word, or the file of a recording.
function kept.is_one(name)
    if name == word then return true end
    for _, ending in ipairs(endings) do
        if name:find(ending) then return true end
    end
    return false
end

-- "calls 1.21 x (830), uploads 0.85 x (22)"
function kept.factors_text(row)
    local words = {}
    for _, id in ipairs(groups) do
        if row[id] then
            words[#words + 1] = ("%s %.2f x (%d)"):format(id, row[id].factor, row[id].calls)
        end
    end
    return #words > 0 and table.concat(words, ", ") or "nothing"
end

local function of_file(path)
    local tl = lab.load(path)
    local row, base = kept.seen(tl)
    if next(row) == nil then
        refuse("open", "host %s: too few of its calls show what the host takes: 10 launches or "
               .. "2 copies of pageable memory of 128 KiB are needed", core.safe(path))
    end
    row.base = base
    return row
end

-- The host's part of a kept row as a profile's table, for programs of any kind, and its factors;
-- nil: it is the base's.
function kept.table(row)
    local believed = parts.believed(row)
    if not believed then return nil end
    return parts.profile(core.need("profiles").figures(row.base), believed), believed
end

-- The host's part as a profile's table, for the word or a file. A file's factors are taken as they
-- are: it is there for the program that it is of.
function kept.profile(name)
    if name ~= word then
        local row = of_file(name)
        return parts.profile(core.need("profiles").figures(row.base), row)
    end
    local row = kept.latest()
    if not row then
        raise("SL_ENOTFOUND", "open", "host measured: no recording on a real GPU of this machine "
              .. "has been kept" .. (kept.path() and " in " .. core.safe(kept.path()) or ""))
    end
    return kept.table(row) or core.need("profiles").load(row.base)
end

return kept
