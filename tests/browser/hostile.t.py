# hostile.t.py - pages, pictures, and the HTML of notebooks, whose names would be markup or scripts if they were
# not escaped: each is opened by itself in Chromium, and nothing of it runs.
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import webdriver  # noqa: E402
from report import done, equal, ok  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("STREAMLAB", "build/streamlab"))
FILES = ["timeline.html", "trace.html", "timeline.svg", "trace.svg", "plot.svg", "value1.html", "value2.html"]


def write_files(folder):
    """With the HTML of values as a notebook would put it into its page."""
    code = [f"dofile {json.dumps(os.path.join(HERE, 'hostile.lua'))}", "values[1]", "values[2]"]
    asked = "".join(json.dumps({"request": "run", "code": one}) + "\n" for one in code)
    ended = subprocess.run([PROGRAM, "--backend", "sim", "--server=0,1"], input=asked, text=True, check=True,
                           capture_output=True, env={**os.environ, "HOSTILE": folder})
    replies = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    problems = [reply["error"] for reply in replies if reply.get("ok") is False]
    equal(problems, [], "the files are written")
    shown = [reply["data"]["text/html"] for reply in replies if reply.get("event") == "result"]
    for i, html in enumerate(shown):
        with open(os.path.join(folder, f"value{i + 1}.html"), "w") as file:
            file.write("<!DOCTYPE html><meta charset=utf-8><link rel=icon href='data:,'><title>values</title>" + html)


def look(browser, path):
    name = os.path.basename(path)
    browser.open(path)
    found = browser.run("""
        if (document.getElementById("operations")) {    // what is drawn when somebody asks for it
            operations.open = true;
            showOperations();
            select(0);
        }
        const odd = [...document.querySelectorAll("*")].filter((e) =>
            /^(img|iframe|object|embed|base|form|foreignobject|a)$/i.test(e.localName)
            || [...e.attributes].some((a) => /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value)));
        const text = document.documentElement.textContent;
        return [text.includes("<img src=x onerror"), odd.map((e) => e.outerHTML.slice(0, 200)),
                document.querySelectorAll("script:not([type='application/json'])").length, window.pwned ?? null];""")
    scripts = 1 if name in ("timeline.html", "trace.html") else 0
    equal(found, [True, [], scripts, None], f"{name}: a name that looks like markup is a text, and nothing runs")
    equal(browser.messages(), [], f"{name}: nothing is refused or fails")


if webdriver.missing():
    print(f"1..0 # SKIP {webdriver.missing()}")
    sys.exit(0)
with tempfile.TemporaryDirectory() as place, webdriver.Browser(1280, 800) as chromium:
    write_files(place)
    for file in FILES:
        look(chromium, os.path.join(place, file))
done()
