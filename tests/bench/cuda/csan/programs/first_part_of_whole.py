"""The same with the first half, which begins where the tensor does."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    x[: n // 2].fill_(7)  # A
with torch.cuda.stream(consumer):
    y = x * 2  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
