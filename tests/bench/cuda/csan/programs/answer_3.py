"""The third listing: batches are copied in stream1, used in stream2."""
import torch

size = 512
device = torch.device("cuda")
stream1, stream2 = torch.cuda.Stream(), torch.cuda.Stream()

for i in range(3):
    data_cpu = torch.ones(32, size)
    with torch.cuda.stream(stream1):
        data_gpu = data_cpu.to(device, non_blocking=True)  # A
    with torch.cuda.stream(stream2):
        output = torch.matmul(data_gpu, torch.ones(size, size, device=device))  # B
    torch.cuda.synchronize()
print("result", output[0, 0].item(), "of 512")
