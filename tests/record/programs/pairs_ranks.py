"""Programs for pairs.py of two GPUs whose gradients NCCL adds; as in pairs_host.py."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from pairs_host import GPU, a_list_of_pairs, labels, perceptron

PAIRS, pair = a_list_of_pairs()
WORLD = 2


def begin(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29513", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=WORLD)


def agreed(n):
    """The number of steps of rank 0, on all ranks."""
    n = torch.tensor([n], device=GPU)
    dist.broadcast(n, 0)
    return int(n)


def layers():
    return perceptron(*[2048] * 12)


def data_parallel(bucket_mb):
    model = nn.parallel.DistributedDataParallel(layers(), bucket_cap_mb=bucket_mb,
                                                device_ids=[torch.cuda.current_device()])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.rand(1024, 2048, device=GPU), labels(1024)

    def run(n):
        for _ in range(n):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

    return run


@pair
def larger_buckets(after):
    """Gradients are added in a bucket for each matrix, of 1 MB at least; in buckets of 64 MB."""
    return data_parallel(64 if after else 1)


@pair
def several_buckets(after):
    """All gradients are in one bucket; in buckets of 25 MB."""
    return data_parallel(25 if after else 1000)


@pair
def all_reduce_async(after):
    """Gradients are added behind the backward pass one by one; with async_op=True in hooks."""
    model, handles = layers(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.rand(1024, 2048, device=GPU), labels(1024)

    def begin_to_add(parameter):
        handles.append(dist.all_reduce(parameter.grad, async_op=True))

    if after:
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(begin_to_add)

    def run(n):
        for _ in range(n):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            if not after:
                for parameter in model.parameters():
                    dist.all_reduce(parameter.grad)
            for handle in handles:
                handle.wait()
            handles.clear()
            optimizer.step()

    return run
