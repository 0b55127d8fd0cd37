"""The first listing: two copies that block, a matmul in the second one's stream."""
import torch

size = 512
device = torch.device("cuda")
input_cpu, matrix_cpu = torch.ones(size, size), torch.ones(size, size)
stream1, stream2 = torch.cuda.Stream(), torch.cuda.Stream()

with torch.cuda.stream(stream1):
    input_gpu = input_cpu.to(device)  # A
with torch.cuda.stream(stream2):
    matrix_gpu = matrix_cpu.to(device)
    output_gpu = torch.matmul(input_gpu, matrix_gpu)  # B
torch.cuda.synchronize()
print("result", output_gpu[0, 0].item(), "of 512")
