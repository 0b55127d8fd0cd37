-- 45-hostile-class.t.lua - a class in which some are hostile, kernels included: the others get the
-- same bytes as without them. Each is graded twice, with and without those, and the files of
-- results are compared. `make check` tries a few of those that do not burn their time; `make
-- check-long` has 20 hostile submissions in a class of 200.
package.path = "tests/repl/?.lua;tests/labs/?.lua;" .. package.path
local tap, shell, hostile = require "tap", require "shell", require "hostile"

local is_long <const> = tap.sized(false, true)
local sanitized <const> = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""
local folder = shell.folder()

-- ---- who is hostile ----------------------------------------------------------------------------

-- The files of a folder of attacks, as {name, write(path)}.
local function attacks_in(path)
    local list = {}
    for name in shell.sh("LC_ALL=C ls " .. path):gmatch("([^\n]+)%.lua\n") do
        local text = shell.read(("%s/%s.lua"):format(path, name))
        local burns = text:find("\n-- burns\n", 1, true) or name:find("^huge") or name:find("^loop")
            or name:find("^many") or text:find("\n%-%- memory\n")
        if not (sanitized and name:find("^huge")) and (is_long or not burns) then
            list[#list + 1] = { name, function(to) shell.write(to, text) end }
        end
    end
    return list
end

-- Those of hostile.lua, which know no lab.
local function add_kinds(list, functions)
    for _, kind in ipairs(hostile.kinds) do
        if is_long or kind.bytes or kind[1]:find("blank") or kind[1] == "quotes-another" then
            list[#list + 1] = { kind[1], function(to) hostile.write(kind, to, functions) end }
        end
    end
    return list
end

-- ---- the class ----------------------------------------------------------------------------------

-- `n` students hand in the texts by turns; `few` of them, spread among the others, what is hostile:
-- each time another part of the list. Returns the hostile names.
local function write_class(name, n, texts, few, list)
    local names = {}
    shell.sh(("mkdir -p %s/%s/class %s/%s/tmp"):format(folder, name, folder, name))
    for i = 1, n do
        local before = (i - 1) * few // n
        local path = ("%s/%s/class/s%03d"):format(folder, name, i)
        if i * few // n > before then
            local kind = list[before * #list // few + 1]
            names[#names + 1] = ("s%03d-%s"):format(i, kind[1])
            kind[2](path .. "-" .. kind[1] .. ".lua")
        else
            shell.write(path .. ".lua", texts[i % #texts + 1])
        end
    end
    return names
end

local function grade(name, lab_folder, to)
    return shell.sh(('TMPDIR=%s/%s/tmp "$P" lab grade %s %s/%s/class -o %s/%s/%s '
        .. '2>&1'):format(folder, name,
        lab_folder, folder, name, folder, name, to))
end

-- Grades it with and without the hostile ones.
local function compare(name, lab_folder, n, texts, few, list)
    local names = write_class(name, n, texts, few, list)
    local printed = grade(name, lab_folder, "beside")
    for _, student in ipairs(names) do
        os.remove(("%s/%s/class/%s.lua"):format(folder, name, student))
        local points = tonumber(printed:match(student:gsub("%p", "%%%0") .. "%s+([%d.]+)/"))
        tap.ok(points, name .. ": " .. student .. " has a line")
        os.remove(("%s/%s/beside/%s.json"):format(folder, name, student))
    end
    local alone = grade(name, lab_folder, "alone")
    tap.is(shell.sh(("ls %s/%s/alone | wc -l"):format(folder, name)):match("%d+"),
        tostring(n - few),
        ("%s: %d of %d are graded alone"):format(name, n - few, n))
    tap.is(shell.sh(("cd %s/%s && diff -r beside alone"):format(folder, name)), "",
        ("%s: %d hostile ones change no byte of theirs"):format(name, few))
    tap.ok(alone:find(" 100/100 ", 1, true), name .. ": those who are right have all points")
    tap.is(shell.sh(("ls %s/%s/tmp"):format(folder, name)), "", name .. ": nothing is left behind")
end

-- ---- kernels ------------------------------------------------------------------------------------

local solution = shell.read "tests/labs/kernel-lab/solution.lua"
local function changed(from, to)
    local text, n = solution:gsub(from:gsub("%p", "%%%0"), (to:gsub("%%", "%%%%")))
    assert(n == 1, from)
    return text
end

local honest = shell.sh('"$P" lab grade tests/labs/kernel-lab tests/labs/kernel-lab/solution.lua '
    .. '--format tap 2>&1')
if honest:find("cannot be run", 1, true) then
    tap.skip(honest:match("cannot be run: ([^\n]*)"), 1)
else
    compare("kernels", "tests/labs/kernel-lab", is_long and 200 or 9, {
        solution, changed("2 * x[i]", "3 * x[i]"), changed("2 * x[i]", "2 * z[i]"),
        changed("if (i < n) ", ""), "function double(x) return nil + 1 end\n", solution,
    }, is_long and 20 or 4, add_kinds(attacks_in "tests/labs/kernel-attacks", { "double" }))
end

-- ---- Lua ----------------------------------------------------------------------------------------

compare("lua", "tests/labs/attack-lab", is_long and 200 or 20, {
    shell.read "tests/labs/attack-lab/solution.lua",
    "local mine = 4711\nfunction answer() return nil + mine end\nfunction work() end\n",
    "function answer(n) return 2 * n end\nfunction work(x) print(x) return x end\n",
    "function answer(n)\n    n += n\nend\n",
}, is_long and 20 or 6, add_kinds(attacks_in "tests/labs/attacks", { "answer", "work" }))

shell.remove(folder)
tap.done()
