# planted.py NAME before|after - a program of tests/timeline/data/pairs by itself, for gpu.sh. The
# loop runs three times to warm up, and eleven times as it is measured, each within a range of NVTX
# with the name "measured": loop_s is their median. The pairs are those of record.py.
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../timeline/data/pairs"))
import record
import torch

run = record.PAIRS[sys.argv[1]](sys.argv[2] == "after")
for _ in range(3):
    record.timed(run)
times = []
for _ in range(11):
    torch.cuda.nvtx.range_push("measured")
    times.append(record.timed(run) / 1e3)
    torch.cuda.nvtx.range_pop()
print("loop_s=%.6f" % statistics.median(times))
