# torch_programs.py NAME - programs as PyTorch's users write them, for gpu.sh. Each warms up, and
# prints how long its loop took up to a torch.cuda.synchronize(): loop_s=SECONDS.
#
#   eager     training steps of a small transformer
#   compiled  the same by torch.compile
#   loader    training steps with batches from two workers
#   graph     a model's forward pass as a CUDA graph
#   streams   two streams with an event between them
#   prefetch  a batch ahead in a stream of its own, with record_stream
#   server    two threads that answer requests
#   nccl      two GPUs whose gradients NCCL adds
import os
import queue
import sys
import threading
import time

import torch
from torch import nn

GPU = "cuda"
PROGRAMS = {}


def program(run):
    PROGRAMS[run.__name__] = run
    return run


def timed(loop, warm_up, n):
    loop(warm_up)
    torch.cuda.synchronize()
    start = time.perf_counter()
    loop(n)
    torch.cuda.synchronize()
    print("loop_s=%.6f" % (time.perf_counter() - start), flush=True)


def transformer():
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Linear(512, 512)).to(GPU)


def perceptron():
    return nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                         nn.Linear(1024, 10)).to(GPU)


# ---- training --------------------------------------------------------------------


def train_transformer(compiles):
    model = transformer()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x = torch.randn(16, 128, 512, device=GPU)
    forward = torch.compile(model) if compiles else model

    def loop(n):
        for _ in range(n):
            loss = forward(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    timed(loop, 10, 200)


@program
def eager():
    train_transformer(False)


@program
def compiled():
    train_transformer(True)


@program
def loader():
    data = torch.utils.data.TensorDataset(torch.randn(25600, 512), torch.randint(0, 10, (25600,)))
    batches = torch.utils.data.DataLoader(data, batch_size=256, num_workers=2, pin_memory=True)
    model = perceptron()
    optimizer = torch.optim.Adam(model.parameters())

    def loop(epochs):
        for _ in range(epochs):
            total = 0.0
            for x, y in batches:
                x, y = x.to(GPU, non_blocking=True), y.to(GPU, non_blocking=True)
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()

    timed(loop, 1, 3)


@program
def graph():
    model = perceptron()
    x = torch.randn(256, 512, device=GPU)
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model(x)
        torch.cuda.current_stream().wait_stream(side)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            model(x)

    def loop(n):
        for i in range(n):
            captured.replay()
            if i % 100 == 99:
                torch.cuda.synchronize()

    timed(loop, 100, 20000)


# ---- streams ---------------------------------------------------------------------


@program
def streams():
    a, b = (torch.rand(1024, 1024, device=GPU) for _ in range(2))
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()

    def loop(n):
        for _ in range(n):
            with torch.cuda.stream(first):
                x = a @ b
            second.wait_stream(first)
            with torch.cuda.stream(second):
                y = (x * 1e-3).relu()
                x.record_stream(second)
                y.sum()
            with torch.cuda.stream(first):
                torch.mm(b, a)

    timed(loop, 50, 5000)


@program
def prefetch():
    """As NVIDIA's prefetchers of ImageNet do: the next batch is copied while the model runs."""
    batches = [torch.randn(256, 512).pin_memory() for _ in range(8)]
    model = perceptron()
    side = torch.cuda.Stream()

    def load(i):
        with torch.cuda.stream(side):
            return batches[i % len(batches)].to(GPU, non_blocking=True)

    def loop(n):
        following = load(0)
        for i in range(n):
            torch.cuda.current_stream().wait_stream(side)
            x = following
            x.record_stream(torch.cuda.current_stream())
            following = load(i + 1)
            model(x).sum().backward()
            if i % 50 == 49:
                model.zero_grad()

    timed(loop, 50, 3000)


@program
def server():
    requests, answers = queue.Queue(), queue.Queue()
    model = perceptron()

    def serve():
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            while (x := requests.get()) is not None:
                answers.put(model(x.to(GPU)).argmax(1).cpu())

    threads = [threading.Thread(target=serve) for _ in range(2)]
    for thread in threads:
        thread.start()
    batch = torch.randn(64, 512)

    def loop(n):
        for _ in range(n):
            requests.put(batch)
        for _ in range(n):
            answers.get()

    timed(loop, 100, 4000)
    for _ in threads:
        requests.put(None)
    for thread in threads:
        thread.join()


# ---- several GPUs ----------------------------------------------------------------


def rank(number, world):
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(number)
    dist.init_process_group("nccl", rank=number, world_size=world)
    model = nn.parallel.DistributedDataParallel(transformer(), device_ids=[number])
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x = torch.randn(16, 128, 512, device=GPU)

    def loop(n):
        for _ in range(n):
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    loop(10)
    torch.cuda.synchronize()
    dist.barrier()
    start = time.perf_counter()
    loop(150)
    torch.cuda.synchronize()
    if number == 0:
        print("loop_s=%.6f" % (time.perf_counter() - start), flush=True)
    dist.destroy_process_group()


@program
def nccl():
    torch.multiprocessing.spawn(rank, args=(2,), nprocs=2)


if __name__ == "__main__":
    torch.manual_seed(0)
    PROGRAMS[sys.argv[1]]()
