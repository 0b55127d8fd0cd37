"""Memory that nobody has used yet is first written in a side stream."""
import torch

n = 1 << 20
consumer = torch.cuda.Stream()
torch.cuda.synchronize()

x = torch.empty(n, device="cuda")  # A
with torch.cuda.stream(consumer):
    x.fill_(7)  # B
    y = x * 2
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
