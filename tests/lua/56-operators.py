"""Sums by operator and by phase of a trace of PyTorch's profiler, without any of streamlab.

python3 56-operators.py trace.json.gz prints lines "operator NAME COUNT NS" and "phase NAME COUNT NS".
"""
import collections
import gzip
import json
import sys
from decimal import Decimal


def ns(text):
    return int(Decimal(text) * 1000)


def read(path):
    with gzip.open(path) as file:
        trace = json.load(file, parse_float=str, parse_int=str)
    return [e for e in trace["traceEvents"] if e.get("ph") == "X"]


def encloses(outer, call):
    start = ns(outer["ts"])
    return (outer["tid"] == call["tid"]
            and start <= ns(call["ts"]) < start + ns(outer["dur"]))


def makers(operators):
    """The operators that made a node which the backward pass has run."""
    made = {}
    ran = {e["args"]["Sequence number"] for e in operators
           if int(e["args"].get("Fwd thread id", 0)) > 0}
    for event in sorted(operators, key=lambda e: ns(e["ts"])):
        args = event["args"]
        if args.get("Fwd thread id") == "0" and args.get("Sequence number") in ran:
            made[args["Sequence number"]] = event
    return {id(event) for event in made.values()}


def phase_of(around, marks, made):
    if any(e["name"].startswith("Optimizer.") for e in marks):
        return "optimizer"
    if any(int(e["args"].get("Fwd thread id", 0)) > 0
           or e["name"].startswith("autograd::engine::") for e in around):
        return "backward"
    return "forward" if any(id(e) in made for e in around) else "other"


def main(path):
    events = read(path)
    of = collections.defaultdict(list)
    for event in events:
        of[event.get("cat")].append(event)
    calls = {e["args"]["correlation"]: e for e in of["cuda_runtime"] + of["cuda_driver"]}
    made = makers(of["cpu_op"])
    sums = collections.Counter()
    counts = collections.Counter()
    for event in of["kernel"] + of["gpu_memcpy"] + of["gpu_memset"]:
        call = calls[event["args"]["correlation"]]
        around = [e for e in of["cpu_op"] if encloses(e, call)]
        marks = [e for e in of["user_annotation"] if encloses(e, call)]
        inner = max(around, key=lambda e: ns(e["ts"]), default={"name": "(no operator)"})
        for key in ("operator " + inner["name"], "phase " + phase_of(around, marks, made)):
            sums[key] += ns(event["dur"])
            counts[key] += 1
    for key in sorted(sums):
        print(key, counts[key], sums[key])


main(sys.argv[1])
