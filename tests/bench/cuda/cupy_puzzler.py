"""The puzzler's two functions in CuPy, timed."""
import timed_puzzler

try:
    import cupy
    import numpy
except Exception as reason:  # a broken installation raises more than ImportError
    timed_puzzler.missing("CuPy cannot be imported (%s)" % type(reason).__name__)
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    timed_puzzler.missing("CuPy sees no GPU")


def multiply_and_copy(blocking):
    with first_stream:
        for matrix in matrix_on_gpu:
            cupy.matmul(matrix, matrix)

    with second_stream:
        for data in data_on_gpu:
            data.get(stream=second_stream, blocking=blocking)

    with third_stream:
        for data in data_on_cpu:
            cupy.asarray(data, blocking=blocking)


first_stream = cupy.cuda.Stream()
second_stream = cupy.cuda.Stream()
third_stream = cupy.cuda.Stream()

random = numpy.random.default_rng(0)
data_on_gpu = [cupy.random.rand(1024, 1024, dtype=cupy.float32) for _ in range(100)]
data_on_cpu = [random.random((1024, 1024), dtype=numpy.float32) for _ in range(100)]
matrix_on_gpu = [cupy.random.rand(1024, 1024, dtype=cupy.float32) for _ in range(1000)]

timed_puzzler.report(cupy.__version__, cupy.cuda.runtime.deviceSynchronize,
                     lambda: multiply_and_copy(False), lambda: multiply_and_copy(True))
