# pace.py - times a loop beside a fixed piece of Python that runs between its parts. The cores of a
# virtual machine go at several speeds, which change from run to run by more than what recording
# adds: how long the loop takes as a multiple of the piece depends on them less.
import time


def piece():
    total = 0
    start = time.perf_counter()
    for i in range(60000):
        total += i ^ 5
    return time.perf_counter() - start


def timed(loop, n, synchronize, parts=10):
    """Runs loop(n / parts) `parts` times, each up to synchronize(), and prints loop_s=SECONDS, the
    sum of these, and pieces=NUMBER, how many pieces take as long."""
    loop_s, piece_s = 0.0, piece()
    for _ in range(parts):
        start = time.perf_counter()
        loop(n // parts)
        synchronize()
        loop_s += time.perf_counter() - start
        piece_s += piece()
    piece_s /= parts + 1
    print("loop_s=%.6f pieces=%.3f" % (loop_s, loop_s / piece_s), flush=True)
