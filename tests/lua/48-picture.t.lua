-- 48-picture.t.lua - tl:save("x.svg", options): what the options do, and what is refused.
local T = require "tap"
package.path = "tests/lua/?.lua;" .. package.path
local ideal = require "ideal"

local function refuses(...) ideal.refuses(T, ...) end

local path = ideal.temporary(".svg")

local function picture(tl, options)
    tl:save(path, options)
    local text = ideal.read(path)
    os.remove(path)
    return text
end

-- Two kernels of 1 ms on two streams, the second after the first.
local function example()
    ideal.open()
    local one, two = lab.stream{ name = "one" }, lab.stream{ name = "two" }
    return lab.profile(function()
        lab.spin(1, { stream = one, blocks = 1 })
        two:wait_event(one:record_event())
        lab.spin(1, { stream = two, blocks = 1 })
    end)
end

local function has(text, what, name)
    T.ok(text:find(what, 1, true), name)
end

local function lacks(text, what, name)
    T.ok(not text:find(what, 1, true), name)
end

local function pictures()
    local tl = example()
    T.is(tl:save(path), tl, "save gives the timeline")
    local text = picture(tl)
    T.like(text, "^<%?xml version=\"1.0\" encoding=\"UTF%-8\"%?>\n<svg xmlns=", "a file is SVG")
    T.like(text, "</svg>\n$", "and whole")
    has(text, "makespan 2.00 ms", "with the makespan")
    has(text, "48-picture.t.lua:23", "the script positions")
    has(text, "two waits for an event of one\nfor 1.00 ms", "an arrow")
    has(text, ">device synchronize</text>", "and what the host did")
    T.ok(text == picture(tl), "saving twice gives the same bytes")
    T.ok(text == picture(example()), "so does another run")
    T.ok(text == picture(tl, {}), "no options are the usual ones")
    T.ok(text == picture(tl, { rows = "streams", theme = "auto", width_px = 960, arrows = true,
                               from_us = 0, to_us = tl.makespan_us }), "which are these")
end

-- Kernels at 0 to 1 and 1 to 2 ms, one at once; the second is in a queue meanwhile.
local function over_time()
    local tl = example()
    local text = picture(tl, { counters = true })
    has(text, ">kernels at once</text>", "counters have rows below the streams")
    has(text, ">max 1</text>", "with their largest values")
    lacks(picture(tl), "kernels at once", "where they are asked for")
    T.ok(text == picture(tl, { counters = true }), "again the same bytes")
    has(picture(tl, { counters = true, from_us = 1500 }), ">queue length</text>",
        "in a part, too")
    local units = debug.getregistry()["streamlab.internals"].words.units
    T.is(units.bytes(3 << 29), "1.5 GiB", "bytes have their unit")
    T.is(units.rate(24900000000, 1000000000), "24.9 GB/s", "and bytes a second")
    T.is(units.rate(4, 1600), "2.50 MB/s", "few of them, too")
    T.is(units.rate(990, 1000), "990.0 MB/s", "up to the next one")
    T.is(units.rate(3, 1000000000), "0.00 kB/s", "hardly any have the smallest")
end

-- A copy on each of two GPUs: 512 KiB.
local function of_two_gpus()
    ideal.open()
    local devices = { lab.device(), lab.open{ backend = "sim", index = 1 } }
    local tl = lab.profile(function()
        for _, device in ipairs(devices) do
            device:make_current()
            lab.zeros(1 << 17, { device = "cpu", pinned = true }):cuda()
        end
    end)
    local text = picture(tl, { counters = true })
    has(text, ">gpu0: H2D copies</text>", "of several GPUs each has counters")
    has(text, ">gpu1: H2D copies</text>", "with its number")
    local rate = text:match(">max (%d[%d%.]* GB/s)</text>")
    text = picture(tl, { counters = true, width_px = 300 })
    has(text, ">gpu1: H2D</text>", "which stays where there is little room")
    has(text, ">" .. rate .. "</text>", "as the largest value does")
    devices[1]:make_current()
end

-- The outline of the first counter, kernels at once.
local function first_area(text)
    return text:match('<g fill%-opacity="0.55".-<path d="([^"]*)"/>')
end

-- A kernel of 1 us beside one of 2 ms, which is wider than 700 pixels: it has less than half of
-- one. Two kernels are 28 pixels high.
local function a_short_one()
    ideal.open()
    local one, two = lab.stream{ name = "one" }, lab.stream{ name = "two" }
    local tl = lab.profile(function()
        lab.spin(2, { stream = one, blocks = 1 })
        lab.spin(0.001, { stream = two, blocks = 1 })
    end)
    local area = first_area(picture(tl, { counters = true }))
    local bottom, x, top, next_x, level = area:match("^M%d+ (%d+)H(%d+)V(%d+)H(%d+)V(%d+)H")
    T.is(next_x - x, 1, "of each pixel a counter's largest value is drawn")
    T.is(bottom - top, 28, "at its height")
    T.is(bottom - level, 14, "and then what lasts")
end

-- What kept the GPU waiting has a name in the picture.
local function the_host()
    ideal.textbook{ ["host.pinned_alloc_us"] = 300 }
    local s = lab.stream{ name = "s" }
    local text = picture(lab.profile(function()
        lab.spin(0.01, { stream = s })
        lab.rand(1024, 1024, { device = "cpu" })
        lab.empty(1024, 1024, { device = "cpu", pinned = true })
        lab.spin(0.01, { stream = s })
    end))
    has(text, ">rand_f32 on the CPU</text>", "what the host computes is named in its row")
    has(text, ">pinned allocation</text>", "so is memory that it page-locks")
    has(text, "spin: the host issues work\n", "and launches are there")
    text = picture(lab.profile(function()
        local x = lab.zeros(512, 512, { device = "cpu" })
        lab.spin(0.01, { stream = s })
        x:pin_memory()
        lab.host_work(0.3)
        lab.spin(0.01, { stream = s })
    end))
    T.like(text, ">Memcpy[^<]*…</text>", "where a name does not fit there is its beginning")
    has(text, ">host work</text>", "what has no name is named by its kind")
end

local function options()
    local tl = example()
    local text = picture(tl, { rows = "engines" })
    has(text, ">compute</text>", "rows can be engines")
    lacks(text, ">one</text>", "instead of streams")
    text = picture(tl, { theme = "dark" })
    has(text, "#16191d", "a theme can be dark")
    lacks(text, "<style", "for good")
    text = picture(tl, { theme = "light" })
    lacks(text, "<style", "or light")
    lacks(text, "#16191d", "for good as well")
    has(picture(tl, { width_px = 500 }), 'width="500"', "the width can be chosen")
    lacks(picture(tl, { arrows = false }), "waits for an event", "the arrows can be left out")
    text = picture(tl, { from_us = 1500 })
    has(text, "shown: 1.5 to 2 ms", "a picture can begin later")
    has(text, ">0%</text>", "without what was over by then")
    has(picture(tl, { from_us = 0.5, to_us = 1000.25 }), "shown: 0.0005 to 1.00025 ms",
        "and end earlier")
end

local function wrong_options()
    local tl = example()
    local function refused(o, pattern, name)
        refuses(function() tl:save(path, o) end, "SL_EINVAL", pattern, name)
    end
    refused({ rows = "stream" }, 'option \'rows\' must be "streams" or "engines", got "stream"',
            "rows that there are not")
    refused({ rows = 1 }, "a string", "rows by number")
    refused({ theme = "blue" }, '"auto", "light" or "dark", got "blue"',
            "a theme that there is not")
    refused({ width_px = 199 }, "200 to 20000 pixels wide, not 199", "too narrow")
    refused({ width_px = 1e9 | 0 }, "not 1000000000", "too wide")
    refused({ width_px = math.maxinteger }, "not 9223372036854775807", "far too wide")
    refused({ width_px = 0 }, "at least 1", "no width")
    refused({ width_px = 400.5 }, "whole number", "half a pixel")
    refused({ from_us = -1 }, "from 0 to 9e15", "a range before the start")
    refused({ from_us = 5, to_us = 5 }, "range is empty", "an empty range")
    refused({ from_us = 2000 }, "range 2000 to 2000 us is empty", "a range behind the end")
    refused({ to_us = 0 / 0 }, "a number", "a range to nowhere")
    refused({ arrows = 1 }, "true or false", "arrows by number")
    refused({ row = "streams" }, "unknown option 'row'; known: rows, theme", "an unknown option")
    refused("dark", "must be a table of options", "options that are no table")
    refuses(function() tl:save(path, {}, {}) end, "SL_EINVAL", "one too many", "two tables")
    T.ok(not io.open(path), "and none of them leaves a file")
    refuses(function() tl:save(ideal.temporary(".json"), { theme = "dark" }) end, "SL_EINVAL",
            "unknown option .theme.; known: counters", "a trace has no colours")
    refuses(function() tl:save("x.png") end, "SL_EINVAL", "end in .*%.svg", ".svg is offered")
    refuses(function() tl:save(".svg") end, "SL_EINVAL", "name must end", "but needs a name")
    refuses(function() tl:save(path .. "/x.svg") end, "SL_EIO", "cannot write",
            "a path that is not there")
end

local function an_empty_timeline()
    ideal.open()
    local text = picture(lab.profile(function() end))
    has(text, "The timeline is empty: nothing ran on the device.",
        "an empty timeline has its sentence")
    T.like(text, "</svg>\n$", "in a picture")
end

local function names()
    ideal.open()
    local stream = lab.stream{ name = "<b>&\"'\n\xFF" }
    local text = picture(lab.profile(function() lab.spin(1, { stream = stream }) end))
    lacks(text, "<b>", "a stream's name is no markup")
    has(text, ">&lt;b&gt;&amp;&quot;&#39; \u{FFFD}</text>", "but a text")
end

local function held_host()
    ideal.textbook()
    local a, h = lab.zeros(1024, 1024), lab.zeros(1024, 1024, { device = "cpu" })
    local tl = lab.profile(function()
        a:copy_(h, { non_blocking = true })
        local memory = lab.cuda.malloc(1024)
        lab.spin(1)
        lab.cuda.free(memory)
        lab.spin(1)
    end)
    local text = picture(tl)
    has(text, "copy H2D: the copy holds the host", "a pageable copy holds the host")
    has(text, "cudaFree: the host waits for the device", "so does cudaFree")
    has(text, "4 MiB, ", "a copy has its size")
end

for _, test in ipairs{ pictures, over_time, a_short_one, of_two_gpus, the_host, options,
    wrong_options, an_empty_timeline, names, held_host } do
    test()
end
T.done()
