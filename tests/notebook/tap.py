"""TAP for the tests of this folder; what all of them need."""

import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings" / "python"
run = 0
failed = 0


def ok(passed, name, *details):
    global run, failed
    run += 1
    print(f"{'' if passed else 'not '}ok {run} - {name}", flush=True)
    if not passed:
        failed += 1
        for detail in details:
            print("\n".join("#   " + line for line in str(detail).splitlines()), flush=True)
    return passed


def same(got, wanted, name):
    return ok(got == wanted, name, f"got      {got!r}", f"expected {wanted!r}")


def done():
    print(f"1..{run}")
    sys.exit(failed != 0)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def slack():
    """Machines that are busy get more time."""
    return int(os.environ.get("STREAMLAB_TEST_TIMEOUT", 1))


def prepare():
    """The kernel of this tree for Jupyter, on the simulated H200; skips where Jupyter is missing."""
    try:
        import ipykernel
        import nbclient
    except ImportError as missing:
        skip_all(f"{sys.executable}: {missing}")
    print(f"# ipykernel {ipykernel.__version__}, nbclient {nbclient.__version__}")
    folder = pathlib.Path(tempfile.mkdtemp())
    kernel = folder / "kernels" / "streamlab"
    kernel.mkdir(parents=True)
    spec = json.loads((PACKAGE / "streamlab_kernel" / "kernel.json").read_text())
    spec["argv"][0] = sys.executable
    (kernel / "kernel.json").write_text(json.dumps(spec))
    os.environ.update(
        JUPYTER_PATH=str(folder), IPYTHONDIR=str(folder / "ipython"), PYTHONPATH=str(PACKAGE),
        STREAMLAB=os.path.abspath(os.environ.get("STREAMLAB", "build/streamlab")),
        STREAMLAB_OPTIONS="--backend sim", PYDEVD_DISABLE_FILE_VALIDATION="1")
    os.environ.pop("STREAMLAB_PROFILE", None)
    sys.path.insert(0, str(PACKAGE))
    return folder
