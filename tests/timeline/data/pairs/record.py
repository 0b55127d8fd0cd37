"""record.py - records pairs of PyTorch programs, before and after one change, on this GPU.

    python3 record.py FOLDER [NAME ...]

For each pair FOLDER gets NAME-before.json.gz and NAME-after.json.gz, which torch.profiler wrote
(activities CPU and CUDA, nothing else), and a row of walls.json: the wall time of the same loop
without the profiler (median of 7 runs after a warm-up, each up to a torch.cuda.synchronize()) and
with it, in milliseconds. The two programs of a pair differ in the one change that its docstring
names.
"""
import gzip
import json
import os
import statistics
import sys
import threading
import time

import torch
from torch.profiler import ProfilerActivity, profile

GPU = "cuda"
MB = 1 << 20
PAIRS = {}


def pair(make):
    PAIRS[make.__name__] = make
    return make


def floats(n):
    return torch.rand(n, device=GPU)


def square(n):
    return torch.rand(n, n, device=GPU)


def products(x, n):
    for _ in range(n):
        x = torch.mm(x, x).mul_(1e-3)
    return x


def streaming(x, n):
    """Kernels that are bound by memory: they run as fast beside copies as alone."""
    for _ in range(n):
        x.mul_(1.0001)


# ---- copies ------------------------------------------------------------------


@pair
def pageable_input(after):
    """Each batch is copied from pageable memory; from pinned memory, with non_blocking."""
    batches = [torch.rand(8 * MB) for _ in range(8)]
    if after:
        batches = [b.pin_memory() for b in batches]
    x = floats(64 * MB)

    def run():
        for b in batches:
            d = b.to(GPU, non_blocking=True)
            d.add_(1)
            streaming(x, 4)

    return run


@pair
def blocking_to(after):
    """A pinned batch is copied with to(); with to(..., non_blocking=True)."""
    batches = [torch.rand(4 * MB).pin_memory() for _ in range(10)]
    x = floats(64 * MB)

    def run():
        for b in batches:
            streaming(x, 6)
            d = b.to(GPU, non_blocking=after)
            for _ in range(30):
                d[:1024].add_(1)

    return run


@pair
def results_pageable(after):
    """Results are fetched with cpu(); into pinned memory in a stream of their own."""
    x = floats(16 * MB)
    outs = [torch.empty(16 * MB).pin_memory() for _ in range(8)]
    side = torch.cuda.Stream()

    def run():
        keep = []
        for i in range(8):
            y = x * float(i)
            streaming(x, 4)
            if after:
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    outs[i].copy_(y, non_blocking=True)
                keep.append(y)
            else:
                keep.append(y.cpu())

    return run


@pair
def prefetch(after):
    """Pinned batches are copied in the kernels' stream; a batch ahead in a copy stream."""
    batches = [torch.rand(16 * MB).pin_memory() for _ in range(10)]
    buffers = [torch.empty(16 * MB, device=GPU) for _ in range(2)]
    x = floats(64 * MB)
    side = torch.cuda.Stream()

    def run():
        main = torch.cuda.current_stream()
        free = [torch.cuda.Event() for _ in range(2)]
        for i, b in enumerate(batches):
            d = buffers[i % 2]
            if after:
                with torch.cuda.stream(side):
                    if i >= 2:
                        side.wait_event(free[i % 2])
                    d.copy_(b, non_blocking=True)
                main.wait_stream(side)
            else:
                d.copy_(b, non_blocking=True)
            d.mul_(2)
            streaming(x, 5)
            free[i % 2].record(main)

    return run


@pair
def one_buffer(after):
    """A copy stream with one buffer, so that the copy waits for the kernels; with two buffers."""
    batches = [torch.rand(16 * MB).pin_memory() for _ in range(12)]
    buffers = [torch.empty(16 * MB, device=GPU) for _ in range(2 if after else 1)]
    x = floats(64 * MB)
    side = torch.cuda.Stream()

    def run():
        main = torch.cuda.current_stream()
        free = [None] * len(buffers)
        for i, b in enumerate(batches):
            k = i % len(buffers)
            with torch.cuda.stream(side):
                if free[k]:
                    side.wait_event(free[k])
                buffers[k].copy_(b, non_blocking=True)
            main.wait_stream(side)
            for _ in range(30):
                buffers[k].mul_(1.0001)
            free[k] = main.record_event()

    return run


@pair
def both_directions(after):
    """Copies to the GPU and from it take turns in one stream; in a stream for each direction."""
    ins = [torch.rand(16 * MB).pin_memory() for _ in range(6)]
    outs = [torch.empty(16 * MB).pin_memory() for _ in range(6)]
    d = [torch.empty(16 * MB, device=GPU) for _ in range(6)]
    e = [torch.rand(16 * MB, device=GPU) for _ in range(6)]
    up, down = torch.cuda.Stream(), torch.cuda.Stream()

    def run():
        for i in range(6):
            with torch.cuda.stream(up):
                d[i].copy_(ins[i], non_blocking=True)
            with torch.cuda.stream(down if after else up):
                outs[i].copy_(e[i], non_blocking=True)

    return run


@pair
def many_small_copies(after):
    """256 small pinned tensors are copied one by one; as one tensor."""
    small = [torch.rand(2048).pin_memory() for _ in range(256)]
    large = torch.rand(2048 * 256).pin_memory()
    x = floats(32 * MB)

    def run():
        streaming(x, 2)
        if after:
            d = large.to(GPU, non_blocking=True)
            d.add_(1)
        else:
            for b in small:
                b.to(GPU, non_blocking=True)
        streaming(x, 2)

    return run


@pair
def cpu_random(after):
    """Noise is made on the CPU and copied; on the GPU."""
    x = floats(32 * MB)

    def run():
        for _ in range(6):
            if after:
                noise = torch.rand(4 * MB, device=GPU)
            else:
                noise = torch.rand(4 * MB).to(GPU)
            x[:4 * MB].add_(noise)
            streaming(x, 4)

    return run


@pair
def checkpoint(after):
    """A checkpoint of pinned copies in the kernels' stream; in a stream of its own."""
    weights = [floats(16 * MB) for _ in range(4)]
    outs = [torch.empty(16 * MB).pin_memory() for _ in range(4)]
    x = floats(64 * MB)
    side = torch.cuda.Stream()

    def run():
        for step in range(4):
            streaming(x, 12)
            if after:
                side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side if after else torch.cuda.current_stream()):
                outs[step].copy_(weights[step], non_blocking=True)

    return run


# ---- the host waits -----------------------------------------------------------


def steps_with(end_of_step, n=12, small=60):
    """Each step has large kernels and then small ones; what ends it decides whether the host runs
    ahead."""
    x, y = floats(48 * MB), floats(1024)

    def run():
        state = []
        for _ in range(n):
            for _ in range(small):
                y.add_(1)
            streaming(x, 4)
            end_of_step(x, y, state)

    return run


@pair
def item_each_step(after):
    """loss.item() in each step; the losses stay on the GPU."""
    if after:
        return steps_with(lambda x, y, s: s.append(y[:1].clone()))
    return steps_with(lambda x, y, s: s.append(y[:1].clone().item()))


@pair
def synchronize_each_step(after):
    """torch.cuda.synchronize() in each step; not at all."""
    if after:
        return steps_with(lambda x, y, s: None)
    return steps_with(lambda x, y, s: torch.cuda.synchronize())


@pair
def query_loop(after):
    """The host asks an event in a loop in each step; a stream waits for the event."""
    side = torch.cuda.Stream()

    def ask(x, y, s):
        event = torch.cuda.current_stream().record_event()
        if after:
            side.wait_event(event)
        else:
            while not event.query():
                time.sleep(0.00002)

    return steps_with(ask, n=8)


@pair
def boolean_mask(after):
    """y[mask], which waits for the number of elements; torch.where."""

    def select(x, y, s):
        if after:
            s.append(torch.where(y > 0, y, 0).sum())
        else:
            s.append(y[y > 0].sum())

    return steps_with(select)


@pair
def print_tensor(after):
    """A small result is copied to the host for a log in each step; every twelfth step."""

    def log(x, y, s):
        s.append(0)
        if len(s) % 12 == 0 or not after:
            str(y[:4].tolist())

    return steps_with(log)


# ---- the host is busy ---------------------------------------------------------


@pair
def host_prepares(after):
    """The host computes for a batch in each step; a thread has done that before."""
    ready = [torch.rand(1024).pin_memory() for _ in range(8)]
    work = torch.rand(1 << 21)
    x, d = floats(48 * MB), floats(1024)

    def run():
        for b in ready:
            if not after:
                for _ in range(4):
                    work.numpy().sort()
                    work.copy_(work.flip(0))
            d.copy_(b, non_blocking=True)
            for _ in range(10):
                d.add_(1)
            streaming(x, 8)
            torch.cuda.current_stream().synchronize()

    return run


@pair
def empty_cache(after):
    """torch.cuda.empty_cache() in each step; not at all."""
    x = floats(32 * MB)

    def run():
        for _ in range(10):
            t = torch.empty(64 * MB, device=GPU)
            t[:1024].fill_(1)
            streaming(x, 4)
            del t
            if not after:
                torch.cuda.empty_cache()

    return run


@pair
def growing_tensors(after):
    """Tensors grow by step, so that the allocator asks CUDA for each; it has all from before."""
    x = floats(32 * MB)

    def run():
        torch.cuda.synchronize()
        if not after:
            torch.cuda.empty_cache()
        start = time.perf_counter()
        for i in range(1, 13):
            t = torch.empty(i * 24 * MB, device=GPU)
            t[:1024].fill_(1)
            streaming(x, 3)
            del t
        return start

    if after:
        torch.empty(13 * 24 * MB, device=GPU)
    return run


@pair
def pin_each_batch(after):
    """pin_memory() of each batch; pinned buffers from before, filled by a copy on the host."""
    batches = [torch.rand(4 * MB) for _ in range(8)]
    buffers = [torch.empty(4 * MB).pin_memory() for _ in range(8)]
    x = floats(48 * MB)

    def run():
        keep = []
        for i, b in enumerate(batches):
            if after:
                buffers[i].copy_(b)
                p = buffers[i]
            else:
                p = b.pin_memory()
                keep.append(p)
            p.to(GPU, non_blocking=True).add_(1)
            streaming(x, 4)
        if not after:
            torch.cuda.synchronize()
            del keep, p
            getattr(torch._C, "_host_emptyCache", lambda: None)()

    return run


# ---- issuing -------------------------------------------------------------------


@pair
def tiny_kernels(after):
    """800 tiny kernels; the same as one CUDA graph."""
    x = floats(4096)

    def body():
        for _ in range(800):
            x.add_(1)

    if not after:
        return body
    body()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph.replay


@pair
def small_model(after):
    """Training steps of a small model; each step as a CUDA graph."""
    torch.manual_seed(0)
    layers = []
    for _ in range(6):
        layers += [torch.nn.Linear(256, 256), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).to(GPU)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    x, target = torch.rand(64, 256, device=GPU), torch.rand(64, 256, device=GPU)

    def step():
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.mse_loss(model(x), target).backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    if after:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()

    def run():
        for _ in range(6):
            graph.replay() if after else step()

    return run


@pair
def optimizer_loop(after):
    """An optimizer that updates 200 parameters one by one; with foreach=True."""
    params = [torch.rand(4096, device=GPU, requires_grad=True) for _ in range(200)]
    for p in params:
        p.grad = torch.rand_like(p)
    optimizer = torch.optim.AdamW(params, lr=1e-3, foreach=after)
    optimizer.step()
    x = floats(16 * MB)

    def run():
        for _ in range(2):
            streaming(x, 4)
            optimizer.step()

    return run


# ---- streams -------------------------------------------------------------------


@pair
def needless_waits(after):
    """Two streams wait for each other behind every kernel; not at all."""
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    x, y = torch.rand(256, 256, device=GPU), torch.rand(256, 256, device=GPU)
    spin = 200000

    def run():
        main = torch.cuda.current_stream()
        a.wait_stream(main)
        b.wait_stream(main)
        for _ in range(12):
            with torch.cuda.stream(a):
                torch.cuda._sleep(spin)
            if not after:
                b.wait_stream(a)
            with torch.cuda.stream(b):
                torch.cuda._sleep(spin)
            if not after:
                a.wait_stream(b)
        main.wait_stream(a)
        main.wait_stream(b)

    return run


@pair
def small_kernels_one_stream(after):
    """Independent kernels of one block in one stream; in four streams."""
    streams = [torch.cuda.Stream() for _ in range(4)]

    def run():
        for i in range(40):
            with torch.cuda.stream(streams[i % 4 if after else 0]):
                torch.cuda._sleep(300000)

    return run


@pair
def event_too_late(after):
    """The event that a copy waits for is recorded behind a kernel that it does not need; before."""
    x, y = floats(64 * MB), floats(16 * MB)
    outs = [torch.empty(16 * MB).pin_memory() for _ in range(8)]
    side = torch.cuda.Stream()

    def run():
        main = torch.cuda.current_stream()
        for i in range(8):
            y.mul_(1.001)
            if after:
                early = main.record_event()
            streaming(x, 5)
            late = main.record_event()
            with torch.cuda.stream(side):
                side.wait_event(early if after else late)
                outs[i].copy_(y, non_blocking=True)
            main.wait_stream(side)

    return run


@pair
def loader_thread(after):
    """A thread pins batches while the main thread launches tiny kernels; these as a graph."""
    x = floats(4096)
    source = torch.rand(2 * MB)

    def body():
        for _ in range(600):
            x.add_(1)

    if after:
        body()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            body()

    def run():
        def pin():
            for _ in range(2):
                source.pin_memory()

        thread = threading.Thread(target=pin)
        thread.start()
        graph.replay() if after else body()
        thread.join()

    return run


# ---- several GPUs ----------------------------------------------------------------


def reduce_pair(after, rank, world, way):
    import torch.distributed as dist
    x = floats(48 * MB)
    grads = [floats(24 * MB) for _ in range(6)]

    def run():
        works = []
        for g in grads:
            streaming(x, 8)
            if way == "async":
                work = dist.all_reduce(g, async_op=after)
                if after:
                    works.append(work)
            elif way == "last":
                if after:
                    works.append(dist.all_reduce(g, async_op=True))
        if way == "last" and not after:
            for g in grads:
                works.append(dist.all_reduce(g, async_op=True))
        for work in works:
            work.wait()

    return run


RANKED = {"all_reduce_async": "async", "all_reduce_at_end": "last"}


def ranked(rank, world, folder):
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    walls = {}
    for name, way in RANKED.items():
        for after in (False, True):
            run = reduce_pair(after, rank, world, way)
            measure(f"{name}-{'after' if after else 'before'}", run,
                    folder if rank == 0 else None, walls, dist.barrier)
    if rank == 0:
        with open(f"{folder}/walls-ranks.json", "w") as f:
            json.dump(walls, f, indent=1)
    dist.destroy_process_group()


# ---- measuring --------------------------------------------------------------------


def timed(run, before=lambda: None):
    before()
    torch.cuda.synchronize()
    start = time.perf_counter()
    start = run() or start
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def measure(label, run, folder, walls, before=lambda: None):
    for _ in range(3):
        timed(run, before)
    plain = [timed(run, before) for _ in range(7)]
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        timed(run, before)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        traced = timed(run, before)
    after = [timed(run, before) for _ in range(3)]
    if folder:
        path = f"{folder}/{label}.json"
        p.export_chrome_trace(path)
        with open(path, "rb") as f, gzip.open(path + ".gz", "wb", 9) as out:
            out.write(f.read())
        os.remove(path)
        walls[label] = {"wall_ms": statistics.median(plain), "least_ms": min(plain),
                        "most_ms": max(plain), "traced_ms": traced,
                        "again_ms": statistics.median(after)}
        print(label, {k: round(v, 3) for k, v in walls[label].items()}, flush=True)


def profiler_costs():
    """What the profiler adds to an operator and to a call of the run-time: loops of 2000."""
    x = floats(64)
    y = torch.rand(64, 64, device=GPU)
    a = torch.rand(64, 64, device=GPU)
    cpu = torch.rand(64)
    event = torch.cuda.Event()
    pinned = torch.rand(64).pin_memory()
    linear = torch.nn.Linear(64, 64).to(GPU)
    graph_x = floats(64)
    graph_x.add_(1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            graph_x.add_(1)
    loops = {
        "add_": lambda: x.add_(1), "view": lambda: x.view(8, 8), "cpu add_": lambda: cpu.add_(1),
        "mm": lambda: torch.mm(y, a), "linear": lambda: linear(y), "softmax": lambda: y.softmax(-1),
        "copy_": lambda: x.copy_(pinned, non_blocking=True), "record": event.record,
        "query": event.query, "graph of 10": graph.replay, "x * y + a": lambda: x * y + a,
    }
    rows = {}
    for name, call in loops.items():
        def run():
            for _ in range(2000):
                call()
        for _ in range(2):
            timed(run)
        plain = statistics.median(timed(run) for _ in range(5))
        row = {"plain_us": plain / 2}
        for label, activities in (("both", [ProfilerActivity.CPU, ProfilerActivity.CUDA]),
                                  ("cuda", [ProfilerActivity.CUDA]),
                                  ("cpu", [ProfilerActivity.CPU])):
            times = []
            for _ in range(3):
                with profile(activities=activities) as p:
                    times.append(timed(run))
            row[label + "_us"] = statistics.median(times) / 2
            kinds = {}
            p.export_chrome_trace("/tmp/costs.json")
            with open("/tmp/costs.json") as f:
                for e in json.load(f)["traceEvents"]:
                    if e.get("ph") == "X":
                        kinds[e.get("cat")] = kinds.get(e.get("cat"), 0) + 1
            row[label + "_events"] = {k: round(v / 2000, 2) for k, v in kinds.items()}
        rows[name] = row
        print(name, row, flush=True)
    return rows


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    walls = {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
             "cuda": torch.version.cuda}
    print(walls, flush=True)
    for name, make in PAIRS.items():
        if names and name not in names:
            continue
        for after in (False, True):
            try:
                measure(f"{name}-{'after' if after else 'before'}", make(after), folder, walls)
            except Exception as error:  # the others are still to be recorded
                print(name, "failed:", error, flush=True)
            torch.cuda.empty_cache()
            with open(f"{folder}/walls.json", "w") as f:
                json.dump(walls, f, indent=1)
    if not names or "costs" in names:
        walls["costs"] = profiler_costs()
    with open(f"{folder}/walls.json", "w") as f:
        json.dump(walls, f, indent=1)
    if torch.cuda.device_count() > 1 and (not names or "ranks" in names):
        import torch.multiprocessing as mp
        mp.spawn(ranked, args=(2, folder), nprocs=2)


if __name__ == "__main__":
    main()
