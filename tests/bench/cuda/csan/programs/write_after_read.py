"""A kernel overwrites what a kernel in another stream still reads."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    y = x + 14  # A
with torch.cuda.stream(consumer):
    x.fill_(7)  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
