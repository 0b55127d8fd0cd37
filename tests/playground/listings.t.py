# listings.t.py - the commands of the guide print the same bytes in the page as in a terminal.
#
# A command counts up to a pipe or a redirection. Files that a command writes are there for the next.
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import diag, done, ok, open_page, serve, skip, wait_for, webdriver, FOLDER  # noqa: E402

# What a page cannot do: start processes and threads, compile kernels, measure a GPU, refuse more than 4 GiB as a
# GPU does (large.lua), multiply large matrices within minutes (what_if.lua).
OUT_OF_REACH = re.compile(r"^(work|merge|sbatch|compare|calibrate|lab|--version)\b|^-i\b|(plan|large|what_if\w*)\.lua"
                          r"|--backend cuda|build/(my_gpu|mine|t4_again|first-lab|what_if)")
INPUTS = ["scripts/puzzler.lua", "scripts/guide/*.lua", "scripts/experiments/*.lua", "scripts/lib/*.lua",
          "scripts/causes/*.lua", "tests/timeline/data/torch_puzzler_blocking.json.gz"]
ENVIRONMENT = {"STREAMLAB_BACKEND": "sim", "LC_ALL": "C.UTF-8", "COLUMNS": "80"}


def commands():
    """The arguments of each command of the guide, once."""
    seen = []
    for path in sorted(glob.glob("docs/guide/[0-9]*.md")) + ["docs/puzzler.md"]:
        with open(path) as page:
            for line in page:
                found = re.match(r"\$ build/streamlab ([^|>]*?)(?: 2)?\s*(?:[|>].*)?$", line)
                if found and found.group(1) not in seen:
                    seen.append(found.group(1))
    return seen


def needs_more(arguments):
    for word in shlex.split(arguments):
        if word.endswith(".lua") and os.path.exists(word):
            with open(word) as script:
                if re.search(r"lab\.(kernel|thread)\b", script.read()):
                    return True
    return False


def native(arguments, folder):
    program = os.path.abspath(os.environ.get("STREAMLAB", "build/streamlab"))
    environment = {"PATH": os.environ["PATH"], "HOME": folder, **ENVIRONMENT}
    ended = subprocess.run([program, *shlex.split(arguments)], cwd=folder, env=environment, text=True,
                           capture_output=True, stdin=subprocess.DEVNULL)
    return ended.stdout, ended.stderr, ended.returncode


def in_page(browser, arguments, environment):
    browser.run("""
        const [args, environment] = arguments;
        window.ended = undefined;
        window.told = {out: "", err: ""};
        program.run({args, files: window.held, input: "", environment},
                    ({text, stream}) => { if (text) told[stream] += text; })
            .then((ended) => { Object.assign(held, ended.made); window.ended = ended; });""",
                shlex.split(arguments), environment)
    wait_for(browser, "window.ended", arguments)
    return browser.run("return [told.out, told.err, ended.status]")


def furnish(browser, folder):
    """The same files on both sides."""
    browser.run("window.held = {}")
    os.mkdir(os.path.join(folder, "build"))
    for pattern in INPUTS:
        for path in sorted(glob.glob(pattern)):
            with open(path, "rb") as file:
                data = file.read()
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "wb") as file:
                file.write(data)
            browser.run("held[arguments[0]] = new Uint8Array(arguments[1])", path, list(data))
    browser.run("held['build/.keep'] = ''")


if webdriver.missing():
    skip(webdriver.missing())
if not os.path.exists(os.path.join(FOLDER, "index.html")):
    skip("there is no playground: make playground")
left_out = 0
with webdriver.Browser(1280, 850) as chromium, tempfile.TemporaryDirectory() as home:
    open_page(chromium, serve())
    furnish(chromium, home)
    for command in commands():
        if OUT_OF_REACH.search(command) or needs_more(command):
            left_out += 1
            continue
        want, got = native(command, home), in_page(chromium, command, ENVIRONMENT)
        same = list(want) == got
        ok(same, f"streamlab {command}")
        if not same:
            for one, other in zip(want, got):
                if one == other:
                    continue
                lines = [pair for pair in zip(str(one).split("\n"), str(other).split("\n")) if pair[0] != pair[1]]
                diag(f"terminal {lines[0][0] if lines else one!r}")
                diag(f"page     {lines[0][1] if lines else other!r}")
diag(f"{left_out} commands need what a page does not have")
done()
