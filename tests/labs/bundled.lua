-- bundled.lua - grading the files of a lab of scripts/labs.
local tap = require "tap"
local shell = require "shell"
local variants = debug.getregistry()["streamlab.environment"].import "repl/labs/variants.lua"

local bundled = {}

-- "alice  85/100  failed 1.2 2.1" -> score, points, "1.2 2.1"; `all` where a sentence says why
-- there are no points.
local function read_line(line, all)
    local student, score, points, rest = line:match("^(%S+)%s+([%d.]+)/([%d.]+)%s+(.*)$")
    return student, tonumber(score), tonumber(points), rest == "all passed" and ""
        or (rest or ""):match("^failed (.*)$") or all
end

-- The numbers of all tests of a lab: "1.1 1.2 2.1".
local function all_tests(folder)
    local numbers = {}
    for part, file in ipairs{ "visible", "hidden" } do
        local _, count = ("\n" .. shell.read(("%s/tests/%s.lua"):format(folder, file)))
            :gsub("\ntest%(", "")
        for i = 1, count do numbers[#numbers + 1] = part .. "." .. i end
    end
    return table.concat(numbers, " ")
end

-- What a lab has that can be handed in, as name -> {text =, fails = or nil}.
local function submissions(folder)
    local list = { solution = { text = shell.read(folder .. "/solution.lua"), fails = "" },
        starter = { text = shell.read(folder .. "/starter.lua") } }
    for _, kind in ipairs{ "right", "wrong" } do
        for _, name in ipairs(variants.names(folder .. "/" .. kind)) do
            local text = assert(variants.text(("%s/%s/%s"):format(folder, kind, name)))
            list[kind .. "-" .. variants.stem(name)] = { text = text,
                fails = kind == "right" and "" or text:match("^%-%- fails: ([%d. ]+)\n") }
        end
    end
    return list
end

-- What each student of a class reads, by the name of the file, of a class's TAP.
local function read_tap(text)
    local texts = {}
    for student, part in text:gmatch("# Subtest: (%S+)\n(.-)\nn?o?t? ?ok %d+ %- %S+\n") do
        texts[student] = part
    end
    return texts
end

-- Hands in all of them, or those that `wanted` gives true for, and checks which tests fail. Gives
-- what each of them reads.
function bundled.grade(name, wanted)
    local folder, class = "scripts/labs/" .. name, shell.folder()
    local list, wrong, right = submissions(folder), 0, 0
    for student, entry in pairs(list) do
        wrong = wrong + (student:find("^wrong") and 1 or 0)
        right = right + (student:find("^right") and 1 or 0)
        if wanted and not wanted(student) then goto continue end
        shell.write(("%s/%s.lua"):format(class, student), entry.text)
        ::continue::
    end
    local out, err, code = shell.sh(('"$P" lab grade -j 2 %s %s -o %s.tap'):format(folder,
        class, class))
    tap.is(err .. code, "0", name .. ": the class is graded")
    for line in out:gmatch("[^\n]+") do
        local student, score, points, failed = read_line(line, all_tests(folder))
        local entry = list[student] or {}
        if student == "starter" then
            tap.ok(score <= points / 5, name .. ": the starter has at most a fifth of the points")
            tap.diag(("%s: starter %g/%g"):format(name, score, points))
        else
            tap.is(failed, entry.fails, ("%s: %s fails the tests that it should, no others")
                :format(name, tostring(student)))
        end
        if entry.fails == "" then
            tap.is(score, points, ("%s: %s has all points"):format(name, student))
        end
    end
    tap.ok(wrong >= 3, name .. ": there are three wrong solutions")
    tap.ok(right >= 2, name .. ": there are two right ones besides the lab's own")
    local texts = read_tap(shell.read(class .. ".tap"))
    os.remove(class .. ".tap")
    shell.remove(class)
    return texts
end

-- Why the lab's kernels cannot be run here; nil if they can. What is handed in has none to compile.
function bundled.why_no_kernels(name)
    local folder = shell.folder()
    shell.write(folder .. "/nothing.lua", "")
    local text =
        shell.sh(('"$P" lab grade scripts/labs/%s %s/nothing.lua 2>&1'):format(name, folder))
    shell.remove(folder)
    return text:match("cannot be run: ([^\n]*)")
end

-- Runs the starter as a student does. What it says of races goes to stderr.
function bundled.run_starter(name)
    local out, _, code = shell.sh(('"$P" --backend sim scripts/labs/%s/starter.lua'):format(name))
    tap.is(code, 0, name .. ": the starter runs by itself")
    tap.like(out, " busy\n", name .. ": the starter shows a chart")
end

return bundled
