# pairs.py walls|recorded OUT NAME... - PyTorch programs before and after one change
# (pairs_host.py, pairs_device.py, pairs_ranks.py, and pairs_more_*.py), as pairs.lua and, behind
# that, pairs_more.lua list them, for pairs.sh. A program is a loop of steps; how many is chosen once,
# so that the loop before the change takes about 0.15 s.
#
#   walls     both sides by turns in this process, as they are: walls.tsv gets pair, side, turn,
#             steps, seconds, and the ms that a piece of Python took around it: cores change their
#             speed; steps.tsv gets how many steps a pair has
#   recorded  both sides once, to be recorded, each within a range of NVTX: "step N" before, and
#             "step 100 + N" after, where N is the pair's number in these lists; recorded.tsv gets
#             the same as walls.tsv
#
# The pairs of pairs_ranks.py and pairs_more_ranks.py run on two GPUs. A pair that fails says so, and the others go on.
import gc
import os
import sys
import time

import torch

import pairs_device
import pairs_host
import pairs_more_device
import pairs_more_host
import pairs_more_ranks
import pairs_ranks

OF_RANKS = {**pairs_ranks.PAIRS, **pairs_more_ranks.PAIRS}
PAIRS = {**pairs_host.PAIRS, **pairs_device.PAIRS, **pairs_ranks.PAIRS, **pairs_more_host.PAIRS,
         **pairs_more_device.PAIRS, **pairs_more_ranks.PAIRS}
NAMES = list(PAIRS)
SIDES = {"before": 0, "after": 100}
TURNS = int(os.environ.get("TURNS", "9"))


class Runner:
    def __init__(self, out, rank):
        self.out, self.rank = out, rank  # rank: None, or the number of this process

    def add_row(self, file, *cells):
        if not self.rank:
            with open(f"{self.out}/{file}.tsv", "a") as f:
                f.write("\t".join(str(cell) for cell in cells) + "\n")

    def chosen_steps(self, run):
        seconds_of(run, 4)
        a_step = seconds_of(run, 8) / 8
        n = max(8, min(2000, round(0.15 / a_step)))
        return n if self.rank is None else pairs_ranks.agreed(n)

    def add_loop(self, file, name, side, turn, run, n):
        before = ms_of_python()
        took = seconds_of(run, n)
        speed = (before + ms_of_python()) / 2
        self.add_row(file, name, side, turn, n, "%.6f" % took, "%.3f" % speed)

    def walls(self, name):
        sides = {side: built(name, side) for side in SIDES}
        n = self.chosen_steps(sides["before"])
        self.add_row("steps", name, n)
        for run in sides.values():
            warm(run, n)
        for turn in range(TURNS):
            for side, run in sides.items():
                run(2)
                self.add_loop("walls", name, side, turn + 1, run, n)

    def recorded(self, name):
        with open(f"{self.out}/steps.tsv") as f:
            n = int(dict(line.split() for line in f)[name])
        for side, more in SIDES.items():
            run = built(name, side)
            warm(run, n)
            run(2)
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_push(f"step {NAMES.index(name) + 1 + more}")
            self.add_loop("recorded", name, side, 1, run, n)
            torch.cuda.nvtx.range_pop()

    def each(self, what, names):
        for name in names:
            start = time.perf_counter()
            try:
                self.walls(name) if what == "walls" else self.recorded(name)
            except Exception as error:  # the others are still to run
                print(f"{name} {what} failed: {type(error).__name__}: {error}", flush=True)
            gc.collect()
            torch.cuda.empty_cache()
            print(f"{name} {what}: {time.perf_counter() - start:.2f} s", flush=True)


def seconds_of(run, n):
    torch.cuda.synchronize()
    start = time.perf_counter()
    run(n)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def ms_of_python():
    start = time.perf_counter()
    sum(range(20000))
    return (time.perf_counter() - start) * 1000


def built(name, side):
    torch.manual_seed(0)
    return PAIRS[name](side == "after")


def warm(run, n):
    """Twice, as the first run grows the allocator's memory and the second meets it."""
    for _ in range(2):
        seconds_of(run, max(4, n // 4))


def on_rank(rank, out, what, names):
    pairs_ranks.begin(rank)
    Runner(out, rank).each(what, names)
    pairs_ranks.dist.destroy_process_group()


def main(what, out, names):
    if names[0] in OF_RANKS:
        torch.multiprocessing.spawn(on_rank, args=(out, what, names), nprocs=pairs_ranks.WORLD)
    else:
        Runner(out, None).each(what, names)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
