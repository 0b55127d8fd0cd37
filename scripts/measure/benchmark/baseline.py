"""baseline.py - predicts programs of the benchmark from their listing, without the simulator.

    streamlab compare --benchmark --list >programs.jsonl
    python3 scripts/measure/benchmark/baseline.py <programs.jsonl >baseline.jsonl
    streamlab compare --benchmark --predictions baseline.jsonl

An example for authors of simulators, and the score that a simulator should beat: each call takes
the host CALL us, each operation as long as its bytes and flops take at the rates below, one kernel
at a time on a GPU and one copy at a time in each direction, in the order of the calls.
"""
import json
import sys

CALL, START, WAIT = 6.0, 2.0, 10.0  # us: of a call, of an operation, of the host behind a wait
RATES = {"h2d": 55e3, "d2h": 55e3, "d2d": 2e6, "p2p": 390e3, "pageable": 12e3}  # bytes a us
MEMORY, LINK = 4e6, 300e3  # bytes a us: of the GPU's memory, of a collective
FLOPS = {"float32": 50e6, "tf32": 350e6, "bfloat16": 600e6}  # flops a us
COLLECTIVES = {"all_reduce", "all_gather", "reduce_scatter", "broadcast"}


class Program:
    """When each stream and engine is free, and when each event happens."""

    def __init__(self, listing):
        self.listing = listing
        self.host = 0.0
        self.streams = [0.0] * (len(listing["streams"]) + 1)
        self.engines, self.events = {}, {}
        self.last = 0.0

    def pageable(self, step):
        memory = self.listing["memory"]
        return any(memory[i - 1]["where"] == "pageable" for i in step["reads"] + step["writes"])

    def duration(self, step):
        """How long an operation takes alone, and the engine that it needs."""
        op = step["op"]
        if op == "copy":
            rate = RATES["pageable" if self.pageable(step) else step["direction"]]
            return START + step["bytes"] / rate, step["direction"]
        if op == "host_function":
            return 1000 * step["ms"], "host"
        if op == "spin":
            return START + 1000 * step["ms"], "kernel"
        if op in COLLECTIVES:
            return 15.0 + step["bytes"] / LINK, "link"
        flops = step.get("flops", 0) / FLOPS[step.get("dtype", "float32")]
        return START + max(flops, step["bytes"] / MEMORY), "kernel"

    def run(self, step, begin, device):
        """Runs an operation from `begin` on at the earliest; gives when it ends."""
        us, engine = self.duration(step)
        begin = max(begin, self.engines.get((device, engine), 0.0))
        end = begin + us
        self.engines[device, engine] = end
        self.last = max(self.last, end)
        return end

    def run_graph(self, graph, begin, device):
        ends, before = [], [[] for _ in graph["nodes"]]
        for earlier, later in graph["edges"]:
            before[later - 1].append(earlier - 1)
        for node, earlier in zip(graph["nodes"], before):
            ends.append(self.run(node, max([begin] + [ends[i] for i in earlier]), device))
        return max(ends)

    def enqueue(self, step):
        streams = step.get("streams") or [step["stream"]]
        begin = max([self.host] + [self.ready(s) for s in streams])
        device = self.listing["streams"][streams[0] - 1]["device"]
        if step["op"] == "launch_graph":
            end = self.run_graph(self.listing["graphs"][step["graph"] - 1], begin, device)
        else:
            end = self.run(step, begin, device)
        for s in streams:
            self.streams[s] = end
        if step["op"] == "copy" and (step["blocking"] or self.pageable(step)):
            self.host = end

    def ready(self, stream):
        """The NULL stream, number 1, and blocking streams wait for each other."""
        blocking = [i for i, s in enumerate(self.listing["streams"], 1) if not s["non_blocking"]]
        if stream == 1:
            return max(self.streams[i] for i in blocking)
        return max(self.streams[stream], self.streams[1] if stream in blocking else 0.0)

    def call(self, step):
        op = step["op"]
        self.host += 0.0 if op in ("host_work", "allocate", "free") else CALL
        if op == "host_work":
            self.host += 1000 * step["ms"]
        elif op == "record":
            self.events[step["event"]] = self.ready(step["stream"])
        elif op == "wait":
            happened = self.events.get(step["event"], 0.0)
            self.streams[step["stream"]] = max(self.ready(step["stream"]), happened)
        elif op == "synchronize":
            until = self.ready(step["stream"]) if "stream" in step else max(self.streams)
            self.host = max(self.host, until + WAIT)
        elif op in ("cuda_malloc", "cuda_free"):
            self.host += 100.0
        elif op not in ("allocate", "free", "query"):
            self.enqueue(step)

    def time(self):
        """From the host's first call until the host has waited for all."""
        for step in self.listing["steps"]:
            self.call(step)
        return max(self.host, self.last + WAIT)


def main():
    for line in sys.stdin:
        listing = json.loads(line)
        prediction = {"family": listing["family"], "seed": listing["seed"],
                      "us": round(Program(listing).time(), 3)}
        print(json.dumps(prediction))


main()
