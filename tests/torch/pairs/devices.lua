-- devices.lua - pairs about the GPU.

return {
    {
        name = "what the GPU is",
        rows = {},
        of = "device.name device.sm_count",
        python = [=[
show("the name", torch.cuda.get_device_name())
show("multiprocessors", torch.cuda.get_device_properties(0).multi_processor_count)
]=],
        lua = [=[
show("the name", lab.device().name)
show("multiprocessors", lab.device().sm_count)
]=],
    },
    {
        name = "the compute capability",
        rows = {},
        of = "device.compute_capability",
        here = { "of an H200: 9.0" },
        python = [=[
show("of an H200", torch.cuda.get_device_capability())
]=],
        lua = [=[
show("of an H200", lab.device().compute_capability)
]=],
    },
    {
        name = "the number of the GPU",
        rows = {},
        of = "lab.device",
        python = [=[
show("the current one", torch.cuda.current_device())
]=],
        lua = [=[
show("the current one", lab.device().index)
]=],
    },
    {
        name = "memory of the GPU",
        rows = {},
        of = "lab.cuda.mem_get_info",
        here = { "some of it is used: false" },
        python = [=[
free, total = torch.cuda.mem_get_info()
show("as much as the device has", total == torch.cuda.get_device_properties(0).total_memory)
show("some of it is used", free < total)
x = torch.empty(64 * MiB, device="cuda")
show("a tensor takes of it", free - torch.cuda.mem_get_info()[0] >= 256 * MiB)
]=],
        lua = [=[
local free, total = lab.cuda.mem_get_info()
show("as much as the device has", total == lab.device().memory_bytes)
show("some of it is used", free < total)
local x = lab.empty(64 * MiB)
show("a tensor takes of it", free - lab.cuda.mem_get_info() >= 256 * MiB)
]=],
    },
}
