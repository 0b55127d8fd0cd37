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

function language.kernel(name, blocks, threads, shared)
    return ("    Kernel(%s, %d, %d, %d),"):format(name, blocks, threads, shared)
end

function language.copy(copy)
    return ("    Copy(\"%s\", \"%s\", %d),"):format(copy.from, copy.to, copy.bytes)
end

function language.graph(_, body)
    return ("graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph, "
        .. "stream=captures[0].torch):\n%s\ngraphs.append(graph)"):format(body)
end

language.text = [==[
@about@
import ctypes
import gc
import statistics
import sys
import time

import torch

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
FOLLOW_US = @follow@  # from one kernel to the next of its stream

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


sources = {
    "device": memory(@from_device@, device="cuda"),
    "pinned": memory(@from_pinned@).pin_memory(),
    "pageable": memory(@from_pageable@),
}
targets = {
    "device": memory(@to_device@, device="cuda"),
    "pinned": memory(@to_pinned@).pin_memory(),
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


class Kernel:
    def __init__(self, name, blocks, threads, shared):
        self.name = name
        blocks = blocks if blocks > 0 else 2 * device.multi_processor_count
        self.ns = ctypes.c_longlong()
        pointer = ctypes.cast(ctypes.byref(self.ns), ctypes.c_void_p)
        self.arguments = (ctypes.c_void_p * 1)(pointer)
        shape = [ctypes.c_uint(n) for n in (blocks, 1, 1, threads, 1, 1, shared)]
        self.shape = (spin, *shape)
        key = (blocks, threads, shared)
        if key not in shapes:
            shapes[key] = self.measured()
        self.fixed, self.slope = shapes[key]

    def start(self, us, stream):
        self.ns.value = int(us * 1000)
        check(cuda.cuLaunchKernel(*self.shape, stream.handle, self.arguments, None))

    def measured(self):
        """Launches follow each other by `fixed` and `slope` times what each block is busy."""
        self.period(2)
        short, long = self.period(2), self.period(6)
        slope = max(0.1, (long - short) / 4)
        return short - 2 * slope, slope

    def period(self, us):
        return (self.many(20, us) - self.many(10, us)) / 10

    def many(self, n, us):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        with torch.cuda.stream(aside.torch):
            torch.cuda._sleep(1000000)  # until all are enqueued
        first.record(aside.torch)
        for _ in range(n):
            self.start(us, aside)
        last.record(aside.torch)
        last.synchronize()
        return first.elapsed_time(last) * 1000


kernels = [
@kernels@
]

# ---- copies -----------------------------------------------------------------------------


class Copy:
    def __init__(self, source, target, n):
        self.source = sources[source][:n]
        self.target = targets[target][:n] if target in targets else None
        self.n, self.is_pageable = n, "pageable" in (source, target)

    def start(self, stream):
        # Results that are not page-locked mostly go to memory that is new.
        target = self.target
        if target is None:
            target = torch.empty(self.n, dtype=torch.uint8)
        with torch.cuda.stream(stream.torch):
            target.copy_(self.source, non_blocking=True)


copies = [
@copies@
]

# ---- calls ------------------------------------------------------------------------------


def launch(gap, kernel, stream, us):
    at(gap)
    kernel.start(max(0, us + FOLLOW_US - kernel.fixed) / kernel.slope, stream)


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
