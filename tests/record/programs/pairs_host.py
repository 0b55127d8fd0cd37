"""Programs for pairs.py whose host, copies or waits are changed. Each function makes one side of
its pair: a function that runs n steps. Its docstring names the change."""
import queue
import threading

import numpy
import torch
from torch import nn
from torch.nn import functional as F

GPU = "cuda"
MB = 1 << 20


def a_list_of_pairs():
    """An empty list by name, and the decorator that adds to it."""
    pairs = {}

    def pair(make):
        pairs[make.__name__] = make
        return make

    return pairs, pair


PAIRS, pair = a_list_of_pairs()


def pinned(*shape):
    return torch.rand(*shape).pin_memory()


def perceptron(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).to(GPU)


def convolutions():
    return nn.Sequential(nn.Conv2d(3, 64, 7, stride=4), nn.ReLU(), nn.Conv2d(64, 128, 3, stride=2),
                         nn.ReLU(), nn.Conv2d(128, 128, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(128, 100)).to(GPU)


class Training:
    """Model, optimizer and loss, as in any training loop."""

    def __init__(self, model, optimizer=None):
        self.model, self.out = model, None
        self.optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=1e-3)

    def step(self, x, y):
        self.out = self.model(x)
        loss = F.cross_entropy(self.out, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def labels(n, classes=100):
    return torch.randint(0, classes, (n,), device=GPU)


def host_work(n):
    """The interpreter is busy; about a millisecond for 30,000."""
    return sum(range(n))


# ---- copies ----------------------------------------------------------------------


@pair
def pin_inputs(after):
    """Batches of images are pageable; pinned, and copied with non_blocking."""
    batches = [torch.rand(64, 3, 128, 128) for _ in range(4)]
    if after:
        batches = [b.pin_memory() for b in batches]
    training, y = Training(convolutions()), labels(64)

    def run(n):
        for i in range(n):
            training.step(batches[i % 4].to(GPU, non_blocking=after), y)

    return run


@pair
def non_blocking_to(after):
    """Pinned batches are copied with to(); with to(..., non_blocking=True)."""
    batches = [pinned(1024, 1024) for _ in range(4)]
    training, y = Training(perceptron(1024, 2048, 2048, 1024)), labels(1024)

    def run(n):
        for i in range(n):
            training.step(batches[i % 4].to(GPU, non_blocking=after), y)

    return run


@pair
def prefetch_stream(after):
    """Pinned batches are copied in the model's stream; one batch ahead in a stream of their own."""
    batches = [pinned(4096, 2048) for _ in range(4)]
    model, side = perceptron(2048, 2048, 2048), torch.cuda.Stream()

    def load(i):
        with torch.cuda.stream(side if after else torch.cuda.current_stream()):
            return batches[i % 4].to(GPU, non_blocking=True)

    @torch.no_grad()
    def run(n):
        following = load(0) if after else None
        for i in range(n):
            if after:
                torch.cuda.current_stream().wait_stream(side)
                x = following
                x.record_stream(torch.cuda.current_stream())
                following = load(i + 1) if i + 1 < n else None
            else:
                x = load(i)
            model(x)

    return run


@pair
def results_side_stream(after):
    """Results are copied to pinned memory in the model's stream; in a stream of their own."""
    x = torch.rand(4096, 2048, device=GPU)
    outs = [pinned(4096, 2048) for _ in range(4)]
    model, side = perceptron(2048, 2048, 2048), torch.cuda.Stream()

    @torch.no_grad()
    def run(n):
        for i in range(n):
            y = model(x)
            if after:
                side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side if after else torch.cuda.current_stream()):
                outs[i % 4].copy_(y, non_blocking=True)
                y.record_stream(side)

    return run


@pair
def pageable_results(after):
    """Predictions are fetched with cpu(); into pinned memory, and waited for at the end."""
    x = torch.rand(4096, 1024, device=GPU)
    outs = [pinned(4096, 256) for _ in range(16)]
    model = perceptron(1024, 1024, 256)

    @torch.no_grad()
    def run(n):
        kept = []
        for i in range(n):
            y = model(x)
            if after:
                outs[i % 16].copy_(y, non_blocking=True)
            else:
                kept = kept[-15:] + [y.cpu()]
        torch.cuda.current_stream().synchronize()

    return run


@pair
def one_large_copy(after):
    """48 pinned features of a batch are copied one by one; packed into one tensor, and split."""
    features = [pinned(512, 16) for _ in range(48)]
    packed = pinned(48 * 512, 16)
    model = perceptron(48 * 16, 512, 100)

    def load():
        if after:
            return packed.to(GPU, non_blocking=True).split(512)
        return [f.to(GPU, non_blocking=True) for f in features]

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            model(torch.cat(load(), 1))

    return run


@pair
def one_copy_for_chunks(after):
    """A pinned tensor of 32 MB is copied in 128 chunks; at once."""
    source, model = pinned(8192, 1024), perceptron(1024, 1024, 64)
    target = torch.empty(8192, 1024, device=GPU)

    def load():
        if after:
            target.copy_(source, non_blocking=True)
        else:
            for to, piece in zip(target.split(64), source.split(64)):
                to.copy_(piece, non_blocking=True)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            load()
            model(target)

    return run


@pair
def scalar_from_host(after):
    """A factor is made by torch.tensor(..., device=) in each step; taken from a table on the GPU."""
    table = torch.linspace(0.5, 1, 64, device=GPU)
    values = table.tolist()
    training, y = Training(perceptron(1024, 2048, 2048, 1024)), labels(1024)
    x = torch.rand(1024, 1024, device=GPU)

    def factor(i):
        return table[i % 64] if after else torch.tensor(values[i % 64], device=GPU)

    def run(n):
        for i in range(n):
            training.step(x * factor(i), y)

    return run


@pair
def noise_on_gpu(after):
    """Noise is made on the CPU and copied; on the GPU."""
    training, y = Training(perceptron(512, 1024, 100)), labels(256)
    x = torch.rand(256, 512, device=GPU)

    def noise():
        return torch.randn(256, 512, device=GPU) if after else torch.randn(256, 512).to(GPU)

    def run(n):
        for _ in range(n):
            training.step(x + noise(), y)

    return run


# ---- the host waits --------------------------------------------------------------


@pair
def results_one_behind(after):
    """The host waits for each result's event before it goes on; for that of the step before."""
    x, model = torch.rand(2048, 2048, device=GPU), perceptron(2048, 2048, 2048)
    outs, events = [pinned(2048, 128) for _ in range(2)], [torch.cuda.Event() for _ in range(2)]

    @torch.no_grad()
    def run(n):
        for i in range(n):
            outs[i % 2].copy_(model(x)[:, :128], non_blocking=True)
            events[i % 2].record()
            if after and i > 0:
                events[(i - 1) % 2].synchronize()
            elif not after:
                events[i % 2].synchronize()
            host_work(15000)

    return run


@pair
def item_each_step(after):
    """loss.item() is added in each step; the losses are added on the GPU."""
    training, y = Training(perceptron(1024, 2048, 2048, 1024)), labels(1024)
    x = torch.rand(1024, 1024, device=GPU)

    def run(n):
        total = 0.0
        for _ in range(n):
            loss = training.step(x, y)
            total += loss.detach() if after else loss.item()
        return float(total)

    return run


@pair
def log_every_50(after):
    """Loss and accuracy are formatted in each step; in every fiftieth."""
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
                          nn.Flatten(), nn.Linear(64 * 256, 100)).to(GPU)
    training, y = Training(model), labels(64)
    x, lines = torch.rand(64, 64, 256, device=GPU), []

    def log(loss, step):
        right = (training.out.argmax(1) == y).float().mean()
        lines.append(f"step {step}: loss {loss.item():.3f}, accuracy {right.item():.3f}")

    def run(n):
        for i in range(n):
            loss = training.step(x, y)
            if not after or i % 50 == 49:
                log(loss, i)

    return run


@pair
def timing_synchronizes(after):
    """Parts of a step are timed with torch.cuda.synchronize(); they are not."""
    model, y = convolutions(), labels(64)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.rand(64, 3, 128, 128, device=GPU)

    def mark():
        if not after:
            torch.cuda.synchronize()

    def run(n):
        for _ in range(n):
            loss = F.cross_entropy(model(x), y)
            mark()
            optimizer.zero_grad()
            loss.backward()
            mark()
            optimizer.step()
            mark()

    return run


@pair
def boolean_mask(after):
    """The mean of y[mask], which waits for the number of elements; of torch.where."""
    model = perceptron(2048, 2048, 2048)
    x, valid = torch.rand(2048, 2048, device=GPU), torch.rand(2048, 2048, device=GPU) > 0.3

    def mean(y):
        return torch.where(valid, y, 0).sum() / valid.sum() if after else y[valid].mean()

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            mean(model(x))

    return run


@pair
def nonzero_rows(after):
    """Rows are chosen by nonzero() and filled with index_fill_; with masked_fill_."""
    model, x = perceptron(1024, 1024, 1024), torch.rand(4096, 1024, device=GPU)

    def clear(y):
        dead = y.mean(1) > 0
        if after:
            y.masked_fill_(dead[:, None], 0)
        else:
            y.index_fill_(0, dead.nonzero()[:, 0], 0)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            clear(model(x))

    return run


@pair
def check_for_nan(after):
    """A step raises an error if the loss is not a number; it does not look."""
    training, y = Training(perceptron(1024, 2048, 2048, 1024)), labels(1024)
    x = torch.rand(1024, 1024, device=GPU)

    def check(loss):
        if torch.isnan(loss):
            raise ValueError("the loss is not a number")

    def run(n):
        for _ in range(n):
            loss = training.step(x, y)
            if not after:
                check(loss)

    return run


@pair
def synchronized_prefetch(after):
    """The host waits for the copy stream in each step; the model's stream does."""
    batches = [pinned(4096, 2048) for _ in range(4)]
    buffers = [torch.empty(4096, 2048, device=GPU) for _ in range(2)]
    model, side = perceptron(2048, 2048, 2048), torch.cuda.Stream()

    @torch.no_grad()
    def run(n):
        main, free = torch.cuda.current_stream(), [None, None]
        for i in range(n):
            with torch.cuda.stream(side):
                if free[i % 2]:
                    side.wait_event(free[i % 2])
                buffers[i % 2].copy_(batches[i % 4], non_blocking=True)
            if after:
                main.wait_stream(side)
            else:
                side.synchronize()
            model(buffers[i % 2])
            free[i % 2] = main.record_event()

    return run


@pair
def empty_cache_each_step(after):
    """torch.cuda.empty_cache() in each step; not at all."""
    training, y = Training(convolutions()), labels(64)
    x = torch.rand(64, 3, 128, 128, device=GPU)

    def run(n):
        for _ in range(n):
            training.step(x, y)
            if not after:
                torch.cuda.empty_cache()

    return run


# ---- the host is busy ------------------------------------------------------------


def ahead(make, n):
    """What make(i) gives for each i, from a thread that is two ahead."""
    ready = queue.Queue(2)

    def work():
        for i in range(n):
            ready.put(make(i))

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(n):
        yield ready.get()
    thread.join()


@pair
def augment_in_thread(after):
    """Each batch is sorted on the host before its step; in a thread that is two ahead."""
    rows = numpy.random.default_rng(0).random((64, 1024), dtype=numpy.float32)
    buffers = [pinned(64, 1024) for _ in range(8)]
    training, y = Training(perceptron(1024, 1024, 100)), labels(64)

    def augment(i):
        buffer = buffers[i % 8]
        buffer.numpy()[:] = numpy.sort(rows, axis=1)
        return buffer

    def run(n):
        for batch in ahead(augment, n) if after else map(augment, range(n)):
            training.step(batch.to(GPU, non_blocking=True), y)

    return run


@pair
def collate_in_thread(after):
    """Samples are stacked, pinned and copied in the loop; stacked and pinned in a thread ahead."""
    samples = [torch.rand(3, 64, 64) for _ in range(64)]
    training, y = Training(convolutions()), labels(64)

    def collate(_):
        return torch.stack(samples).pin_memory()

    def run(n):
        for batch in ahead(collate, n) if after else map(collate, range(n)):
            training.step(batch.to(GPU, non_blocking=True), y)

    return run
