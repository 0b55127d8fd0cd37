"""The host refills a pinned buffer that is still being copied."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer = torch.cuda.Stream()
torch.cuda.synchronize()

p = torch.full((n,), 14.0, pin_memory=True)
with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    x.copy_(p, non_blocking=True)  # A
p.fill_(7)  # B
y = x
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
