"""The NULL stream writes what a non-blocking stream reads."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
consumer = torch.cuda.Stream()
torch.cuda.synchronize()

torch.cuda._sleep(20_000_000)
x.fill_(7)  # A
with torch.cuda.stream(consumer):
    y = x * 2  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
