-- copies.lua - pairs about copies, and about what makes the host wait.

return {
    {
        name = "a copy to the host",
        rows = { "`x.to(\"cpu\")`", "`x.cpu()`" },
        of = "tensor:to tensor:cpu",
        python = [=[
x = torch.ones(4, device="cuda")
y = x.to("cpu")
show("the host waits", waits(lambda: x.to("cpu")))
show("the host waits for cpu()", waits(lambda: x.cpu()))
show("it is pinned", y.is_pinned())
show("the values", y.tolist())
show("of a host tensor it is the tensor itself", y.cpu() is y)
]=],
        lua = [=[
local x = lab.ones(4)
local y = x:to("cpu")
show("the host waits", waits(function() return x:to("cpu") end))
show("the host waits for cpu()", waits(function() return x:cpu() end))
show("it is pinned", y.pinned)
show("the values", y:totable())
show("of a host tensor it is the tensor itself", y:cpu() == y)
]=],
    },
    {
        name = "a copy to the host that does not wait",
        rows = { "`x.to(\"cpu\", non_blocking=True)`" },
        of = "tensor:to tensor:cpu",
        python = [=[
x = torch.ones(4, device="cuda")
show("the host waits", waits(lambda: x.to("cpu", non_blocking=True)))
show("the host waits for a large one", waits(lambda big=torch.ones(16 * MiB, device="cuda"): big.to("cpu", non_blocking=True)))
y = x.to("cpu", non_blocking=True)
show("it is pinned", y.is_pinned())
torch.cuda.synchronize()
show("the values afterwards", y.tolist())
]=],
        lua = [=[
local x = lab.ones(4)
show("the host waits", waits(function() return x:to("cpu", {non_blocking = true}) end))
local big = lab.ones(16 * MiB)
show("the host waits for a large one", waits(function() return big:to("cpu", {non_blocking = true}) end))
local y = x:to("cpu", {non_blocking = true})
show("it is pinned", y.pinned)
lab.synchronize()
show("the values afterwards", y:totable())
]=],
    },
    {
        name = "a copy to the GPU from pinned memory",
        rows = { "`x.to(\"cuda\", non_blocking=True)`" },
        of = "tensor:to tensor:cuda",
        python = [=[
x = torch.ones(MiB, pin_memory=True)
show("the host waits", waits(lambda: x.to("cuda")))
show("the host waits with non_blocking", waits(lambda: x.to("cuda", non_blocking=True)))
show("the host waits for cuda(non_blocking)", waits(lambda: x.cuda(non_blocking=True)))
y = x.to("cuda")
show("of a GPU's tensor it is the tensor itself", y.to("cuda") is y)
]=],
        lua = [=[
local x = lab.ones(MiB, {device = "cpu", pinned = true})
show("the host waits", waits(function() return x:to("cuda") end))
show("the host waits with non_blocking", waits(function() return x:to("cuda", {non_blocking = true}) end))
show("the host waits for cuda(non_blocking)", waits(function() return x:cuda{non_blocking = true} end))
local y = x:to("cuda")
show("of a GPU's tensor it is the tensor itself", y:to("cuda") == y)
]=],
    },
    {
        name = "a copy to the GPU from pageable memory",
        rows = { "`x.to(\"cuda\", non_blocking=True)`" },
        of = "tensor:to tensor:cuda",
        python = [=[
small, large = torch.ones(1024), torch.ones(16 * MiB)
show("the host waits for 4 KiB", waits(lambda: small.to("cuda")))
show("the host waits for 4 KiB with non_blocking", waits(lambda: small.to("cuda", non_blocking=True)))
show("the host waits for 64 MiB with non_blocking", waits(lambda: large.to("cuda", non_blocking=True)))
]=],
        lua = [=[
local small, large = lab.ones(1024, {device = "cpu"}), lab.ones(16 * MiB, {device = "cpu"})
show("the host waits for 4 KiB", waits(function() return small:to("cuda") end))
show("the host waits for 4 KiB with non_blocking", waits(function() return small:to("cuda", {non_blocking = true}) end))
show("the host waits for 64 MiB with non_blocking", waits(function() return large:to("cuda", {non_blocking = true}) end))
]=],
    },
    {
        name = "a copy into a tensor",
        rows = { "`x.copy_(y, non_blocking=True)`", "`x.copy_(y)`" },
        of = "tensor:copy_",
        python = [=[
x, y = torch.zeros(4, device="cuda"), torch.ones(4, device="cuda")
pinned, pageable = torch.ones(4, pin_memory=True), torch.ones(4)
show("it gives the destination", x.copy_(y) is x)
show("the values", x.tolist())
show("the host waits within the GPU", waits(lambda: x.copy_(y)))
show("the host waits from pinned memory", waits(lambda: x.copy_(pinned)))
show("with non_blocking", waits(lambda: x.copy_(pinned, non_blocking=True)))
show("the host waits to pinned memory", waits(lambda: pinned.copy_(x)))
show("with non_blocking, too", waits(lambda: pinned.copy_(x, non_blocking=True)))
show("the host waits to pageable memory with non_blocking", waits(lambda: pageable.copy_(x, non_blocking=True)))
]=],
        lua = [=[
local x, y = lab.zeros(4), lab.ones(4)
local pinned, pageable = lab.ones(4, {device = "cpu", pinned = true}), lab.ones(4, {device = "cpu"})
show("it gives the destination", x:copy_(y) == x)
show("the values", x:totable())
show("the host waits within the GPU", waits(function() return x:copy_(y) end))
show("the host waits from pinned memory", waits(function() return x:copy_(pinned) end))
show("with non_blocking", waits(function() return x:copy_(pinned, {non_blocking = true}) end))
show("the host waits to pinned memory", waits(function() return pinned:copy_(x) end))
show("with non_blocking, too", waits(function() return pinned:copy_(x, {non_blocking = true}) end))
show("the host waits to pageable memory with non_blocking", waits(function() return pageable:copy_(x, {non_blocking = true}) end))
]=],
    },
    {
        name = "a copy that converts",
        rows = { "`x.copy_(y, non_blocking=True)`", "`x.copy_(y)`" },
        of = "tensor:copy_",
        here = { "of another dtype: refused", "of fewer dimensions: refused" },
        python = [=[
x = torch.zeros(2, 3, device="cuda")
show("of another dtype", outcome(lambda: x.copy_(torch.full((2, 3), 2, dtype=torch.int32, device="cuda"))[0, 0].item()))
show("of fewer dimensions", outcome(lambda: x.copy_(torch.ones(3, device="cuda"))[1, 2].item()))
show("of sizes that do not fit", outcome(lambda: x.copy_(torch.ones(4, device="cuda"))[1, 2].item()))
]=],
        lua = [=[
local x = lab.zeros(2, 3)
show("of another dtype", outcome(function() return x:copy_(lab.full(2, 2, 3, {dtype = "int32"})):get(1, 1) end))
show("of fewer dimensions", outcome(function() return x:copy_(lab.ones(3)):get(2, 3) end))
show("of sizes that do not fit", outcome(function() return x:copy_(lab.ones(4)):get(2, 3) end))
]=],
    },
    {
        name = "pinning",
        rows = { "`x.pin_memory()`" },
        of = "tensor:pin_memory",
        python = [=[
x = torch.ones(4)
y = x.pin_memory()
show("the result is pinned", y.is_pinned())
show("the tensor is", x.is_pinned())
show("of a pinned one it is the tensor itself", y.pin_memory().data_ptr() == y.data_ptr())
show("of a GPU's tensor", outcome(lambda: torch.ones(4, device="cuda").pin_memory().is_pinned()))
show("the host waits", waits(lambda: torch.ones(4).pin_memory()))
]=],
        lua = [=[
local x = lab.ones(4, {device = "cpu"})
local y = x:pin_memory()
show("the result is pinned", y.pinned)
show("the tensor is", x.pinned)
show("of a pinned one it is the tensor itself", y:pin_memory() == y)
show("of a GPU's tensor", outcome(function() return lab.ones(4):pin_memory().pinned end))
show("the host waits", waits(function() return lab.ones(4, {device = "cpu"}):pin_memory() end))
]=],
    },
    {
        name = "a number for the host",
        rows = { "`x.item()`", "`x.tolist()`", "`x[0, 0].item()`" },
        of = "tensor:item tensor:totable",
        here = { "of an integer: 1.0" },
        python = [=[
x, s = torch.ones(1, 1, device="cuda"), torch.cuda.Stream()
show("the host waits for the current stream", waits(lambda: x.item()))
show("for another stream", waits(lambda: x.item(), s))
show("an element waits", waits(lambda: x[0, 0].item()))
show("a list waits", waits(lambda: x.tolist()))
show("of an integer", torch.ones(1, dtype=torch.int32, device="cuda").item())
show("of two numbers", outcome(lambda: torch.ones(2, device="cuda").item()))
]=],
        lua = [=[
local x, s = lab.ones(1, 1), lab.stream{non_blocking = true}
show("the host waits for the current stream", waits(function() return x:item() end))
show("for another stream", waits(function() return x:item() end, s))
show("an element waits", waits(function() return x:get(1, 1) end))
show("a list waits", waits(function() return x:totable() end))
show("of an integer", lab.ones(1, {dtype = "int32"}):item())
show("of two numbers", outcome(function() return lab.ones(2):item() end))
]=],
    },
    {
        name = "setting an element",
        rows = { "`x[0, 0] = 5`" },
        of = "tensor:set",
        python = [=[
x = torch.ones(2, 2, device="cuda")
def set():
    x[0, 1] = 5
show("the host waits", waits(set))
show("the values", x.tolist())
]=],
        lua = [=[
local x = lab.ones(2, 2)
local function set()
    x:set(1, 2, 5)
end
show("the host waits", waits(set))
show("the values", x:totable())
]=],
    },
    {
        name = "a tensor of numbers",
        rows = { "`torch.tensor([[1, 2], [3, 4]], device=\"cuda\")`" },
        of = "lab.tensor",
        here = { "the dtype of whole numbers: float32", "an element: 3.0" },
        python = [=[
show("the host waits", waits(lambda: torch.tensor([[1, 2], [3, 4]], device="cuda")))
x = torch.tensor([[1, 2], [3, 4]], device="cuda")
show("the dtype of whole numbers", x.dtype)
show("of others", torch.tensor([1.5, 2.5]).dtype)
show("an element", x[1, 0].item())
]=],
        lua = [=[
show("the host waits", waits(function() return lab.tensor{{1, 2}, {3, 4}} end))
local x = lab.tensor{{1, 2}, {3, 4}}
show("the dtype of whole numbers", x.dtype)
show("of others", lab.tensor{1.5, 2.5}.dtype)
show("an element", x:get(2, 1))
]=],
    },
    {
        name = "values of a copy under way",
        rows = { "`x.copy_(y, non_blocking=True)`", "`x.to(\"cpu\", non_blocking=True)`" },
        of = "tensor:copy_ tensor:to",
        python = [=[
x, y = torch.ones(4, device="cuda"), torch.zeros(4, pin_memory=True)
y.copy_(x)
y.zero_()
busy()
y.copy_(x, non_blocking=True)
show("at once", y[0].item())
torch.cuda.synchronize()
show("when it is done", y[0].item())
]=],
        lua = [=[
local x, y = lab.ones(4), lab.zeros(4, {device = "cpu", pinned = true})
y:copy_(x)
y:zero_()
busy()
y:copy_(x, {non_blocking = true})
show("at once", y:get(1))
lab.synchronize()
show("when it is done", y:get(1))
]=],
    },
    {
        name = "a source changed during its copy",
        rows = { "`x.to(\"cuda\", non_blocking=True)`" },
        of = "tensor:to",
        python = [=[
pageable, pinned = torch.ones(4), torch.ones(4, pin_memory=True)
warm = pageable.to("cuda"), pinned.to("cuda")
busy()
x = pageable.to("cuda", non_blocking=True)
y = pinned.to("cuda", non_blocking=True)
pageable.fill_(7)
pinned.fill_(7)
torch.cuda.synchronize()
show("copied from pageable memory", x[0].item())
show("copied from pinned memory", y[0].item())
]=],
        lua = [=[
local pageable, pinned = lab.ones(4, {device = "cpu"}), lab.ones(4, {device = "cpu", pinned = true})
local warm = {pageable:to("cuda"), pinned:to("cuda")}
busy()
local x = pageable:to("cuda", {non_blocking = true})
local y = pinned:to("cuda", {non_blocking = true})
pageable:fill_(7)
pinned:fill_(7)
lab.synchronize()
show("copied from pageable memory", x:get(1))
show("copied from pinned memory", y:get(1))
]=],
    },
    {
        name = "a copy in a stream",
        rows = { "`with torch.cuda.stream(s): ...`", "`with torch.cuda.stream(s): y = f(x)`" },
        of = "lab.with",
        python = [=[
s, x = torch.cuda.Stream(), torch.ones(4, pin_memory=True)
def copy():
    with torch.cuda.stream(s):
        return x.to("cuda", non_blocking=True)
def copy_and_wait():
    with torch.cuda.stream(s):
        return x.to("cuda")
show("it runs in the current stream: the host waits for it", waits(copy_and_wait, s))
show("the host waits for the default stream", waits(copy_and_wait))
show("the host waits with non_blocking", waits(copy, s))
]=],
        lua = [=[
local s, x = lab.stream{non_blocking = true}, lab.ones(4, {device = "cpu", pinned = true})
local function copy()
    return lab.with(s, x.to, x, "cuda", {non_blocking = true})
end
local function copy_and_wait()
    return lab.with(s, x.to, x, "cuda")
end
show("it runs in the current stream: the host waits for it", waits(copy_and_wait, s))
show("the host waits for the default stream", waits(copy_and_wait))
show("the host waits with non_blocking", waits(copy, s))
]=],
    },
}
