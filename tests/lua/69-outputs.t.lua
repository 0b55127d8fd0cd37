-- 69-outputs.t.lua - growing texts for files: numbers as decimals and as varints, lists, lengths;
-- and the files that they become. Bytes are worked out by hand
-- (protobuf.dev/programming-guides/encoding).

require "lua.quiet" ()

local T = require "tap"
local core = debug.getregistry()["streamlab.internals"]

local path = os.tmpname()
local function bytes(output)
    assert(core.write_files{ { path = path, text = output } })
    local file <close> = assert(io.open(path, "rb"))
    return file:read("a")
end
local function text(...)
    local output = core.output()
    core.put(output, ...)
    return bytes(output)
end
local function message(...)
    local output = core.output()
    core.put_message(output, ...)
    return bytes(output)
end

T.is(text(), "", "an output without anything is an empty file")
T.is(text("t", 12, ": ", -3, "\0\n"), "t12: -3\0\n", "texts as they are, numbers as decimals")
T.is(text(0, " ", math.mininteger, " ", math.maxinteger),
     "0 -9223372036854775808 9223372036854775807", "the smallest and the largest number")

T.is(message(), "\0", "a message of nothing")
T.is(message(1, 127, 128, 300), "\6\1\127\x80\1\xAC\2", "seven bits a byte, behind the length")
T.is(message(-1), "\10" .. ("\xFF"):rep(9) .. "\1", "a negative number has ten bytes")
T.is(message("\x2A", { 1, 300, 9 }, 2, "x"), "\6\x2A\3\1\xAC\2x", "a list has a length of its own")
T.is(message(("x"):rep(200)), "\xC8\1" .. ("x"):rep(200), "a length may have two bytes")

do
    local output = core.output()
    core.put_message(output, "ab")
    core.put_message(output, "c")
    T.is(bytes(output), "\2ab\1c", "messages stand behind each other")
    local other = core.output()
    core.put(other, "<", output, ">")
    T.is(bytes(other), "<\2ab\1c>", "an output can be put into another one")
    T.is(bytes(output), "", "which empties it")
end

T.throws_like(function() core.put(core.output(), 1.5) end, "integer", "a fraction is refused")
T.throws_like(function() core.put(core.output(), {}) end, "string expected", "so is a table")
T.throws_like(function() core.put_message(core.output(), { 1 }) end, "number expected",
              "and a list without its length")
T.throws_like(function() core.write_files{ { path = path, text = 5 } } end, "no text",
              "a number is no text of a file")

os.remove(path)
T.done()
