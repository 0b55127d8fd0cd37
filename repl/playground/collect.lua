-- collect.lua FOLDER PROGRAM - the scripts and labs that the page offers: copies them to
-- FOLDER/files, and writes FOLDER/scripts.json: [{group, list: [{title, path, files, options, lab,
-- gpu, snippets: {python, cuda}}]}].
-- What a script needs goes with it: the files that it reads, options of the program. What a page
-- cannot run is a group of its own: {title, why}. Hidden tests, solutions and answers of labs stay
-- out.

local folder <const>, streamlab <const> = arg[1], arg[2]
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

-- ---- what scripts need -----------------------------------------------------------------------

-- What a page does not have, by what a script calls, or by its name.
local out_of_reach <const> = {
    { "lab%.kernel", "needs a C++ compiler" },
    { "lab%.thread", "needs threads" },
    { "plan = \"", "is work for many machines" },
    { "lab%.cuda%.trap", "needs a real GPU, which fails" },
    { "memory_bytes = \"unlimited\"", "has tensors of more than 4 GiB" },
    { path = "scripts/guide/gpus_stuck.lua", "ends with an error, which it is about" },
}

local missing <const> = {}

-- Whether the page can run it; if not, it is named among what it cannot.
local function fits(path, title, text)
    for _, reason in ipairs(out_of_reach) do
        if reason.path == path or not reason.path and text:find(reason[1]) then
            missing[#missing + 1] = { title = title, why = reason.path and reason[1] or reason[2] }
            return false
        end
    end
    return true
end

-- The files in build/ that scripts read, and the script that writes them.
local makers <const> = {
    ["build/blocking.json.gz"] = "scripts/guide/streams.lua blocking",
    ["build/what_if.json.gz"] = "scripts/guide/what_if.lua",
}

local function make(path)
    local maker = assert(makers[path], "no script is known to write " .. path)
    local place = os.tmpname()
    os.remove(place)
    local script, rest = maker:match "^(%S+)(.*)"
    assert(os.execute(("set -e; root=$PWD; mkdir -p '%s/build'; cd '%s'; '%s' --backend sim "
        .. "--profile h200 \"$root/%s\"%s > /dev/null"):format(place, place,
        streamlab, script, rest)))
    write(folder .. "/files/" .. path, read(place .. "/" .. path))
    assert(os.execute(("rm -r '%s'"):format(place)))
    return path
end

-- The files that a script names, and options of the program: both nil if there are none.
local function needs(text)
    local files, options = {}, nil
    for path in text:gmatch '"(scripts/[%w_/]+%.lua)"' do files[#files + 1] = offer(path) end
    for path in text:gmatch '"%.%./(lib/[%w_]+%.lua)"' do
        files[#files + 1] = offer("scripts/" .. path)
        for other in read("scripts/" .. path):gmatch 'folder %.%. "([%w_]+%.lua)"' do
            files[#files + 1] = offer("scripts/lib/" .. other)
        end
    end
    for path in text:gmatch 'lab%.load%("(build/[^"]+)"' do files[#files + 1] = make(path) end
    local last = text:match '"cuda:([1-9])"'
    if last then options = { "--devices", tostring(last + 1) } end
    return #files > 0 and files or nil, options
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

local function add_script(entries, path, title)
    local text = read(path)
    if not fits(path, title, text) then return end
    local files, options = needs(text)
    entries[#entries + 1] = { title = title, path = offer(path), files = files, options = options,
                              snippets = sections[path:match("[^/]*$")] }
end

local function scripts(pattern, title)
    local entries = {}
    for _, path in ipairs(list(pattern)) do add_script(entries, path, title(path)) end
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
                add_script(entries, path, number .. ". " .. path:match("([%w_]+)%.lua$"))
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
             gpu = about.profile, snippets = snippets(read(path .. "/README.md")) }
end

local function labs()
    local entries = {}
    for _, path in ipairs(list "scripts/labs/[0-9]*") do
        local about = dofile(path .. "/lab.lua")
        if about.kernels then
            missing[#missing + 1] = { title = "Lab: " .. about.title, why = "needs a C++ compiler" }
        else
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

write(folder .. "/scripts.json", json_of {
    { group = "First", list = scripts("scripts/puzzler.lua",
                                      function() return "The overlap puzzler" end) },
    { group = "Guide", list = guide() },
    { group = "Why does it wait?", list = scripts("scripts/causes/*.lua", question) },
    { group = "Experiments", list = scripts("scripts/experiments/[a-z]*.lua", question) },
    { group = "Labs", list = labs() },
    { group = "What a page cannot run", list = missing },
})
