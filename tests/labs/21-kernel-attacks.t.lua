-- 21-kernel-attacks.t.lua - submissions whose kernels try what 20-attacks.t.lua tries in Lua: to
-- read the hidden tests while they are compiled or while they run, to reach the grader, to use what
-- they may not. tests/labs/kernel-attacks/ has them, in the form of tests/labs/attacks/; "every
-- element is 2" as what held means that the kernel ran and got nothing: it writes -4711 where that
-- was so, and 4711 where it was not. The lab is tests/labs/kernel-lab/.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local attack_lab <const>, attacks <const> = "tests/labs/kernel-lab", "tests/labs/kernel-attacks"
local secret <const> = "open-sesame"                    -- in hidden.lua
local sanitized = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""

local function grade(path, format)
    return shell.sh(('"$P" lab grade %s %s --format %s 2>&1'):format(attack_lab, path,
        format or "tap"))
end

local honest = grade(attack_lab .. "/solution.lua")
if honest:find("cannot be run", 1, true) then
    tap.skip(honest:match("cannot be run: ([^\n]*)"), 1)
    tap.done()
    return
end
tap.like(honest, "# 100 of 100 points\n$", "an honest submission has all points")

-- ---- the class ---------------------------------------------------------------------------

local folder = shell.folder()
local class = folder .. "/class"
shell.sh(("mkdir %s %s/tmp"):format(class, folder))

local list = {}
for name in shell.sh("LC_ALL=C ls " .. attacks):gmatch("([^\n]+)%.lua\n") do
    if not (sanitized and name:find("^huge")) then
        local text = shell.read(attacks .. "/" .. name .. ".lua")
        list[#list + 1] = { name = name, held = text:match("\n%-%- held: ([^\n]*)"),
            score = tonumber(text:match("\n%-%- score: (%d+)") or 0) }
        shell.write(("%s/%s.lua"):format(class, name), text)
    end
end
tap.ok(#list >= 30, "there are thirty of them and more")

local function left_behind()
    return shell.sh(("ls %s/tmp; ls -d /tmp/*left-behind* 2>/dev/null; ls "):format(folder)
        .. class)
end

local before = left_behind()
local out = shell.sh(([[export TMPDIR=%s/tmp; "$P" lab grade %s %s -o %s/out.tap 2>&1
cat %s/out.tap]]):format(folder,
    attack_lab, class, folder, folder))
local results, student = {}, nil
for line in out:gmatch("([^\n]*)\n") do
    student = line:match("^# Subtest: (.*)") or student
    if line:find("^    ") then
        results[student] = (results[student] or "") .. line:sub(5) .. "\n"
    end
end

for _, attack in ipairs(list) do
    local text = results[attack.name] or "no results"
    local held = attack.held and text:find(attack.held, 1, true)
        and text:find(("\n# %d of 100 points\n$"):format(attack.score))
        and not text:find("[^-]4711") and not text:find(secret, 1, true)
    tap.ok(held, ("%s is held: %s"):format(attack.name, attack.held))
    if not held then
        tap.diag(text:sub(1, 1500))
    end
end
tap.ok(not out:find("could not be run", 1, true), "all tests could be run")
tap.is(left_behind(), before, "they leave no files")
if shell.sh("ls /proc/self/cmdline 2>&1") == "/proc/self/cmdline\n" then
    tap.is(shell.sh(("grep -lza '^%s/tmp' /proc/[0-9]*/cmdline 2>/dev/null"):format(folder)), "",
        "and no processes")
end

-- ---- where a lab does not ask for kernels ---------------------------------------------------

shell.sh(("cp -r %s %s/lab; sed -i.old -e '/kernels =/d' -e '/required/d' "
    .. "%s/lab/lab.lua"):format(attack_lab, folder,
    folder))
tap.like(shell.sh(('"$P" lab grade %s/lab %s/solution.lua --format tap'):format(folder,
    attack_lab)),
    "this lab does not ask for kernels of your own",
    "without kernels = true there is no lab.kernel")
shell.sh(("sed 's/kernels = true/kernels = 1/' %s/lab.lua > %s/lab/lab.lua"):format(attack_lab,
    folder))
tap.like(shell.sh(('"$P" lab grade %s/lab %s/solution.lua 2>&1'):format(folder, attack_lab)),
    "'kernels' must be true or false, got 1", "and it is true or false")

local out_of_compiler =
    shell.sh(('STREAMLAB_CXX=none "$P" lab grade %s %s/solution.lua 2>&1'):format(
    attack_lab, attack_lab))
tap.like(out_of_compiler, "could not be run: [^\n]*kernels cannot be run: [^\n]*compiler",
    "where no compiler is, that is not the student's fault")

shell.remove(folder)
tap.done()
