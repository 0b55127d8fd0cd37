-- kernels.lua - pairs about arithmetic on the GPU.

return {
    {
        name = "a product",
        rows = { "`torch.matmul(a, b)`", "`a @ b`" },
        of = "lab.matmul tensor:matmul",
        python = [=[
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="cuda")
show("the values", torch.matmul(a, a).tolist())
show("the host waits", waits(lambda: torch.matmul(a, a)))
show("inner sizes that differ", outcome(lambda: torch.matmul(a, torch.ones(3, 2, device="cuda")).tolist()))
]=],
        lua = [=[
local a = lab.tensor{{1.0, 2.0}, {3.0, 4.0}}
show("the values", lab.matmul(a, a):totable())
show("the host waits", waits(function() return lab.matmul(a, a) end))
show("inner sizes that differ", outcome(function() return lab.matmul(a, lab.ones(3, 2)):totable() end))
]=],
    },
    {
        name = "a product in TF32",
        rows = { "`torch.matmul(a, b)`", "`a @ b`" },
        of = "lab.matmul tensor:matmul",
        python = [=[
a = torch.full((256, 256), 1 + 2 ** -12, device="cuda")
b = torch.full((256, 256), 1.0, device="cuda")
show("1 + 1/4096 is kept", torch.matmul(a, b)[0, 0].item() == 256 * (1 + 2 ** -12))
]=],
        lua = [=[
local a = lab.full(1 + 2 ^ -12, 256, 256)
local b = lab.full(1.0, 256, 256)
show("1 + 1/4096 is kept", lab.matmul(a, b):get(1, 1) == 256 * (1 + 2 ^ -12))
]=],
    },
    {
        name = "a product in TF32 when it is asked for",
        rows = { "`torch.backends.cuda.matmul.allow_tf32 = True`" },
        of = "lab.matmul tensor:matmul",
        python = [=[
a = torch.full((256, 256), 1 + 2 ** -12, device="cuda")
b = torch.full((256, 256), 1.0, device="cuda")
torch.backends.cuda.matmul.allow_tf32 = True
show("1 + 1/4096 is kept", torch.matmul(a, b)[0, 0].item() == 256 * (1 + 2 ** -12))
torch.backends.cuda.matmul.allow_tf32 = False
]=],
        lua = [=[
local a = lab.full(1 + 2 ^ -12, 256, 256)
local b = lab.full(1.0, 256, 256)
show("1 + 1/4096 is kept", lab.matmul(a, b, {tf32 = true}):get(1, 1) == 256 * (1 + 2 ^ -12))
]=],
    },
    {
        name = "a product of what is no matrix",
        rows = { "`torch.matmul(a, b)`", "`a @ b`" },
        of = "lab.matmul tensor:matmul",
        here = { "of two vectors: refused" },
        python = [=[
v, m = torch.ones(3, device="cuda"), torch.ones(2, 3, 3, device="cuda")
show("of two vectors", outcome(lambda: torch.matmul(v, v).item()))
show("of a stack of matrices", outcome(lambda: torch.matmul(m, m)[0, 0, 0].item()))
show("of integers", outcome(lambda: torch.matmul(m[0].int(), m[0].int())[0, 0].item()))
]=],
        lua = [=[
local v, m = lab.ones(3), lab.ones(2, 3, 3)
show("of two vectors", outcome(function() return lab.matmul(v, v):item() end))
show("of a stack of matrices", outcome(function() return lab.matmul(m, m):get(1, 1, 1) end))
local first = lab.ones(3, 3):int()
show("of integers", outcome(function() return lab.matmul(first, first):get(1, 1) end))
]=],
    },
    {
        name = "arithmetic",
        rows = { "`a + b`, `a - 1`, `-a`, `a * b`, `a / 2`, `a ** 2`" },
        of = "lab.add lab.sub lab.neg lab.mul lab.div lab.pow tensor:add tensor:sub tensor:neg "
            .. "tensor:mul tensor:div tensor:pow",
        python = [=[
a, b = torch.full((2,), 3.0, device="cuda"), torch.full((2,), 0.5, device="cuda")
show("the values", [(a + b)[0].item(), (a - 1)[0].item(), (1 - a)[0].item(), (-a)[0].item(), (a * b)[0].item(), (a / 2)[0].item(), (a ** 2)[0].item()])
show("by zero", (a / 0)[0].item())
show("0 ** 0", ((a * 0) ** 0)[0].item())
show("the root of -3", ((-a) ** 0.5)[0].item())
show("the host waits", waits(lambda: a + b))
show("it runs in the current stream", waits(lambda: (a + b).sum().item()))
]=],
        lua = [=[
local a, b = lab.full(3.0, 2), lab.full(0.5, 2)
show("the values", {(a + b):get(1), (a - 1):get(1), (1 - a):get(1), (-a):get(1), (a * b):get(1), (a / 2):get(1), (a ^ 2):get(1)})
show("by zero", (a / 0):get(1))
show("0 ** 0", ((a * 0) ^ 0):get(1))
show("the root of -3", ((-a) ^ 0.5):get(1))
show("the host waits", waits(function() return a + b end))
show("it runs in the current stream", waits(function() return (a + b):sum():item() end))
]=],
    },
    {
        name = "arithmetic of different shapes and dtypes",
        rows = { "`a + b`, `a - 1`, `-a`, `a * b`, `a / 2`, `a ** 2`" },
        of = "lab.add lab.sub lab.mul lab.div tensor:add tensor:sub tensor:mul tensor:div",
        here = {
            "2x3 and 3: refused", "float32 and int32: refused", "int32 and a half: refused",
            "int32 / 2: refused", "2 ** a: refused",
        },
        python = [=[
a, i = torch.ones(2, 3, device="cuda"), torch.full((3,), 3, dtype=torch.int32, device="cuda")
show("2x3 and 3", outcome(lambda: list((a + torch.ones(3, device="cuda")).shape)))
show("float32 and int32", outcome(lambda: (a[0] + i).dtype))
show("int32 and a half", outcome(lambda: (i + 0.5)[0].item()))
show("int32 / 2", outcome(lambda: (i / 2)[0].item()))
show("int32 * 2", outcome(lambda: float((i * 2)[0].item())))
show("2 ** a", outcome(lambda: (2 ** a)[0, 0].item()))
]=],
        lua = [=[
local a, i = lab.ones(2, 3), lab.full(3, 3, {dtype = "int32"})
show("2x3 and 3", outcome(function() return {(a + lab.ones(3)):size()} end))
show("float32 and int32", outcome(function() return (a:narrow(1, 1, 1):view(3) + i).dtype end))
show("int32 and a half", outcome(function() return (i + 0.5):get(1) end))
show("int32 / 2", outcome(function() return (i / 2):get(1) end))
show("int32 * 2", outcome(function() return (i * 2):get(1) end))
show("2 ** a", outcome(function() return (2 ^ a):get(1, 1) end))
]=],
    },
    {
        name = "arithmetic on the host",
        rows = { "`a + b`, `a - 1`, `-a`, `a * b`, `a / 2`, `a ** 2`" },
        of = "lab.add lab.sub lab.neg lab.mul lab.div lab.pow lab.matmul lab.sum lab.relu "
            .. "lab.softmax lab.transpose tensor:add tensor:sub tensor:neg tensor:mul tensor:div "
            .. "tensor:pow tensor:matmul tensor:sum tensor:relu tensor:softmax tensor:transpose "
            .. "tensor:t",
        here = {
            "a sum of two: refused", "a negative: refused", "a power: refused",
            "a product of matrices: refused", "a sum of all: refused", "relu: refused",
            "softmax: refused", "transposed: refused",
        },
        python = [=[
a = torch.ones(2, 2)
show("a sum of two", outcome(lambda: (a + a)[0, 0].item()))
show("a negative", outcome(lambda: (-a)[0, 0].item()))
show("a power", outcome(lambda: (a ** 2)[0, 0].item()))
show("a product of matrices", outcome(lambda: torch.matmul(a, a)[0, 0].item()))
show("a sum of all", outcome(lambda: a.sum().item()))
show("relu", outcome(lambda: torch.relu(a)[0, 0].item()))
show("softmax", outcome(lambda: torch.softmax(a, -1)[0, 0].item()))
show("transposed", outcome(lambda: a.t()[0, 0].item()))
show("filled", outcome(lambda: a.fill_(7)[0, 0].item()))
]=],
        lua = [=[
local a = lab.ones(2, 2, {device = "cpu"})
show("a sum of two", outcome(function() return (a + a):get(1, 1) end))
show("a negative", outcome(function() return (-a):get(1, 1) end))
show("a power", outcome(function() return (a ^ 2):get(1, 1) end))
show("a product of matrices", outcome(function() return lab.matmul(a, a):get(1, 1) end))
show("a sum of all", outcome(function() return a:sum():item() end))
show("relu", outcome(function() return lab.relu(a):get(1, 1) end))
show("softmax", outcome(function() return lab.softmax(a):get(1, 1) end))
show("transposed", outcome(function() return a:t():get(1, 1) end))
show("filled", outcome(function() return a:fill_(7):get(1, 1) end))
]=],
    },
    {
        name = "in place",
        rows = { "`x += 1`" },
        of = "tensor:add",
        python = [=[
x = torch.ones(2, device="cuda")
y = x
x += 1
show("another name of it", y[0].item())
]=],
        lua = [=[
local x = lab.ones(2)
local y = x
x:add(1, {out = x})
show("another name of it", y:get(1))
]=],
    },
    {
        name = "relu",
        rows = { "`torch.relu(x)`" },
        of = "lab.relu tensor:relu",
        python = [=[
x = torch.tensor([-1.0, 0.0, 2.0], device="cuda")
show("the values", torch.relu(x).tolist())
show("NaN", torch.relu(x * float("nan")).tolist()[0])
show("the host waits", waits(lambda: torch.relu(x)))
]=],
        lua = [=[
local x = lab.tensor{-1.0, 0.0, 2.0}
show("the values", lab.relu(x):totable())
show("NaN", lab.relu(x * (0 / 0)):totable()[1])
show("the host waits", waits(function() return lab.relu(x) end))
]=],
    },
    {
        name = "a sum",
        rows = { "`x.sum()`", "`x.sum().item()`" },
        of = "lab.sum tensor:sum",
        python = [=[
x = torch.ones(2, 3, device="cuda")
show("its number", x.sum().item())
show("its sizes", list(x.sum().shape))
show("it is on the GPU", x.sum().device.type == "cuda")
show("the host waits", waits(lambda: x.sum()))
show("of 2^25 ones", torch.ones(2 ** 25, device="cuda").sum().item())
show("the host waits for its number", waits(lambda: x.sum().item()))
]=],
        lua = [=[
local x = lab.ones(2, 3)
show("its number", x:sum():item())
show("its sizes", {x:sum():size()})
show("it is on the GPU", x:sum().device == "cuda")
show("the host waits", waits(function() return x:sum() end))
show("of 2^25 ones", lab.ones(2 ^ 25):sum():item())
show("the host waits for its number", waits(function() return x:sum():item() end))
]=],
    },
    {
        name = "sums of integers and of rows",
        rows = { "`x.sum()`", "`x.sum().item()`" },
        of = "lab.sum tensor:sum",
        here = { "the dtype: int32", "4 times 2^30: 0.0", "of one dimension: refused" },
        python = [=[
x = torch.full((2, 2), 2 ** 30, dtype=torch.int32, device="cuda")
show("the dtype", x.sum().dtype)
show("4 times 2^30", float(x.sum().item()))
show("of one dimension", outcome(lambda: list(x.sum(0).shape)))
]=],
        lua = [=[
local x = lab.full(2 ^ 30, 2, 2, {dtype = "int32"})
show("the dtype", x:sum().dtype)
show("4 times 2^30", x:sum():item())
show("of one dimension", outcome(function() return {x:sum(1):size()} end))
]=],
    },
    {
        name = "softmax",
        rows = { "`torch.softmax(x, -1)`" },
        of = "lab.softmax tensor:softmax",
        python = [=[
x = torch.zeros(2, 4, device="cuda")
show("over the last dimension", torch.softmax(x, -1)[0, 0].item())
]=],
        lua = [=[
local x = lab.zeros(2, 4)
show("over the last dimension", lab.softmax(x):get(1, 1))
]=],
    },
    {
        name = "a transposed matrix",
        rows = { "`x.t()`", "`x.T`" },
        of = "lab.transpose tensor:t tensor:transpose",
        here = { "after a change of the matrix: 1.0" },
        python = [=[
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device="cuda")
y = x.t()
show("the values", y.tolist())
x.fill_(7)
show("after a change of the matrix", y[0, 0].item())
]=],
        lua = [=[
local x = lab.tensor{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}
local y = x:t()
show("the values", y:totable())
x:fill_(7)
show("after a change of the matrix", y:get(1, 1))
]=],
    },
    {
        name = "a power",
        rows = { "`x.pow(2)`" },
        of = "lab.pow tensor:pow",
        here = { "of a tensor: refused" },
        python = [=[
x = torch.full((2,), 3.0, device="cuda")
show("of a number", x.pow(2)[0].item())
show("of a fraction", x.pow(1.5)[0].item())
show("of a tensor", outcome(lambda: x.pow(torch.full((2,), 2.0, device="cuda"))[0].item()))
show("below zero of an int32", outcome(lambda: x.int().pow(-1)[0].item()))
]=],
        lua = [=[
local x = lab.full(3.0, 2)
show("of a number", x:pow(2):get(1))
show("of a fraction", x:pow(1.5):get(1))
show("of a tensor", outcome(function() return x:pow(lab.full(2.0, 2)):get(1) end))
show("below zero of an int32", outcome(function() return x:int():pow(-1):get(1) end))
]=],
    },
    {
        name = "a place for the result",
        rows = { "`torch.mul(x, x, out=y)`" },
        of = "lab.mul tensor:mul",
        here = { "one of other sizes: refused" },
        python = [=[
x, y = torch.full((2,), 3.0, device="cuda"), torch.zeros(2, device="cuda")
show("the values", torch.mul(x, x, out=y).tolist())
show("it is that tensor", torch.mul(x, x, out=y) is y)
show("one of other sizes", outcome(lambda: list(torch.mul(x, x, out=torch.zeros(3, device="cuda")).shape)))
]=],
        lua = [=[
local x, y = lab.full(3.0, 2), lab.zeros(2)
show("the values", lab.mul(x, x, {out = y}):totable())
show("it is that tensor", lab.mul(x, x, {out = y}) == y)
show("one of other sizes", outcome(function() return {lab.mul(x, x, {out = lab.zeros(3)}):size()} end))
]=],
    },
    {
        name = "whole numbers that do not fit",
        rows = {},
        of = "lab.add lab.mul lab.neg",
        here = {
            "uint8 beyond its end: refused",
            "a uint8 with the other sign: refused",
        },
        python = [=[
i = torch.full((1,), 2 ** 31 - 1, dtype=torch.int32, device="cuda")
u = torch.full((1,), 250, dtype=torch.uint8, device="cuda")
show("int32 beyond its end", float((i + 1).item()))
show("its product with itself", float((i * i).item()))
show("uint8 beyond its end", outcome(lambda: float((u + 10).item())))
show("a uint8 with the other sign", outcome(lambda: float((-u).item())))
]=],
        lua = [=[
local i = lab.full(2 ^ 31 - 1, 1, {dtype = "int32"})
local u = lab.full(250, 1, {dtype = "uint8"})
show("int32 beyond its end", (i + 1):item())
show("its product with itself", (i * i):item())
show("uint8 beyond its end", outcome(function() return (u + 10):item() end))
show("a uint8 with the other sign", outcome(function() return (-u):item() end))
]=],
    },
    {
        name = "half precision",
        rows = {},
        of = "lab.matmul lab.sum lab.softmax",
        python = [=[
a = torch.full((64, 64), 0.1, dtype=torch.float16, device="cuda")
show("an element of a product", a.matmul(a)[0, 0].item())
show("a sum of 4096", a.sum().item())
show("beyond its end", (a * 1e5 * 10).sum().item())
show("the dtype of a product", a.matmul(a).dtype)
]=],
        lua = [=[
local a = lab.full(0.1, 64, 64, {dtype = "float16"})
show("an element of a product", a:matmul(a):get(1, 1))
show("a sum of 4096", a:sum():item())
show("beyond its end", (a * 1e5 * 10):sum():item())
show("the dtype of a product", a:matmul(a).dtype)
]=],
    },
    {
        name = "a product in a stream",
        rows = { "`with torch.cuda.stream(s): ...`", "`with torch.cuda.stream(s): y = f(x)`" },
        of = "lab.with lab.matmul",
        python = [=[
s, a = torch.cuda.Stream(), torch.ones(64, 64, device="cuda")
torch.cuda.synchronize()
busy(s)
with torch.cuda.stream(s):
    b = torch.matmul(a, a)
    e = s.record_event()
show("it runs there", not e.query())
s.synchronize()
show("its value", b[0, 0].item())
]=],
        lua = [=[
local s, a = lab.stream(), lab.ones(64, 64)
lab.synchronize()
busy(s)
local b, e
lab.with(s, function()
    b = lab.matmul(a, a)
    e = s:record_event()
end)
show("it runs there", not e:query())
s:synchronize()
show("its value", b:get(1, 1))
]=],
    },
}
