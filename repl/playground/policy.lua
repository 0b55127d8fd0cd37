-- policy.lua IN OUT - copies the page with its Content-Security-Policy: what it runs, shows and
-- loads are its own files; frames are the program's pages, whose script and style the policy names
-- by their digests.

local lab = require "streamlab"

local function read(path)
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end

-- As the program writes them into each page.
local function digests(kind)
    local name = os.tmpname()
    local path = name .. ".html"
    lab.profile(function() end):save(path)
    local text = read(path)
    os.remove(path)
    os.remove(name)
    return assert(text:match(kind .. "%-src ('sha256%-[^']*')"))
end

local policy <const> = table.concat({
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval' " .. digests "script",
    "style-src 'self' " .. digests "style",
    "img-src blob: data:",              -- data: the icon
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types worker",
}, "; ")

local page = read(arg[1]):gsub("{{policy}}", (policy:gsub("%%", "%%%%")))
local out <close> = assert(io.open(arg[2], "wb"))
out:write(page)
