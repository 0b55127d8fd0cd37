"""A kernel reads what a kernel in another stream writes."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    x.fill_(7)  # A
with torch.cuda.stream(consumer):
    y = x * 2  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
