# flood.t.py - scripts that print, show and write without an end: the page keeps a bounded part, says how
# much it has left out, and Stop is heard while they run. Nothing is timed against a limit; how long Stop
# takes is printed for those who want to know.
import os
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import (diag, done, equal, ok, open_page, run_script, serve, set_script, skip, text_of,  # noqa: E402
                   wait_for, webdriver, FOLDER)

FLOODS = {
    "print": "while true do print('another line') end",
    "io.write without newlines": "while true do io.write('x') end",
    "empty lines": "while true do io.write('\\n') end",
    "long lines": "local s = ('y'):rep(1e6) while true do print(s) end",
    "stderr": "while true do io.stderr:write('an error\\n') end",
    "both by turns": "while true do print('out') io.stderr:write('err\\n') end",
    "warnings": "warn('@on') while true do warn('careful') end",
    "charts": """local lab = require "streamlab"
        local tl = lab.profile(function() lab.spin(1) end)
        while true do tl:show() end""",
    "pages": """local lab = require "streamlab"
        while true do lab.profile(function() lab.spin(1) end):show() end""",
    "plots": """local lab = require "streamlab"
        local t = lab.table({{n = 1, us = 2}, {n = 2, us = 3}})
        while true do t:plot{x = "n", y = "us"} end""",
    "races": """local lab = require "streamlab"
        local a, b = lab.stream{non_blocking = true}, lab.stream{non_blocking = true}
        while true do
            local t = lab.empty(16)
            t:fill_(1, {stream = a})
            t:fill_(2, {stream = b})
            lab.synchronize()
        end""",
    "display events": """local f = io.open("/dev/display", "w")
        while true do f:write('{"event":"display","data":{"image/svg+xml":"<svg xmlns=\\'http://www.w3.org/2000/svg\\'/>"}}\\n') end""",
    "an event without an end": """local f = io.open("/dev/display", "w")
        print("begun")
        while true do f:write(("z"):rep(65536)) end""",
    "an error from within": """local function f() print(pcall(error, "x")) return f() end
        f()""",
}
# Of parts that are kept each costs 256 at least, of 2^20; a race marks a line, which has 100 at most.
MOST_PARTS, MOST_CHARACTERS = 4096 + 50, (1 << 20) + (1 << 17)


def test_flood(browser, name, script):
    set_script(browser, script)
    browser.run("runScript()")
    wait_for(browser, "output.children.length > 0", f"{name}: something is shown")
    wait_for(browser, "performance.now() > (window.until ??= performance.now() + 1500)", f"{name}: it goes on")
    browser.run("delete window.until")
    still = browser.run("return running")
    since = time.time()
    browser.run("byId('stop').click()")
    wait_for(browser, "!running", f"{name}: Stop ends it")
    diag(f"{name}: stopped after {time.time() - since:.2f} s")
    ok(still and "Stopped" in text_of(browser, "state"), f"{name}: Stop is heard while it runs", text_of(browser, "state"))
    parts, characters, files = browser.run("""return [output.querySelectorAll('*').length,
        output.textContent.length, byId('files').children.length]""")
    ok(parts <= MOST_PARTS and characters <= MOST_CHARACTERS and files <= 200,
       f"{name}: the page keeps a bounded part", parts, characters, files)


def lines_of(text):
    return len(re.findall("\n", text))


def left_out(browser):
    told = browser.run("return [...output.querySelectorAll('.left-out')].map((e) => e.textContent)")
    return sum(int(n.replace(",", "")) for text in told for n in re.findall(r"([\d,]+) lines? ", text)), len(told)


def test_end(browser):
    run_script(browser, "for i = 1, 300000 do print('line ' .. i) end error('at the end')")
    shown = browser.run("return [...output.querySelectorAll('pre.out')].map((e) => e.textContent).join('')")
    lines = shown.split("\n")
    equal(lines[0], "line 1", "of many lines the first ones stay")
    equal(lines[-2], "line 300000", "and the last ones")
    missing, places = left_out(browser)
    ok(places > 0, "where lines are missing, that is said")
    equal(lines_of(shown) + missing, 300000, "with how many: shown and left out are all")
    equal(browser.run("return document.querySelector('.problem')?.textContent"), "at the end", "the error is found")


def test_many(browser):
    run_script(browser, """for i = 1, 500 do local f = io.open("file" .. i, "w") f:write(i) f:close() end""")
    equal(browser.run("return byId('files').children.length"), 101, "of many files a hundred are offered")
    ok("400 more" in text_of(browser, "files"), "and the others counted", text_of(browser, "files")[-100:])
    equal(run_script(browser, "print('quiet')"), "quiet\n", "a script that prints little is shown whole")
    equal(left_out(browser), (0, 0), "and nothing is said to be left out")


if webdriver.missing():
    skip(webdriver.missing())
if not os.path.exists(os.path.join(FOLDER, "index.html")):
    skip("there is no playground: make playground")
with webdriver.Browser(1280, 850) as chromium:
    open_page(chromium, serve())
    for flood, script in FLOODS.items():
        test_flood(chromium, flood, script)
    test_end(chromium)
    test_many(chromium)
done()
