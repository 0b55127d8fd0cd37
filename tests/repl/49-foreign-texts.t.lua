-- 49-foreign-texts.t.lua - names of files and streams, messages and what a submission prints may
-- hold what a terminal obeys. Wherever the program shows them, it shows that written out.
package.path = "tests/?.lua;tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

-- The controls of ASCII, those from U+0080 on as UTF-8 and as a byte, marks that turn the
-- direction of writing or show nothing, a tag.
local foreign = "a\27[31mb\u{9b}31mc\x9b31md\u{202e}e\u{2066}f\u{61c}g\u{feff}h\u{200b}i\u{e0041}"

-- The first such thing in a text that the program wrote, in words; nil if there is none.
local function found(text)
    if not utf8.len(text) then
        return "a byte that is no UTF-8"
    end
    for _, code in utf8.codes(text) do
        local hidden = code < 32 and code ~= 9 and code ~= 10 and code ~= 13
            or code >= 127 and code < 160 or code == 0x61c or code == 0x200b
            or code == 0x200e or code == 0x200f or code >= 0x2028 and code <= 0x202e
            or code >= 0x2060 and code <= 0x206f or code == 0xfeff
            or code >= 0xe0000 and code <= 0xe0fff
        if hidden then
            return ("U+%04X"):format(code)
        end
    end
end

local folder = shell.folder()
local quoted = ("%q"):format(foreign)
local script = shell.write(folder .. "/" .. foreign .. ".lua",
                           "local s = lab.stream{name = " .. quoted
    .. "}\nlocal t = lab.zeros(300)\nlab.spin(1, {stream = s}) lab.spin(1)\n")
local trace = shell.write(folder .. "/" .. foreign .. ".json", "")
local failing = shell.write(folder .. "/fails" .. foreign .. ".lua", "error(" .. quoted .. ")")
local racing = shell.write(folder .. "/race" .. foreign .. ".lua", "local s = lab.stream{name = "
    .. quoted .. ", non_blocking = true}\nlocal t = lab.zeros(300)\nt:fill_(1, {stream = s})\n")

-- Runs the program. What it wrote is without such things, and has some of the name, written out.
local function check(words, name, written)
    local out, err = shell.run(words)
    tap.is(found(out), nil, name .. ": stdout is safe")
    tap.is(found(err), nil, name .. ": stderr is safe")
    if written then
        tap.ok((out .. err):find(written, 1, true), name .. ": and the rest is shown: " .. written)
    end
end

local shown = [[a\x1b[31mb\u{9b}31mc\x9b31md\u{202e}e\u{2066}f\u{61c}g\u{feff}h\u{200b}i\u{e0041}]]

check({ "--trace", trace, script }, "a script that is traced")
check({ "-e", ("lab.load(%q):explain()"):format(trace) }, "tl:explain")
check({ "show", trace }, "show", "spin")
check({ "show", "--explain", trace }, "show --explain", "stream")
check({ "show", "--json", trace }, "show --json", [[\u001b[31mb\u009b31mc]])
check({ "show", "--json", trace }, "show --json, direction marks",
    [[d\u202ee\u2066f\u061cg\ufeffh\u200bi\udb40\udc41]])
check({ "diff", trace, trace }, "diff", "spin")
check({ "show", script }, "show of what is no trace", shown)
check({ "show", folder .. "/no" .. foreign }, "show of no file", shown)
check({ "show", "-o", folder .. "/no/" .. foreign .. ".svg", trace }, "a picture nowhere", shown)
check({ failing }, "an error's message and position", shown)
check({ folder .. "/no" .. foreign }, "a script that is not there", shown)
check({ "--check", racing }, "a race", "race")
check({ "--" .. foreign }, "an option", shown)
check({ "--profile", foreign, "-e", "" }, "a profile", shown)
check({ "--trace", folder .. "/no/" .. foreign, "-e", "" }, "a trace nowhere", shown)
check({ "help", foreign }, "help")
check({ "lab", "check", foreign }, "a lab", shown)
local text = shell.read(trace)
tap.ok(text:find([[d\u202ee\u2066f]], 1, true), "a trace has them escaped")
local again = folder .. "/again.json"
shell.run { "show", "-o", again, trace }
tap.is(shell.read(again), text, "and saving what was read gives the same bytes")

-- ---- a class --------------------------------------------------------------------------------

local lab, class = folder .. "/lab", folder .. "/class"
shell.run { "lab", "new", lab }
shell.sh("mkdir " .. shell.quote(class))
shell.write(class .. "/" .. foreign .. ".lua", ("print(%s) error(%s)"):format(quoted, quoted))
check({ "lab", "grade", lab, class }, "lab grade", shown)
check({ "lab", "check", lab, class .. "/" .. foreign .. ".lua" }, "lab check", "0 of")
for _, format in ipairs { "tap", "junit", "csv", "gradescope" } do
    local results = folder .. "/results." .. format
    shell.run { "lab", "grade", lab, class .. "/" .. foreign .. ".lua", "--format",
                format, "-o", results }
    local bytes = shell.read(results) or ""
    tap.ok(#bytes > 100 and not found(bytes), "results as " .. format .. " are safe to look at: "
        .. (found(bytes) or "nothing found"))
end

shell.remove(folder)
tap.done()
