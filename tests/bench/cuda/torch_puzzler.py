"""The puzzler's two functions in PyTorch, as they were first published, timed."""
import timed_puzzler

try:
    import torch
except Exception as reason:  # a broken installation raises more than ImportError
    timed_puzzler.missing("PyTorch cannot be imported (%s)" % type(reason).__name__)
if not torch.cuda.is_available():
    timed_puzzler.missing("PyTorch sees no GPU")


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


first_stream = torch.cuda.Stream()
second_stream = torch.cuda.Stream()
third_stream = torch.cuda.Stream()

cpu = torch.device("cpu")
cuda = torch.device("cuda")

data_on_gpu = [torch.rand((1024, 1024), device=cuda) for _ in range(100)]
data_on_cpu = [torch.rand((1024, 1024), device=cpu) for _ in range(100)]
matrix_on_gpu = [torch.rand((1024, 1024), device=cuda) for _ in range(1000)]

timed_puzzler.report(torch.__version__, torch.cuda.synchronize, non_blocking_streams,
                     blocking_streams)
