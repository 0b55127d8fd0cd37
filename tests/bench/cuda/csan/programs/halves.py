"""Two streams work on the two halves of one tensor."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    x[: n // 2].fill_(7)  # A
with torch.cuda.stream(consumer):
    x[n // 2 :].fill_(14)  # B
y = x[n // 2 :]
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
