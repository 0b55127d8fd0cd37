"""The second listing: a matmul in stream3 takes what one in stream2 makes."""
import torch

size = 512
device = torch.device("cuda")
data_cpu = torch.ones(size, size)
weight1_cpu, weight2_cpu = torch.ones(size, size), torch.ones(size, size)
stream1, stream2, stream3 = (torch.cuda.Stream() for _ in range(3))

with torch.cuda.stream(stream1):
    data_gpu = data_cpu.to(device)
with torch.cuda.stream(stream2):
    weight1_gpu = weight1_cpu.to(device)
    torch.cuda.synchronize()  # not in the listing: only what follows is to be judged
    torch.cuda._sleep(20_000_000)
    stage1_output = torch.matmul(data_gpu, weight1_gpu)  # A
with torch.cuda.stream(stream3):
    weight2_gpu = weight2_cpu.to(device)
    stage2_output = torch.matmul(stage1_output, weight2_gpu)  # B
torch.cuda.synchronize()
print("result", stage2_output[0, 0].item(), "of 262144")
