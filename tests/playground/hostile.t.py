# hostile.t.py - links, scripts and traces of strangers: whatever they contain, nothing of it runs in the
# page, and the page's policy is what Chromium enforces.
import base64
import json
import os
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import (done, equal, give_file, ok, open_page, run_script, serve, skip, text_of,  # noqa: E402
                   wait_for, webdriver, FOLDER)

# What would run if it became markup of a page, an attribute, a script or a style.
PAYLOADS = ["<img src=x onerror='window.pwned=1'>", "</script><script>window.pwned=1</script>",
            "\"'><svg onload=window.pwned=1>", "javascript:window.pwned=1", "]]><script>window.pwned=1</script>",
            "</title></style><iframe srcdoc='<script>parent.pwned=1</script>'>", "${window.pwned=1}"]
EVERYTHING = " ".join(PAYLOADS)

DISPLAYED = """
local f = io.open("/dev/display", "w")
for _, kind in ipairs{"text/html", "image/svg+xml", "text/plain", "application/javascript", "__proto__"} do
    f:write('{"event":"display","data":{"', kind, '":"<svg xmlns=\\'http://www.w3.org/2000/svg\\' onload=\\'window.pwned=1\\'>',
        '<script>window.pwned=1;parent.pwned=1</script></svg>',
        '<img src=x onerror=\\'window.pwned=1;parent.pwned=1\\'>"}}\\n')
end
for _, inside in ipairs{"<rect width=\\'9\\' height=\\'9\\'/>",
    "<defs><g id=\\'a\\'/></defs><use href=\\'#a\\'/>"} do
    f:write('{"event":"display","data":{"image/svg+xml":"<svg xmlns=\\'http://www.w3.org/2000/svg\\'',
        ' onload=\\'window.pwned=1\\'>', inside, '</svg>"}}\\n')
end
f:write('{"event":"display","data":{"text/html":{"a":1},"image/svg+xml":[1],"text/plain":7}}\\n', '{"event":"display"}\\n',
    '{"event":"display","data":"<img src=x onerror=\\'window.pwned=1\\'>"}\\n', '[1]\\n', 'null\\n', 'no JSON\\n', '7')
f:close()
print("just a script")
"""


def link_of(script, gpu="h200"):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(script.encode()) + packer.flush()
    return "#script=" + base64.urlsafe_b64encode(packed).decode().rstrip("=") + "&gpu=" + gpu


def open_link(browser, address, fragment):
    browser.call("POST", "/url", {"url": "about:blank"})
    browser.call("POST", "/url", {"url": address + fragment})
    wait_for(browser, "!/Loading/.test(byId('state').textContent)", "the link is read")
    wait_for(browser, "program.ready.then(() => true)", "the program is ready")


def nothing_ran(browser, name):
    """Neither in the page nor in a frame of it."""
    ran = [browser.run("return window.pwned ?? null")]
    count = browser.run("return document.querySelectorAll('iframe').length")
    for i in range(count):
        browser.run("document.querySelectorAll('iframe')[arguments[0]].scrollIntoView()", i)
        wait_for(browser, f"document.querySelectorAll('iframe')[{i}].src", "a frame that is in view is loaded")
        browser.run("return loaded.then(() => true)")
        browser.call("POST", "/frame", {"id": i})
        ran.append(browser.run("return window.pwned ?? null"))
        browser.call("POST", "/frame", {"id": None})
    equal(ran, [None] * (count + 1), name)


def test_own_code(browser, address):
    open_page(browser, address)
    run_script(browser, """local lab = require "streamlab"
        lab.table({{n = 1, us = 2}, {n = 2, us = 3}}):plot{x = "n", y = "us", theme = "auto"}
        local tl = lab.profile(function() lab.spin(1) end)
        tl:show()""")
    browser.run("document.querySelector('iframe').scrollIntoView()")
    wait_for(browser, "document.querySelector('iframe').src", "the timeline's page is loaded")
    browser.call("POST", "/frame", {"id": 0})
    wait_for(browser, "document.querySelectorAll('#headline *').length > 3", "the timeline's page runs in its frame")
    equal(browser.run("return [spans.n, getComputedStyle(document.querySelector('.choice button')).cursor]"),
          [1, "pointer"], "with its own script and style")
    ok(browser.run("try { return !parent.document } catch { return true }"), "and reaches nothing of the page around it")
    browser.call("POST", "/frame", {"id": None})
    equal(browser.run("return document.querySelector('iframe').getAttribute('sandbox')"), "allow-scripts",
          "the frame's sandbox allows scripts alone")
    equal(browser.messages(), [], "the page's own code breaks no policy")


def test_policy(browser):
    policy = browser.run("return document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    equal({name: rules[name] for name in ("default-src", "connect-src", "object-src", "base-uri", "form-action",
                                          "frame-src")},
          {"default-src": "'none'", "connect-src": "'self'", "object-src": "'none'", "base-uri": "'none'",
           "form-action": "'none'", "frame-src": "blob:"}, "the policy allows what the page needs alone")
    ok("unsafe-inline" not in policy and "'unsafe-eval'" not in policy, "neither inline scripts nor eval", policy)
    broken = browser.run("""
        const broken = [];
        document.addEventListener("securitypolicyviolation", (event) => broken.push(event.effectiveDirective));
        const later = (seconds) => new Promise((then) => setTimeout(then, 1000 * seconds));
        const frame = document.createElement("iframe");
        frame.src = "https://example.org/";
        const image = new Image();
        image.src = "https://example.org/x.png";
        const handler = document.createElement("p");
        document.body.append(frame, image, handler);
        return Promise.resolve()
            .then(() => later(0.01))        // what a driver evaluates is exempt from the rule about eval
            .then(() => handler.setAttribute("onclick", "window.pwned = 1")).catch(() => broken.push("handler"))
            .then(() => handler.click())
            .then(() => { document.body.innerHTML += "<b>x</b>"; }).catch(() => broken.push("markup"))
            .then(() => { new Function("window.pwned = 1")(); }).catch(() => broken.push("eval"))
            .then(() => fetch("https://example.org/")).catch(() => broken.push("fetch"))
            .then(() => later(0.1)).then(() => { frame.remove(); image.remove(); handler.remove(); return broken; });""")
    for directive in ("connect-src", "frame-src", "img-src", "require-trusted-types-for"):
        ok(directive in broken, f"Chromium enforces {directive}", broken)
    ok({"markup", "eval", "fetch", "handler"} <= set(broken), "no text becomes markup or code, nothing is sent elsewhere",
       broken)
    equal(browser.run("return window.pwned ?? null"), None, "and nothing of it ran")


def test_link(browser, address):
    open_link(browser, address, link_of(DISPLAYED))
    equal(browser.run("return editor.getValue()"), DISPLAYED, "a link's script is shown")
    ok("came with the link" in text_of(browser, "state"), "and where it comes from", text_of(browser, "state"))
    equal([browser.run("return running"), text_of(browser, "output")], [False, ""], "it does not run by itself")
    browser.run("location.hash = arguments[0]", link_of("print(2)"))
    wait_for(browser, "editor.getValue() === 'print(2)'", "another link in the same page is read")
    equal([browser.run("return running"), text_of(browser, "output")], [False, ""], "nor does that of another link")
    open_link(browser, address, link_of(DISPLAYED))
    browser.run("byId('run').click()")
    wait_for(browser, "!running && /Done/.test(byId('state').textContent)", "it runs by a click")
    ok("just a script" in text_of(browser, "output"), "then it runs", text_of(browser, "output"))
    nothing_ran(browser, "what it writes to /dev/display runs nowhere")
    equal(browser.run("return [...output.querySelectorAll('figure > *')].map((e) => e.localName)"), ["iframe", "p", "img", "p"],
          "plots are images, pages are frames; what no plot has is not shown, other kinds are nothing")
    open_link(browser, address, link_of("print(1)", "nonsense"))
    equal(browser.run("return byId('profile').value"), "h200", "a GPU that is not there is not taken from a link")
    ok("GPU" in text_of(browser, "state"), "which is said", text_of(browser, "state"))
    open_link(browser, address, link_of("-" * 50_000_000))
    ok("damaged" in text_of(browser, "state"), "a short link with a huge script is refused", text_of(browser, "state"))


# A text of the payloads in whatever a script can name.
NAMES = """
local lab = require "streamlab"
local bad = [==[%s]==]
local stream = lab.stream{name = bad}
local x = lab.ones(16)
local work = assert(load("local lab, stream, x = ... lab.spin(1, {stream = stream}) x:to('cpu', {stream = stream})",
    "@" .. bad .. ".lua"))
local tl = lab.profile(function()
    local range <close> = lab.range and lab.range(bad)
    work(lab, stream, x)
end)
tl:show() tl:summary() tl:explain()
local t = lab.table({{[bad] = 1, y = 2, z = bad}, {[bad] = 2, y = 3, z = bad}}, {title = bad})
print(t)
t:plot{x = bad, y = "y", by = "z", title = bad}
for _, suffix in ipairs{".html", ".svg", ".json"} do tl:save("a" .. bad:gsub("/", "") .. suffix) end
io.stderr:write(bad, "\\n")
error(bad)
"""


def test_script(browser, address):
    open_page(browser, address)
    browser.messages()
    printed = run_script(browser, NAMES % EVERYTHING)
    ok("Ended with an error" in text_of(browser, "state") and PAYLOADS[0] in printed, "a script with hostile names runs",
       text_of(browser, "state"), printed[-400:])
    ok(PAYLOADS[0] in browser.run("return document.querySelector('.problem').textContent"),
       "its message is a text beside the line")
    equal(browser.run("return output.querySelectorAll('figure').length"), 2, "its timeline and its plot are shown")
    wait_for(browser, "output.querySelector('img').naturalWidth > 100", "the plot is drawn")
    nothing_ran(browser, "no name of a stream, a file, a column, a title or a message runs")
    ok(browser.run("return document.querySelectorAll('#files a').length") >= 5, "its files can be kept",
       text_of(browser, "files"))
    equal(browser.run("return [...document.querySelectorAll('#files a')].filter((a) => !a.download"
                      " || !a.href.startsWith('blob:')).length"), 0, "as downloads, which no click opens")
    equal(browser.messages(), [], "and the policy has nothing to refuse")


def hostile(value):
    """The trace with the payloads in each text, but for the words that say what an event is."""
    if isinstance(value, dict):
        return {key: item if key in ("ph", "cat") else hostile(item) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item) for item in value]
    return value + EVERYTHING if isinstance(value, str) else value


def test_trace(browser, address, folder):
    open_page(browser, address)
    with open("tests/timeline/data/planted/host_prepares.json.gz", "rb") as file:
        trace = json.loads(zlib.decompress(file.read(), 31))
    trace = hostile(trace)
    calls = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize"}
    for event in trace["traceEvents"]:
        for call in calls:                  # so that the operations are found
            if event.get("cat") == "cuda_runtime" and event.get("name", "").startswith(call):
                event["name"] = call
    path = os.path.join(folder, "<img src=x onerror=window.pwned=1>.json")
    with open(path, "w") as file:
        json.dump(trace, file)
    browser.messages()
    give_file(browser, path)
    equal(browser.run("return output.querySelectorAll('iframe').length"), 1, "a trace with hostile names is shown")
    nothing_ran(browser, "no name in it runs")
    equal(browser.messages(), [], "nor is there anything that the policy refuses")


if webdriver.missing():
    skip(webdriver.missing())
if not os.path.exists(os.path.join(FOLDER, "index.html")):
    skip("there is no playground: make playground")
site = serve()
with webdriver.Browser(1280, 850) as chromium, tempfile.TemporaryDirectory() as place:
    test_own_code(chromium, site)
    test_script(chromium, site)
    test_trace(chromium, site, place)
    test_link(chromium, site)
    test_policy(chromium)
done()
