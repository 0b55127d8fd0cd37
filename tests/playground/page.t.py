# page.t.py - the playground, used as a student would use it.
import os
import sys
import time

sys.dont_write_bytecode = True          # no folder beside the tests
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import (Quiet, diag, done, equal, give_file, ok, open_page, run_script, serve, set_script,  # noqa: E402
                   skip, text_of, wait_for, webdriver, FOLDER)

TRACE = "tests/timeline/data/torch_puzzler_blocking.json.gz"


def test_first(browser, address):
    since = time.time()
    browser.call("POST", "/url", {"url": address})
    wait_for(browser, "!!document.querySelector('#output figure iframe')", "the first chart comes")
    diag(f"first chart {time.time() - since:.2f} s after the page was asked for")
    wait_for(browser, "!running", "the script ends")
    ok("To gain by this cause alone" in text_of(browser, "output"), "the page opens with a script and its timeline")
    equal(text_of(browser, "files"), "Download timeline.html", "which can be kept as a file")
    equal([path for path in Quiet.asked if "//" in path], [], "everything comes from the page's own server")


def test_output(browser):
    printed = run_script(browser, "print('a') io.stderr:write('b\\n') print('c', 2.5)")
    equal(printed, "a\nb\nc\t2.5\n", "what a script prints is shown, in its order")
    equal(browser.run("return [...output.querySelectorAll('pre')].map((e) => e.className)"),
          ["out", "err", "out"], "stderr in a colour of its own")
    run_script(browser, "local f = io.open('t.txt', 'w') f:write('x') f:close()")
    equal(text_of(browser, "files"), "Download t.txt", "a file that it writes can be downloaded")
    run_script(browser, """
        local lab = require "streamlab"
        lab.table({{n = 1, us = 2}, {n = 2, us = 3}}):plot{x = "n", y = "us"}""")
    equal(browser.run("return output.querySelectorAll('img').length"), 1, "a plot is a picture")
    wait_for(browser, "output.querySelector('img').naturalWidth > 300", "it is drawn")
    printed = run_script(browser, "print(io.read('l'))")
    equal(printed, "nil\n", "stdin is empty")


def test_errors(browser):
    printed = run_script(browser, "local lab = require 'streamlab'\n\nlab.matmull(1, 2)\n")
    ok("script.lua:3:" in printed and "matmul" in printed, "an error has its line and what was meant", printed)
    equal(browser.run("return document.querySelectorAll('.wrong').length"), 1, "the line is marked")
    ok("matmul" in browser.run("return document.querySelector('.problem').textContent"),
       "and says what is wrong")
    equal(browser.run("return editor.lineInfo(2).bgClass"), "wrong", "it is line 3")
    ok("error" in text_of(browser, "state"), "so does the line above the output")
    run_script(browser, "x = = 1")
    equal(browser.run("return editor.lineInfo(0).bgClass"), "wrong", "a mistake of the syntax as well")
    racy = """local lab = require "streamlab"
        local a, b = lab.stream{non_blocking = true}, lab.stream{non_blocking = true}
        local t = lab.empty(1024)
        t:fill_(1, {stream = a})
        t:fill_(2, {stream = b})
        lab.synchronize()"""
    ok("race" in run_script(browser, racy), "a race is reported")
    ok("with 1 race" in text_of(browser, "state"), "the line above the output says so", text_of(browser, "state"))
    equal(browser.run("return editor.lineInfo(4).bgClass"), "wrong", "and the line of the second access marked")
    browser.run("byId('races').click()")
    equal(run_script(browser, racy), "", "unless nobody asks for it")
    browser.run("byId('races').click()")
    run_script(browser, "print 'fine'")
    equal(browser.run("return document.querySelectorAll('.wrong, .problem').length"), 0, "the next run removes it")
    printed = run_script(browser, "local lab = require 'streamlab' lab.open{backend = 'cuda'}")
    ok("no CUDA backend" in printed, "there is no real GPU here, which is said", printed)
    printed = run_script(browser, """local lab = require 'streamlab'
        local k = lab.kernel{source = "__global__ void f(float *x) { x[0] = 1; }", name = "f", args = {"inout f32*"}}
        local t = lab.ones(4)
        k(1, 1, t)
        print(t:get(1))""")
    ok("script.lua:5:" in printed and "no C++ compiler" in printed,
       "nor a compiler: what a kernel of one's own computes is unknown", printed)
    printed = run_script(browser, "local lab = require 'streamlab'\nlab.thread(function() end)")
    ok("script.lua:2:" in printed and "a page has no threads" in printed, "nor threads", printed)


def test_stop(browser):
    set_script(browser, "print('begun') while true do end")
    browser.run("runScript()")
    wait_for(browser, "byId('output').textContent.includes('begun')", "it runs")
    since = time.time()
    browser.run("byId('stop').click()")
    wait_for(browser, "!running", "Stop ends it")
    diag(f"stopped after {time.time() - since:.2f} s")
    ok("Stopped" in text_of(browser, "state"), "Stop ends an endless loop")
    equal(run_script(browser, "print(1)"), "1\n", "and the next script runs")
    printed = run_script(browser, "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end")
    ok("not enough memory" in printed, "memory that runs out is an error", printed)
    equal(run_script(browser, "print(2)"), "2\n", "after which the next script runs")


def test_link(browser, address):
    script = "print('äöü ' .. 6 * 7)\n" + "-- " + "x" * 2000 + "\n"
    set_script(browser, script)
    browser.run("byId('profile').value = 't4'; byId('link').click()")
    fragment = wait_for(browser, "location.hash", "the link is made")
    ok(len(fragment) < 200, "a link holds the script, compressed", len(fragment))
    open_page(browser, address, fragment)
    equal(browser.run("return editor.getValue()"), script, "who opens it has the script")
    equal(browser.run("return byId('profile').value"), "t4", "and the GPU")
    browser.run("byId('run').click()")
    wait_for(browser, "!running && /Done/.test(byId('state').textContent)", "it runs by a click")
    equal(text_of(browser, "output"), "äöü 42\n", "and what it prints")
    open_page(browser, address, "#script=!!!")
    ok("damaged" in text_of(browser, "state"), "a link that is cut off is no end of the page")


def test_trace(browser):
    Quiet.asked.clear()
    give_file(browser, TRACE)
    printed = text_of(browser, "output")
    ok("Critical path" in printed and "To gain" in printed, "a trace of PyTorch is explained", printed[:300])
    ok(browser.run("return !!output.querySelector('iframe')"), "and shown")
    ok("never leaves" in text_of(browser, "drop"), "the page says that the file stays")
    equal([path for path in Quiet.asked if TRACE.split("/")[-1] in path], [], "and nothing of it is sent")
    with open("/tmp/broken.json", "w") as file:
        file.write("{\"traceEvents\": [")
    give_file(browser, "/tmp/broken.json")
    os.remove("/tmp/broken.json")
    ok("broken.json" in text_of(browser, "output") and "error" in text_of(browser, "state"),
       "one that is damaged is an error", text_of(browser, "output"))


def choose(browser, title):
    browser.run("""
        const option = [...byId("scripts").options].find((o) => o.textContent === arguments[0]);
        byId("scripts").value = option.value;
        byId("scripts").dispatchEvent(new Event("change"));""", title)
    wait_for(browser, "/Ready|Write your/.test(byId('state').textContent)", f"{title} opens")


def test_labs(browser):
    wait_for(browser, "entries.length > 100", "the scripts are listed")
    choose(browser, "First streams")
    ok(not browser.run("return byId('check').hidden"), "a lab can be checked")
    gpu = browser.run("return byId('profile').value")
    equal(gpu, "textbook", "on the GPU on which it is graded")
    task = text_of(browser, "task")
    ok("side_by_side(first, second) calls both" in task and "The same in" not in task,
       "its task can be read beside the script", task[:300])
    equal(browser.run("return byId('text').querySelectorAll('table').length"), 3, "with its tables")
    ok("torch.cuda" in text_of(browser, "snippets") and "cudaStream" in text_of(browser, "snippets"),
       "with the same in PyTorch and CUDA C++")
    browser.run("byId('check').click()")
    wait_for(browser, "!running && /points/.test(byId('output').textContent)", "the tests run")
    equal(text_of(browser, "state")[:30], "3 of 3 visible tests failed in", "failed tests are no error of the program")
    ok("0 of 30 points" in text_of(browser, "output"), "the starter has no points", text_of(browser, "output")[-200:])
    with open("scripts/labs/01-first-streams/solution.lua") as file:
        set_script(browser, file.read())
    browser.run("clear(); checkLab()")
    wait_for(browser, "!running && /of 30 points/.test(byId('output').textContent)", "the tests run again")
    ok("30 of 30 points" in text_of(browser, "output"), "a solution has all that visible tests give",
       text_of(browser, "output")[-200:])
    equal(text_of(browser, "state")[:30], "All 3 visible tests passed in ", "which is said")
    choose(browser, "12. peers")
    equal(browser.run("return [byId('profile').value, byId('task').hidden]"), ["h200", True],
          "another script has the GPU from before, and no task")
    for title in browser.run("return entries.filter((e) => e.lab).map((e) => e.title)"):
        choose(browser, title)
        task = text_of(browser, "task")
        marks = [mark for mark in ("```", "|---", "**") if mark in task]
        ok("What is graded" in task and not marks, f"the task of {title} is read whole", task)
    secret = [os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names
              if name in ("solution.lua",) or (name == "hidden.lua" and "labs" in folder)
              or "/right" in folder or "/wrong" in folder]
    equal(secret, [], "no hidden test and no solution is in the folder")


def test_reload(browser, address):
    open_page(browser, address)
    wait_for(browser, "entries.length > 100", "the scripts are listed")
    choose(browser, "12. peers")
    browser.run("editor.focus(); editor.setCursor(editor.lineCount(), 0)")
    browser.press(*"-- typed")
    typed = browser.run("return editor.getValue()")
    open_page(browser, address)
    equal(browser.run("return editor.getValue()"), typed, "what was typed is there when the page is loaded again")
    equal([browser.run("return running"), text_of(browser, "output")], [False, ""], "and does not run by itself")
    browser.run("byId('run').click()")
    wait_for(browser, "!running && /Done|Ended/.test(byId('state').textContent)", "it runs by a click")
    ok("Done" in text_of(browser, "state"), "with what the script needs: two GPUs", text_of(browser, "output"))
    choose(browser, "First streams")
    open_page(browser, address)
    equal(browser.run("return [byId('profile').value, byId('task').hidden]"), ["textbook", False],
          "a lab has its GPU and its task again")
    choose(browser, "12. peers")
    gpu = browser.run("return byId('profile').value")
    equal(gpu, "h200", "and who leaves it then has the first GPU")
    browser.run("editor.focus(); editor.setCursor(editor.lineCount(), 0)")
    browser.press(*"-- typed")
    set_script(browser, "print('of a link')")
    browser.run("byId('link').click()")
    link = wait_for(browser, "location.href.includes('#script=') && location.href", "the link is made")
    open_page(browser, link)
    equal(browser.run("return [editor.getValue(), chosen.path]"), ["print('of a link')", "scripts/guide/peers.lua"],
          "a link says which script it is a copy of")
    open_page(browser, address)
    equal(browser.run("return editor.getValue()"), typed, "and its script does not take the place of one's own")
    open_page(browser, link)
    browser.run("editor.focus(); editor.setCursor(1, 0)")
    browser.press(*" -- mine")
    wait_for(browser, "!location.hash", "a script that was changed is no longer that of the link")
    open_page(browser, address)
    equal(browser.run("return editor.getValue()"), "print('of a link') -- mine", "but one's own")
    browser.run("sessionStorage.clear(); localStorage.clear()")


def test_every_script(browser):
    """Each that is offered runs to its end."""
    count = browser.run("return entries.length")
    ended = []
    for i in range(count):
        browser.run("window.done = false; choose(arguments[0]).then(runScript).then(() => { window.done = true; })", i)
        wait_for(browser, "done", f"script {i} ends")
        state = text_of(browser, "state")
        if not state.startswith("Done in"):
            ended.append([browser.run("return entries[arguments[0]].path", i), state, browser.run("return errors")[:300]])
    equal(ended, [], f"all {count} scripts that are offered run")
    told = browser.run("return [...byId('scripts').options].filter((o) => o.disabled).map((o) => o.textContent)")
    ok("20. threads: needs threads" in told and "Lab: A transpose of your own: needs a C++ compiler" in told,
       "what a page cannot run is listed with the reason", told)
    browser.run("sessionStorage.clear(); localStorage.clear()")


def test_all_open(browser):
    count = browser.run("return entries.length")
    missing = browser.run("""
        return Promise.all(entries.map((e) => Promise.all([e.path, ...(e.files ?? [])].map(load))
            .then(() => "", () => e.path))).then((all) => all.filter(Boolean))""")
    equal(missing, [], f"all {count} scripts that are listed can be opened")


def test_editor(browser):
    set_script(browser, "local lab = require 'streamlab'\nlab.matm")
    words = browser.run("""
        editor.setCursor(1, 8);
        return complete(editor).then(({ list }) => list)""")
    ok(any("matmul" in word for word in words), "a name is completed by the laboratory's functions", words)
    set_script(browser, "local lab = require 'streamlab' -- \U0001f600 ä\nlocal s = lab.stream()\ns:wait_")
    found = browser.run("""
        editor.setCursor(2, 7);
        return complete(editor).then(({ list, from }) => [list, from.line, from.ch])""")
    equal(found, [["wait_event", "wait_stream", "wait_value"], 2, 2], "methods by what the script makes of the name")
    browser.run("editor.focus()")
    browser.press("Escape")
    equal(browser.run("return document.activeElement.id"), "run", "Esc leaves the editor: no key is trapped")
    unlabelled = browser.run("""
        return [...document.querySelectorAll("select, input, button")]
            .filter((e) => !e.labels?.length && !e.textContent.trim() && !e.ariaLabel).map((e) => e.id)""")
    equal(unlabelled, [], "everything that can be used has a name")


# The lines of charts that are shown on more than one line.
BROKEN_LINES = """
    const range = document.createRange(), broken = [];
    let charts = 0;
    for (const pre of output.querySelectorAll("pre")) {
        const text = pre.textContent, nodes = [];
        const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) nodes.push(walker.currentNode);
        const place = (at) => {
            for (const node of nodes) {
                if (at <= node.length) return [node, at];
                at -= node.length;
            }
        };
        for (let at = 0; at < text.length;) {
            const end = text.indexOf("\\n", at) < 0 ? text.length : text.indexOf("\\n", at);
            const line = text.slice(at, end);
            if (/[│└┴┬┘]|\\|.*\\| +\\d+%|\\+-[-+]+\\+/.test(line)) {
                charts++;
                range.setStart(...place(at));
                range.setEnd(...place(end));
                const tops = [...range.getClientRects()].map((r) => Math.round(r.top));
                if (Math.max(...tops) - Math.min(...tops) > 4) broken.push(line);
            }
            at = end + 1;
        }
    }
    return charts ? broken : ["no chart"];"""


def test_phone(browser):
    browser.resize(390, 844)
    wide = browser.run("return document.documentElement.scrollWidth > innerWidth")
    equal(wide, False, "on a phone the page is as wide as the screen")
    small = browser.run("""
        return [...document.querySelectorAll(".actions button:not([hidden])")]
            .filter((e) => e.getBoundingClientRect().height < 36).map((e) => e.id)""")
    equal(small, [], "and its buttons are large enough for a thumb")
    for width in (420, 360):
        browser.resize(width, 844)
        run_script(browser, """local lab = require "streamlab"
            local s = lab.stream{name = "copies"}
            local tl = lab.profile(function() lab.spin(1) lab.ones(1024, 1024):to("cpu", {stream = s}) end)
            tl:show() tl:summary() tl:explain()""")
        cut = browser.run("""return [...output.querySelectorAll('pre')]
            .filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.textContent)""")
        equal(cut, [], f"charts are as wide as a screen of {width} px")
        ok(browser.run("return output.querySelectorAll('pre.chart').length") > 0, "there is one")
        choose(browser, "First streams")
        browser.run("checkLab()")
        wait_for(browser, "!running && /points/.test(output.textContent)", "a lab is checked")
        broken = browser.run(BROKEN_LINES)
        equal(broken, [], f"nor are charts of a checked lab broken at {width} px")
        apart = browser.run("""
            const box = byId("races").getBoundingClientRect();
            const range = document.createRange();
            range.selectNode(byId("races").nextSibling);
            const words = range.getBoundingClientRect();
            return [box.bottom > words.top && words.bottom > box.top, box.right <= words.left]""")
        equal(apart, [True, True], "the box of Find races stands beside its words")
    browser.resize(1280, 850)


def test_dark(address):
    with webdriver.Browser(1280, 850, dark=True) as browser:
        open_page(browser, address)
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        ok(sum(int(n) for n in colour[4:-1].split(",")) < 150, "in the dark it is dark", colour)


if webdriver.missing():
    skip(webdriver.missing())
if not os.path.exists(os.path.join(FOLDER, "index.html")):
    skip("there is no playground: make playground")
site = serve()
with webdriver.Browser(1280, 850) as chromium:
    test_first(chromium, site)
    test_output(chromium)
    test_errors(chromium)
    test_stop(chromium)
    test_link(chromium, site)
    test_trace(chromium)
    test_labs(chromium)
    test_all_open(chromium)
    test_reload(chromium, site)
    test_every_script(chromium)
    test_editor(chromium)
    test_phone(chromium)
test_dark(site)
done()
