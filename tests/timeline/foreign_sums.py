"""Sums over a trace of another profiler, without streamlab: for each GPU, operation and stream how
many there are and how long they took; for each operation of XLA likewise. Prints lines of GPU, KEY,
NAME, count and ns, tab-separated.

usage: python3 foreign_sums.py TRACE.json
"""
import collections
import json
import sys

sums = collections.defaultdict(lambda: [0, 0])


def add(gpu, key, name, ns):
    sums[gpu, key, name][0] += 1
    sums[gpu, key, name][1] += ns


def of_xla(events):
    gpus, streams = {}, set()
    for e in events:
        name = e.get("args", {}).get("name", "")
        if e.get("ph") == "M" and name.startswith("/device:GPU:"):
            gpus[e["pid"]] = int(name.split(":")[-1])
        if e.get("ph") == "M" and name.startswith("Stream #"):
            streams.add((e["pid"], e["tid"]))
    for e in events:
        if e.get("ph") != "X" or (e["pid"], e["tid"]) not in streams or "memalloc_details" in e["args"]:
            continue
        ns = round(e["dur"] * 1000)
        add(gpus[e["pid"]], "kernel", e["name"], ns)
        add(gpus[e["pid"]], "stream", "stream %d" % e["tid"], ns)
        add(gpus[e["pid"]], "operator", e["args"].get("hlo_op", "(no operator)"), ns)


def of_rocprof(process):
    gpus = [a["id"]["handle"] for a in process["agents"] if a["type"] == 2]
    symbols = {k["kernel_id"]: k for k in process["kernel_symbols"]}
    for record in process["buffer_records"]["kernel_dispatch"]:
        info, ns = record["dispatch_info"], record["end_timestamp"] - record["start_timestamp"]
        symbol, gpu = symbols[info["kernel_id"]], gpus.index(info["agent_id"]["handle"])
        name = symbol.get("formatted_kernel_name") or symbol["kernel_name"].removesuffix(".kd")
        add(gpu, "kernel", name, ns)
        add(gpu, "stream", "stream %d" % record["stream_id"]["handle"], ns)
    for record in process["buffer_records"]["memory_copy"]:
        ns = record["end_timestamp"] - record["start_timestamp"]
        agents = record["dst_agent_id"]["handle"], record["src_agent_id"]["handle"]
        gpu = gpus.index(next(a for a in agents if a in gpus))
        names = process["strings"]["buffer_records"][record["kind"]]["operations"]
        add(gpu, "kernel", names[record["operation"]], ns)
        add(gpu, "stream", "stream %d" % record["stream_id"]["handle"], ns)


with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
if "traceEvents" in trace:
    of_xla(trace["traceEvents"])
for one in trace.get("rocprofiler-sdk-tool", []):
    of_rocprof(one)
for (gpu, key, name), (count, ns) in sorted(sums.items()):
    print(gpu, key, name, count, ns, sep="\t")
