"""A copy to the host that blocks has read its source when it returns."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

p = torch.empty(n, pin_memory=True)
with torch.cuda.stream(producer):
    p.copy_(x)  # A
with torch.cuda.stream(consumer):
    x.fill_(7)  # B
    y = x * 2
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
