"""A host function fills a pinned buffer that another stream copies."""
import ctypes

import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

p = torch.zeros(n, pin_memory=True)
address, bytes_ = p.data_ptr(), p.nbytes


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def fill(_):
    ctypes.memset(address, 0x41, bytes_)  # each number is 12.078


# PyTorch has no name for it: the driver's.
launch = ctypes.CDLL("libcuda.so.1").cuLaunchHostFunc
launch.argtypes = [ctypes.c_void_p, type(fill), ctypes.c_void_p]
with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    if launch(producer.cuda_stream, fill, None) != 0:  # A
        raise RuntimeError("cuLaunchHostFunc failed")
with torch.cuda.stream(consumer):
    x.copy_(p, non_blocking=True)  # B
torch.cuda.synchronize()
print("result", x[0].item(), "of 12.078")
