# exposed.py FILE... - communication of the ranks of one program, from the events that PyTorch's
# profiler wrote, a file for each rank: an independent computation of what `streamlab show` says.
# Prints JSON. Times are in us; of each rank
#
#   comm      when at least one kernel of NCCL ran
#   compute   when at least one other kernel ran
#   exposed   when kernels of NCCL ran and no other one
#
# and of each step, as its launch is inside ProfilerStep#N, by how much the last rank started each
# collective later than the others in the median, added by rank: {"N": {"rank": us}}. Clocks are
# moved by the median of what the ends of collectives differ by from those of the first file.
import gzip
import json
import statistics
import sys


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file, parse_float=str)  # a float has too few digits for ns


def ns(value):
    whole, _, part = str(value).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def union(intervals):
    """Disjoint intervals in order."""
    joined = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return joined


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(a, b):
    total, i, j = 0, 0, 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


class Rank:
    def __init__(self, path):
        trace = read(path)
        self.rank = trace["distributedInfo"]["rank"]
        events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
        steps = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), int(e["name"].split("#")[1]))
                 for e in events if e["name"].startswith("ProfilerStep#")
                 and e["cat"] == "user_annotation"]
        launched = {e["args"]["correlation"]: ns(e["ts"]) for e in events
                    if e["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in e["args"]}
        self.collectives, other = [], []
        for e in events:
            if e["cat"] != "kernel":
                continue
            span = [ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])]
            if not e["name"].startswith("nccl"):
                other.append(span)
                continue
            at = launched.get(e["args"]["correlation"], 0)
            step = next((n for start, end, n in steps if start <= at < end), None)
            self.collectives.append((at, span, step))
        self.collectives.sort()
        comm, compute = union(c[1] for c in self.collectives), union(other)
        self.figures = {"comm": length(comm) / 1000, "compute": length(compute) / 1000,
                        "exposed": (length(comm) - common(comm, compute)) / 1000,
                        "collectives": len(self.collectives)}


def late_by_step(ranks, apart):
    found = {}
    if len({len(r.collectives) for r in ranks}) != 1:
        return found
    for together in zip(*(r.collectives for r in ranks)):
        starts = [(one[1][0] - by, r.rank) for one, r, by in zip(together, ranks, apart)]
        last, rank = max(starts)
        others = sorted(start for start, r in starts if r != rank)
        step = found.setdefault(str(together[0][2]), {})
        step[str(rank)] = step.get(str(rank), 0) \
            + (last - others[(len(others) - 1) // 2]) / 1000
    return found


def main(paths):
    ranks = [Rank(path) for path in paths]
    ends = [[c[1][1] for c in r.collectives] for r in ranks]
    apart = [statistics.median_low(b - a for a, b in zip(ends[0], one)) for one in ends]
    print(json.dumps({"ranks": {str(r.rank): r.figures for r in ranks},
                      "ends_apart": [by / 1000 for by in apart],
                      "late": late_by_step(ranks, apart)}))


main(sys.argv[1:])
