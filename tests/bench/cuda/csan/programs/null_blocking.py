"""The NULL stream writes what a blocking stream reads."""
import ctypes

import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")


def blocking_stream():
    # PyTorch's own streams are all made non-blocking.
    handle = ctypes.c_void_p()
    torch.cuda.check_error(torch.cuda.cudart().cudaStreamCreate(ctypes.addressof(handle)))
    return torch.cuda.ExternalStream(handle.value)


consumer = blocking_stream()
torch.cuda.synchronize()

torch.cuda._sleep(20_000_000)
x.fill_(7)  # A
with torch.cuda.stream(consumer):
    y = x * 2  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
