-- sources.lua - the public sources of the facts in facts.lua: {what it is, address} by a short name.

local nvidia <const> = "https://docs.nvidia.com/cuda/"
local guide <const> = nvidia .. "cuda-programming-guide/"
local pytorch <const> = "https://docs.pytorch.org/docs/stable/"
local pytorch_source <const> = "https://github.com/pytorch/pytorch/blob/main/"

return {
    asynchronous = {"CUDA Programming Guide, Asynchronous Execution",
        guide .. "02-basics/asynchronous-execution.html"},
    capabilities = {"CUDA Programming Guide, Compute Capabilities",
        guide .. "05-appendices/compute-capabilities.html"},
    environment = {"CUDA Programming Guide, Environment Variables",
        guide .. "05-appendices/environment-variables.html"},
    dependent = {"CUDA Programming Guide, Programmatic Dependent Launch",
        guide .. "04-special-topics/programmatic-dependent-launch.html"},
    lazy = {"CUDA Programming Guide, Lazy Loading", guide .. "04-special-topics/lazy-loading.html"},
    ordered = {"CUDA Programming Guide, Stream-Ordered Memory Allocator",
        guide .. "04-special-topics/stream-ordered-memory-allocation.html"},
    legacy = {"CUDA C++ Programming Guide 13.0, Asynchronous Concurrent Execution",
        nvidia .. "archive/13.0.0/cuda-c-programming-guide/index.html"},
    api_sync = {"CUDA Runtime API, API synchronization behavior",
        nvidia .. "cuda-runtime-api/api-sync-behavior.html"},
    stream_sync = {"CUDA Runtime API, Stream synchronization behavior",
        nvidia .. "cuda-runtime-api/stream-sync-behavior.html"},
    streams = {"CUDA Runtime API, Stream Management",
        nvidia .. "cuda-runtime-api/group__CUDART__STREAM.html"},
    events = {"CUDA Runtime API, Event Management",
        nvidia .. "cuda-runtime-api/group__CUDART__EVENT.html"},
    executions = {"CUDA Runtime API, Execution Control",
        nvidia .. "cuda-runtime-api/group__CUDART__EXECUTION.html"},
    memory = {"CUDA Runtime API, Memory Management",
        nvidia .. "cuda-runtime-api/group__CUDART__MEMORY.html"},
    driver_memory = {"CUDA Driver API, cuMemFree", nvidia .. "cuda-driver-api/group__CUDA__MEM.html"},
    sanitizer = {"Compute Sanitizer", "https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/"},
    hmm = {"NVIDIA, Heterogeneous Memory Management", "https://developer.nvidia.com/blog/"
        .. "simplifying-gpu-application-development-with-heterogeneous-memory-management/"},
    webinar = {"NVIDIA, Streams and Concurrency Webinar", "https://developer.download.nvidia.com/"
        .. "CUDA/training/StreamsAndConcurrencyWebinar.pdf"},
    torch_stream = {"PyTorch, CUDAStream.cpp", pytorch_source .. "c10/cuda/CUDAStream.cpp"},
    torch_allocator = {"PyTorch, CUDACachingAllocator.cpp",
        pytorch_source .. "c10/cuda/CUDACachingAllocator.cpp"},
    torch_to = {"PyTorch, TensorConversions.cpp",
        pytorch_source .. "aten/src/ATen/native/TensorConversions.cpp"},
    torch_event = {"PyTorch, torch.cuda.Event", pytorch .. "generated/torch.cuda.streams.Event.html"},
    torch_class = {"PyTorch, torch.cuda.Stream", pytorch .. "generated/torch.cuda.Stream_class.html"},
    torch_notes = {"PyTorch, CUDA semantics", pytorch .. "notes/cuda.html"},
    torch_record = {"PyTorch, Tensor.record_stream",
        pytorch .. "generated/torch.Tensor.record_stream.html"},
    torch_backend = {"PyTorch, get_allocator_backend",
        pytorch .. "generated/torch.cuda.memory.get_allocator_backend.html"},
    torch_cudart = {"PyTorch, torch.cuda.cudart", pytorch .. "generated/torch.cuda.cudart.html"},
    torch_sanitizer = {"PyTorch, CUDA Stream Sanitizer", pytorch .. "cuda._sanitizer.html"},
    vpl = {"Virtual Programming Lab, Advanced features",
        "https://vpl.dis.ulpgc.es/documentation/vpl-3.4.3+/advancedfeatures.html"},
}
