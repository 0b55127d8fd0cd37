-- memory.lua - pairs about what becomes of memory.

return {
    {
        name = "memory is used again in a stream",
        rows = { "`torch.empty(n, device=\"cuda\")`" },
        of = "lab.empty",
        python = [=[
busy()
for i in range(8):
    x = torch.empty(4 * MiB, device="cuda")
    x.fill_(i)
    del x
show("MiB for 8 times 16 MiB, one after the other", reserved_mib())
]=],
        lua = [=[
busy()
for i = 1, 8 do
    local x = lab.empty(4 * MiB)
    x:fill_(i)
    x:free()
end
show("MiB for 8 times 16 MiB, one after the other", reserved_mib())
]=],
    },
    {
        name = "memory is used again in another stream",
        rows = { "`torch.empty(n, device=\"cuda\")`" },
        of = "lab.empty",
        python = [=[
a, b = torch.cuda.Stream(), torch.cuda.Stream()
busy(a)
for s in [a, b]:
    with torch.cuda.stream(s):
        x = torch.empty(4 * MiB, device="cuda")
        x.fill_(1)
    del x
show("MiB for 16 MiB in each of two streams", reserved_mib())
]=],
        lua = [=[
local a, b = lab.stream(), lab.stream()
busy(a)
for _, s in ipairs{a, b} do
    lab.with(s, function()
        local x = lab.empty(4 * MiB)
        x:fill_(1)
        x:free()
    end)
end
show("MiB for 16 MiB in each of two streams", reserved_mib())
]=],
    },
    {
        name = "memory that another stream still reads",
        rows = { "`x.record_stream(s)`" },
        of = "tensor:free",
        here = { "1 + 1 without record_stream: 2.0" },
        python = [=[
s = torch.cuda.Stream()
x = torch.ones(4 * MiB, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(s):
    busy()
    y = x + 1
del x
z = torch.empty(4 * MiB, device="cuda").fill_(7)
torch.cuda.synchronize()
show("1 + 1 without record_stream", y[0].item())
]=],
        lua = [=[
local s = lab.stream()
local x, y = lab.ones(4 * MiB), nil
lab.synchronize()
lab.with(s, function()
    busy()
    y = x + 1
end)
x:free()
local z = lab.empty(4 * MiB):fill_(7)
lab.synchronize()
show("1 + 1 without record_stream", y:get(1))
]=],
    },
    {
        name = "memory that another stream was told of",
        rows = { "`x.record_stream(s)`" },
        of = "tensor:free",
        python = [=[
s = torch.cuda.Stream()
x = torch.ones(4 * MiB, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(s):
    busy()
    y = x + 1
x.record_stream(s)
del x
z = torch.empty(4 * MiB, device="cuda").fill_(7)
torch.cuda.synchronize()
show("1 + 1", y[0].item())
]=],
        lua = [=[
local s = lab.stream()
local x, y = lab.ones(4 * MiB), nil
lab.synchronize()
lab.with(s, function()
    busy()
    y = x + 1
end)
x:free()
local z = lab.empty(4 * MiB):fill_(7)
lab.synchronize()
show("1 + 1", y:get(1))
]=],
    },
    {
        name = "the last name of a tensor",
        rows = { "`x = None`" },
        of = "tensor:free",
        here = { "MiB still held: 16" },
        python = [=[
x = torch.empty(4 * MiB, device="cuda")
x = None
show("MiB still held", allocated() // MiB)
]=],
        lua = [=[
local x = lab.empty(4 * MiB)
x = nil
show("MiB still held", allocated() // MiB)
]=],
    },
    {
        name = "a tensor given up",
        rows = { "`del x`" },
        of = "tensor:free tensor:view",
        python = [=[
x = torch.empty(4 * MiB, device="cuda")
show("MiB held", allocated() // MiB)
show("the host waits", waits(lambda: torch.empty(4 * MiB, device="cuda").fill_(1)))
y = x.view(-1)
del x
show("a view of it has its values", outcome(lambda: y.fill_(3)[0].item()))
del y
show("MiB still held", allocated() // MiB)
]=],
        lua = [=[
local x = lab.empty(4 * MiB)
show("MiB held", allocated() // MiB)
show("the host waits", waits(function() lab.empty(4 * MiB):fill_(1):free() end))
local y = x:view(-1)
x:free()
show("a view of it has its values", outcome(function() return y:fill_(3):get(1) end))
if not y.freed then y:free() end
show("MiB still held", allocated() // MiB)
]=],
    },
    {
        name = "memory of queued work",
        rows = { "`torch.cuda.memory_allocated()`" },
        of = "lab.live",
        here = { "bytes of one number: 4", "MiB of a tensor given up while it is used: 16" },
        python = [=[
x = torch.empty(1, device="cuda")
show("bytes of one number", allocated())
del x
x = torch.ones(4 * MiB, device="cuda")
busy()
x.fill_(1)
del x
show("MiB of a tensor given up while it is used", allocated() // MiB)
]=],
        lua = [=[
local x = lab.empty(1)
show("bytes of one number", allocated())
x:free()
x = lab.ones(4 * MiB)
busy()
x:fill_(1)
x:free()
show("MiB of a tensor given up while it is used", allocated() // MiB)
]=],
    },
    {
        name = "pinned memory given up during its copy",
        rows = { "`x.to(\"cuda\", non_blocking=True)`" },
        of = "tensor:free",
        python = [=[
x = torch.ones(MiB, pin_memory=True)
warm = x.to("cuda")
busy()
y = x.to("cuda", non_blocking=True)
del x
z = torch.zeros(MiB, pin_memory=True)
torch.cuda.synchronize()
show("what was copied", y[0].item())
]=],
        lua = [=[
local x = lab.ones(MiB, {device = "cpu", pinned = true})
local warm = x:to("cuda")
busy()
local y = x:to("cuda", {non_blocking = true})
x:free()
local z = lab.zeros(MiB, {device = "cpu", pinned = true})
lab.synchronize()
show("what was copied", y:get(1))
]=],
    },
}
