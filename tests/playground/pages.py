# pages.py - the playground in headless Chromium, from a server of files on this machine.
import functools
import http.server
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../browser"))
import webdriver  # noqa: E402
from report import diag, done, equal, ok  # noqa: E402, F401

FOLDER = os.environ.get("STREAMLAB_PLAYGROUND", "build/playground")


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


class Quiet(http.server.SimpleHTTPRequestHandler):
    asked = []

    def log_message(self, *_):
        Quiet.asked.append(self.path)


def serve():
    """The address of the folder."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=FOLDER))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def wait_for(browser, condition, what, seconds=60):
    """Until the expression is true in the page; its value."""
    end = time.time() + seconds * int(os.environ.get("STREAMLAB_TEST_TIMEOUT", "1"))
    while time.time() < end:
        value = browser.run(f"return {condition}")
        if value:
            return value
        time.sleep(0.02)
    ok(False, f"{what} within {seconds} s", browser.run("return document.body.innerText")[-600:])
    done()


def open_page(browser, address, fragment=""):
    browser.call("POST", "/url", {"url": "about:blank"})
    browser.call("POST", "/url", {"url": address + fragment})
    wait_for(browser, "!running && /Done|Ended|failed|Stopped|The link|This script|Your script/.test(byId('state').textContent)",
             "the first script runs, or the link is read")


def text_of(browser, element):
    return browser.run(f"return byId('{element}').textContent")


def set_script(browser, script):
    browser.run("editor.setValue(arguments[0])", script)


def run_script(browser, script):
    """What it prints."""
    set_script(browser, script)
    browser.run("runScript()")
    wait_for(browser, "!running", "the script ends")
    return text_of(browser, "output")


def give_file(browser, path):
    """Chooses the file, as dropping it does."""
    with open(path, "rb") as file:
        numbers = list(file.read())
    browser.run("""
        const held = new DataTransfer();
        held.items.add(new File([new Uint8Array(arguments[0])], arguments[1]));
        byId("trace").files = held.files;
        byId("trace").dispatchEvent(new Event("change"));""", numbers, os.path.basename(path))
    wait_for(browser, "!running", "the trace is explained")
