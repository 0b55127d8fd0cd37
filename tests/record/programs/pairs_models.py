"""Models for the second set of programs (pairs_more_*.py), as people write them."""
import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    """Two convolutions, and what came in is added."""

    def __init__(self, width):
        super().__init__()
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return F.relu(x + self.second(F.relu(self.norm(self.first(x)))))


def residual_net(width, classes=1000):
    return nn.Sequential(nn.Conv2d(3, width, 7, stride=4, padding=3), nn.ReLU(), Residual(width),
                         Residual(width), nn.Conv2d(width, 2 * width, 3, stride=2), nn.ReLU(),
                         Residual(2 * width), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(2 * width, classes))


class Video(nn.Module):
    """Convolutions in space and time."""

    def __init__(self, classes=100):
        super().__init__()
        self.first = nn.Conv3d(3, 32, 5, stride=(1, 2, 2))
        self.second, self.head = nn.Conv3d(32, 64, 3, stride=2), nn.Linear(64, classes)

    def forward(self, x):
        return self.head(F.relu(self.second(F.relu(self.first(x)))).mean((2, 3, 4)))


class Recommender(nn.Module):
    """Dense features, and the sum of the embeddings of 26 ids."""

    def __init__(self):
        super().__init__()
        self.bags = nn.EmbeddingBag(50000, 64, mode="sum")
        self.dense = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, dense, ids):
        return self.top(torch.cat((self.dense(dense), self.bags(ids)), 1)).squeeze(1)


class Block(nn.Module):
    """A layer of a decoder."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.behind = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        return [t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for t in self.qkv(self.before(x)).chunk(3, -1)]

    def rest(self, x, attended):
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.behind(x))))

    def forward(self, x):
        q, k, v = self.split(x)
        return self.rest(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))


class Decoder(nn.Module):
    """A language model of 1024 words."""

    def __init__(self, width, heads, layers):
        super().__init__()
        self.words, self.head = nn.Embedding(1024, width), nn.Linear(width, 1024)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Cached:
    """Generates a token at a time; keys and values of up to 256 tokens are kept."""

    def __init__(self, model, batch):
        self.model = model
        weight = model.head.weight
        block = model.blocks[0]
        shape = len(model.blocks), 2, batch, block.heads, 256, weight.shape[1] // block.heads
        self.kept = torch.zeros(shape, device=weight.device)

    @torch.no_grad()
    def next_token(self, token, place):
        """token: (batch, 1); place: a tensor of one integer on the GPU."""
        x = self.model.words(token)
        for block, (keys, values) in zip(self.model.blocks, self.kept):
            q, k, v = block.split(x)
            keys.index_copy_(2, place, k)
            values.index_copy_(2, place, v)
            x = block.rest(x, F.scaled_dot_product_attention(q, keys, values))
        return self.model.head(x).argmax(-1)


def generator_and_critic():
    """Of images of 32 x 32."""
    up = [nn.ConvTranspose2d(64, 128, 4), nn.ReLU()]
    for a, b in ((128, 64), (64, 32), (32, 1)):
        up += [nn.ConvTranspose2d(a, b, 4, 2, 1), nn.ReLU()]
    down = []
    for a, b in ((1, 32), (32, 64), (64, 128)):
        down += [nn.Conv2d(a, b, 4, 2, 1), nn.LeakyReLU(0.2)]
    return (nn.Sequential(*up[:-1], nn.Tanh()),
            nn.Sequential(*down, nn.Flatten(), nn.Linear(128 * 16, 1)))
