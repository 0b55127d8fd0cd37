"""Memory is given back in one stream while another one still reads it."""
import sys

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
freed = x.data_ptr()
del x  # no record_stream: the memory goes back to the default stream's pool
z = torch.full((n,), 1.0, device="cuda")  # B
if z.data_ptr() != freed:
    sys.exit("the memory was not used again: nothing is shown")
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
