-- 31-waits.t.lua - what a failed assertion about times says: the wait that was not needed, not the
-- largest one; and no remedy that makes a race. Each case is a submission, and what `look` has.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

shell.sh("mkdir -p " .. folder .. "/tests")
shell.write(folder .. "/lab.lua", [[
    return { id = "waits", title = "Waits", points = 1, functions = { "go" } }]])
shell.write(folder .. "/tests/hidden.lua", "")
shell.write(folder .. "/tests/visible.lua", [[
    test("it is quick", { points = 1 }, function(t, student)
        local x, y = lab.zeros(1 << 20), lab.zeros(1 << 20)
        local up = lab.ones(1 << 20, {device = "cpu", pinned = true})
        local back = lab.empty(1 << 20, {device = "cpu", pinned = true})
        lab.synchronize()
        local function work(into)           -- a piece: long, and at its end the values are there
            lab.spin(1)
            into:fill_(3)
        end
        local small, there = lab.ones(8, {device = "cpu", pinned = true}), lab.empty(8)
        local more = {}
        function more.fill()
            x:copy_(up, {non_blocking = true})
            there:copy_(small, {non_blocking = true})
        end
        function more.use_small()
            lab.spin(1)
            lab.mul(there, 2, {out = there})
        end
        function more.use_x()
            lab.mul(y, 2, {out = y})
            lab.add(y, x, {out = y})
            lab.mul(y, 3, {out = y})
            lab.spin(1)
        end
        lab.synchronize()
        local tl = lab.profile(student.go, x, y, up, back, work, more)
        t:makespan(tl, { of_us = 1, within_percent = 0 })
    end)]])

-- What is written behind "look", on one line, without the "#" and the breaks.
local function look(submission)
    shell.write(folder .. "/mine.lua", submission)
    local out, err = shell.sh(('"$P" lab check %s %s/mine.lua'):format(folder, folder))
    local text = out:match("\n#   look   (.-)\n# %S") or out:match("\n#   look   (.*)")
        or out .. err
    return (text:gsub("\n#%s+", " ")), out
end

-- The copy needs nothing of the second piece. The kernels' wait for the copy is needed, and longer.
local text, all = look [[
function go(x, y, up, back, work)
    local a, b = lab.stream(), lab.stream()
    lab.with(a, work, x)
    local filled = a:record_event()
    lab.with(a, work, y)
    b:wait_stream(a)
    back:copy_(x, {non_blocking = true, stream = b})
end]]
tap.like(text, "^Memcpy DtoH %(Device %-> Pinned%) at mine%.lua:7 could have begun 1%.00 ms "
    .. "earlier: it waited for spin at mine%.lua:5, and needs only spin at mine%.lua:3, which had "
    .. "ended",
    "a wait_stream that waits for too much is named, with what was needed")
tap.like(text, "%-> Record the event directly after the one operation whose result is used",
    "and what to do")

text = look [[
function go(x, y, up, back, work)
    local a, b = lab.stream(), lab.stream()
    lab.with(a, work, x)
    b:wait_stream(a)
    back:copy_(x, {non_blocking = true, stream = b})
    lab.with(a, work, y)
    local event = a:record_event()
    lab.with(b, work, x)
    b:wait_event(event)
    lab.mul(x, 2, {out = y, stream = b})
end]]
tap.ok(not text:find("could have begun", 1, true), "where each wait is needed none is blamed")

-- The event is recorded where it should be, and the wait stands too early.
text = look [[
function go(x, y, up, back, work)
    local a, b = lab.stream(), lab.stream()
    lab.with(a, work, x)
    b:wait_event(a:record_event())
    y:copy_(up, {non_blocking = true, stream = b})
    lab.add(y, x, {out = y, stream = b})
end]]
tap.like(text, "^Memcpy HtoD %(Pinned %-> Device%) at mine%.lua:5 could have begun .- earlier: it "
    .. "waited for %S+ at mine%.lua:3, and needs nothing that ran before %-> Issue it before that "
    .. "wait if it depends on nothing that the wait is for; else record the event directly after",
    "for a wait before work that needs nothing, the wait's place is named")

-- It needs the copy out of y, which is in a third stream, and waits for the kernel besides.
text = look [[
function go(x, y, up, back, work)
    local a, b, c = lab.stream(), lab.stream(), lab.stream()
    back:copy_(y, {non_blocking = true, stream = c})
    local read = c:record_event()
    lab.with(a, work, x)
    b:wait_event(read)
    b:wait_stream(a)
    y:copy_(up, {non_blocking = true, stream = b})
    lab.add(y, x, {out = y, stream = b})
end]]
tap.like(text, "needs only Memcpy DtoH %(Device %-> Pinned%) at mine%.lua:3, which had ended "
    .. "%-> Let it wait for an event that is recorded directly after that, and issue it before any "
    .. "wait for work on which it does not depend", "and who needs another stream's work of that")

-- Round by round: the first round needs nothing, the others what the round two before has left.
text = look [[
function go(x, y, up, back, work)
    local a, b, slots = lab.stream(), lab.stream(), {x, y}
    for i = 1, 4 do
        b:wait_stream(a)
        slots[i % 2 + 1]:copy_(up, {non_blocking = true, stream = b})
        a:wait_stream(b)
        lab.with(a, work, slots[i % 2 + 1])
    end
end]]
tap.like(text, "needs only an earlier one of these, which had ended %-> Record the event directly "
    .. "after",
    "of rounds one is the example that needs something")

-- A piece's own parts are nobody's mistake: fill_ stands behind its spin.
text = look [[
function go(x, y, up, back, work)
    work(x)
    y:copy_(up, {non_blocking = true})
end]]
tap.like(text, "^Memcpy HtoD %(Pinned %-> Device%) at mine%.lua:3 could have begun 997 us earlier: "
    .. "it waited for spin at mine%.lua:2, and needs nothing that ran before "
    .. "%-> Put the two into different streams", "work in one stream that could be in two")
text = look [[
function go(x, y, up, back, work)
    work(x)
    back:copy_(x, {non_blocking = true})
end]]
tap.ok(not text:find("could have begun", 1, true), "and work that belongs into one")

-- What a function of the test has enqueued, called on one line, nobody can take apart: two copies
-- of different sizes, or kernels of which the first ones alone read what is overwritten.
text, all = look [[
function go(x, y, up, back, work, more)
    local a, b = lab.stream(), lab.stream()
    lab.with(b, more.use_small)
    a:wait_stream(b)
    lab.with(a, more.fill)
end]]
tap.ok(all:find("more than 1.00") and not text:find("could have begun", 1, true),
    "nor is the first of two copies")
text, all = look [[
function go(x, y, up, back, work, more)
    local a, b = lab.stream(), lab.stream()
    lab.with(b, more.use_x)
    a:wait_stream(b)
    x:copy_(up, {non_blocking = true, stream = a})
end]]
tap.ok(all:find("more than 1.00") and not text:find("could have begun", 1, true),
    "nor is a part of a function's kernels")

-- The work was meant to be in the stream, and stands in the default stream.
text = look [[
function go(x, y, up, back, work)
    local a = lab.stream()
    lab.with(a, work, x)
    work(y)
end]]
tap.like(text, "%-> Keep spin at mine%.lua:4 out of the default stream: call it within "
    .. "lab%.with%(stream, %.%.%.%)", "where lab.with was forgotten, lab.with is named")
tap.ok(not text:find("Give the stream non_blocking", 1, true), "and not to exempt the stream")

-- The host.
text = look [[
function go(x, y, up, back, work)
    lab.with(lab.stream(), work, x)
    lab.synchronize()
    lab.with(lab.stream(), work, y)
end]]
tap.like(text, "^cudaDeviceSynchronize at mine%.lua:3 held the host 1%.00 ms longer than needed: "
    .. "what the host does next needs nothing of the GPU's", "a wait of the host that nobody needs")
text = look [[
function go(x, y, up, back, work)
    x:copy_(up, {non_blocking = true})
    work(x)
    lab.synchronize()
    up:fill_(2)
    work(y)
end]]
tap.like(text, "^cudaDeviceSynchronize at mine%.lua:4 held the host 1%.0%d ms longer than needed: "
    .. "what the host touches next was ready with Memcpy HtoD %(Pinned %-> Device%) at mine%.lua:2",
    "one that waits for more than the host needs")
text = look [[
function go(x, y, up, back, work)
    local copied = lab.event()
    x:copy_(up, {non_blocking = true})
    copied:record()
    copied:synchronize()
    up:fill_(2)
    x:copy_(up, {non_blocking = true})
end]]
tap.ok(not text:find("longer than needed", 1, true), "and one that waits for what it needs")

text = look [[
function go(x, y, up, back, work)
    work(x)
    local sum = lab.sum(x)
    work(y)
    lab.synchronize()
    return sum:item()
end]]
tap.ok(not text:find("longer than needed", 1, true), "nor one at the end, before results are read")

-- Without the checker's knowledge the largest losses are named, as ever.
shell.write(folder .. "/alone.lua", [[
    local t = lab.tap()
    local x, up = lab.zeros(4), lab.zeros(4, {device = "cpu", pinned = true})
    local tl = lab.profile(function()
        lab.spin(1)
        x:copy_(up, {non_blocking = true})
    end)
    t:makespan(tl, { of_us = 1, within_percent = 0 })]])
tap.like((shell.sh('"$P" --backend sim ' .. folder .. "/alone.lua")),
    "look   alone%.lua:4: No H2D copy ran for", "a script of its own")

shell.remove(folder)
tap.done()
