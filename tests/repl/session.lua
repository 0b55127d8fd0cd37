-- session.lua - somebody at a terminal: types at a program and looks at the screen.
--
--   local session = require "session"
--   local s = session.open {}                 streamlab, with an empty home of its own
--   s:wait "lab[1]> "                         until the last row with text begins so: a prompt
--   s:type "1 + 1\r"
--   s:shows "2"                               until a row is exactly this
--   s:finds "lab%[2%]> $"                     until the whole text has this Lua pattern
--   s:run("1 + 1")                            types a line and waits for the next prompt
--   s:ask("1 + 1")                            the same; what came between, "2\n"
--   s:interrupt()                             Ctrl-C at a prompt
--   tap.is(s:leave(), 0, "Ctrl-D leaves")
--   s:close()
--
--   session.with({ name = "keys" }, function(s) ... end)     checks that a session comes to its
--                                             first prompt, and does that there
--
-- Waiting goes on for `session.patience` seconds, far more than anything takes, and then
-- gives false and writes the screen to stderr; so a test is `tap.ok(s:shows "2", "...")`.
-- What is not to appear is looked for after something that comes later has appeared.
--
-- Options of open: `program` (a path) and `arguments` (a list), or `shell`, a command of sh in
-- which $P is the program; `env` (false unsets), `columns`, `rows`, `home` (a folder, to meet
-- the files of an earlier session again), `history = true` (else there is no history file).
local terminal_folder = (os.getenv("STREAMLAB") or "build/streamlab"):gsub("[^/]*$", "")
package.cpath = terminal_folder .. "tests/repl/?.so;" .. package.cpath
local terminal = require "terminal"
local screen = require "screen"
local shell = require "shell"
local tap = require "tap"

local session = { patience = 20 * (tonumber(os.getenv("STREAMLAB_TEST_TIMEOUT")) or 1) }
session.__index = session

-- The keys that have no character.
session.keys = {
    up = "\27[A", down = "\27[B", right = "\27[C", left = "\27[D", home = "\27[H",
    ["end"] = "\27[F", delete = "\27[3~", backspace = "\127", enter = "\r", tab = "\t",
    interrupt = "\3", eof = "\4", stop = "\26",
}

-- A text as a terminal pastes it when the program has asked for brackets around it.
function session.pasted(text)
    return "\27[200~" .. text:gsub("\n", "\r") .. "\27[201~"
end

local function environment(options, home)
    local env = {
        HOME = home, TERM = "xterm", LC_ALL = "C.UTF-8", STREAMLAB_BACKEND = "sim",
        STREAMLAB_CUDA_PLUGIN = "none", STREAMLAB_HISTORY = "", P = shell.program,
        STREAMLAB_RC = false, XDG_STATE_HOME = false, XDG_CONFIG_HOME = false, COLUMNS = false,
        LINES = false, NO_COLOR = "1", CLICOLOR_FORCE = false, EDITRC = false, LUA_PATH = false,
    }
    if options.history then
        env.STREAMLAB_HISTORY = false
    end
    for name, value in pairs(options.env or {}) do
        env[name] = value
    end
    return env
end

function session.open(options)
    local argv = { options.program or shell.program, table.unpack(options.arguments or {}) }
    if options.shell then
        argv = { "/bin/sh", "-c", options.shell }
    end
    local self = setmetatable({}, session)
    self.own_home = not options.home and shell.folder()
    self.home = options.home or self.own_home
    local columns, rows = options.columns or 80, options.rows or 24
    self.screen = screen.new(columns, rows)
    self.terminal = terminal.open {
        argv = argv, env = environment(options, self.home), columns = columns, rows = rows,
    }
    self.raw = ""
    return self
end

-- Takes what the program has written, waiting a little for it; false at its end.
function session:take(seconds)
    local bytes = self.terminal:read(seconds)
    if bytes then
        self.raw = self.raw .. bytes
        self.screen:feed(bytes)
    end
    return bytes ~= nil
end

-- Waits until check(screen) is true.
function session:until_true(check, what)
    local limit = terminal.clock() + session.patience
    while true do
        if check(self.screen) then
            return true
        end
        local alive = self:take(math.max(0, math.min(1, limit - terminal.clock())))
        if not alive and check(self.screen) then
            return true
        elseif not alive or terminal.clock() > limit then
            local last = "\n" .. self.screen:last_rows(30)
            io.stderr:write("# waited in vain for ", what, alive and "" or " (it has ended)",
                "; the screen is", (last:gsub("\n", "\n# | ")), "\n")
            return false
        end
    end
end

local function last_row(text)
    return ("\n" .. text):match("^.*\n(.*)$")
end

-- Until the cursor stands behind this text, in the last row that has any.
function session:wait(prompt)
    prompt = prompt:gsub(" +$", "")
    return self:until_true(function(screen_now)
        local _, column = screen_now:cursor()
        return last_row(screen_now:text()) == prompt and column > utf8.len(prompt)
    end, "the prompt '" .. prompt .. "'")
end

function session:shows(row)
    return self:until_true(function(screen_now)
        return ("\n" .. screen_now:text() .. "\n"):find("\n" .. row .. "\n", 1, true) ~= nil
    end, "the row '" .. row .. "'")
end

function session:finds(pattern)
    return self:until_true(function(screen_now)
        return screen_now:text():find(pattern) ~= nil
    end, "the pattern '" .. pattern .. "'")
end

function session:cursor_at(row, column)
    return self:until_true(function(screen_now)
        local y, x = screen_now:cursor()
        return y == row and x == column
    end, "the cursor at row " .. row .. ", column " .. column)
end

function session:type(text)
    self.terminal:send(text)
end

function session:text()
    return self.screen:text()
end

-- The number in the latest prompt "lab[n]> ".
function session:number()
    local number
    for n in self.screen:text():gmatch("lab%[(%d+)%]>") do
        number = tonumber(n)
    end
    return number
end

-- Types a line and waits for the next prompt.
function session:run(line)
    local n = self:number() or 0
    self:type(line .. "\r")
    return self:wait(("lab[%d]> "):format(n + 1))
end

local function count(text, pattern)
    return select(2, text:gsub(pattern, ""))
end

-- Types a line, also one that is no entry and so is not counted, and waits for the next
-- prompt. Returns the rows in between, each with a newline, or false. A typed line that takes
-- several rows leaves the rest of itself in front.
function session:ask(line)
    local before = count("\n" .. self.screen:text(), "\nlab%[%d+%]>")
    self:type(line .. "\r")
    local answered = self:until_true(function(screen_now)
        local text = "\n" .. screen_now:text()
        local _, column = screen_now:cursor()
        return count(text, "\nlab%[%d+%]>") > before
            and column > #(text:match("\n(lab%[%d+%]>)$") or (" "):rep(screen_now.columns))
    end, "an answer to '" .. line .. "'")
    if not answered then
        return false
    end
    local rows = ("\n" .. self.screen:text()):gsub("\nlab%[%d+%]>[^\n]*", "\0%0")
    -- Between the last two prompts, without the line with the first of them.
    local answer = rows:match("^(.*)%z"):match("^.*%z(.*)$"):match("^\nlab[^\n]*\n?(.*)$")
    return answer == "" and "" or answer .. "\n"
end

-- Types Ctrl-C at a prompt and waits for the new one. What is typed at the same moment may
-- be thrown away with the line, or be taken by a terminal that edits lines itself meanwhile.
function session:interrupt()
    local before = count(self.screen:text(), "%^C")
    self:type("\3")
    return self:until_true(function(screen_now)
        local text = screen_now:text()
        local _, column = screen_now:cursor()
        return count(text, "%^C") > before and column > 1 and not last_row(text):find("%^C")
    end, "Ctrl-C")
end

-- Waits for the end; the exit status, or nil if there is none in time.
function session:ending()
    local limit = terminal.clock() + session.patience
    while self:take(1) and terminal.clock() < limit do
    end
    return self.terminal:wait(math.max(0, limit - terminal.clock()))
end

-- Ctrl-D, and the end.
function session:leave()
    self:type("\4")
    return self:ending()
end

function session:close()
    self.terminal:close()
    if self.own_home then
        shell.remove(self.own_home)
    end
end

-- Options as of open, and `name` for the checks, `prompt` if it is another one.
function session.with(options, f)
    options.arguments = options.arguments or { "--norc" }
    local s = session.open(options)
    if tap.ok(s:wait(options.prompt or "lab[1]> "), options.name .. ": there is a prompt") then
        f(s)
    end
    tap.is(table.concat(s.screen.unknown, " "), "", options.name
        .. ": nothing odd is sent to the terminal")
    s:close()
end

return session
