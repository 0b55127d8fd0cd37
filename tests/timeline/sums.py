"""Sums over a trace of PyTorch's profiler, without streamlab: for each kernel, operator and step the
operations and their time; for each step how long it took and for how long the GPU worked in it; the
GPU's part of the makespan by kernel. Prints lines of KEY, NAME and numbers in ns, tab-separated.

usage: python3 sums.py TRACE.json
"""
import json
import sys
from fractions import Fraction

ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def ns(us):
    return round(us * 1000)


def span(event):
    return ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])


def innermost(ranges, at):
    """The range that holds `at` and began last."""
    best = None
    for start, end, name in ranges:
        if start <= at < end and (best is None or start >= best[0]):
            best = (start, name)
    return best[1] if best else ""


def busy(intervals, start, end):
    """How much of [start, end) the intervals cover together."""
    edges = sorted({start, end, *(x for pair in intervals for x in pair if start < x < end)})
    return sum(b - a for a, b in zip(edges, edges[1:])
               if any(s <= a and b <= e for s, e in intervals))


def parts(work):
    """Each instant, divided by the names that run."""
    edges = sorted({x for s, e, _ in work for x in (s, e)})
    result = {}
    for a, b in zip(edges, edges[1:]):
        names = {name for s, e, name in work if s <= a and b <= e}
        for name in names:
            result[name] = result.get(name, 0) + Fraction(b - a, len(names))
    return result


def add(table, key, name, time):
    n, total = table.get((key, name), (0, 0))
    table[key, name] = n + 1, total + time


def main(path):
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    calls = {e["args"]["correlation"]: ns(e["ts"]) for e in events if e["cat"] == "cuda_runtime"}
    operators = [(*span(e), e["name"]) for e in events if e["cat"] == "cpu_op"]
    steps = [(*span(e), e["name"]) for e in events if e["name"].startswith("ProfilerStep#")]
    work = [(*span(e), e["name"]) for e in events if e["cat"] in ON_GPU]
    table = {}
    for event in events:
        if event["cat"] not in ON_GPU:
            continue
        called = calls[event["args"]["correlation"]]
        for key, name in (("kernel", event["name"]), ("operator", innermost(operators, called)),
                          ("step", innermost(steps, called))):
            add(table, key, name, ns(event["dur"]))
    for (key, name), (n, total) in table.items():
        print(key, name, n, total, sep="\t")
    for start, end, name in steps:
        print("took", name, end - start, busy([w[:2] for w in work], start, end), sep="\t")
    for name, part in parts(work).items():
        print("part", name, round(part), sep="\t")


main(sys.argv[1])
