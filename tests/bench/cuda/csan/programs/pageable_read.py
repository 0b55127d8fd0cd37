"""The host reads a pageable buffer right after a copy that need not block."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer = torch.cuda.Stream()
torch.cuda.synchronize()

q = torch.zeros(n)
x.fill_(14)
torch.cuda.synchronize()
with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    q.copy_(x, non_blocking=True)  # A
y = q[0].item()  # B
torch.cuda.synchronize()
print("result", y, "of 14")
