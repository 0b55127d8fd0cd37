"""30-magic.t.py - %%streamlab: Lua in a notebook of Python, with arrays in and out."""

import shutil
import signal

import tap

folder = tap.prepare()
try:
    import numpy
except ImportError as missing:
    tap.skip_all(str(missing))

from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402
from traitlets.config import Config  # noqa: E402

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_line_magic("load_ext", "streamlab_kernel")


def lua(line, cell):
    """What the cell prints and shows, and the error that it raises."""
    with capture_output() as captured:
        result = shell.run_cell(f"%%streamlab {line}\n{cell}")
    return captured, result.error_in_exec


numpy.random.seed(1)
a = numpy.random.rand(3, 4).astype("float32")
shell.user_ns.update(a=a, n=7, name="ä", rows=[{"x": 1.5, "y": None}], b=numpy.arange(4))
captured, error = lua("-i a,n,name -o c,said", "t = a:cuda(); c = lab.matmul(t, t:t()); print(n, name); "
                      "said = {list = {1, 2.5, 'x'}, deep = {y = true}, nan = 0/0}; a:size()")
tap.same(error, None, "a cell of Lua runs")
tap.same(captured.stdout, "7\tä\n", "with Python's numbers and texts; it prints")
tap.same(captured.outputs[0].data, {"text/plain": "3\t4"}, "and shows its value")
c = shell.user_ns["c"]
tap.ok(c.dtype == numpy.float32 and numpy.allclose(c, a @ a.T, rtol=1e-5), "a product is that of numpy", c, a @ a.T)
said = shell.user_ns["said"]
tap.ok(said["list"] == [1, 2.5, "x"] and said["deep"] == {"y": True} and numpy.isnan(said["nan"]),
       "a table is a dictionary", said)
captured, error = lua("-i b,rows -o back,tl,spans,r", "back = b; tl = lab.profile(lab.spin, 1); spans = tl:spans(); "
                      "r = lab.table{{us = 1}, {us = 2}}; assert(rows[1].x == 1.5 and rows[1].y == nil)")
tap.same(error, None, "lists of dictionaries are tables")
tap.same(shell.user_ns["back"].tolist(), [0, 1, 2, 3], "whole numbers come back")
tap.same([row["kind"] for row in shell.user_ns["tl"]], ["kernel"], "a timeline is its spans")
tap.same(shell.user_ns["r"], [{"us": 1}, {"us": 2}], "results are their rows")
captured, error = lua("", "lab.strem()")
tap.ok(type(error).__name__ == "LuaError" and "hint: did you mean lab.stream?" in str(error),
       "an error is raised, with its hint", error)
captured, error = lua("-i nothing", "1")
tap.ok(type(error).__name__ == "UsageError" or "there is no variable nothing" in captured.stderr + captured.stdout,
       "a variable that is not there is refused", error)
captured, error = lua("-o nothing", "1")
tap.ok("no global variable 'nothing'" in str(error), "in Lua as well", error)
shell.execution_count = 40
captured, error = lua("", "error('x')")
tap.ok(str(error).startswith("lab[40]:1: x"), "and with the cell's number", error)


class Interrupting:
    """Values of Python, of which one sends SIGINT when it is asked for its numbers."""

    dtype, shape, ndim = a.dtype, a.shape, 2

    def __init__(self, moment):
        self.moment = moment

    def astype(self, dtype):
        return self

    def tobytes(self):
        signal.setitimer(signal.ITIMER_REAL, self.moment)
        return numpy.zeros((3, 4)).tobytes()


signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
shell.user_ns["big"] = Interrupting(1e-6)
captured, error = lua("-i big", "print('not run')")
tap.ok(isinstance(error, KeyboardInterrupt) or "interrupted!" in str(error), "an interrupt ends a cell", error)
shell.user_ns["big"] = Interrupting(0.3)
captured, error = lua("-i big", "print('begun') while true do pcall(function() while true do end end) end")
tap.ok("interrupted!" in str(error) and captured.stdout.startswith("begun\n"), "also one that never ends", error)
captured, error = lua("-o n", "print(n)")
tap.same((error, captured.stdout, shell.user_ns["n"]), (None, "7\n", 7), "and the next cell has its own answers")
shell.user_ns["z"] = numpy.array([1j])
tap.ok(isinstance(lua("-i z", "1")[1], TypeError), "an array that is no tensor is refused")
shell.run_line_magic("streamlab", "reset")
with capture_output() as captured:
    shell.run_line_magic("streamlab", "n")
tap.same(captured.outputs[0].data["text/plain"], "nil", "after %streamlab reset nothing is left")
shell.run_line_magic("streamlab", "reset")
shutil.rmtree(folder, ignore_errors=True)
tap.done()
