-- code_cuda.lua - changes of a program in CUDA C++, as code_pytorch.lua has them for PyTorch.

return {
    pin = { "cudaMallocHost", [[
-float *host = (float *)malloc(bytes);
+float *host;
+cudaMallocHost(&host, bytes);    // once; freed by cudaFreeHost
 cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice);]] },
    ["pin from"] = { "cudaMallocHost", [[
-float *results = (float *)malloc(bytes);
+float *results;
+cudaMallocHost(&results, bytes);    // once; freed by cudaFreeHost
 cudaMemcpy(results, y, bytes, cudaMemcpyDeviceToHost);]] },
    non_blocking = { "cudaMemcpyAsync", [[
-cudaMemcpy(x, pinned, bytes, cudaMemcpyHostToDevice);
+cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, s);
 work<<<blocks, threads, 0, s>>>(x, n);]] },
    ["non_blocking from"] = { "cudaMemcpyAsync", [[
 work<<<blocks, threads, 0, s>>>(y, n);
-cudaMemcpy(pinned, y, bytes, cudaMemcpyDeviceToHost);
+cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, s);
+cudaEventRecord(arrived, s);
 prepare();
+cudaEventSynchronize(arrived);    // before it is read
 read(pinned);]] },
    ["non_blocking value"] = { "read it every 100 steps", [[
 for (int step = 0; step < steps; step++) {
     work<<<blocks, threads, 0, s>>>(x, n);    // adds its loss to sum
-    cudaMemcpy(pinned, sum, sizeof *sum, cudaMemcpyDeviceToHost);
-    read(pinned);
+    if (step % 100 == 99) {
+        cudaMemcpy(pinned, sum, sizeof *sum, cudaMemcpyDeviceToHost);
+        read(pinned);
+    }
 }]] },
    move = { "launch it in another stream", [[
+cudaEventRecord(ready, s);    // behind what has written x and y
+cudaStreamWaitEvent(side, ready, 0);
 work<<<blocks, threads, 0, s>>>(x, n);
-work<<<blocks, threads, 0, s>>>(y, n);
+work<<<blocks, threads, 0, side>>>(y, n);
+cudaEventRecord(done, side);
+cudaStreamWaitEvent(s, done, 0);]] },
    ["move to"] = { "copy in a stream of its own", [[
-cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, s);
+cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, side);
+cudaEventRecord(ready, side);
+cudaStreamWaitEvent(s, ready, 0);
 work<<<blocks, threads, 0, s>>>(x, n);
+cudaEventRecord(done, s);
+cudaStreamWaitEvent(side, done, 0);    // before x is overwritten]] },
    ["move from"] = { "copy in a stream of its own", [[
 work<<<blocks, threads, 0, s>>>(y, n);
-cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, s);
+cudaEventRecord(ready, s);
+cudaStreamWaitEvent(side, ready, 0);
+cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, side);
+cudaEventRecord(done, side);    // s waits for it before it writes y]] },
    priority = { "cudaStreamCreateWithPriority", [[
-cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
+cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, $number);
 work<<<blocks, threads, 0, s>>>(x, n);]] },
    drop_sync = { "wait later, for an event", [[
 cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, s);
-cudaDeviceSynchronize();
+cudaEventRecord(arrived, s);
 work<<<blocks, threads, 0, s>>>(x, n);
+cudaEventSynchronize(arrived);    // only if the host reads what arrived
 read(pinned);]] },
    drop_wait = { "wait for an event right behind what is needed", [[
 work<<<blocks, threads, 0, s>>>(x, n);    // what side needs
+cudaEventRecord(ready, s);
 work<<<blocks, threads, 0, s>>>(y, n);
-cudaEventRecord(ready, s);
 cudaStreamWaitEvent(side, ready, 0);
 work<<<blocks, threads, 0, side>>>(x, n);]] },
    prefetch = { "two buffers, and a stream for copies", [[
-for (int i = 0; i < steps; i++) {
-    cudaMemcpyAsync(x, batch[i], bytes, cudaMemcpyHostToDevice, s);
-    work<<<blocks, threads, 0, s>>>(x, n);
-}
+auto copy = [&](int i) {
+    cudaStreamWaitEvent(side, used[i % 2], 0);    // holds nobody at first
+    cudaMemcpyAsync(two[i % 2], batch[i], bytes, cudaMemcpyDefault, side);
+    cudaEventRecord(there[i % 2], side);
+};
+copy(0);
+for (int i = 0; i < steps; i++) {
+    if (i + 1 < steps) copy(i + 1);
+    cudaStreamWaitEvent(s, there[i % 2], 0);
+    work<<<blocks, threads, 0, s>>>(two[i % 2], n);
+    cudaEventRecord(used[i % 2], s);
+}]] },
    scale = { "a faster kernel, or lower precision", [[
+cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH);
 cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, x, m, x, m,
             &zero, y, m);]] },
    ["scale to"] = { "fewer bytes", [[
-cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, s);
+cudaMemcpyAsync(half, pinned_half, bytes / 2, cudaMemcpyHostToDevice, s);
+widen<<<blocks, threads, 0, s>>>(half, x, n);]] },
    remove = { "leave it out", [[
 for (int step = 0; step < steps; step++) {
-    work<<<blocks, threads, 0, s>>>(y, n);    // needless, or only once
     work<<<blocks, threads, 0, s>>>(x, n);
 }]] },
    ["remove to"] = { "make it on the GPU", [[
-for (int i = 0; i < n; i++) pinned[i] = i;
-cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, s);
+count_up<<<blocks, threads, 0, s>>>(x, n);]] },
    ["remove from"] = { "keep it on the GPU", [[
-cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, s);
-cudaStreamSynchronize(s);
-read(pinned);
+work<<<blocks, threads, 0, s>>>(y, n);    // does what the host did]] },
    ["remove fill"] = { "do not fill what is overwritten", [[
-cudaMemsetAsync(y, 0, bytes, s);
 cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, s);]] },
    ["remove memory"] = { "allocate once", [[
+float *scratch;
+cudaMalloc(&scratch, bytes);
 for (int i = 0; i < steps; i++) {
-    float *scratch;
-    cudaMalloc(&scratch, bytes);
     work<<<blocks, threads, 0, s>>>(scratch, n);
-    cudaFree(scratch);
 }
+cudaFree(scratch);]] },
    fuse = { "one kernel that does both", [[
-add<<<blocks, threads, 0, s>>>(x, y, n);
-relu<<<blocks, threads, 0, s>>>(y, n);
+add_relu<<<blocks, threads, 0, s>>>(x, y, n);    // in one pass]] },
    graph = { "cudaGraphLaunch", [[
+cudaGraph_t graph;
+cudaGraphExec_t exec;
+cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
+for (int i = 0; i < launches; i++)
+    work<<<blocks, threads, 0, s>>>(x, n);
+cudaStreamEndCapture(s, &graph);
+cudaGraphInstantiate(&exec, graph, 0);
 for (int step = 0; step < steps; step++)
-    for (int i = 0; i < launches; i++)
-        work<<<blocks, threads, 0, s>>>(x, n);
+    cudaGraphLaunch(exec, s);]] },
    host_scale = { "fewer calls", [[
 for (int i = 0; i < steps; i++) {
-    float *scratch;
-    cudaMallocAsync(&scratch, bytes, s);
-    work<<<blocks, threads, 0, s>>>(scratch, n);
-    cudaFreeAsync(scratch, s);
+    work<<<blocks, threads, 0, s>>>(x, n);    // x is allocated once
 }]] },
    batch = { "one copy for many", [[
+const size_t part = m * sizeof *x;
-for (int i = 0; i < steps; i++)
-    cudaMemcpy(x + i * m, batch[i], m * sizeof *x, cudaMemcpyHostToDevice);
+for (int i = 0; i < steps; i++) memcpy(pinned + i * m, batch[i], part);
+cudaMemcpyAsync(x, pinned, steps * part, cudaMemcpyHostToDevice, s);]] },
    ["batch kernel"] = { "one product for many", [[
-for (int i = 0; i < steps; i++)
-    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one,
-                x + i * m * m, m, x, m, &zero, y + i * m * m, m);
+cublasSgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one,
+                          x, m, m * m, x, m, 0, &zero, y, m, m * m, steps);]] },
    async = { "communicate in a stream of its own", [[
-ncclAllReduce(x, x, n, ncclFloat, ncclSum, comm, s);
+cudaEventRecord(ready, s);
+cudaStreamWaitEvent(side, ready, 0);
+ncclAllReduce(x, x, n, ncclFloat, ncclSum, comm, side);
+cudaEventRecord(done, side);
 work<<<blocks, threads, 0, s>>>(y, n);
+cudaStreamWaitEvent(s, done, 0);
 work<<<blocks, threads, 0, s>>>(x, n);]] },
    threads = { "prepare in a thread", [[
 for (int i = 0; i < steps; i++) {
-    prepare(i);
+    std::thread next(prepare, i + 1);    // batch[0]: before the loop
     cudaMemcpyAsync(x, batch[i], bytes, cudaMemcpyHostToDevice, s);
     work<<<blocks, threads, 0, s>>>(x, n);
+    next.join();
 }]] },
    buckets = { "one all-reduce for many", [[
-for (int i = 0; i < steps; i++)
-    ncclAllReduce(x + i * m, x + i * m, m, ncclFloat, ncclSum, comm, s);
+const size_t most = $number / sizeof *x;    // of a bucket
+for (size_t at = 0; at < n; at += most)
+    ncclAllReduce(x + at, x + at, std::min(most, n - at), ncclFloat,
+                  ncclSum, comm, s);]] },
    channels = { "config.maxCTAs = $number", [[
+ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
+config.maxCTAs = $number;
-ncclCommInitRank(&comm, gpus, id, rank);
+ncclCommInitRankConfig(&comm, gpus, id, rank, &config);]] },
    profile = { none = "Another GPU is no change of the code." },
}
