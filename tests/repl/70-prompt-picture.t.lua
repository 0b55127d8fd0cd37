-- 70-prompt-picture.t.lua - the picture of the prompt in the guide is what the prompt shows.
--
--     LUA_PATH='tests/?.lua;;' build/streamlab tests/repl/70-prompt-picture.t.lua write
-- draws it again.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local svg = require "screen_svg"

local path <const> = "docs/pictures/prompt.svg"

local s = session.open {
    arguments = { "--norc", "--profile", "h200" }, columns = 88,
    env = { TERM = "xterm-256color", NO_COLOR = false },
}
tap.ok(s:wait "lab[1]> ", "there is a prompt")
for _, line in ipairs {
    's = lab.stream{ name = "copies" }',
    "x = lab.rand(4096, 4096)                   -- 64 MiB, on the GPU",
    "lab.profile(function() x:matmul(x) x:cpu{ stream = s } end)",
    'Out[3]:overlap_us("compute", "d2h")        -- why none?',
} do
    s:run(line)
end
s:type "lab.stream{ non_blocking = true"
tap.ok(s:finds "\nlab%.stream%{.*%}", "the signature of the call is below it")
local drawn = svg(s.screen, "a session at the prompt")
s:close()

if arg[1] == "write" then
    assert(io.open(path, "w")):write(drawn):close()
end
tap.is(assert(io.open(path)):read("a"), drawn, path .. " is up to date")
tap.done()
