-- 47-exports.t.lua - every way to save a timeline takes the same ends of file names, and those for
-- simulators of larger machines give the same files whichever way was taken.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local read, quote = shell.read, shell.quote

local folder = shell.folder()
local program = "\"$P\" --backend sim --devices 2 --trace %s "
    .. "-e 'lab.spin(1) lab.empty(9, {device = \"cuda:1\"}):copy_(lab.empty(9))'"

local function at(name) return folder .. "/" .. name end

local ends <const> = { "json", "json.gz", "svg", "html", "et", "goal" }
for _, suffix in ipairs(ends) do
    local name = suffix == "et" and "run.0.et" or "run." .. suffix
    local _, err, code = shell.sh(program:format(quote(at("run." .. suffix))))
    tap.is(code, 0, "--trace writes ." .. suffix)
    if code ~= 0 then tap.diag(err) end
    tap.ok(read(at(name)), "as " .. name)
    _, _, code = shell.sh("\"$P\" show -o " .. quote(at("shown." .. suffix)) .. " "
        .. quote(at("run.json")))
    tap.is(code, 0, "and so does show -o")
end
for _, name in ipairs { "0.et", "1.et", "goal" } do
    tap.is(read(at("shown." .. name)), read(at("run." .. name)),
        name .. " is the same from the run and from its trace")
end
local out = shell.sh("\"$P\" show --help")
for _, suffix in ipairs(ends) do
    tap.ok(out:find("." .. suffix, 1, true), "show --help has ." .. suffix)
end

shell.remove(folder)
tap.done()
