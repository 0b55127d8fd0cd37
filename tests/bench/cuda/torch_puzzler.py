"""The puzzler's two functions in PyTorch, as they were first published, timed.

Prints one line of JSON: the version and the wall times in ms of 11 runs of each function
after 2 warm-ups, from before the first call to the end of torch.cuda.synchronize(); or
{"missing": why}. bench.lua reads it.
"""
import json
import sys
import time

try:
    import torch
except Exception as reason:  # a broken installation raises more than ImportError
    print(json.dumps({"missing": "PyTorch cannot be imported (%s)" % type(reason).__name__}))
    sys.exit(0)
if not torch.cuda.is_available():
    print(json.dumps({"missing": "PyTorch sees no GPU"}))
    sys.exit(0)


def non_blocking_streams():
    with torch.cuda.stream(first_stream):
        for i in range(len(matrix_on_gpu)):
            torch.matmul(matrix_on_gpu[i], matrix_on_gpu[i])

    with torch.cuda.stream(second_stream):
        for i in range(len(data_on_gpu)):
            data_on_gpu[i].to(cpu, non_blocking=True)

    with torch.cuda.stream(third_stream):
        for i in range(len(data_on_cpu)):
            data_on_cpu[i].to(cuda, non_blocking=True)


def blocking_streams():
    with torch.cuda.stream(first_stream):
        for i in range(len(matrix_on_gpu)):
            torch.matmul(matrix_on_gpu[i], matrix_on_gpu[i])

    with torch.cuda.stream(second_stream):
        for i in range(len(data_on_gpu)):
            data_on_gpu[i].to(cpu, non_blocking=False)

    with torch.cuda.stream(third_stream):
        for i in range(len(data_on_cpu)):
            data_on_cpu[i].to(cuda, non_blocking=False)


def wall_ms(function):
    torch.cuda.synchronize()
    began = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) * 1000


first_stream = torch.cuda.Stream()
second_stream = torch.cuda.Stream()
third_stream = torch.cuda.Stream()

cpu = torch.device("cpu")
cuda = torch.device("cuda")

data_on_gpu = [torch.rand((1024, 1024), device=cuda) for _ in range(100)]
data_on_cpu = [torch.rand((1024, 1024), device=cpu) for _ in range(100)]
matrix_on_gpu = [torch.rand((1024, 1024), device=cuda) for _ in range(1000)]

result = {"torch": torch.__version__}
for name, function in (("non_blocking_ms", non_blocking_streams),
                       ("blocking_ms", blocking_streams)):
    runs = [wall_ms(function) for _ in range(2 + 11)]
    result[name] = [round(run, 4) for run in runs[2:]]
print(json.dumps(result))
