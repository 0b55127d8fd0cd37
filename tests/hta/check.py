# check.py PROGRAM TRACE... - does Holistic Trace Analysis (HTA) read our traces,
# and say what we say? TAP on stdout; run by tests/hta/run.
#
# Beside NAME.json may lie NAME.figures.json (record.lua); of a trace without them the
# figures are asked of PROGRAM: `PROGRAM show --json TRACE`.
#
# HTA computes in us. As it comes it moves starts up and ends down to whole us, and its
# kernel breakdown cuts each stretch to whole us even with HTA_DISABLE_NS_ROUNDING=1. So
# its figures are taken twice: as it comes, within 1 us a stretch; and from a copy of what
# it has read with all times in ns, as integers, in which its arithmetic is exact.
import copy
import gzip
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from fractions import Fraction

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402

ANNOTATION = "streamlab"
COPIES = {"memcpy_h2d": "Memcpy HtoD", "memcpy_d2h": "Memcpy DtoH", "memcpy_d2d": "Memcpy DtoD",
          "memcpy_p2p": "Memcpy PtoP", "memset": "Memset"}

count = failed = 0


def ok(passed, name, said=""):
    global count, failed
    count += 1
    print(("ok" if passed else "not ok"), count, "-", name, flush=True)
    if not passed:
        failed += 1
        print("#  ", said, file=sys.stderr, flush=True)
    return passed


def skip(name, why):
    global count
    count += 1
    print("ok", count, "-", name, "# SKIP", why, flush=True)


def load(path, rounding=False):
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "0" if rounding else "1"
    return TraceAnalysis(trace_files={0: path}, trace_dir="")


def in_ns(analysis):
    """The same analysis of the same trace with times in whole ns."""
    exact = copy.copy(analysis)
    exact.t = copy.copy(analysis.t)
    df = analysis.t.get_trace(0).copy()
    for column in ("ts", "dur"):
        df[column] = (df[column] * 1000).round().astype("int64")
    df["end"] = df["ts"] + df["dur"]
    exact.t.traces = {0: df}
    return exact


def overlap(analysis, start=None):
    """HTA's "COMPUTATION overlapping MEMORY", also of the copies with one kind of name alone."""
    chosen = copy.copy(analysis)
    chosen.t = copy.copy(analysis.t)
    df = analysis.t.get_trace(0)
    table = analysis.t.symbol_table.get_sym_table()
    categories, names = df["cat"].map(lambda i: table[i]), df["name"].map(lambda i: table[i])
    memory = categories.isin(["gpu_memcpy", "gpu_memset"])
    if start:
        memory &= names.str.startswith(start)
        chosen.t.traces = {0: df[categories.eq("kernel") | memory].copy()}
    if not memory.any():
        return 0
    types, _ = chosen.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=True)
    # Communication may run beside both.
    return sum(int(row["sum"]) for _, row in types.iterrows()
               if "COMPUTATION" in row["kernel_type"] and "MEMORY" in row["kernel_type"])


def operations_of(path):
    """The slices of the device, as they stand in the file."""
    how = gzip.open if path.endswith(".gz") else open
    with how(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def figures_of(path, program):
    """What we say of a trace, or why we do not."""
    beside = path.removesuffix(".gz").removesuffix(".json") + ".figures.json"
    if os.path.exists(beside):
        with open(beside, encoding="utf-8") as file:
            return json.load(file), None
    shown = run(program, "show", "--json", path)
    if shown.returncode != 0:
        return None, shown.stderr.strip()
    return json.loads(shown.stdout), None


def check_overlap(name, exact, operations, figures):
    """Those that are there at all. What touches may have been moved, by 1 ns each."""
    moved = sum("own ts" in e["args"] for e in operations)
    for kind, start in COPIES.items():
        if not any(e["name"].startswith(start) for e in operations):
            continue
        want = round(figures["overlap_us"].get("kernel&" + kind, 0) * 1000)
        got = overlap(exact, start)
        ok(abs(got - want) <= moved,
           f"{name}: kernels overlap {kind} for {want} ns, as HTA says",
           f"HTA says {got} ns, {moved} slices were moved")


def check_as_it_comes(name, path, exact):
    """Rounding off: each stretch is cut to whole us. Rounding on: each slice as well."""
    want, stretches = overlap(exact) / 1000, len(exact.t.get_trace(0))
    got = overlap(load(path))
    ok(abs(got - want) <= stretches,
       f"{name}: COMPUTATION overlapping MEMORY within 1 us a stretch",
       f"HTA says {got} us, it is {want} us, of {stretches} events")
    got = overlap(load(path, rounding=True))
    ok(abs(got - want) <= 2 * stretches, f"{name}: and as HTA comes, with its rounding",
       f"HTA says {got} us, it is {want} us, of {stretches} events")


def without_steps(path):
    """The trace in HTA, with all its operations and nothing else: where there are steps it leaves out
    the last one's, and whatever has a stream is work of the GPU for it: cuda_sync events, and
    operators of Triton."""
    how = gzip.open if path.endswith(".gz") else open
    with how(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    trace["traceEvents"] = [e for e in trace["traceEvents"]
                            if not str(e.get("name")).startswith("ProfilerStep")
                            and e.get("cat") != "cuda_sync"]
    for event in trace["traceEvents"]:
        if event.get("cat") == "cpu_op":
            event.get("args", {}).pop("stream", None)
    with tempfile.NamedTemporaryFile("wt", suffix=".json", encoding="utf-8") as file:
        json.dump(trace, file)
        file.flush()
        return in_ns(load(file.name))


def check_communication(name, whole, operations, figures):
    """HTA's overlap of communication and computation, of both unions' common time: of kernels alone."""
    if "communication_us" not in figures:
        ok(not any(e["name"].startswith("nccl") for e in operations if e["cat"] == "kernel"),
           f"{name}: there is no communication")
        return
    covered, bare = (figures["communication_us"][key] for key in ("covered", "not_covered"))
    want = round(100 * covered / (covered + bare), 2)
    kept = int(whole.t.get_trace(0)["stream"].ne(-1).sum())
    if kept < len(operations):      # without a call
        skip(f"{name}: communication that kernels cover",
             f"HTA leaves out {len(operations) - kept} of {len(operations)} operations")
        return
    got = float(whole.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"].iloc[0])
    ok(abs(got - want) < 0.011,
       f"{name}: kernels cover {want} % of the communication, as HTA says", f"HTA says {got} %")


# What HTA and we count under each name; where they differ the check says how.
DEFINITIONS = (
    ("computation", "union of kernels whose names have neither nccl...Kernel, Memcpy, Memset nor Sync",
     "union of kernels that are no collective"),
    ("communication", "union of kernels named nccl...Kernel",
     "union of collectives: NCCL's, RCCL's, MSCCL's kernels, or what the file calls one"),
    ("covered", "COMPUTATION overlapping COMMUNICATION", "communication while a kernel computes"),
    ("idle", "from the first operation to the last: nothing that has a stream, cuda_sync events and "
     "operators of Triton among it", "from the first operation to the last: no operation"),
)


def hta_breakdown(whole):
    """HTA's times in ns: of each kind alone and of what overlaps it."""
    types, _ = whole.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=True)
    sums = {row["kernel_type"]: int(row["sum"]) for _, row in types.iterrows()}
    temporal = whole.get_temporal_breakdown(visualize=False).iloc[0]
    def all_with(*words):
        return sum(ns for kind, ns in sums.items() if all(word in kind for word in words))
    return (int(temporal["compute_time(us)"]), all_with("COMMUNICATION"),
            all_with("COMMUNICATION", "COMPUTATION"), int(temporal["idle_time(us)"]))


def check_breakdown(name, whole, operations, figures):
    """Computation, communication, how much of it is covered, and idle time, in ns."""
    kept = int(whole.t.get_trace(0)["stream"].ne(-1).sum())
    if kept < len(operations):      # without a call
        skip(f"{name}: computation, communication and idle time",
             f"HTA leaves out {len(operations) - kept} of {len(operations)} operations")
        return
    covered = figures.get("communication_us", {}).get("covered", 0)
    ours = [round(1000 * us) for us in (
        figures["busy_us"].get("kernel", 0), figures["busy_us"].get("collective", 0), covered,
        figures["concurrency_us"]["engines"][0])]
    moved = sum("own ts" in e["args"] for e in operations)
    theirs = hta_breakdown(whole)
    for (what, hta, own), want, got in zip(DEFINITIONS, ours, theirs):
        # HTA has times as doubles.
        ok(abs(want - got) <= 2 * moved + want // 100000, f"{name}: {what} is {want} ns, as HTA says",
           f"HTA says {got} ns: {hta}; we count: {own}")
    print(f"# | {name} | " + " | ".join(f"{ns:,}" for ns in theirs) + " |", flush=True)


def calls_and_ranges(events):
    """By correlation the thread and start of a call; by thread the operators, the outer ones first."""
    calls, ranges = {}, {}
    for e in events:
        args = e.get("args", {})
        if e.get("ph") != "X" or "dur" not in e:
            continue
        start = round(e["ts"] * 1000)
        if e.get("cat") in ("cuda_runtime", "cuda_driver"):
            calls[args.get("correlation")] = ((e["pid"], e["tid"]), start)
        elif e.get("cat") == "cpu_op":
            ranges.setdefault((e["pid"], e["tid"]), []).append(
                (start, -(start + round(e["dur"] * 1000)), e["name"]))
    for thread in ranges.values():
        thread.sort(key=lambda r: r[:2])
    return calls, ranges


def operator_sums(path):
    """The operations and their ns by the innermost operator of the thread that launched them."""
    how = gzip.open if path.endswith(".gz") else open
    with how(path, "rt", encoding="utf-8") as file:
        events = json.load(file, parse_float=Fraction)["traceEvents"]
    calls, ranges = calls_and_ranges(events)
    sums = {}
    for e in events:
        if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        thread, at = calls.get(e["args"].get("correlation"), (None, 0))
        open_then = [r for r in ranges.get(thread, ()) if r[0] <= at < -r[1]]
        name = open_then[-1][2] if open_then else "(no operator)"
        n, ns = sums.get(name, (0, 0))
        sums[name] = (n + 1, ns + round(e["dur"] * 1000))
    return sums


def check_operators(name, path, program):
    shown = run(program, "show", "--json", "--by", "operator", path)
    rows = json.loads(shown.stdout)["rows"] if shown.returncode == 0 else []
    ours = {row["name"]: (row["count"], round(1000 * row["time_us"])) for row in rows}
    theirs = operator_sums(path)
    wrong = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    ok(not wrong, f"{name}: {len(theirs)} operators have the sums of a small program",
       [(key, ours.get(key), theirs.get(key)) for key in wrong[:3]])


def check_launches(name, exact, figures):
    stats = exact.get_cuda_kernel_launch_stats(
        ranks=[0], visualize=False, include_memory_events=True)[0]
    want = {launch["correlation"]: launch["delay_ns"] for launch in figures["launches"]}
    got = dict(zip(stats["correlation"], stats["launch_delay"]))
    ok(sorted(got) == sorted(want), f"{name}: launch statistics have a row for each launch",
       f"HTA has {len(got)}, we have {len(want)}")
    wrong = [c for c in want if abs(got.get(c, -9) - want[c]) > 2]    # a call moves by 1 ns, too
    ok(not wrong, f"{name}: with the delays that we have",
       f"launch {wrong[:1]}: HTA says {got.get((wrong or [0])[0])}, {want.get((wrong or [0])[0])}")
    ok(all(delay >= 0 for delay in got.values()), f"{name}: none of them negative")


def check_queues(name, exact, figures):
    series = exact.get_queue_length_time_series([0])[0]
    longest, ends, least = {}, {}, 0
    for stream, rows in series.groupby("stream"):
        longest[str(stream)] = int(rows["queue_length"].max())
        ends[str(stream)] = int(rows["queue_length"].iloc[-1])
        least = min(least, int(rows["queue_length"].min()))
    ok(longest == figures["longest_queue"], f"{name}: queues grow as long as we count",
       f"HTA says {longest}, we say {figures['longest_queue']}")
    ok(set(ends.values()) == {0} and least == 0, f"{name}: and end empty, below 0 at no time",
       f"ends {ends}, least {least}")


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


def critical_path(analysis, annotation):
    """The graph, its length in the unit of the trace, and what HTA warned of."""
    heard = Warnings()
    logging.disable(logging.NOTSET)
    logger = logging.getLogger("hta")
    logger.addHandler(heard)
    logger.propagate = False
    try:
        result = analysis.critical_path_analysis(rank=0, annotation=annotation, instance_id=0)
    finally:
        logger.removeHandler(heard)
        logging.disable(logging.WARNING)
    if not result or not result[1]:
        return None, 0, heard.said
    graph = result[0]
    return graph, sum(edge.weight for edge in graph.critical_path_edges_set), heard.said


def check_critical_path(name, path, exact, figures):
    graph, length, said = critical_path(exact, ANNOTATION)
    if not ok(graph is not None, f"{name}: HTA finds a critical path", said):
        return
    # A kernel whose launch was followed by others before it started, in a stream that had
    # done nothing yet, gets no edge from its launch: HTA's rule, whoever wrote the trace.
    said = [text for text in said if "No edge was added" not in text]
    ok(not said, f"{name}: without a warning", said[:1])
    # Its edges are of operations, launches and the host's calls, not of what waits: so it is
    # longer than our chain of operations alone, and no longer than the recording.
    least, most = figures["critical_path_us"] * 1000, figures["wall_us"] * 1000 + 2
    ok(least <= length <= most, f"{name}: of a length that can be",
       f"{length} ns, expected {least} to {most}")
    print(f"# {name}: critical path {length / 1e6:.3f} ms by HTA, {least / 1e6:.3f} ms of"
          f" operations alone by us; makespan {figures['makespan_us'] / 1e3:.3f} ms", flush=True)
    for rounding in (False, True):
        graph, length, said = critical_path(load(path, rounding), "")
        ok(graph is not None, f"{name}: also of the whole trace, "
           + ("as HTA comes" if rounding else "in us"), said)


def check_trace(path, program):
    name = os.path.basename(path)
    try:
        analysis = load(path)
    except Exception as error:  # whatever HTA throws
        ok(False, f"{name}: HTA loads it", repr(error))
        return
    ok(True, f"{name}: HTA loads it")
    figures, why = figures_of(path, program)
    if not figures and run(program, "show", "--help").returncode != 0:
        skip(f"{name}: the overlap", "this build has no `streamlab show`")
        return
    if not ok(figures is not None, f"{name}: so do we", why):
        return
    exact = in_ns(analysis)
    whole, operations = without_steps(path), operations_of(path)
    check_overlap(name, whole, operations, figures)
    check_as_it_comes(name, path, exact)
    if len({e["pid"] for e in operations}) == 1:
        check_communication(name, whole, operations, figures)
        if "concurrency_us" in figures:
            check_breakdown(name, whole, operations, figures)
            check_operators(name, path, program)
    if "launches" not in figures:
        return
    check_launches(name, exact, figures)
    check_queues(name, exact, figures)
    check_critical_path(name, path, exact, figures)


def main(program, *paths):
    for what, hta, own in DEFINITIONS:
        print(f"# {what}: HTA: {hta}; we: {own}")
    print("# | trace | " + " | ".join(f"{what}, ns" for what, _, _ in DEFINITIONS) + " |")
    for path in paths:
        check_trace(os.path.abspath(path), program)
    print(f"1..{count}", flush=True)
    return failed > 0


sys.exit(main(*sys.argv[1:]))
