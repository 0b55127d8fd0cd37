"""The order goes through a third stream, from event to event."""
import torch

n = 1 << 20
x = torch.zeros(n, device="cuda")
producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()

with torch.cuda.stream(producer):
    torch.cuda._sleep(20_000_000)
    x.fill_(7)  # A
between = torch.cuda.Stream()
between.wait_event(producer.record_event())
consumer.wait_event(between.record_event())
with torch.cuda.stream(consumer):
    y = x * 2  # B
torch.cuda.synchronize()
print("result", y[0].item(), "of 14")
