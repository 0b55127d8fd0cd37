# checks.py - how the browser's tests in Python write pages, and ask a page.
import os
import shutil
import subprocess
import tempfile
import time

import webdriver
from report import diag, done, equal, ok  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))


def write_pages(folder, *what):
    for one in what:
        subprocess.run([os.environ.get("STREAMLAB", "build/streamlab"), "--backend", "sim",
                        os.path.join(HERE, "pages.lua"), folder, one],
                       check=True, stdout=subprocess.DEVNULL)


def view(browser):
    return browser.run("return [view.from, view.to]")


def rest(browser):
    """Waits until the view no longer moves and everything is drawn."""
    for _ in range(100):
        if not browser.run("return moving || pending"):
            return
        time.sleep(0.05)


def scrolled(browser):
    """Waits until the window no longer scrolls, as it does smoothly behind a turn of the wheel."""
    before = None
    while before != (before := browser.run("return scrollY")):
        time.sleep(0.1)


def middle(browser, row):
    """The middle of a row's first bar in view, in the window."""
    scrolled(browser)
    return browser.run("""
        const row = state.rows[arguments[0]], lane = row.lanes[0];
        const box = canvas.getBoundingClientRect();
        const i = lowerBound(lane.start, view.from);
        return [box.left + (toX(lane.start[i]) + toX(lane.end[i])) / 2,
                box.top + laneY(row, 0) + row.bar / 2, lane.op[i]];""", row)


def text(browser, selector):
    return browser.run("return document.querySelector(arguments[0]).innerText", selector)


def main(what, tests):
    """Writes the pages, gives a browser and their folder to each test, and reports; the status."""
    missing = webdriver.missing()
    if missing:
        print(f"1..0 # SKIP {missing}")
        return 0
    folder = tempfile.mkdtemp(prefix="streamlab-pages-")
    try:
        write_pages(folder, *what)
        with webdriver.Browser(1280, 800) as browser:
            for test in tests:
                test(browser, folder)
            equal(browser.messages(), [], "no page wrote an error or a warning to the console")
    finally:
        shutil.rmtree(folder)
    done()
