-- 48-page-policy.t.lua - the policy of a page names its script and its style by their digests,
-- which coreutils' sha256sum computes here from the file; and nothing else of the page could run.
local tap = require "tap"
local lab = require "streamlab"

local letters <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- Of a digest of 32 bytes, as RFC 4648 has it: 43 digits and one "=".
local function base64(hex)
    local bits, digits = {}, {}
    for digit in hex:gmatch "%x" do
        local value = tonumber(digit, 16)
        for shift = 3, 0, -1 do bits[#bits + 1] = value >> shift & 1 end
    end
    for i = 1, #bits, 6 do
        local value = 0
        for k = i, i + 5 do value = value * 2 + (bits[k] or 0) end
        digits[#digits + 1] = letters:sub(value + 1, value + 1)
    end
    return table.concat(digits) .. "="
end

local function digest(text)
    local path = os.tmpname()
    do
        local file <close> = assert(io.open(path, "wb"))
        file:write(text)
    end
    local pipe <close> = assert(io.popen("sha256sum < " .. path))
    local hex = pipe:read "a":match "^%x+"
    os.remove(path)
    return "'sha256-" .. base64(hex) .. "'"
end

tap.is(base64(("00"):rep(32)), ("A"):rep(43) .. "=", "base64 of 32 zeros")

local name <const> = os.tmpname()
local path <const> = name .. ".html"
lab.profile(function() lab.spin(1) end):save(path)
local page
do
    local file <close> = assert(io.open(path, "rb"))
    page = file:read "a"
end
os.remove(path)
os.remove(name)

local policy = page:match '<meta http%-equiv="Content%-Security%-Policy" content="([^"]*)">'
tap.is(policy:match "script%-src ([^;]*)", digest(page:match "<script>(.-)</script>"),
       "the page's own script may run")
tap.is(policy:match "style%-src ([^;]*)", digest(page:match "<style>(.-)</style>"),
       "its own style is used")
tap.ok(not policy:find("unsafe", 1, true), "nothing else runs or is styled")
tap.is(policy:match "^default%-src ([^;]*)", "'none'", "nothing is loaded from elsewhere")
local _, scripts = page:gsub("<script", "")
local _, data = page:gsub('<script type="application/json" id="', "")
tap.is(scripts - data, 1, "all other scripts are data, of a type that no browser runs")
tap.done()
