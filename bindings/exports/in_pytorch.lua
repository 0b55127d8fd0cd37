-- in_pytorch.lua - exported programs in Python, with PyTorch: see scripts.lua.

local language = { first = 0, own_us = 4, call_end = "" }

language.how = [[
Run it with "python3 FILE [runs]" (PyTorch 2.9 or later, on a GPU).]]

function language.comment(text) return "# " .. text:gsub("\n", "\n# "):gsub(" +\n", "\n") end

function language.loop(times, depth) return ("for _%d in range(%d):"):format(depth, times) end

function language.stream(stream)
    if stream.null then return "    Stream(torch.cuda.default_stream())," end
    return ("    %s(%d),"):format(stream.blocking and "blocking_stream" or "new_stream",
        stream.priority)
end

function language.kernel(name, blocks, threads, shared, in_graph)
    return ("    Kernel(%s, %d, %d, %d, %s),"):format(name, blocks, threads, shared,
        in_graph and "True" or "False")
end

function language.copy(copy)
    return ("    Copy(\"%s\", \"%s\", %d, %.2f),"):format(copy.from, copy.to, copy.bytes, copy.us)
end

function language.graph(_, body)
    return ("graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph, "
        .. "stream=captures[0].torch):\n%s\ngraphs.append(graph)"):format(body)
end

language.text = [==[
@about@
import ctypes
import gc
import itertools
import statistics
import sys
import time

import torch

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
# From one kernel to the next of its stream, and of its graph.
FOLLOW_US, GRAPH_FOLLOW_US = @follow@, @graph_follow@

# ---- time: each call is as long behind the last one that waited as it was ----------------

clock = time.perf_counter_ns
due = 0


def at(gap_us):
    global due
    due += gap_us * 1000
    while clock() < due:
        pass


def begin():
    global due
    due = clock()


# ---- CUDA's driver, for what PyTorch has no call of ---------------------------------------

torch.ones(1, device="cuda")
cuda = ctypes.CDLL("libcuda.so.1")
device = torch.cuda.get_device_properties(0)


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA: error {result}")


class Stream:
    def __init__(self, stream):
        self.torch, self.handle = stream, ctypes.c_void_p(stream.cuda_stream)
        self.debt = 0
        self.synchronize = stream.synchronize


def new_stream(priority=0):
    return Stream(torch.cuda.Stream(priority=priority))


def blocking_stream(priority):
    handle = ctypes.c_void_p()
    check(cuda.cuStreamCreateWithPriority(ctypes.byref(handle), 0, priority))
    return Stream(torch.cuda.ExternalStream(handle.value))


streams = [
@streams@
]
captures = [new_stream() for _ in range(@n_captures@)]
events = [torch.cuda.Event() for _ in range(@n_events@)]


def memory(n, **options):
    return torch.ones(n, dtype=torch.uint8, **options)


def ring(n):
    """What is copied again and again is in the processor's cache: several, of which copies take
    turns."""
    return [memory(n) for _ in range(min(16, (64 << 20) // n + 1) if n > 0 else 0)]


sources = {
    "device": [memory(@from_device@, device="cuda")],
    "pinned": [memory(@from_pinned@).pin_memory()],
    "pageable": ring(@from_pageable@),
}
targets = {
    "device": [memory(@to_device@, device="cuda")],
    "pinned": [memory(@to_pinned@).pin_memory()],
    "pageable": ring(@to_pageable@),
}
to_set = memory(@set_bytes@, device="cuda")

# ---- kernels: how long a block has to be busy is measured ----------------------------------

SPIN = r"""
extern "C" __global__ void spin(long long ns)
{
    long long start, now;
    if (threadIdx.x == 0) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
        do {
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        } while (now - start < ns);
    }
    __syncthreads();
}
"""
spin = torch.cuda._compile_kernel(SPIN, "spin").func
MOST_SHARED, CARVEOUT = 8, 9  # CU_FUNC_ATTRIBUTE_...
check(cuda.cuFuncSetAttribute(spin, MOST_SHARED, device.shared_memory_per_block_optin))
check(cuda.cuFuncSetAttribute(spin, CARVEOUT, 100))
aside = new_stream()
shapes = {}


class Times:
    """Launches follow each other by `fixed` and `slope` times what each block is busy."""

    def __init__(self, period):
        period(2)
        shorter, longer = period(2), period(6)
        self.slope = max(0.1, (longer - shorter) / 4)
        self.fixed = shorter - 2 * self.slope

    def spin_us(self, us, stream):
        """What a kernel takes longer than it should, the next ones of its stream take less."""
        left = us - self.fixed + stream.debt
        stream.debt = max(-5, min(0, left))
        return max(0, left) / self.slope


class Kernel:
    def __init__(self, name, blocks, threads, shared, in_graph):
        self.name = name
        blocks = blocks if blocks > 0 else 2 * device.multi_processor_count
        self.ns = ctypes.c_longlong()
        pointer = ctypes.cast(ctypes.byref(self.ns), ctypes.c_void_p)
        self.arguments = (ctypes.c_void_p * 1)(pointer)
        shape = [ctypes.c_uint(n) for n in (blocks, 1, 1, threads, 1, 1, shared)]
        self.shape = (spin, *shape)
        key = (blocks, threads, shared)
        if key not in shapes:
            shapes[key] = Times(lambda us: self.period(us, self.many))
        self.times = shapes[key]
        if in_graph and (key, "graph") not in shapes:
            shapes[key, "graph"] = Times(lambda us: self.period(us, self.many_in_graph))
        self.graph_times = shapes.get((key, "graph"))

    def start(self, us, stream):
        self.ns.value = int(us * 1000)
        check(cuda.cuLaunchKernel(*self.shape, stream.handle, self.arguments, None))

    @staticmethod
    def period(us, many):
        return (many(30, us) - many(10, us)) / 20

    def many(self, n, us):
        def spins():
            for _ in range(n):
                self.start(us, aside)

        return elapsed_us(spins)

    def many_in_graph(self, n, us):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(aside.torch):
            graph.capture_begin()
            for _ in range(n):
                self.start(us, aside)
            graph.capture_end()
        return elapsed_us(graph.replay)


def elapsed_us(work):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    with torch.cuda.stream(aside.torch):
        torch.cuda._sleep(1000000)  # until all is enqueued
        first.record()
        work()
        last.record()
    last.synchronize()
    return first.elapsed_time(last) * 1000


kernels = [
@kernels@
]

# ---- copies -----------------------------------------------------------------------------


class Copy:
    def __init__(self, source, target, n, us):
        self.is_pageable = "pageable" in (source, target)

        def choose(turns):
            self.sources = itertools.cycle([buffer[:n] for buffer in sources[source][:turns]])
            self.targets = itertools.cycle([buffer[:n] for buffer in targets[target][:turns]])

        choose(16)
        if self.is_pageable and n > 0:
            # Whether the program copied memory that is in the processor's cache.
            many = max(2, min(20, (256 << 20) // n))
            self.time_us(many)
            far = abs(self.time_us(many) - us)
            choose(1)
            if far < abs(self.time_us(many) - us):
                choose(16)

    def time_us(self, n):
        torch.cuda.synchronize()
        start = clock()
        for _ in range(n):
            self.start(aside)
        aside.synchronize()
        return (clock() - start) / 1000 / n

    def start(self, stream):
        with torch.cuda.stream(stream.torch):
            next(self.targets).copy_(next(self.sources), non_blocking=True)


copies = [
@copies@
]

# ---- calls ------------------------------------------------------------------------------


def launch(gap, kernel, stream, us):
    at(gap)
    kernel.start(kernel.times.spin_us(us + FOLLOW_US, stream), stream)


def node(kernel, stream, us):
    kernel.start(kernel.graph_times.spin_us(us + GRAPH_FOLLOW_US, stream), stream)


def copy(gap, what, stream):
    at(gap)
    what.start(stream)


def copy_and_wait(gap, what, stream):
    at(gap)
    what.start(stream)
    if not what.is_pageable:
        stream.synchronize()
    begin()


def set_bytes(gap, n, stream):
    at(gap)
    pointer = ctypes.c_void_p(to_set.data_ptr())
    check(cuda.cuMemsetD8Async(pointer, 0, ctypes.c_size_t(n), stream.handle))


def record(gap, event, stream):
    at(gap)
    event.record(stream.torch)


def wait(gap, event, stream):
    at(gap)
    stream.torch.wait_event(event)


def wait_for_stream(gap, stream):
    at(gap)
    stream.synchronize()
    begin()


def wait_for_event(gap, event):
    at(gap)
    event.synchronize()
    begin()


def wait_for_device(gap):
    at(gap)
    torch.cuda.synchronize()
    begin()


def replay(gap, graph, stream):
    at(gap)
    with torch.cuda.stream(stream.torch):
        graph.replay()


graphs = []
@graphs@

# ---- the program --------------------------------------------------------------------------


def program():
@body@


def main():
    times_ms = []
    gc.disable()
    for run in range(RUNS + 1):  # the first one warms up
        torch.cuda.synchronize()
        begin()
        start = clock()
        program()
        torch.cuda.synchronize()
        if run > 0:
            times_ms.append((clock() - start) / 1e6)
    @say@("%.3f ms, median of %d runs" % (statistics.median(times_ms), RUNS))


main()
]==]

return language
