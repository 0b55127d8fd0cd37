"""Programs for pairs.py whose kernels, launches or streams are changed; as in pairs_host.py."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from pairs_host import GPU, MB, Training, convolutions, host_work, labels, perceptron, pinned

PAIRS = {}


def pair(make):
    PAIRS[make.__name__] = make
    return make


def deep():
    """Many small parameters, so that the optimizer's launches count."""
    return perceptron(*[128] * 40)


def transformer(layers):
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).to(GPU)


def deep_training(optimizer):
    """Steps of a deep model whose parts are functions, so that lines can be told apart."""
    model, y = deep(), labels(128)
    x, update = torch.rand(128, 128, device=GPU), optimizer(model)

    def run(n):
        for _ in range(n):
            model.zero_grad()
            F.cross_entropy(model(x), y).backward()
            update()

    return run


# ---- optimizers and gradients ----------------------------------------------------


@pair
def foreach_optimizer(after):
    """AdamW updates the parameters one by one; with foreach=True."""

    def optimizer(model):
        adam = torch.optim.AdamW(model.parameters(), foreach=after, fused=False)

        def update():
            adam.step()

        return update

    return deep_training(optimizer)


@pair
def fused_optimizer(after):
    """AdamW with foreach=True; with fused=True."""

    def optimizer(model):
        adam = torch.optim.AdamW(model.parameters(), foreach=not after, fused=after)

        def update():
            adam.step()

        return update

    return deep_training(optimizer)


@pair
def clip_foreach(after):
    """Gradients are clipped one by one; with foreach=True."""

    def optimizer(model):
        sgd = torch.optim.SGD(model.parameters(), lr=1e-3)

        def clip():
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=after)

        def update():
            clip()
            sgd.step()

        return update

    return deep_training(optimizer)


@pair
def zero_grad_to_none(after):
    """Gradients are set to zero and added to; set to None."""
    model, y = perceptron(2048, 4096, 4096, 1024), labels(256)
    x = torch.rand(256, 2048, device=GPU)
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)

    def run(n):
        for _ in range(n):
            sgd.zero_grad(set_to_none=after)
            F.cross_entropy(model(x), y).backward()
            sgd.step()

    return run


@pair
def accumulate_gradients(after):
    """The model is updated after each of two batches; after the second, with both gradients."""
    model, y = deep(), labels(128)
    x = torch.rand(128, 128, device=GPU)
    adam = torch.optim.AdamW(model.parameters(), foreach=False, fused=False)

    def update_after_first():
        adam.step()
        adam.zero_grad()

    def run(n):
        for _ in range(n):
            F.cross_entropy(model(x), y).backward()
            if not after:
                update_after_first()
            F.cross_entropy(model(x), y).backward()
            adam.step()
            adam.zero_grad()

    return run


# ---- launches --------------------------------------------------------------------


@pair
def batched_products(after):
    """64 pairs of matrices are multiplied one by one; by torch.bmm."""
    a, b = torch.rand(64, 128, 256, device=GPU), torch.rand(64, 256, 128, device=GPU)

    def multiply():
        return torch.bmm(a, b) if after else torch.stack([torch.mm(p, q) for p, q in zip(a, b)])

    def run(n):
        for _ in range(n):
            multiply().relu()

    return run


@pair
def batched_heads(after):
    """The heads of an attention are computed one by one; together."""
    q, k, v = (torch.rand(16, 512, 64, device=GPU) for _ in range(3))

    def attend(q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v

    def run(n):
        for _ in range(n):
            y = attend(q, k, v) if after else torch.stack([attend(*h) for h in zip(q, k, v)])
            y.mul_(2)

    return run


@pair
def fused_layer_norm(after):
    """A layer norm is written out; by layer_norm."""
    x = torch.rand(8192, 1024, device=GPU)
    w, b = torch.rand(1024, device=GPU), torch.rand(1024, device=GPU)

    def normalise():
        if after:
            return F.layer_norm(x, (1024,), w, b)
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).square().mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + 1e-5) * w + b

    def run(n):
        for _ in range(n):
            normalise()

    return run


@pair
def compiled_pointwise(after):
    """A chain of pointwise operations as it is; compiled."""
    x = torch.rand(4 * MB, device=GPU)

    def chain(x):
        y = (x * 1.5 + 0.5).tanh()
        return y * torch.sigmoid(x) - (y * y + 1).rsqrt()

    chosen = torch.compile(chain) if after else chain

    def run(n):
        for _ in range(n):
            chosen(x)

    return run


def captured(body):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            body()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph


@pair
def graph_inference(after):
    """A model answers small requests launch by launch; by a CUDA graph."""
    model, requests = transformer(3), [pinned(2, 32, 256) for _ in range(4)]
    x = torch.rand(2, 32, 256, device=GPU)

    @torch.no_grad()
    def answer():
        return model(x)

    graph = captured(answer) if after else None

    def run(n):
        for i in range(n):
            x.copy_(requests[i % 4], non_blocking=True)
            graph.replay() if after else answer()

    return run


@pair
def graph_training(after):
    """Training steps launch by launch; each as a CUDA graph."""
    model, y = deep(), labels(128)
    x, batches = torch.rand(128, 128, device=GPU), [pinned(128, 128) for _ in range(4)]
    adam = torch.optim.Adam(model.parameters(), foreach=True, capturable=True)

    def step():
        adam.zero_grad(set_to_none=False)
        F.cross_entropy(model(x), y).backward()
        adam.step()

    graph = captured(step) if after else None

    def run(n):
        for i in range(n):
            x.copy_(batches[i % 4], non_blocking=True)
            graph.replay() if after else step()

    return run


# ---- faster kernels --------------------------------------------------------------


@pair
def tf32_products(after):
    """Matrix products in float32; in TF32."""
    model, y = perceptron(1024, 4096, 4096, 1024), labels(1024)
    training, x = Training(model), torch.rand(1024, 1024, device=GPU)

    def run(n):
        torch.set_float32_matmul_precision("high" if after else "highest")
        for _ in range(n):
            training.step(x, y)
        torch.set_float32_matmul_precision("highest")

    return run


@pair
def bfloat16_model(after):
    """A model in float32; in bfloat16."""
    dtype = torch.bfloat16 if after else torch.float32
    model = transformer(4).to(dtype)
    x = torch.rand(32, 128, 256, device=GPU, dtype=dtype)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            y = x
            for layer in model.layers:
                y = y + layer.linear2(F.gelu(layer.linear1(layer.norm1(y))))

    return run


@pair
def fused_attention(after):
    """An attention is written out; by scaled_dot_product_attention."""
    q, k, v = (torch.rand(8, 16, 1024, 64, device=GPU, dtype=torch.float16) for _ in range(3))

    def attend():
        if after:
            return F.scaled_dot_product_attention(q, k, v)
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(64), -1) @ v

    def run(n):
        for _ in range(n):
            attend()

    return run


@pair
def channels_last(after):
    """Convolutions of float16 in rows of channels; with memory_format=torch.channels_last."""
    layout = torch.channels_last if after else torch.contiguous_format
    model = nn.Sequential(*[nn.Conv2d(128, 128, 3, padding=1) for _ in range(6)])
    model = model.to(GPU, torch.float16, memory_format=layout)
    x = torch.rand(32, 128, 56, 56, device=GPU, dtype=torch.float16)
    x = x.to(memory_format=layout)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            model(x)

    return run


@pair
def empty_not_zeros(after):
    """An output is made by torch.zeros and written whole; by torch.empty."""
    a, b = torch.rand(32 * MB, device=GPU), torch.rand(32 * MB, device=GPU)

    def output():
        return (torch.empty if after else torch.zeros)(32 * MB, device=GPU)

    def run(n):
        for _ in range(n):
            torch.mul(a, b, out=output())

    return run


# ---- streams ---------------------------------------------------------------------


def branches():
    """Two chains of kernels of few blocks, which do not need each other."""
    a, b = torch.rand(256, 8192, device=GPU), torch.rand(8192, 256, device=GPU)
    x = torch.rand(32, 65536, device=GPU)

    def products():
        for _ in range(8):
            torch.mm(a, b)

    def softmaxes():
        for _ in range(8):
            torch.softmax(x, 1)

    return products, softmaxes


def both_branches(first, second, side):
    """The second in a stream of its own, if there is one."""
    main = torch.cuda.current_stream()
    if side:
        side.wait_stream(main)
    with torch.cuda.stream(side or main):
        second()
    first()
    if side:
        main.wait_stream(side)


@pair
def two_streams(after):
    """Independent branches of small kernels in one stream; in two."""
    first, second = branches()
    side = torch.cuda.Stream() if after else None

    def run(n):
        for _ in range(n):
            both_branches(first, second, side)

    return run


@pair
def graph_branches(after):
    """A CUDA graph whose independent branches are captured in one stream; in two."""
    first, second = branches()
    side = torch.cuda.Stream() if after else None
    graph = captured(lambda: both_branches(first, second, side))

    def run(n):
        for _ in range(n):
            graph.replay()

    return run


@pair
def urgent_stream(after):
    """Requests beside a large kernel in a stream of the same priority; of a higher one."""
    background = torch.cuda.Stream()
    urgent = torch.cuda.Stream(priority=-1 if after else 0)
    large = torch.rand(512 * MB, device=GPU)
    x, model = torch.rand(64, 256, device=GPU), perceptron(256, 256, 64)
    out, done = pinned(64, 64), torch.cuda.Event()

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            with torch.cuda.stream(background):
                large.mul_(1.0001)
            with torch.cuda.stream(urgent):
                out.copy_(model(x), non_blocking=True)
                done.record()
            done.synchronize()
            host_work(30000)

    return run


@pair
def needless_wait(after):
    """The model's stream waits for a stream that keeps averages of weights; it does not."""
    model, y = perceptron(1024, 2048, 2048, 1024), labels(1024)
    training, x = Training(model), torch.rand(1024, 1024, device=GPU)
    source = torch.rand(64 * MB, device=GPU)
    average, side = torch.zeros(64 * MB, device=GPU), torch.cuda.Stream()

    def run(n):
        main = torch.cuda.current_stream()
        for _ in range(n):
            side.wait_stream(main)
            with torch.cuda.stream(side):
                average.lerp_(source, 0.01)
            if not after:
                main.wait_stream(side)
            training.step(x, y)

    return run
