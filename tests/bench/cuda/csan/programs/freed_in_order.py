"""Memory is given back behind the stream that reads it."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
consumer = torch.cuda.Stream()
torch.cuda.synchronize()

x.fill_(7)
torch.cuda.synchronize()
with torch.cuda.stream(consumer):
    torch.cuda._sleep(20_000_000)
    y = x * 2  # A
x.record_stream(consumer)
del x
z = torch.full((n,), 1.0, device="cuda")  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
