"""The host reads a pinned buffer before the copy has filled it."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer = torch.cuda.Stream()
torch.cuda.synchronize()

p = torch.zeros(n, pin_memory=True)
x.fill_(14)
torch.cuda.synchronize()
with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    p.copy_(x, non_blocking=True)  # A
y = p[0].item()  # B
torch.cuda.synchronize()
print("result", y, "of 14")
