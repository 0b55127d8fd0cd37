-- 42-submission-files.t.lua - which files of a class are graded: all of them, however many there
-- are and however deep they lie, and none of what could keep the grader waiting.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local environment = debug.getregistry()["streamlab.environment"]
local program = environment.program
local find = environment.import("repl/labs/class.lua").find
local files = environment.import "repl/run/files.lua"

local folder = shell.folder()

local function at(name) return folder .. "/" .. name end

-- The submission of that student in the class.
local function found(student)
    for _, submission in ipairs(find(at "class")) do
        if submission.student == student then
            return submission
        end
    end
end

-- ---- many ------------------------------------------------------------------------------------

-- In memory where that is possible: to make so many files takes seconds on some disks.
local large = shell.sh("mktemp -d -p /dev/shm 2>/dev/null || mktemp -d"):match("[^\n]*")
shell.sh(("mkdir %s/class; cd %s && seq -f s%%g.lua 10001 | xargs touch"):format(folder, large))
tap.is(#find(large), 10001, "each of ten thousand students and one is graded")
shell.remove(large)

-- ---- deep ------------------------------------------------------------------------------------

local deep <const> = ("d/"):rep(100)
shell.sh(("cd %s/class && mkdir -p deep/%s && touch deep/%sx.lua"):format(folder, deep, deep))
tap.is(found "deep".file, at("class/deep/" .. deep .. "x.lua"),
       "a file may lie in folders in folders")

local bottomless <const> = ("d"):rep(250)      -- 20 of them are more than a path can be
shell.sh(("cd %s/class && mkdir endless && cd endless && for i in $(seq 20); do mkdir %s && cd %s "
    .. "|| exit; done")
    :format(folder, bottomless, bottomless))
tap.is(found "endless".problem, "the folder cannot be read: File name too long",
    "what cannot be looked through is no empty folder")
local names, reason = program.folder(at "none")
tap.is(names, nil, "a folder that is not there has no names")
tap.is(reason, "No such file or directory", "and there is a reason")

-- ---- what would keep the grader waiting ---------------------------------------------------------

shell.sh(("cd %s && mkfifo pipe && ln -s pipe to-pipe && ln -s none loose && touch file && mkdir "
    .. "folder"):format(
    folder))
for name, there in pairs { pipe = true, ["to-pipe"] = true, file = true,
    folder = true, loose = false,
    none = false } do
    tap.is(files.exists(at(name)), there, ("whether there is a %s is known without opening it")
        :format(name))
end

shell.remove(folder)
tap.done()
