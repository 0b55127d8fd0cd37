-- collect.lua FOLDER - the scripts and labs that the page offers: copies them to FOLDER/files, and writes
-- FOLDER/scripts.json: [{group, list: [{title, path, files, lab, snippets: {python, cuda}}]}]. Hidden
-- tests, solutions and answers of labs stay out.

local folder <const> = arg[1]
local json_of                           -- below

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

local function write(path, text)
    os.execute(("mkdir -p '%s'"):format(path:match("^(.*)/")))
    local file <close> = assert(io.open(path, "wb"))
    file:write(text)
end

local function list(pattern)
    local paths, pipe <close> = {}, assert(io.popen("ls -d " .. pattern))
    for path in pipe:lines() do paths[#paths + 1] = path end
    return paths
end

local function offer(path)
    write(folder .. "/files/" .. path, read(path))
    return path
end

-- ---- in PyTorch and CUDA C++ ---------------------------------------------------------------

-- The blocks ```python and ```cuda of a text; nil: there are none.
local function snippets(text)
    local found = {}
    for kind, code in text:gmatch("\n```(%l+)\n(.-\n)```") do
        if kind == "python" or kind == "cuda" then
            found[kind] = (found[kind] and found[kind] .. "\n" or "") .. code
        end
    end
    return next(found) and found
end

-- Of each experiment its section of the page.
local sections <const> = {}
do
    local text, from = read "scripts/experiments/pytorch-and-cuda.md", 1
    for before, name, after in text:gmatch("()\n## %[(.-)%][^\n]*()") do
        if sections.latest then sections[sections.latest] = snippets(text:sub(from, before)) end
        sections.latest, from = name, after
    end
    sections[sections.latest] = snippets(text:sub(from))
end

-- ---- what there is -------------------------------------------------------------------------

-- The first sentence at a script's top.
local function question(path)
    local first = read(path):match("^(.-)\n%-%-\n") or read(path):match("^(%-%-[^\n]*)")
    return (first:gsub("^%-%- ", ""):gsub("\n%-%- ", " ")):match("^[^?.]*[?]?")
end

local function scripts(pattern, title)
    local entries = {}
    for _, path in ipairs(list(pattern)) do
        local name = path:match("[^/]*$")
        entries[#entries + 1] = { title = title(path, name), path = offer(path), snippets = sections[name] }
    end
    return entries
end

-- The scripts of the guide in the order of its chapters.
local function guide()
    local entries, seen = {}, {}
    for _, chapter in ipairs(list "docs/guide/[0-9]*.md") do
        local text = read(chapter)
        local number = text:match("^# (%d+)%.")
        for path in text:gmatch("%[`(scripts/guide/[%w_]+%.lua)`%]") do
            if not seen[path] then
                seen[path] = true
                entries[#entries + 1] = { title = number .. ". " .. path:match("([%w_]+)%.lua$"), path = offer(path) }
            end
        end
    end
    return entries
end

local function lab(path)
    local about = dofile(path .. "/lab.lua")
    local files = { offer(path .. "/lab.lua") }
    for _, file in ipairs(list(path .. "/tests/*.lua")) do
        if not file:find("hidden", 1, true) then files[#files + 1] = offer(file) end
    end
    files[#files + 1] = offer(path .. "/README.md")
    return { title = about.title, lab = path, path = offer(path .. "/starter.lua"), files = files,
             snippets = snippets(read(path .. "/README.md")) }
end

local function labs()
    local entries = {}
    for _, path in ipairs(list "scripts/labs/[0-9]*") do
        local about = dofile(path .. "/lab.lua")
        if not about.kernels then       -- needs a compiler
            entries[#entries + 1] = lab(path)
        end
    end
    return entries
end

-- ---- the file ------------------------------------------------------------------------------

local names <const> = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }

function json_of(value)
    if type(value) ~= "table" then return '"' .. tostring(value):gsub('["\\\n\t]', names) .. '"' end
    local parts = {}
    for _, item in ipairs(value) do parts[#parts + 1] = json_of(item) end
    if #parts > 0 or next(value) == nil then return "[" .. table.concat(parts, ",\n") .. "]" end
    for key, item in pairs(value) do parts[#parts + 1] = json_of(key) .. ":" .. json_of(item) end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
end

local function fit_for_pages(entries)
    local kept = {}
    for _, entry in ipairs(entries) do
        local text = read(entry.path)
        if not text:find("lab.kernel", 1, true) and not text:find("lab.thread", 1, true) then
            kept[#kept + 1] = entry
        end
    end
    return kept
end

write(folder .. "/scripts.json", json_of {
    { group = "First", list = scripts("scripts/puzzler.lua", function() return "The overlap puzzler" end) },
    { group = "Guide", list = fit_for_pages(guide()) },
    { group = "Why does it wait?", list = scripts("scripts/causes/*.lua", question) },
    { group = "Experiments", list = fit_for_pages(scripts("scripts/experiments/[a-z]*.lua", question)) },
    { group = "Labs", list = labs() },
})
