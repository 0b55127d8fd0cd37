"""picture.py FILE.png - a notebook with its outputs, as a page of nbconvert in headless Chromium."""

import shutil
import sys

import tap

sys.dont_write_bytecode = True
sys.path.insert(0, str(tap.ROOT / "tests" / "browser"))
folder = tap.prepare()

import nbclient  # noqa: E402
import nbconvert  # noqa: E402
import nbformat  # noqa: E402
import webdriver  # noqa: E402

CELLS = (
    """\
s = lab.stream{name = "copies", non_blocking = true}
a, data = lab.rand(2048, 2048), lab.rand(4096, 4096)
tl = lab.profile(function()
    for i = 1, 8 do a:matmul(a) end
    data:to("cpu", {stream = s, non_blocking = true})
end)
tl""",
    'tl:overlap_us("compute", "d2h")',
    """\
lab.sweep({{"kib", {16, 4096}}, {"pinned", {false, true}}}, function(point)
    local t = lab.ones(point.kib * 256, {device = "cpu", pinned = point.pinned})
    return function() t:cuda{non_blocking = true} end
end)""",
    '_:plot{x = "kib", y = "median_us", by = "pinned", log = "xy", width_px = 340}',
)


def page():
    """The HTML of the notebook, executed."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook.metadata.title = "streamlab"
    nbclient.NotebookClient(notebook, kernel_name="streamlab").execute()
    exporter = nbconvert.HTMLExporter(template_name="lab", theme="light")
    return exporter.from_notebook_node(notebook)[0]


def main(path):
    if nbconvert.version_info < (7,):
        sys.exit(f"picture.py: nbconvert {nbconvert.__version__} leaves pictures out of pages;"
                 " version 7 is needed: make pictures NOTEBOOK_PYTHON=a Python that has it")
    html = folder / "notebook.html"
    html.write_text(page())
    browser = webdriver.Browser(width=920, height=600)
    try:
        browser.open(html)
        browser.resize(920, browser.run("return document.documentElement.scrollHeight"))
        browser.screenshot(path)
    finally:
        browser.close()
        shutil.rmtree(folder)


main(sys.argv[1])
