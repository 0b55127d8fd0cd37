# ddp.py OUT [kineto] - data-parallel training on two GPUs with NCCL, for ddp.sh. For each size of
# buckets, in MB, and each way in which rank 1 is slow: warm-up, then 20 steps.
#
#   even  no rank is slow
#   spin  rank 1 runs a kernel of 2 ms before the backward pass
#   host  rank 1 sleeps 2 ms before it; all ranks read the loss there, as programs do that log it
#
# The steps are ranges of NVTX: "step 300" is the first one of the fourth setting, and a setting is
# a range as well, "25 MB, spin". With `kineto` PyTorch's profiler records each setting and rank,
# into OUT/25-spin.rank1.json.gz. What is printed: a line for each setting and rank.
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

SETTINGS = [(25, "even"), (25, "spin"), (25, "host"), (1, "even"), (1, "spin"), (400, "even"),
            (400, "spin")]
WARM_UP, STEPS = 6, 20
SLOW_S = 0.002
WIDTH, DEPTH, BATCH = 2048, 24, 4096  # 24 matrices of 16.8 MB


def spin_cycles():
    """Cycles of torch.cuda._sleep that take SLOW_S."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    cycles = 10_000_000
    torch.cuda._sleep(cycles)
    begin.record()
    torch.cuda._sleep(cycles)
    end.record()
    end.synchronize()
    return int(cycles * SLOW_S * 1000 / begin.elapsed_time(end))


class Training:
    def __init__(self, rank, bucket_mb, slow, cycles):
        layers = []
        for _ in range(DEPTH):
            layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
        self.model = nn.parallel.DistributedDataParallel(
            nn.Sequential(*layers).cuda(), device_ids=[rank], bucket_cap_mb=bucket_mb)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.randn(BATCH, WIDTH, device="cuda")
        self.slow, self.is_late, self.cycles = slow, rank == 1 and slow != "even", cycles

    def step(self):
        loss = self.model(self.x).square().mean()
        if self.slow == "host":
            loss.item()
        if self.is_late and self.slow == "spin":
            torch.cuda._sleep(self.cycles)
        elif self.is_late:
            time.sleep(SLOW_S)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def settle():
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()


def run(training, name, first_step):
    """Seconds that the steps took."""
    for _ in range(WARM_UP):
        training.step()
    settle()
    torch.cuda.nvtx.range_push(name)
    start = time.perf_counter()
    for i in range(STEPS):
        torch.cuda.nvtx.range_push("step %d" % (first_step + i))
        training.step()
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    torch.cuda.nvtx.range_pop()
    settle()
    return seconds


def run_profiled(training, path):
    for _ in range(WARM_UP):
        training.step()
    settle()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                 schedule=schedule(wait=0, warmup=2, active=STEPS, repeat=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(path)) as profiler:
        for _ in range(2 + STEPS):
            training.step()
            profiler.step()
    settle()


def train(rank, out, is_profiled):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29513", NCCL_NVLS_ENABLE="0",
                      RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=2)
    cycles = spin_cycles()
    for number, (bucket_mb, slow) in enumerate(SETTINGS):
        training = Training(rank, bucket_mb, slow, cycles)
        name = "%d MB, %s" % (bucket_mb, slow)
        if is_profiled:
            run_profiled(training, "%s/%d-%s.rank%d.json.gz" % (out, bucket_mb, slow, rank))
            print("%s: rank %d is profiled" % (name, rank), flush=True)
        else:
            seconds = run(training, name, 100 * number)
            print("%s: rank %d, %.3f ms a step" % (name, rank, 1000 * seconds / STEPS), flush=True)
        del training
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(train, args=(sys.argv[1], "kineto" in sys.argv[2:]), nprocs=2)
