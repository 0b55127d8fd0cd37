# exports.py OUT - runs the Python scripts of exports.sh in one process, since importing PyTorch takes
# seconds: times.tsv gets a row of each.
import contextlib
import gc
import glob
import io
import os
import re
import runpy
import sys

import torch

out = sys.argv[1]
sys.argv = ["exported", "5"]
for path in sorted(glob.glob(f"{out}/scripts/*.py")):
    name, said = os.path.basename(path)[:-3], io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(path)
        with open(f"{out}/times.tsv", "a") as f:
            f.write(f"{name}\tpy\t{re.match('[0-9.]+', said.getvalue())[0]}\n")
    except Exception as error:  # the others are still to run
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
    gc.enable()
    gc.collect()
    torch.cuda.empty_cache()
