-- 20-attacks.t.lua - submissions that try to get points without work, to read the hidden tests, or
-- to leave something behind: each of tests/labs/attacks/ says in its first lines what it tries,
-- and how it shows that it was held:
--   -- held: TEXT      stands in what a student gets to read
--   -- score: N        its points, if not 0: also those of what it does honestly
--   -- burns           it uses up all the time that a test has
--   -- memory          and this one all memory outside of Lua: which allocation is the one that
--                      fails differs from run to run, and so does the message; not the score
-- They are graded as one class, some of them twice. The lab is tests/labs/attack-lab/.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local sanitized = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""
local burning_s <const>, other_s <const> = 2.5, 1      -- of processor time, for one submission
local attack_lab <const>, attacks <const> = "tests/labs/attack-lab", "tests/labs/attacks"
local secret <const> = "open-sesame"                    -- in hidden.lua

local here = shell.sh("pwd"):gsub("\n", "")
local folder = shell.folder()
local class = folder .. "/class"
shell.sh(("mkdir %s/class %s/home %s/cwd"):format(folder, folder, folder))

-- ---- the class ---------------------------------------------------------------------------

-- Memory outside of Lua has no limit under the address sanitizer, and time is too short.
local unlimited <const> = { "^huge", "^many", "^spans%-lost$", "^races%-lost$", "^recursion$" }

local function is_run(name)
    for _, pattern in ipairs(sanitized and unlimited or {}) do
        if name:find(pattern) then
            return false
        end
    end
    return true
end

local function read_attack(name, text)
    return {
        name = name, text = text, held = text:match("\n%-%- held: ([^\n]*)"),
        score = tonumber(text:match("\n%-%- score: (%d+)") or 0),
        burns = text:find("\n-- burns\n", 1, true) ~= nil,
    }
end

local function read_attacks()
    local list = {}
    for name in shell.sh("LC_ALL=C ls " .. attacks):gmatch("([^\n]+)%.lua\n") do
        if is_run(name) then
            list[#list + 1] = read_attack(name, shell.read(attacks .. "/" .. name .. ".lua"))
        end
    end
    return list
end

local list = read_attacks()

-- What cannot lie in a repository, or should not.
local function add_others()
    local honest = shell.read(attack_lab .. "/solution.lua")
    local function add(name, held, text)
        list[#list + 1] = { name = name, held = held, score = 0, text = text }
    end
    add("other-binary", "is compiled code, and no text", string.dump(load(honest)))
    add("other-large", "more than 1048576", honest .. ("-- "):rep(700000))
    add("other-nested", "overflow", "answer = " .. ("{"):rep(100000))
    add("other-empty", "does not define the function answer", "")
    add("other-link", "it is a link, not a file")
    add("other-pipe", "cannot read other-pipe.lua: it is no file")
    shell.sh(("ln -s %s/%s/solution.lua %s/other-link.lua; mkfifo %s/other-pipe.lua"):format(here,
        attack_lab, class, class))
    list[#list + 1] = { name = "other-marks", held = "100 of 100 points", score = 100,
        text = "\xef\xbb\xbf#!/usr/bin/env streamlab\n" .. honest }
end

add_others()
for _, attack in ipairs(list) do
    if attack.text then
        shell.write(("%s/%s.lua"):format(class, attack.name), attack.text)
    end
end

-- ---- grading -----------------------------------------------------------------------------

-- Grades the class in a folder and with a HOME of its own. Returns each student's results as
-- text, and the seconds of processor time of all processes.
local function grade(file)
    local out = shell.sh(([[cd %s/cwd && HOME=%s/home P=$(cd %s && realpath "$P") &&
        "$P" lab grade %s/%s %s -o %s >/dev/null 2>%s/errors; times]]):format(folder, folder, here,
        here, attack_lab, class, file, folder))
    local seconds = 0
    for minutes, rest in out:match("[^\n]*\n([^\n]*)"):gmatch("(%d+)m([%d.]+)s") do
        seconds = seconds + 60 * minutes + tonumber(rest)
    end
    local results, student = {}, nil
    for line in shell.read(file):gmatch("([^\n]*)\n") do
        student = line:match("^# Subtest: (.*)") or student
        if line:find("^    ") then
            results[student] = (results[student] or "") .. line:sub(5) .. "\n"
        end
    end
    return results, seconds
end

local function files()
    return shell.sh(("find %s %s -path '%s/class/*' -o -name '*' -print | LC_ALL=C sort"):format(
        folder, attacks, folder)) .. shell.sh("ls " .. class .. "; ls -d /tmp/*left-behind* 2>&1")
end

local before = files()
local results, processor_s = grade(folder .. "/one.tap")

-- Plain text that the results have, and the points.
for _, attack in ipairs(list) do
    local text = results[attack.name] or "no results"
    local held = attack.held and text:find(attack.held, 1, true)
        and text:find(("\n# %d of 100 points\n$"):format(attack.score))
        and not text:find(secret, 1, true)
    tap.ok(held, ("%s is held: %s"):format(attack.name, attack.held))
    if not held then
        tap.diag(text:sub(1, 1000))
    end
end
tap.ok(#list >= 100, "there are a hundred of them and more")
tap.is(shell.read(folder .. "/errors"):gsub("[^\n]*not confined[^\n]*\n", ""), "",
    "all tests could be run")

local graded = shell.sh(("$P lab grade %s %s/solution.lua --format tap"):format(attack_lab,
    attack_lab))
tap.like(graded, "# 100 of 100 points\n$", "an honest submission has all points")

-- ---- what they left ------------------------------------------------------------------------

os.remove(folder .. "/one.tap")
os.remove(folder .. "/errors")
tap.is(files(), before, "they leave no files")
if shell.sh("readlink /proc/self/cwd") == here .. "\n" then
    tap.is(shell.sh(("ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -F %s/cwd"):format(folder)), "",
        "and no processes")
else
    tap.skip("there is no /proc to see processes in", 1)
end
local limit_s = 0
for _, attack in ipairs(list) do
    limit_s = limit_s + (attack.burns and burning_s or other_s)
end
tap.ok(sanitized or processor_s < limit_s, "they use no more time than they may")

-- ---- again -----------------------------------------------------------------------------------

-- What burns its time is left out but for one, since that takes a while.
local function differing()
    local burning, names = 0, {}
    for _, attack in ipairs(list) do
        burning = burning + (attack.burns and 1 or 0)
        attack.again = not attack.burns or burning <= 1
        if not attack.again then
            os.remove(("%s/%s.lua"):format(class, attack.name))
        end
    end
    local again = grade(folder .. "/two.tap")
    for _, attack in ipairs(list) do
        local one, two = results[attack.name], again[attack.name]
        if attack.text and attack.text:find("\n%-%- memory\n") then
            one, two = one and one:match("[^\n]*\n$"), two and two:match("[^\n]*\n$")
        end
        if attack.again and one ~= two then
            names[#names + 1] = attack.name
        end
    end
    return table.concat(names, " ")
end

tap.is(differing(), "", "graded again, all have the same results, byte for byte")

shell.remove(folder)
tap.done()
