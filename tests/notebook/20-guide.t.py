"""20-guide.t.py - each chapter of the guide as a notebook: its listings in Lua are the cells, and none
gives an error. Where the paragraph before a listing names a file of scripts/guide, the file is the
cell, as in tests/repl/60-docs.t.lua; that test also says what the comments before listings mean."""

import os
import re
import shutil
import subprocess
import tempfile

import tap

folder = tap.prepare()

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

LISTING = re.compile(r"(?P<before>[^\n]*(?:\n[^\n`][^\n]*)*\n\n?(?:<!--[^\n]*-->\n)*)```lua\n(?P<code>.*?)\n```", re.S)

# A plan is worked on by running the script's file again, which a cell has none of.
NEEDS_A_FILE = re.compile(r"\bplan =")


def holds(condition):
    return subprocess.run(["sh", "-c", condition], capture_output=True, check=False).returncode == 0


def runs(before):
    condition = re.search(r"<!-- run if: (.*?) -->\s*$", before)
    return "<!-- not run:" not in before and (not condition or holds(condition[1]))


def cells_of(text):
    page = re.search(r"<!-- page runs if: (.*?) -->", text)
    if page and not holds(page[1]):
        return []
    cells = []
    for listing in LISTING.finditer(text):
        named = re.findall(r"scripts/guide/[\w.-]+\.lua", listing["before"])
        if runs(listing["before"]) and not NEEDS_A_FILE.search(listing["code"]):
            cells.append((tap.ROOT / named[-1]).read_text() if named else listing["code"])
    return cells


def execute(cells):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    NotebookClient(notebook, kernel_name="streamlab", allow_errors=True, timeout=60 * tap.slack(),
                   resources={"metadata": {"path": work}}).execute()
    return notebook.cells


def check_chapter(path):
    cells = cells_of(path.read_text())
    if not cells:
        return 0
    wrong = [f"{output['ename']}: {output['evalue']}\n{cell.source[:200]}"
             for cell in execute(cells) for output in cell.outputs if output["output_type"] == "error"]
    tap.ok(not wrong, f"{path.name}: {len(cells)} cells run", *wrong)
    return len(cells)


work = tempfile.mkdtemp()
for name in ("scripts", "tests"):
    os.symlink(tap.ROOT / name, os.path.join(work, name))
os.mkdir(os.path.join(work, "build"))
# Chapter 10 reads a trace that a command of its own has written.
subprocess.run([os.environ["STREAMLAB"], "--backend", "sim", "scripts/guide/streams.lua", "blocking"],
               cwd=work, check=True, stdout=subprocess.DEVNULL)
total = sum(check_chapter(path) for path in sorted((tap.ROOT / "docs" / "guide").glob("[0-9]*.md")))
tap.ok(total > 50, "the guide's listings were found", total)
for name in (work, folder):
    shutil.rmtree(name, ignore_errors=True)
tap.done()
