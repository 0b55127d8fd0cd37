"""The second set of programs for pairs.py whose kernels, launches or streams are changed; as in
pairs_host.py. Their edits are in pairs_more.lua."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from pairs_device import captured
from pairs_host import GPU, MB, a_list_of_pairs, host_work, labels, perceptron, pinned
from pairs_models import Cached, Decoder, Residual, residual_net

PAIRS, pair = a_list_of_pairs()


# ---- optimizers ------------------------------------------------------------------


def steps_with(optimizer, model, loss):
    def update():
        optimizer.step()

    def run(n):
        for _ in range(n):
            optimizer.zero_grad()
            loss(model).backward()
            update()

    return run


@pair
def foreach_decoder(after):
    """Adam updates the weights of a decoder one by one; with foreach=True."""
    model, ids = Decoder(256, 4, 6).to(GPU), torch.randint(0, 1000, (8, 128), device=GPU)
    adam = torch.optim.Adam(model.parameters(), foreach=after, fused=False)
    return steps_with(adam, model, lambda m: F.cross_entropy(m(ids).flatten(0, 1), ids.flatten()))


@pair
def fused_residual(after):
    """AdamW updates the weights of a CNN with foreach=True; with fused=True."""
    model = nn.Sequential(*[Residual(32) for _ in range(8)]).to(GPU)
    x = torch.rand(8, 32, 32, 32, device=GPU)
    adam = torch.optim.AdamW(model.parameters(), foreach=not after, fused=after)
    return steps_with(adam, model, lambda m: m(x).square().mean())


@pair
def momentum_foreach(after):
    """SGD with momentum updates a recurrent model's weights one by one; with foreach=True."""
    model, x = nn.GRU(128, 128, num_layers=8).to(GPU), torch.rand(16, 32, 128, device=GPU)
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4,
                          foreach=after)
    return steps_with(sgd, model, lambda m: m(x)[0].mean())


@pair
def update_every_fourth(after):
    """The model is updated after each of four batches; after the fourth, with all gradients."""
    model, ids = Decoder(256, 4, 4).to(GPU), torch.randint(0, 1000, (4, 128), device=GPU)
    adam = torch.optim.Adam(model.parameters(), foreach=False, fused=False)

    def backward():
        F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()

    def update_early():
        adam.step()
        adam.zero_grad()

    def run(n):
        for _ in range(n):
            for _ in range(3):
                backward()
                if not after:
                    update_early()
            backward()
            adam.step()
            adam.zero_grad()

    return run


# ---- launches --------------------------------------------------------------------


@pair
def batched_experts(after):
    """The 32 experts of a layer are computed one by one; with torch.bmm."""
    x = torch.rand(32, 64, 512, device=GPU)
    up, down = torch.rand(32, 512, 1024, device=GPU), torch.rand(32, 1024, 512, device=GPU)

    def experts():
        if after:
            return torch.bmm(F.gelu(torch.bmm(x, up)), down)
        return torch.stack([F.gelu(t @ a) @ b for t, a, b in zip(x, up, down)])

    def run(n):
        for _ in range(n):
            experts().sum()

    return run


@pair
def recurrent_by_library(after):
    """An LSTM is a loop over time in Python; nn.LSTM."""
    lstm, x = nn.LSTM(128, 256).to(GPU), torch.rand(60, 32, 128, device=GPU)
    wi, wh, bi, bh = lstm.weight_ih_l0.T, lstm.weight_hh_l0.T, lstm.bias_ih_l0, lstm.bias_hh_l0

    def unroll():
        if after:
            return lstm(x)[0]
        h, c, outs = torch.zeros(32, 256, device=GPU), torch.zeros(32, 256, device=GPU), []
        for part in x @ wi + bi + bh:
            i, f, g, o = (part + h @ wh).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outs.append(h)
        return torch.stack(outs)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            unroll()

    return run


@pair
def rms_norm_by_library(after):
    """A root-mean-square norm in bfloat16 is written out; F.rms_norm."""
    x = torch.rand(16384, 2048, device=GPU, dtype=torch.bfloat16)
    w = torch.rand(2048, device=GPU, dtype=torch.bfloat16)

    def normalise():
        if after:
            return F.rms_norm(x, (2048,), w, 1e-5)
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * w

    def run(n):
        for _ in range(n):
            normalise()

    return run


@pair
def compiled_focal_loss(after):
    """A focal loss of many pointwise operations as it is; compiled."""
    logits, wanted = torch.randn(8 * MB, device=GPU), torch.rand(8 * MB, device=GPU).round()

    def focal(logits, wanted):
        p = torch.sigmoid(logits)
        right = p * wanted + (1 - p) * (1 - wanted)
        weight = 0.25 * wanted + 0.75 * (1 - wanted)
        return (-weight * (1 - right).square() * right.clamp_min(1e-7).log()).mean()

    chosen = torch.compile(focal) if after else focal

    def run(n):
        for _ in range(n):
            chosen(logits, wanted)

    return run


@pair
def graph_decode(after):
    """Tokens are generated with a cache of keys launch by launch; by a CUDA graph."""
    cached = Cached(Decoder(512, 8, 6).to(GPU).eval(), 4)
    token = torch.zeros(4, 1, dtype=torch.long, device=GPU)
    place = torch.zeros(1, dtype=torch.long, device=GPU)

    def decode():
        token.copy_(cached.next_token(token, place))
        place.add_(1).remainder_(256)

    graph = captured(decode) if after else None

    def run(n):
        for _ in range(n):
            graph.replay() if after else decode()

    return run


@pair
def graph_residual_training(after):
    """A small CNN is trained launch by launch; each step is a CUDA graph."""
    model, y = residual_net(16, 10).to(GPU), labels(32, 10)
    x, batches = torch.rand(32, 3, 32, 32, device=GPU), [pinned(32, 3, 32, 32) for _ in range(4)]
    adam = torch.optim.AdamW(model.parameters(), foreach=True, capturable=True)

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


@pair
def graph_denoise(after):
    """The steps of a diffusion loop launch by launch; each is a CUDA graph."""
    model = nn.Sequential(*[Residual(48) for _ in range(4)]).to(GPU).eval()
    x, noise = torch.rand(2, 48, 32, 32, device=GPU), torch.rand(2, 48, 32, 32, device=GPU)
    alpha = torch.tensor(0.9, device=GPU)

    @torch.no_grad()
    def denoise():
        x.copy_((x - (1 - alpha) * model(x)) / alpha.sqrt() + 0.01 * noise)

    graph = captured(denoise) if after else None

    def run(n):
        for _ in range(n):
            graph.replay() if after else denoise()

    return run


# ---- faster kernels --------------------------------------------------------------


@pair
def tf32_convolutions(after):
    """Convolutions are trained in float32; in TF32."""
    model, y = residual_net(64).to(GPU), labels(64)
    x, sgd = torch.rand(64, 3, 160, 160, device=GPU), torch.optim.SGD(model.parameters(), lr=1e-3)

    def run(n):
        torch.backends.cudnn.allow_tf32 = after
        for _ in range(n):
            sgd.zero_grad()
            F.cross_entropy(model(x), y).backward()
            sgd.step()
        torch.backends.cudnn.allow_tf32 = True

    return run


@pair
def half_images(after):
    """A CNN answers in float32; in float16."""
    dtype = torch.float16 if after else torch.float32
    model = residual_net(64).to(GPU, dtype).eval()
    x = torch.rand(96, 3, 160, 160, device=GPU, dtype=dtype)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            model(x)

    return run


@pair
def causal_attention(after):
    """A causal attention in bfloat16 is written out; scaled_dot_product_attention."""
    q, k, v = (torch.rand(4, 12, 2048, 64, device=GPU, dtype=torch.bfloat16) for _ in range(3))
    later = torch.ones(2048, 2048, device=GPU, dtype=torch.bool).triu(1)

    def attend():
        if after:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(64)).masked_fill(later, float("-inf"))
        return torch.softmax(scores, -1) @ v

    def run(n):
        for _ in range(n):
            attend()

    return run


@pair
def channels_last_training(after):
    """Convolutions of bfloat16 are trained in rows of channels; in channels_last."""
    layout = torch.channels_last if after else torch.contiguous_format
    model = nn.Sequential(*[nn.Conv2d(64, 64, 3, padding=1) for _ in range(5)])
    model = model.to(GPU, torch.bfloat16, memory_format=layout)
    x = torch.rand(48, 64, 64, 64, device=GPU, dtype=torch.bfloat16).to(memory_format=layout)
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)

    def run(n):
        for _ in range(n):
            sgd.zero_grad()
            model(x).mean().backward()
            sgd.step()

    return run


@pair
def weights_cast_once(after):
    """Weights in float32 are cast by autocast in each call; they are kept in bfloat16."""
    model, x = perceptron(4096, 8192, 8192, 4096), torch.rand(512, 4096, device=GPU)
    if after:
        model, x = model.bfloat16(), x.bfloat16()

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            with torch.autocast("cuda", torch.bfloat16, enabled=not after):
                model(x)

    return run


@pair
def needless_clone(after):
    """Each layer works on a clone of its input; on the input."""
    x, w = torch.rand(16384, 2048, device=GPU), torch.rand(2048, device=GPU)

    def layer(y):
        y = y if after else y.clone()
        return y * w

    def run(n):
        for _ in range(n):
            y = x
            for _ in range(4):
                y = layer(y)

    return run


# ---- streams ---------------------------------------------------------------------


@pair
def graph_towers(after):
    """A CUDA graph has two towers of few blocks captured in one stream; in two."""
    users, items = torch.rand(64, 16384, device=GPU), torch.rand(128, 4096, device=GPU)
    weight, side = torch.rand(4096, 128, device=GPU), torch.cuda.Stream() if after else None

    def normalised():
        y = users
        for _ in range(10):
            y = F.layer_norm(y, (16384,))

    def products():
        for _ in range(6):
            items @ weight

    def towers():
        main = torch.cuda.current_stream()
        if side:
            side.wait_stream(main)
        with torch.cuda.stream(side or main):
            normalised()
        products()
        if side:
            main.wait_stream(side)

    graph = captured(towers)

    def run(n):
        for _ in range(n):
            graph.replay()

    return run


@pair
def ensemble_in_streams(after):
    """Three LSTMs of an ensemble run in one stream; each in its own."""
    a, b, c = (nn.LSTM(256, 512, num_layers=2).to(GPU) for _ in range(3))
    x, main = torch.rand(64, 16, 256, device=GPU), torch.cuda.current_stream()
    second, third = (torch.cuda.Stream() if after else main for _ in range(2))

    def run_second():
        with torch.cuda.stream(second):
            b(x)

    def run_third():
        with torch.cuda.stream(third):
            c(x)

    def wait(stream, earlier):
        if after:
            stream.wait_stream(earlier)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            wait(second, main)
            wait(third, main)
            run_second()
            run_third()
            a(x)
            wait(main, second)
            wait(main, third)

    return run


@pair
def urgent_answers(after):
    """Answers beside large products come from a stream of the same priority; of a higher one."""
    background, large = torch.cuda.Stream(), torch.rand(6144, 6144, device=GPU)
    urgent = torch.cuda.Stream(priority=-1 if after else 0)
    model, x = perceptron(512, 512, 512, 64), torch.rand(32, 512, device=GPU)
    out = pinned(32, 64)

    def train():
        with torch.cuda.stream(background):
            torch.mm(large, large)

    def answer():
        with torch.cuda.stream(urgent):
            out.copy_(model(x), non_blocking=True)

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            train()
            answer()
            urgent.synchronize()
            host_work(60000)

    return run


@pair
def wait_for_download(after):
    """The model's stream waits for the download of the results before; it does not."""
    model, x = residual_net(32).to(GPU).eval(), torch.rand(64, 3, 96, 96, device=GPU)
    head, outs = nn.Linear(1000, 65536).to(GPU), [pinned(64, 65536) for _ in range(3)]
    side, main = torch.cuda.Stream(), torch.cuda.current_stream()

    def wait_before_next():
        if not after:
            main.wait_stream(side)

    @torch.no_grad()
    def run(n):
        for i in range(n):
            y = head(model(x))
            side.wait_stream(main)
            with torch.cuda.stream(side):
                outs[i % 3].copy_(y, non_blocking=True)
                y.record_stream(side)
            wait_before_next()

    return run
