-- tensors.lua - pairs about making tensors and looking at them.

return {
    {
        name = "where a tensor is",
        rows = { "`torch.rand(n, n)`" },
        of = "lab.rand lab.randn lab.empty lab.zeros lab.ones lab.full lab.tensor",
        here = { "without a device: cuda" },
        python = [=[
show("without a device", torch.rand(4, 4).device.type)
show("with one", torch.rand(4, 4, device="cuda").device.type)
]=],
        lua = [=[
show("without a device", lab.rand(4, 4).device)
show("with one", lab.rand(4, 4, {device = "cuda"}).device)
]=],
    },
    {
        name = "random numbers",
        rows = { "`torch.rand(n, n)`", "`torch.rand(n, n, device=\"cuda\")`" },
        of = "lab.rand",
        python = [=[
x = torch.rand(1000, device="cuda")
show("the dtype", x.dtype)
show("from 0 to 1", min(x.tolist()) >= 0 and max(x.tolist()) < 1)
show("twice the same", torch.allclose(x, torch.rand(1000, device="cuda")))
]=],
        lua = [=[
local x = lab.rand(1000)
show("the dtype", x.dtype)
show("from 0 to 1", math.min(table.unpack(x:totable())) >= 0 and math.max(table.unpack(x:totable())) < 1)
show("twice the same", lab.allclose(x, lab.rand(1000)))
]=],
    },
    {
        name = "seeds",
        rows = { "`torch.manual_seed(7)`" },
        of = "lab.rand lab.randn",
        here = { "the second one of a seed has the numbers of the first: true" },
        python = [=[
torch.manual_seed(7)
x = torch.rand(4, device="cuda")
y = torch.rand(4, device="cuda")
show("the second one of a seed has the numbers of the first", torch.allclose(x, y))
torch.manual_seed(7)
show("the same seed, the same numbers", torch.allclose(x, torch.rand(4, device="cuda")))
show("the first number", x[0].item())
]=],
        lua = [=[
local x = lab.rand(4, {seed = 7})
local y = lab.rand(4, {seed = 7})
show("the second one of a seed has the numbers of the first", lab.allclose(x, y))
show("the same seed, the same numbers", lab.allclose(x, lab.rand(4, {seed = 7})))
show("the first number", x:get(1))
]=],
    },
    {
        name = "pinned tensors",
        rows = { "`torch.rand(n, n, pin_memory=True)`", "`torch.ones(4, 4, pin_memory=True)`" },
        of = "lab.ones lab.rand",
        python = [=[
show("on the host", torch.ones(4, 4, pin_memory=True).is_pinned())
show("on the GPU", outcome(lambda: torch.ones(4, 4, pin_memory=True, device="cuda").is_pinned()))
]=],
        lua = [=[
show("on the host", lab.ones(4, 4, {device = "cpu", pinned = true}).pinned)
show("on the GPU", outcome(function() return lab.ones(4, 4, {pinned = true, device = "cuda"}).pinned end))
]=],
    },
    {
        name = "ones",
        rows = { "`torch.ones(4, 4, device=\"cuda\")`" },
        of = "lab.ones",
        python = [=[
x = torch.ones(2, 2, device="cuda")
show("the values", x.tolist())
show("the dtype", x.dtype)
show("the host waits", waits(lambda: torch.ones(2, 2, device="cuda")))
]=],
        lua = [=[
local x = lab.ones(2, 2)
show("the values", x:totable())
show("the dtype", x.dtype)
show("the host waits", waits(function() return lab.ones(2, 2) end))
]=],
    },
    {
        name = "a tensor full of a whole number",
        rows = { "`torch.full((n,), 7)`" },
        of = "lab.full",
        here = { "the dtype: float32" },
        python = [=[
show("the dtype", torch.full((2,), 7, device="cuda").dtype)
]=],
        lua = [=[
show("the dtype", lab.full(7, 2).dtype)
]=],
    },
    {
        name = "sizes",
        rows = { "`x.shape`", "`x.shape[0]`", "`x.numel()`" },
        of = "tensor:size tensor:numel",
        python = [=[
x = torch.ones(2, 3, device="cuda")
show("all", list(x.shape))
show("the first", x.shape[0])
show("how many elements", x.numel())
show("of a sum", list(x.sum().shape))
]=],
        lua = [=[
local x = lab.ones(2, 3)
show("all", {x:size()})
show("the first", x:size(1))
show("how many elements", x:numel())
show("of a sum", {x:sum():size()})
]=],
    },
    {
        name = "indices",
        rows = { "`x[0, 0].item()`", "`x[0, 0]`" },
        of = "tensor:get",
        here = { "the last: refused" },
        python = [=[
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="cuda")
show("the first", x[0, 0].item())
show("the last", outcome(lambda: x[-1, -1].item()))
show("behind the last", outcome(lambda: x[2, 0].item()))
]=],
        lua = [=[
local x = lab.tensor{{1.0, 2.0}, {3.0, 4.0}}
show("the first", x:get(1, 1))
show("the last", outcome(function() return x:get(-1, -1) end))
show("behind the last", outcome(function() return x:get(3, 1) end))
]=],
    },
    {
        name = "an element of a tensor",
        rows = { "`x[0, 0]`" },
        of = "tensor:get",
        here = {
            "it is a number: true", "the host waits: true", "after a change of the tensor: 1.0",
        },
        python = [=[
x = torch.ones(2, 2, device="cuda")
y = x[0, 0]
show("it is a number", isinstance(y, float))
show("the host waits", waits(lambda: x[0, 0]))
x.fill_(7)
show("after a change of the tensor", float(y))
]=],
        lua = [=[
local x = lab.ones(2, 2)
local y = x:get(1, 1)
show("it is a number", type(y) == "number")
show("the host waits", waits(function() return x:get(1, 1) end))
x:fill_(7)
show("after a change of the tensor", y)
]=],
    },
    {
        name = "dtypes",
        rows = { "`torch.zeros(n, dtype=torch.int32)`", "`x.double()`", "`x.to(torch.float64)`" },
        of = "tensor:double tensor:half tensor:bfloat16 tensor:int tensor:float",
        python = [=[
x = torch.full((2,), 1 / 3, device="cuda")
show("int32", torch.zeros(2, dtype=torch.int32, device="cuda").dtype)
show("double", x.double().dtype)
show("to float64", x.to(torch.float64).dtype)
show("half", x.half()[0].item())
show("bfloat16", x.bfloat16()[0].item())
show("2.7 as int", float(torch.full((2,), 2.7, device="cuda").int()[0].item()))
show("-2.7 as int", float(torch.full((2,), -2.7, device="cuda").int()[0].item()))
show("the host waits", waits(lambda: x.double()))
show("of that dtype it is the tensor itself", x.float() is x)
]=],
        lua = [=[
local x = lab.full(1 / 3, 2)
show("int32", lab.zeros(2, {dtype = "int32"}).dtype)
show("double", x:double().dtype)
show("to float64", x:to("float64").dtype)
show("half", x:half():get(1))
show("bfloat16", x:bfloat16():get(1))
show("2.7 as int", lab.full(2.7, 2):int():get(1))
show("-2.7 as int", lab.full(-2.7, 2):int():get(1))
show("the host waits", waits(function() return x:double() end))
show("of that dtype it is the tensor itself", x:float() == x)
]=],
    },
    {
        name = "casts on the host",
        rows = { "`torch.zeros(n, dtype=torch.int32)`", "`x.double()`", "`x.to(torch.float64)`" },
        of = "tensor:double tensor:half tensor:bfloat16 tensor:int tensor:float tensor:byte",
        here = { "a host tensor's double: refused" },
        python = [=[
show("a host tensor's double", outcome(lambda: torch.ones(2).double().dtype))
]=],
        lua = [=[
show("a host tensor's double", outcome(function() return lab.ones(2, {device = "cpu"}):double().dtype end))
]=],
    },
    {
        name = "filling",
        rows = { "`x.fill_(7)`" },
        of = "tensor:fill_",
        here = { "2.7 in an int32: 3.0" },
        python = [=[
x = torch.zeros(2, device="cuda")
show("it gives the tensor", x.fill_(7) is x)
show("the values", x.tolist())
show("the host waits", waits(lambda: x.fill_(7)))
show("the host waits for zero_", waits(lambda: x.zero_()))
show("2.7 in an int32", outcome(lambda: torch.zeros(2, dtype=torch.int32, device="cuda").fill_(2.7)[0].float().item()))
]=],
        lua = [=[
local x = lab.zeros(2)
show("it gives the tensor", x:fill_(7) == x)
show("the values", x:totable())
show("the host waits", waits(function() return x:fill_(7) end))
show("the host waits for zero_", waits(function() return x:zero_() end))
show("2.7 in an int32", outcome(function() return lab.zeros(2, {dtype = "int32"}):fill_(2.7):get(1) end))
]=],
    },
    {
        name = "views",
        rows = { "`x.view(4)`", "`x[1:3]`" },
        of = "tensor:narrow",
        here = { "a part of the second dimension: refused" },
        python = [=[
x = torch.zeros(4, 2, device="cuda")
y, z = x.view(8), x[1:3]
x.fill_(3)
show("a view sees a change", y[7].item())
show("a part has the size", z.shape[0])
show("a part sees a change", z[0, 0].item())
show("a part of the second dimension", outcome(lambda: x[:, 1:2].shape[1]))
]=],
        lua = [=[
local x = lab.zeros(4, 2)
local y, z = x:view(8), x:narrow(1, 2, 2)
x:fill_(3)
show("a view sees a change", y:get(8))
show("a part has the size", z:size(1))
show("a part sees a change", z:get(1, 1))
show("a part of the second dimension", outcome(function() return x:narrow(2, 2, 1):size(2) end))
]=],
    },
    {
        name = "two tensors compared",
        rows = { "`x == y`" },
        of = "",
        here = { "two of the same values: false" },
        python = [=[
x, y = torch.ones(2, device="cuda"), torch.ones(2, device="cuda")
show("two of the same values", (x == y).tolist())
]=],
        lua = [=[
local x, y = lab.ones(2), lab.ones(2)
show("two of the same values", x == y)
]=],
    },
    {
        name = "allclose",
        rows = { "`torch.allclose(x, y)`" },
        of = "lab.allclose tensor:allclose",
        here = { "of other sizes: refused", "on the host and on the GPU: true" },
        python = [=[
x = torch.ones(2, device="cuda")
show("of equal ones", torch.allclose(x, torch.ones(2, device="cuda")))
show("1e-6 apart", torch.allclose(x, x + 1e-6))
show("1e-4 apart", torch.allclose(x, x + 1e-4))
show("1e-4 apart with rtol", torch.allclose(x, x + 1e-4, rtol=1e-3))
show("NaN", torch.allclose(x * float("nan"), x * float("nan")))
show("the host waits", waits(lambda: torch.allclose(x, x)))
show("of other sizes", outcome(lambda: torch.allclose(x, torch.ones(2, 2, device="cuda"))))
show("on the host and on the GPU", outcome(lambda: torch.allclose(x, torch.ones(2))))
]=],
        lua = [=[
local x = lab.ones(2)
show("of equal ones", lab.allclose(x, lab.ones(2)))
show("1e-6 apart", lab.allclose(x, x + 1e-6))
show("1e-4 apart", lab.allclose(x, x + 1e-4))
show("1e-4 apart with rtol", lab.allclose(x, x + 1e-4, {rtol = 1e-3}))
show("NaN", lab.allclose(x * (0 / 0), x * (0 / 0)))
show("the host waits", waits(function() return lab.allclose(x, x) end))
show("of other sizes", outcome(function() return lab.allclose(x, lab.ones(2, 2)) end))
show("on the host and on the GPU", outcome(function() return lab.allclose(x, lab.ones(2, {device = "cpu"})) end))
]=],
    },
    {
        name = "sizes in a list",
        rows = { "`torch.ones((4, 4))`" },
        of = "lab.rand lab.randn lab.empty lab.zeros lab.ones",
        here = { "2x3: refused" },
        python = [=[
show("2x3", outcome(lambda: list(torch.ones((2, 3), device="cuda").shape)))
]=],
        lua = [=[
show("2x3", outcome(function() return {lab.ones({2, 3}):size()} end))
]=],
    },
    {
        name = "the text of a tensor",
        rows = { "`print(x)`" },
        of = "",
        here = { "the host waits: false", "the values are in it: false" },
        python = [=[
x = torch.ones(2, device="cuda")
show("the host waits", waits(lambda: str(x)))
show("the values are in it", "1., 1." in str(x))
]=],
        lua = [=[
local x = lab.ones(2)
show("the host waits", waits(function() return tostring(x) end))
show("the values are in it", tostring(x):find("1.0") ~= nil)
]=],
    },
    {
        name = "the device of a tensor",
        rows = { "`x.device`" },
        of = "tensor.device",
        here = { "on the GPU: cuda" },
        python = [=[
show("on the GPU", str(torch.ones(2, device="cuda").device))
show("on the host", str(torch.ones(2).device))
show("it is on the GPU", torch.ones(2, device="cuda").is_cuda)
]=],
        lua = [=[
show("on the GPU", tostring(lab.ones(2).device))
show("on the host", tostring(lab.ones(2, {device = "cpu"}).device))
show("it is on the GPU", lab.ones(2).device == "cuda")
]=],
    },
    {
        name = "narrow and chunk",
        rows = { "`x.narrow(0, 1, 2)`", "`x.chunk(3)`" },
        of = "tensor:narrow tensor:chunk",
        python = [=[
x = torch.tensor([0.0, 1.0, 2.0, 3.0], device="cuda")
show("two elements from the second on", x.narrow(0, 1, 2).tolist())
show("three parts", [list(part.shape)[0] for part in x.chunk(3)])
]=],
        lua = [=[
local x = lab.tensor{0.0, 1.0, 2.0, 3.0}
show("two elements from the second on", x:narrow(1, 2, 2):totable())
local sizes = {}
for i, part in ipairs(x:chunk(3)) do sizes[i] = part:size(1) end
show("three parts", sizes)
]=],
    },
    {
        name = "the numbers of a seed",
        rows = { "`torch.manual_seed(7)`" },
        of = "lab.rand lab.randn",
        here = {
            "four uniform ones: [0.9545971, 0.7501522, 0.1141773, 0.08565784]",
            "the last of 4096: 0.9715986",
            "four normal ones: [0.4922159, -1.564302, 1.049439, -1.485786]",
            "four uniform ones on the host: [0.9545971, 0.7501522, 0.1141773, 0.08565784]",
        },
        python = [=[
torch.manual_seed(7)
show("four uniform ones", torch.rand(4, device="cuda").tolist())
torch.manual_seed(7)
show("the last of 4096", torch.rand(4096, device="cuda")[4095].item())
torch.manual_seed(7)
show("four normal ones", torch.randn(4, device="cuda").tolist())
torch.manual_seed(7)
show("four uniform ones on the host", torch.rand(4).tolist())
]=],
        lua = [=[
show("four uniform ones", lab.rand(4, {seed = 7}):totable())
show("the last of 4096", lab.rand(4096, {seed = 7}):get(4096))
show("four normal ones", lab.randn(4, {seed = 7}):totable())
show("four uniform ones on the host", lab.rand(4, {seed = 7, device = "cpu"}):totable())
]=],
    },
    {
        name = "fields of tensors",
        rows = {},
        of = "tensor:nbytes tensor.dtype tensor.pinned tensor.ndim tensor:storage_offset",
        python = [=[
x = torch.ones(2, 3, dtype=torch.float16, device="cuda")
show("bytes", x.nbytes)
show("the dtype", x.dtype)
show("pinned", x.is_pinned())
show("dimensions", x.ndim)
show("where a part begins", x[1:2].storage_offset())
]=],
        lua = [=[
local x = lab.ones(2, 3, {dtype = lab.float16})
show("bytes", x:nbytes())
show("the dtype", x.dtype)
show("pinned", x.pinned)
show("dimensions", x.ndim)
show("where a part begins", x:narrow(1, 2, 1):storage_offset())
]=],
    },
    {
        name = "the number of a tensor's GPU",
        rows = {},
        of = "tensor.device_index",
        here = { "on the host: nothing" },
        python = [=[
show("on the GPU", torch.ones(1, device="cuda").get_device())
show("on the host", torch.ones(1).get_device())
]=],
        lua = [=[
show("on the GPU", lab.ones(1).device_index)
show("on the host", lab.ones(1, {device = "cpu"}).device_index)
]=],
    },
    {
        name = "names of dtypes",
        rows = {},
        of = "lab.float32 lab.float64 lab.bfloat16 lab.float16 lab.int32 lab.uint8",
        python = [=[
for dtype in [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.uint8]:
    show("bytes of a number", torch.ones(1, dtype=dtype, device="cuda").nbytes)
]=],
        lua = [=[
for _, dtype in ipairs{lab.float32, lab.float64, lab.bfloat16, lab.float16, lab.int32, lab.uint8} do
    show("bytes of a number", lab.ones(1, {dtype = dtype}):nbytes())
end
]=],
    },
    {
        name = "no elements",
        rows = {},
        of = "tensor:zero_ tensor:numel",
        python = [=[
x = torch.zeros(0, device="cuda")
show("how many", x.numel())
show("the sum", x.sum().item())
show("zero_ gives the tensor", x.zero_() is x)
]=],
        lua = [=[
local x = lab.zeros(0)
show("how many", x:numel())
show("the sum", x:sum():item())
show("zero_ gives the tensor", x:zero_() == x)
]=],
    },
}
