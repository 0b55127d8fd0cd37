-- Names of CUDA and PyTorch that streamlab does not have: {names, what to use instead}. A name that
-- ends in "*" means all names with that beginning; the longest one that matches counts. Missing
-- names of streamlab's own objects ("lab.x", "tensor.x") need no entry if x is a name of PyTorch or
-- CUDA, too: bindings/elsewhere.lua says which names are tried.
local missing = {
    -- graphs
    { "cudaGraph* cuGraph* cudaStreamBeginCaptureToGraph cudaStreamUpdateCaptureDependencies* "
        .. "graph.raw_cuda_graph* graph.register_generator_state",
        "`lab.graph` captures what a function enqueues; graphs are not made node by node, and "
        .. "have no child graphs and no conditional nodes" },
    { "torch.cuda.CUDAGraph CUDAGraph lab.CUDAGraph lab.cuda.CUDAGraph lab.capture stream.capture",
        "`lab.graph(f)` captures what a function enqueues, and returns the graph" },
    { "torch.cuda.make_graphed_callables",
        "there are no gradients, and `lab.graph(f)` captures a function; the guide's chapter Graphs "
        .. "has such a function in ten lines" },
    { "torch.cuda.graph_pool_handle lab.cuda.graph_pool_handle graph.pool",
        "each graph has memory of its own, and none of it is shared with other graphs" },
    { "graph.capture_begin graph.capture_end",
        "`lab.graph(f)` captures a function; by hand `s:begin_capture()` begins and "
        .. "`s:end_capture()` returns the graph" },
    { "graph.instantiate", "`lab.graph` does that, and `lab.cuda.graph_instantiate` for a graph that "
        .. "was captured by hand" },
    { "cudaGraphUpload cuGraphUpload graph.upload",
        "a graph's first launch uploads it: launch it once before the part that counts" },
    { "lab.cuda.graph_update", "`graph:update` captures again; `lab.cuda.graph_exec_update` updates by "
        .. "hand" },
    { "graph.reset graph.close graph.destroy", "`graph:free` lets go of a graph" },
    { "graph.debug_dump graph.enable_debug_mode", "`graph:dot` gives the graph as text" },
    { "graph.replay graph.run graph.execute lab.replay", "`graph:launch` runs a graph" },
    { "cudaStreamGetCaptureInfo* stream.is_capturing", "`stream:capture_status` asks that" },
    { "cudaThreadExchangeStreamCaptureMode",
        "`lab.graph(f, { mode = \"relaxed\" })` sets the mode of a capture" },
    -- user-defined kernels
    { "cuModule* cuLibrary* nvrtcCreateProgram nvrtcGet* nvrtcAddNameExpression* "
        .. "torch.utils.cpp_extension* torch.cuda.jiterator* torch.library* cupy.RawKernel* "
        .. "lab.launch lab.raw_kernel",
        "`lab.kernel` compiles CUDA C++ from a string, and `k(grid, block, ...)` launches it" },
    { "cudaLaunchKernel* cudaGetFuncBySymbol cudaFuncSetAttribute cuFuncSetAttribute",
        "`k(grid, block, ...)` launches a kernel of `lab.kernel`, with the shared memory that it asks for" },
    { "triton* numba*", "`lab.kernel` takes CUDA C++; Python compiles elsewhere" },
    { "__syncthreads", "in a script CUDA C++ is a text, `lab.kernel{ source = [[ ... ]] }`: there it is as in CUDA, and "
        .. "the simulated GPU checks that all threads of a block reach it" },
    { "cooperative_groups* __global__ __shared__ threadIdx* blockIdx* "
        .. "blockDim* gridDim* atomicAdd atomicCAS dim3",
        "CUDA C++ is a text in a script: `lab.kernel{ source = [[ __global__ ... ]] }`" },
    { "cudaOccupancyMaxPotentialBlockSize* cudaOccupancyMaxActiveClusters* "
        .. "cudaOccupancyAvailableDynamicSMemPerBlock cuOccupancy*",
        "`k:occupancy(block)` of a kernel of `lab.kernel` says how many blocks fit on an SM" },
    { "programmatic_dependent_launch pdl cudaGridDependencySynchronize cudaTriggerProgrammatic* "
        .. "cudaLaunchAttributeProgrammaticStreamSerialization",
        "a kernel begins when the one before it in its stream has ended; `lab.graph` makes the gap "
        .. "between them shorter" },
    { "persistent_kernel* persistent_thread*",
        "a kernel of `lab.kernel` with one block an SM that takes its work in a loop runs; one that "
        .. "waits for the host or for another kernel is not supported: launch it again, or a graph" },
    -- parts of a GPU
    { "mps multi_process_service cuda_mps*",
        "one process uses the GPU: `lab.thread` and streams run work of several users beside each "
        .. "other" },
    { "green_context* cuGreenCtx* cuDevSmResource* torch.cuda.green_contexts* mig multi_instance_gpu",
        "a stream has the whole GPU: `lab.stream{ priority = -1 }` lets its kernels begin before those "
        .. "of others" },
    -- memory
    { "zero_copy mapped_memory cudaHostGetDevicePointer",
        "kernels do not reach the CPU's memory: `t:to(\"cuda\", { non_blocking = true })` of a pinned "
        .. "tensor copies beside other work" },
    { "release_threshold cudaMemPool* cuMemPool*",
        "`lab.cuda.malloc_async` takes from the default pool, whose release threshold is 0; tensors "
        .. "come from a pool that keeps its memory" },
    { "cudaMallocManaged cudaMemPrefetch* cudaMemAdvise* cudaMemRangeGetAttribute* "
        .. "cudaStreamAttachMemAsync cuMemAllocManaged lab.cuda.mem_prefetch lab.managed managed_memory "
        .. "unified_memory uvm",
        "there is no managed memory; a tensor lies on the GPU or on the CPU, and `t:to` copies "
        .. "it" },
    { "cudaHostAlloc cuMemAllocHost cuMemHostAlloc",
        "`lab.cuda.malloc_host` gives pinned memory, and { device = \"cpu\", pinned = true } a "
        .. "pinned tensor" },
    { "cudaHostAllocDefault cudaHostAllocMapped cudaHostAllocPortable cudaHostAllocWriteCombined "
        .. "cudaHostRegisterDefault cudaHostRegisterMapped cudaHostRegisterPortable",
        "page-locking has no flags: `t:pin()`, `lab.cuda.host_register`" },
    { "cudaPointerGetAttributes cuPointerGetAttribute*",
        "`t.device` says where a tensor lies, `t.pinned` whether it is page-locked" },
    { "cudaMemcpyHostToDevice cudaMemcpyDeviceToHost cudaMemcpyDeviceToDevice "
        .. "cudaMemcpyHostToHost cudaMemcpyDefault cudaMemcpyKind",
        "the direction follows from where the tensors lie: `t:copy_`" },
    { "cudaHostGetDevicePointer cudaHostGetFlags",
        "kernels do not read host memory; `t:to` copies it" },
    { "cudaMemPool* cuMemPool* cudaDeviceGetMemPool cudaDeviceSetMemPool "
        .. "cudaDeviceGetDefaultMemPool cudaMallocFromPoolAsync torch.cuda.MemPool "
        .. "torch.cuda.use_mem_pool torch.cuda.CUDAPluggableAllocator "
        .. "torch.cuda.change_current_allocator torch.cuda.memory.* "
        .. "torch.cuda.caching_allocator_* torch.cuda.set_per_process_memory_fraction",
        "memory pools have nothing to set; freed memory is kept for the next tensor" },
    { "torch.cuda.empty_cache",
        "freed memory is kept for the next tensor; `t:free()` frees a tensor at once" },
    { "torch.cuda.memory_reserved torch.cuda.max_memory_allocated torch.cuda.max_memory_reserved "
        .. "torch.cuda.memory_stats* torch.cuda.memory_summary torch.cuda.memory_snapshot "
        .. "torch.cuda.reset_peak_memory_stats torch.cuda.reset_max_memory_allocated "
        .. "torch.cuda.list_gpu_processes torch.cuda.host_memory_stats",
        "`lab.live()` counts what is alive, `lab.cuda.mem_get_info()` has what is free" },
    { "cudaMallocPitch cudaMalloc3D* cudaMallocArray cudaMallocMipmappedArray cudaArray* "
        .. "cudaFreeArray cudaMemcpy2D* cudaMemcpy3D* cudaMemset2D* cudaMemset3D* "
        .. "cudaMemcpyToArray* cudaMemcpyFromArray* cudaMemcpyToSymbol* cudaMemcpyFromSymbol* "
        .. "cudaGetSymbolAddress cudaMemcpyBatchAsync",
        "memory is linear, and a copy is of one contiguous piece: `t:copy_`, "
        .. "`lab.cuda.memcpy_async`" },
    { "cudaMemcpyPeer*", "`t:to` with \"cuda:1\" copies from one GPU to another" },
    { "cudaIpc* torch.multiprocessing* torch.cuda.ipc_collect tensor.share_memory_ "
        .. "tensor.is_shared event.ipc_handle event.from_ipc_handle",
        "nothing is shared between processes" },
    { "cudaCreateTextureObject cudaTex* cudaCreateSurfaceObject cudaSurf* cudaBindTexture* "
        .. "cudaGraphics* cudaImportExternal* cudaExternal* cudaSignalExternal* cudaWaitExternal*",
        "there are no textures, and no graphics" },
    -- streams and events
    { "cudaStreamAddCallback stream.add_callback stream.callback stream.host_func lab.host_func "
        .. "lab.launch_host_func",
        "`s:launch_host_func(f)` runs a function in the stream's order" },
    { "cuStreamWaitValue64 cuStreamWriteValue64 cuStreamBatchMemOp cudaStreamWaitValue* "
        .. "cudaStreamWriteValue*",
        "words of 32 bits, one at a time: `s:wait_value` and `s:write_value`" },
    { "cudaStreamSetAttribute cudaStreamGetAttribute cudaStreamCopyAttributes "
        .. "cudaCtxResetPersistingL2Cache cudaAccessPolicyWindow",
        "a stream has a name, a priority and `non_blocking`, set when it is made: `lab.stream`" },
    { "cudaStreamNonBlocking", "`lab.stream{ non_blocking = true }`" },
    { "cudaEventDisableTiming", "`lab.event{ timing = false }`" },
    { "cudaEventRecordWithFlags cudaEventRecordExternal cudaEventBlockingSync "
        .. "cudaEventInterprocess cudaEventDefault",
        "an event has no flag but its timing: `lab.event`, `e:record(s)`" },
    { "torch.cuda.ExternalStream torch.cuda.get_stream_from_external torch.cuda.StreamContext",
        "streams are made by `lab.stream`; `lab.with(s, f)` makes one current" },
    { "cudaThreadSynchronize lab.sync lab.wait lab.cuda.synchronize lab.cuda.sync",
        "use `lab.synchronize()`" },
    { "torch.Stream torch.cuda.streams* cudaStream_t cuStream_t", "`lab.stream`" },
    { "torch.Event cudaEvent_t", "`lab.event`" },
    -- the device, errors
    { "cudaDeviceReset device.reset", "a device stays open until the program ends" },
    { "cuInit cuDevice* cuCtx* cudaCtx* torch.cuda.init torch.cuda.is_initialized cudaInitDevice",
        "a device is opened when a script first needs one, or by `lab.open`" },
    { "torch.cuda.is_available",
        "`lab.device().simulated` says whether the GPU is a simulated one, `lab.devices()` "
        .. "lists what there is" },
    { "torch.cuda.device torch.cuda.device_of",
        "`d:make_current()`, or `device =` of tensors and streams" },
    { "torch.device",
        "devices are texts: \"cuda\", \"cpu\", \"cuda:1\"; `lab.open` opens others" },
    { "cudaDeviceGetAttribute cudaDeviceGetLimit cudaDeviceGetPCIBusId cudaChooseDevice "
        .. "cudaSetValidDevices cudaDeviceGetByPCIBusId cudaFuncSetSharedMemConfig "
        .. "cudaDeviceSetCacheConfig cudaDeviceSetSharedMemConfig cudaDeviceGetSharedMemConfig "
        .. "device.uuid device.warp_size device.clock_rate device.l2_cache_size "
        .. "cudaDeviceGetP2PAttribute torch.cuda.get_arch_list torch.cuda.get_gencode_flags",
        "what is known of a GPU is in the fields of `lab.device()`: sm_count, memory_bytes and "
        .. "others" },
    { "cudaSetDeviceFlags cudaDeviceSchedule*", "how the host waits is not set" },
    { "cudaGetLastError cudaPeekAtLastError cudaGetErrorName cudaGetErrorString cuGetErrorString "
        .. "cudaSuccess cudaError* torch.cuda.OutOfMemoryError torch.OutOfMemoryError "
        .. "torch.cuda.CudaError",
        "a call that fails raises an error, which pcall catches; its field code is a text "
        .. "(SL_ENOMEM)" },
    { "torch.cuda.set_sync_debug_mode torch.cuda.get_sync_debug_mode",
        "`lab.probe` says whether a call waits, `tl:explain()` what waited" },
    { "cudaDriverGetVersion cudaRuntimeGetVersion torch.version.* torch.__version__",
        "`lab.device()` has the GPU's name and compute capability; there are no versions" },
    { "torch.cuda.utilization torch.cuda.temperature torch.cuda.power_draw torch.cuda.clock_rate "
        .. "torch.cuda.memory_usage nvml*",
        "sensors are not read; `tl:summary()` says how busy the GPU was" },
    { "cuMemcpy* cuMemset* cuMemAlloc* cuMemFree* cuStream* cuEvent*",
        "of CUDA's two interfaces the names of the runtime are known: ?cudaMemcpyAsync, "
        .. "?cudaStreamCreate" },
    -- libraries
    { "nccl* torch.distributed torch.distributed.* torch.cuda.nccl* torch.cuda.comm* "
        .. "lab.all_reduce lab.all_gather lab.reduce_scatter lab.broadcast lab.send lab.recv",
        "`lab.comm` connects GPUs, and `comm:all_reduce` and others are collectives between them" },
    { "torch.nn.parallel.* torch.nn.DataParallel",
        "there are no modules of networks; `comm:all_reduce` sums gradients over GPUs" },
    { "cublas* torch.cuda.current_blas_handle",
        "`lab.matmul` multiplies matrices, on a real GPU with cuBLAS; there is no handle to "
        .. "set up" },
    { "curand*", "`lab.rand` and `lab.randn` make random numbers" },
    { "cudnn* cufft* cusparse* cusolver* cutensor* nvjpeg* npp* torch.fft* torch.sparse* "
        .. "torch.linalg*",
        "of CUDA's libraries only what `lab.matmul` needs is used" },
    { "thrust* cub::*", "`t:sum` is the one reduction; `t:totable()` gives the values to Lua" },
    { "nvtx* torch.cuda.nvtx* torch.profiler.record_function "
        .. "torch.autograd.profiler.record_function torch.profiler.itt* lab.range_push "
        .. "lab.range_pop",
        "ranges are not named; an operation in a timeline has its stream's name and the "
        .. "script's line" },
    { "cudaProfilerStart cudaProfilerStop torch.cuda.profiler.start torch.cuda.profiler.stop "
        .. "torch.cuda.profiler.profile torch.cuda.cudart",
        "these tell a profiler like nsys when to record; `lab.record()` and `lab.profile(f)` "
        .. "record by themselves" },
    { "torch.profiler.schedule torch.profiler.ProfilerActivity "
        .. "torch.profiler.tensorboard_trace_handler cupti*",
        "`lab.profile(f)` records all that f does; `tl:save` writes it" },
    { "lab.time lab.timer lab.clock lab.timeit lab.now",
        "`lab.measure` measures a function, `lab.now_us()` reads the host's clock" },
    { "lab.sleep", "`lab.host_work(ms)` keeps the host busy, `lab.spin(ms)` the GPU" },
    { "lab.help", "at the prompt ?lab.matmul or help(lab.matmul), in the shell streamlab help lab.matmul" },
    { "lab.print lab.show", "print shows a value; at the prompt a tensor is shown by its name" },
    { "torch.is_tensor", "tostring(t) says that it is a tensor" },
    -- networks
    { "torch.nn torch.nn.* lab.Linear lab.linear lab.conv2d lab.gelu lab.silu lab.dropout "
        .. "lab.layer_norm lab.cross_entropy lab.scaled_dot_product_attention",
        "there are no layers; `lab.matmul(x, w, { bias = b })` multiplies by weights and adds a "
        .. "bias" },
    { "torch.optim torch.optim.* torch.autograd torch.autograd.* torch.no_grad torch.enable_grad "
        .. "torch.set_grad_enabled torch.inference_mode torch.is_grad_enabled tensor.backward "
        .. "tensor.grad tensor.grad_fn tensor.requires_grad tensor.requires_grad_ tensor.detach "
        .. "tensor.retain_grad tensor.register_hook tensor.is_leaf torch.func* torch.vmap "
        .. "tensor.zero_grad lab.backward",
        "there are no gradients, and nothing that learns" },
    { "torch.compile torch.jit* torch.fx* torch._dynamo* torch.export* torch.onnx* "
        .. "torch._inductor*",
        "nothing is compiled; each call enqueues its operation" },
    { "torch.amp torch.amp.* torch.cuda.amp* torch.autocast",
        "a dtype is chosen when a tensor is made: { dtype = \"float16\" }, or by `t:half()`" },
    { "torch.backends torch.backends.* torch.set_float32_matmul_precision torch.set_num_threads "
        .. "torch.get_num_threads torch.use_deterministic_algorithms "
        .. "torch.set_deterministic_debug_mode torch.set_default_device torch.set_default_dtype "
        .. "torch.get_default_dtype torch.set_default_tensor_type",
        "there is no such setting; tensors are float32 on the current GPU unless { dtype =, "
        .. "device = } says otherwise" },
    { "torch.utils.data* torch.utils.checkpoint* torchvision* torch.hub*",
        "there are no data sets; the guide's chapter 8 builds a pipeline by hand" },
    { "torch.mps* torch.xpu* torch.hip* hip* torch.mtia*",
        "GPUs are those of NVIDIA, or simulated" },
    { "torch.save torch.serialization* torch.package*",
        "`t:totable()` gives the values to Lua, which can write them; `tl:save` writes "
        .. "timelines" },
    { "torch.load", "`lab.load` reads traces; tensors are made of tables: `lab.tensor`" },
    -- making tensors
    { "torch.arange torch.linspace torch.logspace torch.eye torch.randint* torch.randperm "
        .. "torch.range torch.from_numpy torch.as_tensor torch.asarray torch.frombuffer "
        .. "torch.from_dlpack torch.diag torch.tril torch.triu torch.normal torch.bernoulli "
        .. "torch.multinomial torch.complex torch.FloatTensor torch.cuda.FloatTensor torch.Tensor",
        "`lab.tensor` makes a tensor of a table of numbers; `lab.zeros`, `lab.ones`, "
        .. "`lab.full`, `lab.rand` and `lab.randn` fill one" },
    { "torch.empty_like torch.zeros_like torch.ones_like torch.full_like torch.rand_like "
        .. "torch.randn_like tensor.new_empty tensor.new_zeros tensor.new_ones tensor.new_full "
        .. "tensor.new_tensor",
        "the sizes of another tensor are `t:size()`: lab.zeros(t:size())" },
    { "torch.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all torch.seed "
        .. "torch.initial_seed torch.Generator torch.get_rng_state torch.set_rng_state "
        .. "torch.cuda.get_rng_state* torch.cuda.set_rng_state* torch.random* lab.seed",
        "a seed is an option, lab.rand(4, { seed = 7 }); --seed 7 is for a whole run" },
    { "torch.float torch.half torch.double torch.int torch.int8 torch.int16 torch.int64 "
        .. "torch.long torch.bool torch.dtype",
        "dtypes are texts: { dtype = \"float16\" }, t:to(\"float64\"); lab.float64 is \"float64\"" },
    { "tensor.type tensor.astype tensor.long tensor.short tensor.bool tensor.char tensor.type_as",
        "`t:to` with the name of a dtype gives another one: t:to(\"int32\")" },
    -- shapes
    { "tensor.shape", "its sizes are `t:size()`" },
    { "tensor.dims", "its sizes are `t:size()`, their number is `t.ndim`" },
    { "tensor.T tensor.mT tensor.H torch.adjoint", "`t:t()` transposes a matrix, in a copy" },
    { "tensor.dim", "its number of dimensions is `t.ndim`" },
    { "tensor.len tensor.length", "use `t:numel()`, or t:size(1)" },
    { "torch.numel tensor.nelement", "use `t:numel()`" },
    { "torch.reshape tensor.view_as tensor.reshape_as torch.squeeze torch.unsqueeze "
        .. "torch.unflatten",
        "use `t:view(sizes ...)`" },
    { "torch.flatten torch.ravel", "use t:view(-1)" },
    { "torch.split torch.tensor_split torch.unbind",
        "use `t:chunk(n)`, or `t:narrow(dim, start, length)`" },
    { "tensor.slice", "use `t:narrow(dim, start, length)`" },
    { "torch.select", "use t:narrow(dim, i, 1)" },
    { "torch.permute torch.swapdims torch.movedim torch.moveaxis torch.expand tensor.expand "
        .. "tensor.expand_as tensor.repeat torch.tile torch.broadcast_to torch.roll torch.flip "
        .. "tensor.as_strided torch.as_strided tensor.unfold torch.meshgrid",
        "tensors are contiguous, and nothing is broadcast; `t:view` and `t:narrow` are the "
        .. "views, `t:transpose` copies" },
    { "tensor.is_contiguous tensor.contiguous",
        "every tensor is contiguous here, views as well" },
    { "tensor.stride tensor.data_ptr tensor.storage tensor.untyped_storage tensor.element_size "
        .. "tensor.itemsize",
        "tensors are row-major; the bytes of an element are t:nbytes() // t:numel()" },
    { "torch.cat torch.concat torch.concatenate torch.stack torch.hstack torch.vstack "
        .. "torch.dstack",
        "make a tensor and copy the parts into views of it: t:narrow(1, 1, n):copy_(u)" },
    { "torch.clone", "copy it into a new tensor: lab.empty(...):copy_(t)" },
    -- values
    { "tensor.data tensor.values tensor.numpy tensor.tolist tensor.array tensor.print tensor.map "
        .. "tensor.apply tensor.apply_ tensor.map_",
        "its values are `t:totable()`" },
    { "tensor.mm torch.mv torch.dot torch.inner torch.baddbmm torch.einsum "
        .. "torch.tensordot torch.outer torch.matrix_power",
        "`t:matmul(u)` multiplies matrices, and stacks of them" },
    { "torch.mean torch.nanmean", "the mean is t:sum():item() / t:numel()" },
    { "torch.max torch.min torch.amax torch.amin torch.argmax torch.argmin torch.topk torch.sort "
        .. "torch.argsort torch.cumsum torch.cumprod torch.prod torch.std torch.var torch.median "
        .. "torch.norm torch.any torch.all torch.maximum torch.minimum torch.unique torch.histc "
        .. "torch.bincount torch.logsumexp torch.count_nonzero torch.kthvalue torch.quantile",
        "`t:sum` is the one reduction; `t:totable()` gives the values to Lua" },
    { "torch.sqrt torch.rsqrt torch.square torch.reciprocal", "use `lab.pow`: lab.pow(t, 0.5)" },
    { "torch.exp torch.log torch.log2 torch.sin torch.cos torch.tanh torch.sigmoid torch.abs "
        .. "torch.clamp torch.clip torch.round torch.floor torch.ceil torch.sign torch.erf "
        .. "torch.lerp torch.addcmul torch.addcdiv torch.remainder torch.fmod torch.where "
        .. "torch.masked_fill torch.gather torch.scatter torch.index_select torch.masked_select "
        .. "torch.nonzero torch.take torch.isnan torch.isinf torch.log_softmax torch.gelu "
        .. "torch.bitwise_* torch.cdist tensor.scatter_ tensor.masked_fill_ tensor.index_add_ "
        .. "tensor.index_copy_",
        "the page Kernels has what is computed element by element" },
    { "tensor.add_ tensor.mul_ tensor.sub_ tensor.div_ tensor.pow_ tensor.neg_ tensor.clamp_ "
        .. "tensor.relu_ tensor.exp_",
        "a result goes into a tensor that is there with { out = t }" },
    { "tensor.random_ tensor.normal_ tensor.uniform_",
        "`lab.rand` and `lab.randn` make a new tensor" },
    { "torch.eq torch.ne torch.lt torch.gt torch.le torch.ge torch.equal torch.isclose",
        "`t:allclose(u)` compares tensors, `t:get(i)` gives a value to Lua" },
    { "tensor.record_stream record_stream", "it is not needed: memory that another stream still uses is kept" },
    { "tensor.is_cuda", "use t.device == \"cuda\"" },
    { "tensor.is_pinned", "use `t.pinned`" },
    { "tensor.get_device", "use `t.device_index`" },
    -- other names for what exists
    { "stream.sync", "use `s:synchronize()`" },
    { "stream.wait", "use `s:wait_event(e)`, s:wait_stream(other) or `s:synchronize()`" },
    { "stream.record", "use `s:record_event(e)`" },
    { "stream.destroy", "use `s:close()`" },
    { "stream.done", "use `s:query()`" },
    { "stream.stream_id stream.cuda_stream stream.native_handle", "use `s.id`" },
    { "stream.get_priority", "use `s.priority`" },
    { "event.sync", "use `e:synchronize()`" },
    { "event.wait", "use `s:wait_event(e)`, or `e:synchronize()` for the host" },
    { "event.elapsed event.elapsed_ms event.time", "use e:elapsed_time(e2), in milliseconds" },
    { "event.enable_timing", "use `e.timing`" },
    { "event.destroy", "use `e:close()`" },
    { "event.done", "use `e:query()`" },
    { "device.sync device.synchronize", "use `lab.synchronize()`" },
    { "device.close", "a device stays open until the program ends" },
    { "device.type", "use `d.backend`" },
    { "device.total_memory", "use `d.memory_bytes`" },
    { "device.multi_processor_count", "use `d.sm_count`" },
    { "device.major device.minor", "use `d.compute_capability`" },
    { "timeline.makespan", "use `tl.makespan_us`" },
    { "timeline.duration", "use `tl.makespan_us`, or `tl.wall_us` for the host" },
    { "timeline.wall", "use `tl.wall_us`" },
    { "timeline.busy", "use `tl:busy_us()`" },
    { "timeline.overlap", "use tl:overlap_us(a, b)" },
    { "timeline.count", "use `tl.span_count`" },
    { "timeline.events timeline.key_averages", "use `tl:spans()`" },
    { "timeline.plot", "use `tl:show()`" },
    { "timeline.print", "use `tl:show()` or `tl:summary()`" },
    { "timeline.table", "use `tl:summary()`" },
    { "timeline.to_json", "use `tl:json()`, or tl:save(\"x.json\")" },
    { "timeline.start timeline.step",
        "a timeline records from `lab.record()` until `tl:stop()`" },
    { "timeline.export_chrome_trace timeline.export_stacks timeline.export",
        "use tl:save(\"x.json\")" },
}

-- Those of the names that are CUDA's or PyTorch's, as a table in Markdown.
local rows = { "| name | here |", "|---|---|" }
for _, item in ipairs(missing) do
    local names = {}
    for name in item[1]:gsub("%f[%w]tensor%.", "torch.Tensor."):gmatch("%S+") do
        local ours = name:find("^lab%.") or name:find("^%l+%.") and not name:find("^torch%.")
        names[#names + 1] = not ours and "`" .. name .. "`" or nil
    end
    if #names > 0 then
        rows[#rows + 1] = "| " .. table.concat(names, ", ") .. " | " .. item[2] .. " |"
    end
end

return {
    title = "What is not here",
    order = 990,
    about = [[
These names of CUDA and PyTorch do not exist in streamlab; the table says what to use instead. A call of a missing name,
at the prompt and in scripts, and `help "torch.nn.Linear"` say the same. A missing field of `lab` reads as nil, so that
a script can test for it: `if lab.compile then`. A missing field of an object is an error.

[Another table](cuda-pytorch.md) lists the names that do exist.]],
    missing = missing,
    entries = {},
    more = table.concat(rows, "\n") .. "\n",
}
