-- 48-places.t.lua - the picture of a timeline: well-formed, in its place to the hundredth of a
-- pixel, whole for any timeline, and the same every time.
--
-- At 700 pixels the names take 16 + 27 + 10 (of "host", the widest here) and the percents 40 + 16,
-- which leaves 591 from 53 on: timelines of 591 ns have a pixel a nanosecond. The rows begin at 75;
-- they are 26 high and 7 apart, 12 if there are arrows. The edges of bars take 0.4 at each side. If
-- calls of the host are in the range, their row of 15 is above the others.
local T = require "tap"
package.path = "tests/lua/?.lua;" .. package.path
local ideal = require "ideal"
local made = require "made"

local path = ideal.temporary(".svg")

local function picture(tl, more)
    local options = { width_px = 700, theme = "light" }
    for key, value in pairs(more or {}) do options[key] = value end
    tl:save(path, options)
    local text = ideal.read(path)
    os.remove(path)
    return text
end

local function has(text, what) return text:find(what, 1, true) ~= nil end

local function shows(text, what, name)
    if not T.ok(has(text, what), name) then T.diag("lacks " .. what) end
end

local function count(text, what)
    local n, at = 0, 1
    while true do
        local from, to = text:find(what, at, true)
        if not from then return n end
        n, at = n + 1, to + 1
    end
end

-- A small XML checker: nil, or what is wrong ---------------------------------------------------

-- Well-formed UTF-8 of XML 1.0's characters, with an entity for each &.
local function text_fault(text)
    if not utf8.len(text) then return "bytes that are no UTF-8" end
    if text:find("[\0-\8\11-\31\127]") or text:find("\xef\xbf[\xbe\xbf]") then
        return "a character that XML does not have"
    end
    for entity in text:gmatch("&([^;]*;?)") do
        if not (" amp; lt; gt; quot; #39; "):find(" " .. entity .. " ", 1, true) then
            return "a bare &"
        end
    end
end

local function attributes_fault(text)
    local known = {}
    for name, value in text:gmatch(' ([%a][%w:_-]*)="([^"<]*)"') do
        if known[name] then return "an attribute twice" end
        known[name] = true
        if text_fault(value) then return text_fault(value) end
    end
    if text:gsub(' [%a][%w:_-]*="[^"<]*"', "") ~= "" then
        return "an attribute without a name or a value"
    end
end

local function xml_fault(text)
    local prolog <const> = '<?xml version="1.0" encoding="UTF-8"?>\n'
    if text:sub(1, #prolog) ~= prolog then return "no prolog" end
    local open, at, elements = {}, #prolog + 1, 0
    repeat
        local content, closing, name, attributes, alone, behind =
            text:match("^([^<]*)<(/?)([%a][%w:_-]*)([^<>]-)(/?)>()", at)
        if not content then return "a tag without end or name" end
        local fault = text_fault(content) or attributes_fault(attributes)
        if fault then return fault end
        if closing == "/" then
            if table.remove(open) ~= name then return "an end that does not match" end
        elseif alone == "" then
            open[#open + 1] = name
        end
        at, elements = behind, elements + 1
    until #open == 0
    return text:sub(at) ~= "\n" and "more than one element" or nil
end

local function is_picture(text, name)
    local fault = xml_fault(text)
    if not T.ok(not fault, name .. " is well-formed XML") then T.diag(fault) end
end

local function checker()
    local prolog <const> = '<?xml version="1.0" encoding="UTF-8"?>\n'
    for _, one in ipairs { { "<a></b>\n", "match" }, { "<a>&</a>\n", "bare" },
                           { '<a b="1" b="2"/>\n', "twice" }, { "<a b=1/>\n", "attribute" },
                           { "<a>\27</a>\n", "character" }, { "<a/><b/>\n", "more than one" },
                           { "<a>", "without end" }, { "<a>\xff</a>\n", "UTF%-8" } } do
        T.like(xml_fault(prolog .. one[1]), one[2], "the checker finds " .. one[2])
    end
    T.is(xml_fault(prolog .. '<a b="1"><c/>&lt;</a>\n'), nil, "and nothing in what is right")
end

-- Places ---------------------------------------------------------------------------------------

local function two_streams()
    return made { { "kernel", 1, 1000, 1100 }, { "memcpy_h2d", 2, 1100, 1300 },
                  { "kernel", 1, 1291, 1591 }, streams = { "a", "bb" } }
end

-- a: 400 of 591 ns. bb: 200 of 591. A step of 100 leaves a label of three digits and six blanks
-- room on 98 columns of 6 ns each; one of 50 would not.
local function places()
    local text = picture(two_streams())
    is_picture(text, "a picture of two streams")
    T.ok(has(text, 'width="700"') and has(text, 'viewBox="0 0 700 '), "as wide as asked for")
    shows(text, '<rect x="53.4" y="75.4" width="99.2" height="25.2"><title>kernel\n'
        .. "stream: a\nstarts at 0 ns, takes 100 ns</title></rect>", "the first kernel")
    shows(text, '<rect x="153.4" y="108.4" width="199.2" height="25.2"><title>memcpy_h2d\n'
        .. "stream: bb\nstarts at 100 ns, takes 200 ns</title>", "the copy, a row below")
    shows(text, '<rect x="344.4" y="75.4" width="299.2" height="25.2">',
        "the second kernel, up to the right edge")
    T.ok(has(text, ">68%</text>") and has(text, ">34%</text>"), "how busy the rows are")
    shows(text, 'd="M53 75v66M153 75v66M253 75v66M353 75v66M453 75v66M553 75v66"',
        "a line every 100 ns")
    T.ok(has(text, 'middle">0</text>') and has(text, 'middle">400</text>')
        and has(text, 'middle">500 ns</text>'), "and its figure, the last one with the unit")
    T.ok(has(text, ">kernel</text>") and has(text, ">copy H2D</text>")
        and not has(text, "copy D2H"), "the legend has what occurs")
    T.ok(has(text, ">makespan 591 ns</text>") and has(text, ">lower bound 400 ns</text>")
        and has(text, ">makespan / bound 1.48</text>"), "the title has the bound")
end

local function range()
    local tl = two_streams()
    local text = picture(tl, { from_us = 0.295, to_us = 0.591 })    -- 5 ns are 9.98 pixels
    is_picture(text, "a part of it")
    shows(text, '<rect x="53.4" y="75.4" width="590.2" height="25.2">',
        "what begins before it begins at its edge")
    shows(text, '<rect x="53.4" y="108.4" width="9.18" height="25.2">',
        "what ends within it ends there")
    shows(text, ">shown: 295 to 591 ns</text>", "the title says which part")
    T.ok(has(text, ">100%</text>") and has(text, ">2%</text>"), "and the percents are the part's")
    text = picture(tl, { from_us = 0.15, to_us = 0.2 })
    T.ok(not has(text, "starts at 0 ns") and not has(text, "starts at 291 ns")
        and has(text, ">0%</text>"), "what lies outside is not there, but its row is")
end

-- Three kernels of one engine, two at a time: lanes of 17, from 75 + 15 + 7 on. The third fits into
-- the first.
local function lanes()
    local text = picture(made { { "kernel", 1, 0, 200 }, { "kernel", 2, 100, 591 },
                                { "kernel", 3, 200, 300 } }, { rows = "engines" })
    is_picture(text, "a picture of engines")
    T.ok(count(text, ' y="97.4"') == 2 and count(text, ' y="114.4"') == 1
        and count(text, ' height="15.2"') == 3, "has what overlaps in lanes below each other")
    T.ok(has(text, ">compute</text>") and has(text, ">100%</text>"), "in one row")
end

-- Arrows and the host --------------------------------------------------------------------------

local function with_event()
    return made { { "kernel", 1, 0, 100 }, { record = 1 }, { wait = 2, target = 2, of = 1 },
                  { "kernel", 2, 110, 591 }, streams = { "a", "bb" } }
end

-- From the first row's bottom, 75 + 15 + 12 + 26, to the second row's top, 12 below. The second
-- kernel was issued at 40.
local function arrow()
    local tl = with_event()
    local text = picture(tl)
    is_picture(text, "a picture with an arrow")
    shows(text, '<path d="M153 128C153 134 163 134 163 140m-2.5 -4.5l2.5 4.5l2.5 -4.5"><title>'
        .. "bb waits for an event of a\nfor 60 ns</title></path>",
        "from the end of the work to the start of what waited")
    shows(text, ">waited for event</text>", "the legend explains it")
    T.ok(not has(picture(tl, { rows = "engines" }), "waits for an event"),
        "within a row there is none")
    text = picture(tl, { arrows = false })
    T.ok(not has(text, "waits for an event") and not has(text, "waited for event"),
        "or none are wanted")
end

-- A row of 15 for the host above the others, 12 apart: theirs begin at 102.
local function host()
    local text = picture(made { { "kernel", 1, 0, 591 }, { sync = { 91, 591 }, where = "a.lua:7" },
                                { host_work = { 41, 91 } }, streams = { "a" },
                                sources = { ["a.lua:7"] = "  lab.synchronize()" } })
    is_picture(text, "a picture with the host")
    shows(text, 'y="75.4" width="499.2" height="14.2"><title>device synchronize: the host '
        .. "waits for the device\nstarts at 91 ns, takes 500 ns\n"
        .. "a.lua:7: lab.synchronize()</title>", "a call that waits, and its line")
    shows(text, 'y="75.4" width="49.2" height="14.2"><title>host work: ', "and the host's work")
    shows(text, 'width="2" height="15"><title>kernel: the host issues work\n',
        "and a launch of 2 ns: a host that launches is not idle")
    T.ok(has(text, ">host waits</text>") and has(text, ">host’s own work</text>")
        and has(text, ">host call</text>"), "with their legend")
    shows(text, 'url(#streamlab-held)" stroke="#543b39"', "what waits is hatched")
    shows(text, "<desc>What ran when: a row for each stream, from left to right in time, above "
        .. "them the host's calls. Makespan 591 ns, lower bound 591 ns. Busy: a 100 %; the "
        .. "host in its calls 93 %.</desc>", "and the picture is described in words")
    shows(text, 'y="97.4" width="590.2" height="25.2">', "the stream's row is below")
end

-- Many, short, long ----------------------------------------------------------------------------

-- 1000 kernels of 10 ns every 20 ns in a fiftieth of the time: 5.91 pixels wide, half of them busy.
-- Then nothing until the end.
local function merging()
    local spans = {}
    for i = 0, 999 do spans[i + 1] = { "kernel", 1, 20 * i, 20 * i + 10 } end
    spans[1001] = { "memset", 1, 1000000, 1000000 }
    local text = picture(made(spans))
    is_picture(text, "a picture of what is too short to be seen")
    T.is(count(text, "</title></rect>"), 3, "has one bar for all, and one for their calls")
    shows(text, "<title>1001 calls: the host issues work\n", "which says how many")
    shows(text, 'fill-opacity="0.45"><title>1000 × kernel\n'
        .. "starts at 0 ms, takes 20.0 us, 10.0 us busy</title>",
        "that says how many they are, and how busy")
    shows(text, ">several, with gaps</text>", "and is lighter")
    shows(text, ' width="1" height="26"><title>memset\n', "what has no length has a pixel")
    spans = {}
    for i = 0, 49 do spans[i + 1] = { i % 5 > 0 and "kernel" or "memset", 1, i, i + 1 } end
    spans[51] = { "kernel", 1, 500000, 1000000 }
    shows(picture(made(spans)), "<title>50 operations: 40 kernels, 10 memsets\n",
        "so are different kinds")
end

-- Operations in 60 streams, each with gaps that would show; then 150 streams.
local function many()
    local spans, n = {}, T.sized(3000, 300000)
    for i = 0, n - 1 do
        spans[i + 1] = { i % 7 == 0 and "memcpy_d2h" or "kernel", i % 60, i * 100,
                         i * 100 + (i % 11) * 500 }
    end
    local text = picture(made(spans))
    is_picture(text, ("a picture of %d operations"):format(n))
    T.ok(#text < 1000000, "takes less than a megabyte")
    spans = {}
    for i = 0, 149 do spans[i + 1] = { "kernel", i, i, 591 } end
    text = picture(made(spans))
    shows(text, ">not shown: 50 more streams, none busier</text>", "of 150 streams 100 are shown")
    T.ok(has(text, ">stream 99</text>") and not has(text, ">stream 100</text>"), "the busiest")
end

local function lengths()
    for _, one in ipairs { { 0, 1, "a nanosecond" }, { 5, 5, "an instant" },
                           { 0, 1 << 52, "52 days" } } do
        local text = picture(made { { "kernel", 1, one[1], one[2] } })
        is_picture(text, "a picture of " .. one[3])
        T.is(count(text, "<title>kernel\n"), 1, "and it is there")
    end
    ideal.open()
    local text = picture(lab.profile(function() end))
    is_picture(text, "a picture of nothing")
    T.is(count(text, "The timeline is empty: nothing ran on the device."), 2,
        "and says so, also to those who do not see it")
end

-- Texts ----------------------------------------------------------------------------------------

local function escaping()
    local names, spans = {
        "<script>alert(1)</script>", "a & b \"c\" 'd' ]]>", "tab\tand\nline\1\127\27[31m",
        "\xEF\xBF\xBE \u{202e}", "größer 東京 🚀",
    }, {}
    for i, name in ipairs(names) do
        spans[i] = { "kernel", i, 0, 591, name = name, where = name }
    end
    spans.streams, spans.device = names, { name = '<GPU> & "co"' }
    local text = picture(made(spans))
    is_picture(text, "a picture of hostile names")
    T.ok(not has(text, "<script") and has(text, "&lt;script&gt;alert(1)&lt;/script&gt;"),
        "a tag is text")
    shows(text, "a &amp; b &quot;c&quot; &#39;d&#39; ]]&gt;", "so are other signs")
    shows(text, "tab and line\u{FFFD}\u{FFFD}\u{FFFD}[31m", "control characters do not get through")
    shows(text, "größer 東京 🚀", "letters of all languages do")
    shows(text, "<title>&lt;GPU&gt; &amp; &quot;co&quot;: makespan 591 ns</title>",
        "the device's name, too")
end

local function picture_of_kernel(name, width_px)
    return picture(made { { "kernel", 1, 0, 591, name = name } }, { width_px = width_px })
end

local function names()
    local text = picture_of_kernel("void at::native::(anonymous namespace)::softmax<float, "
        .. "std::less<int> >(float*, int)", 700)
    shows(text, 'middle">softmax</text>', "a bar has the kernel's name without the C++ around")
    shows(text, "<title>void at::native::(anonymous namespace)::softmax&lt;float",
        "its tooltip has all of it")
    text = picture_of_kernel("at::native::fill(int, (anonymous namespace)::T<3>)", 700)
    shows(text, 'middle">fill</text>', "and nothing of its arguments")
    shows(picture_of_kernel("Memcpy HtoD (Pinned -> Device)", 700),
        'middle">Memcpy HtoD (Pinned -&gt; Device)</text>', "words behind a blank are no arguments")
    text = picture_of_kernel("void cutlass::Kernel2<cutlass_80_sgemm>(cutlass_80_sgemm::Params)",
        700)
    shows(text, 'middle">Kernel2&lt;cutlass_80_sgemm&gt;</text>',
        "and with what a template was given if that is one name")
    text = picture_of_kernel("a_kernel_with_a_name_that_is_too_long", 240)
    T.ok(has(text, ">a_kernel") and has(text, "…</text>"), "a name that does not fit is cut")
    text = picture_of_kernel(("x"):rep(4999), 700)
    is_picture(text, "a picture of an endless name")
    T.ok(#text < 6000, "and does not repeat it")
    shows(picture_of_kernel(("(anonymous namespace)::"):rep(20000) .. "f<", 700), ">f</text>",
        "a name of many anonymous parts is short in its bar")
end

local function tooltip()
    local text = picture(made {
        { "memcpy_d2h", 3, 0, 80000, bytes = 4 << 20, where = "x.lua:3" },
        { "memcpy_h2d", 3, 80000, 80000, bytes = 1500 },
        { "kernel", 3, 80000, 90500, name = "matmul", blocks = 64, threads = 256 },
    })
    shows(text, "<title>memcpy_d2h\nstream: stream 3\nstarts at 0 us, takes 80.0 us\n"
        .. "4 MiB, 52.4 GB/s\nx.lua:3</title>", "a copy has its size and rate")
    shows(text, "\nstarts at 80 us, takes 0 ns\n1.46 KiB</title>", "or only its size")
    shows(text, 'middle">D2H 4 MiB</text>', "its bar has the size")
    shows(text, "<title>matmul\nstream: stream 3\nstarts at 80 us, takes 10.5 us\n"
        .. "64 blocks of 256 threads</title>", "a kernel has its grid")
end

-- Themes and files -----------------------------------------------------------------------------

local function themes()
    local tl = with_event()
    local light, dark, auto = picture(tl), picture(tl, { theme = "dark" }),
        picture(tl, { theme = "auto" })
    is_picture(dark, "a dark picture")
    is_picture(auto, "one that follows the reader")
    T.ok(not (light .. dark):find("class=", 1, true) and not has(light .. dark, "<style"),
        "a fixed theme needs no style sheet")
    T.ok(has(light, ' fill="#ffffff"/>') and has(dark, ' fill="#16191d"/>')
        and not has(dark, "#277849") and not has(light, "#6abb99"), "and has its own colours")
    T.ok(has(light, '<g fill="#f4f5f7">') and has(dark, '<g fill="#1e2227">'),
        "on tracks with which t-77-colours.c compares those of bars")
    T.ok(has(auto, "@media (prefers-color-scheme: dark)") and has(auto, ' fill="#277849"')
        and has(auto, ".sl-kernel{fill:#6abb99}"), "the automatic one has both")
    T.ok(not has(auto, "<script") and not has(auto, "href") and count(auto, "http") == 1,
        "nothing refers to anything else")
    T.ok(light == picture(tl), "the same timeline gives the same bytes")
    for _, width in ipairs { 200, 20000 } do
        is_picture(picture(tl, { width_px = width }), ("one of %d pixels"):format(width))
    end
end

for _, test in ipairs { checker, places, range, lanes, arrow, host, merging, many, lengths,
                        escaping, names, tooltip, themes } do
    test()
end
T.done()
