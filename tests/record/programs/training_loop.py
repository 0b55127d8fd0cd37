"""training_loop.py [CHANGE...] - a training loop as people write it: random batches of images that
the host normalises, a small CNN, AdamW with clipped gradients, loss and accuracy in each line of
the log, and a checkpoint now and then. Prints the time of a step.

Changes, each of which keeps what is learned (docs/guide/23-what-if.md):
  pin     batches are written into pinned memory, and copied with non_blocking=True
  log     loss, accuracy and norm are read in every fiftieth step in place of each
  thread  a thread makes the batches, two ahead
  fused   AdamW(fused=True)
  graph   a step is captured once as a CUDA graph, and replayed

training_loop.py --walls FILE TURNS: the loop without changes, with the first, with the first two,
..., by turns in this process; FILE gets a row for each: its last change, turn, steps, seconds."""
import queue
import sys
import threading
import time

import torch
from torch import nn
from torch.nn import functional as F

GPU = "cuda"
CHANGES = ["pin", "log", "thread", "fused", "graph"]
BATCH, STEPS, BUFFERS = 128, 60, 4


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.second(F.relu(self.norm(self.first(x)))))


class Loader:
    """Random batches of the images in memory."""

    def __init__(self, pin):
        self.images = torch.randint(0, 256, (8192, 3, 64, 64), dtype=torch.uint8)
        self.classes = torch.randint(0, 10, (8192,))
        self.buffers = [torch.empty(BATCH, 3, 64, 64) for _ in range(BUFFERS)] if pin else []
        self.buffers = [buffer.pin_memory() for buffer in self.buffers]
        self.copied = [torch.cuda.Event() for _ in self.buffers]

    def batch(self, i):
        chosen = torch.randint(0, 8192, (BATCH,))
        x = self.images[chosen].float()
        if self.buffers:
            self.copied[i % BUFFERS].synchronize()  # before it is written again
            x = torch.sub(x, 120.0, out=self.buffers[i % BUFFERS]).mul_(1 / 64)
        else:
            x = (x - 120.0) / 64
        return x, self.classes[chosen]

    def was_copied(self, i):
        if self.buffers:
            self.copied[i % BUFFERS].record()


def ahead(make, numbers):
    """As map, from a thread that is two ahead."""
    ready = queue.Queue(2)

    def work():
        for i in numbers:
            ready.put(make(i))

    threading.Thread(target=work).start()
    for _ in numbers:
        yield ready.get()


class Loop:
    def __init__(self, changes):
        self.changes, self.lines = changes, []
        torch.manual_seed(0)
        self.loader = Loader("pin" in changes)
        self.model = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(),
                                   *[Residual(32) for _ in range(5)], nn.AdaptiveAvgPool2d(4),
                                   nn.Flatten(), nn.Linear(512, 10)).to(GPU)
        more = {"fused": True} if "fused" in changes else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3,
                                           capturable="graph" in changes, **more)
        self.graph = None
        if "graph" in changes:
            self.capture()

    def update(self):
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return norm

    def step(self, x, y):
        out = self.model(x)
        loss = F.cross_entropy(out, y)
        self.optimizer.zero_grad()
        loss.backward()
        norm = self.update()
        return loss.detach(), (out.argmax(1) == y).float().mean(), norm

    def capture(self):
        self.x = torch.zeros(BATCH, 3, 64, 64, device=GPU)
        self.y = torch.zeros(BATCH, dtype=torch.long, device=GPU)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step(self.x, self.y)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.results = self.step(self.x, self.y)

    def step_on_host_batch(self, x, y):
        pinned = "pin" in self.changes
        if self.graph:
            self.x.copy_(x, non_blocking=pinned)
            self.y.copy_(y, non_blocking=pinned)
            self.graph.replay()
            return self.results
        return self.step(x.to(GPU, non_blocking=pinned), y.to(GPU, non_blocking=pinned))

    def log(self, i, loss, right, norm):
        self.lines.append(f"step {i}: loss {loss.item():.3f}, accuracy {right.item():.3f}, "
                          f"gradients {norm.item():.2f}")

    def checkpoint(self):
        self.saved = {name: value.cpu() for name, value in self.model.state_dict().items()}

    def run(self, n, first=0):
        make = ahead if "thread" in self.changes else map
        batches = make(self.loader.batch, range(first, first + n))
        for i, (x, y) in enumerate(batches, first):
            torch.cuda.nvtx.range_push(f"step {i}")
            results = self.step_on_host_batch(x, y)
            self.loader.was_copied(i)
            if "log" not in self.changes or i % 50 == 49:
                self.log(i, *results)
            if i % 50 == 49:
                self.checkpoint()
            torch.cuda.nvtx.range_pop()


def seconds_of(loop, n, first=0):
    torch.cuda.synchronize()
    start = time.perf_counter()
    loop.run(n, first)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def walls(file, turns):
    loops = {(["before"] + CHANGES)[k]: Loop(CHANGES[:k]) for k in range(len(CHANGES) + 1)}
    for loop in loops.values():
        loop.run(STEPS)
    with open(file, "w") as f:
        for turn in range(turns):
            for last, loop in loops.items():
                loop.run(4)
                f.write(f"{last}\t{turn + 1}\t{STEPS}\t{seconds_of(loop, STEPS):.6f}\n")


def main(changes):
    if changes[:1] == ["--walls"]:
        walls(changes[1], int(changes[2]))
        return
    unknown = set(changes) - set(CHANGES)
    if unknown:
        sys.exit(f"training_loop.py: no change {min(unknown)}; there are {', '.join(CHANGES)}")
    loop = Loop(changes)
    loop.run(STEPS)
    took = seconds_of(loop, STEPS, STEPS)
    print(f"{1000 * took / STEPS:.2f} ms a step; {loop.lines[-1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
