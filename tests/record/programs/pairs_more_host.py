"""The second set of programs for pairs.py whose host, copies or waits are changed; as in
pairs_host.py. Their edits are in pairs_more.lua."""
import concurrent.futures
import queue
import threading

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from pairs_host import GPU, a_list_of_pairs, host_work, labels, perceptron, pinned
from pairs_models import Decoder, Recommender, Residual, Video, generator_and_critic, residual_net

PAIRS, pair = a_list_of_pairs()


def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# ---- copies to the GPU -----------------------------------------------------------


@pair
def pin_recommender(after):
    """Features and ids of a recommender are pageable; pinned, and copied with non_blocking."""
    batches = [(torch.rand(8192, 512), torch.randint(0, 50000, (8192, 26))) for _ in range(4)]
    if after:
        batches = [(dense.pin_memory(), ids.pin_memory()) for dense, ids in batches]
    model = Recommender().to(GPU)
    optimizer, clicked = torch.optim.SGD(model.parameters(), lr=1e-2), torch.rand(8192, device=GPU)

    def run(n):
        for i in range(n):
            dense, ids = (t.to(GPU, non_blocking=after) for t in batches[i % 4])
            loss = F.binary_cross_entropy_with_logits(model(dense, ids), clicked)
            update(optimizer, loss)

    return run


@pair
def pin_spectrograms(after):
    """Spectrograms for an LSTM are pageable and copied with cuda(); pinned, with non_blocking."""
    batches = [torch.rand(128, 400, 160) for _ in range(3)]
    if after:
        batches = [b.pin_memory() for b in batches]
    lstm, head = nn.LSTM(160, 256, batch_first=True).to(GPU), nn.Linear(256, 30).to(GPU)

    @torch.no_grad()
    def run(n):
        for i in range(n):
            head(lstm(batches[i % 3].cuda(non_blocking=after))[0])

    return run


@pair
def non_blocking_clips(after):
    """Pinned clips of video are copied with to(); with to(..., non_blocking=True)."""
    clips = [pinned(8, 3, 16, 112, 112) for _ in range(4)]
    model, y = Video().to(GPU), labels(8)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def run(n):
        for i in range(n):
            x = clips[i % 4].to(GPU, non_blocking=after)
            update(optimizer, F.cross_entropy(model(x), y))

    return run


@pair
def prefetch_images(after):
    """Images of bytes are copied and normalised in the model's stream; a batch ahead in another."""
    batches = [torch.randint(0, 255, (192, 3, 224, 224), dtype=torch.uint8).pin_memory()
               for _ in range(3)]
    model = residual_net(32).to(GPU).eval()
    side = torch.cuda.Stream() if after else torch.cuda.current_stream()

    def fetch(i):
        with torch.cuda.stream(side):
            return batches[i % 3].to(GPU, non_blocking=True).float().div_(255)

    @torch.no_grad()
    def run(n):
        following = fetch(0)
        for i in range(n):
            if after:
                torch.cuda.current_stream().wait_stream(side)
            x = following
            if after:
                x.record_stream(torch.cuda.current_stream())
                following = fetch(i + 1)
            model(x)
            if not after:
                following = fetch(i + 1)

    return run


@pair
def weights_from_host(after):
    """Weights of layers are copied from pinned memory before each is used; one layer ahead."""
    layers, side = [pinned(4096, 4096) for _ in range(6)], torch.cuda.Stream()
    x, main = torch.rand(2048, 4096, device=GPU), torch.cuda.current_stream()

    def bring(k):
        with torch.cuda.stream(side if after else main):
            return layers[k].to(GPU, non_blocking=True)

    @torch.no_grad()
    def run(n):
        following = bring(0) if after else None
        for k in range(n):
            w = following if after else bring(k % 6)
            if after:
                main.wait_stream(side)
                w.record_stream(main)
                following = bring((k + 1) % 6)
            torch.relu(x @ w)

    return run


@pair
def boxes_in_one_copy(after):
    """The boxes of each of 64 images are copied by themselves; padded into one tensor."""
    boxes = [torch.rand(100, 4).pin_memory() for _ in range(64)]
    padded, model = pinned(64, 100, 4), residual_net(16).to(GPU).eval()
    x = torch.rand(16, 3, 96, 96, device=GPU)

    def to_gpu():
        if after:
            return padded.to(GPU, non_blocking=True)
        return torch.stack([b.to(GPU, non_blocking=True) for b in boxes])

    @torch.no_grad()
    def run(n):
        for _ in range(n):
            model(x).sum() + to_gpu().sum()

    return run


@pair
def timesteps_on_gpu(after):
    """A diffusion loop copies the constants of each step to the GPU; it takes them from a table."""
    alphas = torch.linspace(0.99, 0.9, 100).tolist()
    table = torch.tensor(alphas, device=GPU)
    model, x = Residual(64).to(GPU).eval(), torch.rand(8, 64, 48, 48, device=GPU)

    def alpha(i):
        return table[i % 100] if after else torch.tensor(alphas[i % 100]).to(GPU)

    @torch.no_grad()
    def run(n):
        y = x
        for i in range(n):
            a = alpha(i)
            y = (y - (1 - a) * model(y)) / a.sqrt()

    return run


# ---- copies to the host ----------------------------------------------------------


@pair
def embeddings_side_stream(after):
    """Embeddings are copied to pinned memory in the model's stream; in a stream of their own."""
    model, x = residual_net(48).to(GPU).eval(), torch.rand(128, 3, 112, 112, device=GPU)
    head = nn.Linear(1000, 32768).to(GPU)
    kept, side = [pinned(128, 32768) for _ in range(3)], torch.cuda.Stream()

    @torch.no_grad()
    def run(n):
        main = torch.cuda.current_stream()
        for i in range(n):
            y = head(model(x))
            if after:
                side.wait_stream(main)
            with torch.cuda.stream(side if after else main):
                kept[i % 3].copy_(y, non_blocking=True)
                y.record_stream(side)

    return run


@pair
def logits_to_pinned(after):
    """Logits of an LSTM are fetched with cpu(); into pinned memory, and waited for at the end."""
    lstm, head = nn.LSTM(128, 256).to(GPU), nn.Linear(256, 2000).to(GPU)
    x = torch.rand(50, 64, 128, device=GPU)
    outs, kept = [pinned(50, 64, 2000) for _ in range(8)], []

    @torch.no_grad()
    def run(n):
        for i in range(n):
            y = head(lstm(x)[0])
            if after:
                outs[i % 8].copy_(y, non_blocking=True)
            else:
                kept[:] = kept[-7:] + [y.cpu()]
        torch.cuda.synchronize()

    return run


@pair
def tolist_each_batch(after):
    """Predicted classes are taken with tolist() after each batch; for all batches at the end."""
    model, x = residual_net(32).to(GPU).eval(), torch.rand(64, 3, 96, 96, device=GPU)

    @torch.no_grad()
    def run(n):
        classes, later = [], []
        for _ in range(n):
            best = model(x).argmax(1)
            if after:
                later.append(best)
            else:
                classes += best.tolist()
        if after:
            classes = torch.cat(later).tolist()
        return classes

    return run


@pair
def snapshots_to_pinned(after):
    """Every fifth step the weights are copied with cpu(); into pinned memory, non-blocking."""
    model, y = perceptron(1024, 4096, 4096, 256), labels(512)
    optimizer, x = torch.optim.SGD(model.parameters(), lr=1e-3), torch.rand(512, 1024, device=GPU)
    snapshot = {k: torch.empty(v.shape).pin_memory() for k, v in model.state_dict().items()}

    def save():
        for name, value in model.state_dict().items():
            if after:
                snapshot[name].copy_(value, non_blocking=True)
            else:
                snapshot[name] = value.cpu()

    def run(n):
        for i in range(n):
            update(optimizer, F.cross_entropy(model(x), y))
            if i % 5 == 4:
                save()

    return run


@pair
def average_on_gpu(after):
    """An average of the weights is kept on the CPU; on the GPU, of all parameters at once."""
    model, x, y = residual_net(32).to(GPU), torch.rand(32, 3, 64, 64, device=GPU), labels(32)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    average = [p.detach().clone() if after else p.detach().cpu() for p in model.parameters()]

    @torch.no_grad()
    def keep_average():
        if after:
            torch._foreach_lerp_(average, list(model.parameters()), 0.01)
        else:
            for kept, p in zip(average, model.parameters()):
                kept.lerp_(p.cpu(), 0.01)

    def run(n):
        for _ in range(n):
            update(optimizer, F.cross_entropy(model(x), y))
            keep_average()

    return run


# ---- the host waits --------------------------------------------------------------


@pair
def masked_tokens(after):
    """A loss is of logits[mask], which waits for the mask; of all, with ignore_index."""
    model = Decoder(256, 4, 2).to(GPU)
    ids = torch.randint(0, 1000, (16, 128), device=GPU)
    mask = torch.rand(16, 128, device=GPU) < 0.15
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def loss(logits):
        if after:
            wanted = torch.where(mask, ids, -100)
            return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)
        return F.cross_entropy(logits[mask], ids[mask])

    def run(n):
        for _ in range(n):
            update(optimizer, loss(model(ids)))

    return run


@pair
def losses_of_a_gan(after):
    """Both losses of a GAN are read with item() in each step; in every twentieth."""
    generator, critic = (m.to(GPU) for m in generator_and_critic())
    first = torch.optim.Adam(generator.parameters(), lr=1e-4)
    second = torch.optim.Adam(critic.parameters(), lr=1e-4)
    real, history = torch.rand(64, 1, 32, 32, device=GPU) * 2 - 1, []

    def note(*losses):
        history.append([loss.item() for loss in losses])

    def run(n):
        for i in range(n):
            fake = generator(torch.randn(64, 64, 1, 1, device=GPU))
            bad = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
            update(second, bad)
            good = F.softplus(-critic(fake)).mean()
            update(first, good)
            if not after or i % 20 == 19:
                note(good, bad)

    return run


@pair
def gradients_are_finite(after):
    """Before each update all gradients are looked at for NaN, one by one; they are not."""
    model, y = perceptron(512, 1024, 1024, 1024, 100), labels(512)
    optimizer, x = torch.optim.SGD(model.parameters(), lr=1e-3), torch.rand(512, 512, device=GPU)

    def finite():
        for p in model.parameters():
            if not torch.isfinite(p.grad).all():
                return False
        return True

    def run(n):
        for _ in range(n):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            if after or finite():
                optimizer.step()

    return run


@pair
def end_of_sequences(after):
    """Generation asks after each token whether all sequences have ended; after each sixteenth."""
    model = Decoder(256, 4, 2).to(GPU).eval()
    prompt = torch.randint(0, 1000, (4, 64), device=GPU)

    def ended(ids):
        return bool((ids[:, -1] == 1001).all())

    @torch.no_grad()
    def run(n):
        ids = prompt
        for i in range(n):
            best = model(ids)[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat((ids[:, 1:], best), 1)
            if (not after or i % 16 == 15) and ended(ids):
                break

    return run


@pair
def synchronize_each_batch(after):
    """A loop of inference ends each batch with torch.cuda.synchronize(); it does not."""
    batches, model = [pinned(64, 3, 64, 64) for _ in range(4)], residual_net(24).to(GPU).eval()

    @torch.no_grad()
    def run(n):
        for i in range(n):
            model(batches[i % 4].to(GPU, non_blocking=True)).softmax(1)
            host_work(8000)
            if not after:
                torch.cuda.synchronize()

    return run


@pair
def times_of_layers(after):
    """Each layer is timed by events which the host waits for at once; it is not timed."""
    layers = [nn.TransformerEncoderLayer(384, 6, 1536, dropout=0.0, batch_first=True).to(GPU)
              for _ in range(6)]
    x, times = torch.rand(16, 128, 384, device=GPU), []

    def timed(layer, y):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        y = layer(y)
        end.record()
        end.synchronize()
        times[:] = times[-50:] + [begin.elapsed_time(end)]
        return y

    def run(n):
        for _ in range(n):
            y = x
            for layer in layers:
                y = layer(y) if after else timed(layer, y)

    return run


@pair
def stages_by_events(after):
    """The host waits for upload and model before it goes on; the streams wait by events."""
    batches, outs = [pinned(2048, 2048) for _ in range(3)], [pinned(2048, 2048) for _ in range(3)]
    up, down, main = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.current_stream()
    model = perceptron(2048, 4096, 2048)

    def follow(stream, earlier):
        stream.wait_stream(earlier) if after else earlier.synchronize()

    @torch.no_grad()
    def run(n):
        for i in range(n):
            with torch.cuda.stream(up):
                x = batches[i % 3].to(GPU, non_blocking=True)
            follow(main, up)
            x.record_stream(main)
            y = model(x)
            follow(down, main)
            with torch.cuda.stream(down):
                outs[i % 3].copy_(y, non_blocking=True)
                y.record_stream(down)

    return run


@pair
def served_one_behind(after):
    """A server's thread waits for each answer before the next request; for the answer before it."""
    requests, answers = [pinned(32, 512) for _ in range(4)], [pinned(32, 512) for _ in range(4)]
    model = perceptron(*[512] * 12)

    @torch.no_grad()
    def serve(todo):
        earlier = None
        while (i := todo.get()) is not None:
            answers[i % 4].copy_(model(requests[i % 4].to(GPU, non_blocking=True)),
                                 non_blocking=True)
            done = torch.cuda.Event()
            done.record()
            if not after:
                done.synchronize()
            elif earlier:
                earlier.synchronize()
            earlier = done

    def run(n):
        todo = queue.Queue()
        for i in list(range(n)) + [None]:
            todo.put(i)
        server = threading.Thread(target=serve, args=(todo,))
        server.start()
        server.join()

    return run


@pair
def cache_is_kept(after):
    """Validation on images of three sizes empties the allocator's cache after each; it keeps it."""
    model = residual_net(24).to(GPU).eval()
    images = [torch.rand(16, 3, side, side, device=GPU) for side in (96, 128, 160)]

    @torch.no_grad()
    def run(n):
        for i in range(n):
            model(images[i % 3])
            if not after:
                torch.cuda.empty_cache()

    return run


# ---- the host is busy ------------------------------------------------------------


@pair
def decode_in_pool(after):
    """Samples are scaled and shuffled by numpy before each step; in a pool, one batch ahead."""
    samples = numpy.random.default_rng(1).random((256, 3, 48, 48), dtype=numpy.float32)
    buffers = [pinned(256, 3, 48, 48) for _ in range(4)]
    model, y = residual_net(16).to(GPU), labels(256)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    pool = concurrent.futures.ThreadPoolExecutor(1)

    def decode(i):
        numpy.multiply(samples[:, :, ::-1], 0.5, out=buffers[i % 4].numpy())
        return buffers[i % 4]

    def run(n):
        following = pool.submit(decode, 0)
        for i in range(n):
            batch = following.result() if after else decode(i)
            if after:
                following = pool.submit(decode, i + 1)
            x = batch.to(GPU, non_blocking=True)
            update(optimizer, F.cross_entropy(model(x), y))

    return run


@pair
def tokenize_in_thread(after):
    """Text is split into ids by Python before each step; in a thread, one batch ahead."""
    text = "what the loader of a program reads is split into words and looked up ".split() * 150
    known = {word: i for i, word in enumerate(sorted(set(text)))}
    model = Decoder(512, 8, 3).to(GPU)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    pool = concurrent.futures.ThreadPoolExecutor(1)

    def tokenize(_):
        ids = [known[word.lower()] for word in text]
        return torch.tensor(ids[:2048]).view(16, 128).pin_memory()

    def run(n):
        following = pool.submit(tokenize, 0)
        for i in range(n):
            batch = following.result() if after else tokenize(i)
            if after:
                following = pool.submit(tokenize, i + 1)
            ids = batch.to(GPU, non_blocking=True)
            update(optimizer, F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()))

    return run
