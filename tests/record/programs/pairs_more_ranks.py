"""The second set of programs for pairs.py of two GPUs; as in pairs_ranks.py. Their edits are in
pairs_more.lua."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from pairs_host import GPU, a_list_of_pairs, labels, perceptron
from pairs_models import Decoder, residual_net

PAIRS, pair = a_list_of_pairs()


def data_parallel(model, bucket_mb):
    devices = [torch.cuda.current_device()] if GPU == "cuda" else None
    return nn.parallel.DistributedDataParallel(model.to(GPU), device_ids=devices,
                                               bucket_cap_mb=bucket_mb)


def steps(model, loss):
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)

    def run(n):
        for _ in range(n):
            sgd.zero_grad()
            loss().backward()
            sgd.step()

    return run


@pair
def decoder_buckets(after):
    """Gradients of a decoder are added in buckets of 1 MB; of 100 MB."""
    model = data_parallel(Decoder(1024, 16, 6), 100 if after else 1)
    ids = torch.randint(0, 1000, (8, 256), device=GPU)
    return steps(model, lambda: F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()))


@pair
def perceptron_buckets(after):
    """All gradients of a model of wide layers are in one bucket; in buckets of 10 MB."""
    model = data_parallel(perceptron(*[1536] * 16), 10 if after else 1000)
    x, y = torch.rand(2048, 1536, device=GPU), labels(2048)
    return steps(model, lambda: F.cross_entropy(model(x), y))


@pair
def one_all_reduce(after):
    """Gradients are added by a call for each parameter; packed into one tensor, by one."""
    model, y = residual_net(64).to(GPU), labels(32)
    x, sgd = torch.rand(32, 3, 96, 96, device=GPU), torch.optim.SGD(model.parameters(), lr=1e-3)

    def add_gradients():
        if not after:
            for p in model.parameters():
                dist.all_reduce(p.grad)
            return
        packed = torch.cat([p.grad.flatten() for p in model.parameters()])
        dist.all_reduce(packed)
        parts = packed.split([p.numel() for p in model.parameters()])
        for p, part in zip(model.parameters(), parts):
            p.grad.copy_(part.view_as(p))

    def run(n):
        for _ in range(n):
            sgd.zero_grad()
            F.cross_entropy(model(x), y).backward()
            add_gradients()
            sgd.step()

    return run


@pair
def added_at_the_end(after):
    """Gradients are added after each of three batches; after the third only."""
    model, y = perceptron(*[1024] * 12).to(GPU), labels(1024)
    x, sgd = torch.rand(1024, 1024, device=GPU), torch.optim.SGD(model.parameters(), lr=1e-3)

    def add_between():
        for p in model.parameters():
            dist.all_reduce(p.grad)

    def add_all():
        for p in model.parameters():
            dist.all_reduce(p.grad)

    def run(n):
        for _ in range(n):
            sgd.zero_grad()
            for k in range(3):
                F.cross_entropy(model(x), y).backward()
                if k == 2:
                    add_all()
                elif not after:
                    add_between()
            sgd.step()

    return run
