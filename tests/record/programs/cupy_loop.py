# cupy_loop.py - elementwise kernels, products and copies in two streams for gpu.sh. Prints how long
# the loop took.
import time

import cupy
import numpy

a = cupy.random.rand(1024, 1024, dtype=cupy.float32)
host = numpy.ones((1024, 1024), dtype=numpy.float32)
streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
event = cupy.cuda.Event()


def run(n):
    for i in range(n):
        with streams[0]:
            b = cupy.sqrt(a * a + 1)
            event.record(streams[0])
        with streams[1]:
            streams[1].wait_event(event)
            c = b @ a
            if i % 20 == 0:
                c += cupy.asarray(host)
            if i % 50 == 0:
                float(c.sum())
    cupy.cuda.Device().synchronize()


run(100)
start = time.perf_counter()
run(2000)
print("loop_s=%.6f" % (time.perf_counter() - start))
