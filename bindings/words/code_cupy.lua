-- code_cupy.lua - changes of a program with CuPy, as code_pytorch.lua has them for PyTorch.

return {
    pin = { "cupyx.empty_pinned", [[
-host = np.empty(n, dtype=np.float32)
+host = cupyx.empty_pinned(n, dtype=np.float32)    # once
 x.set(host)]] },
    ["pin from"] = { "get(out=pinned)", [[
+pinned = cupyx.empty_like_pinned(y)    # once
-result = y.get()
+result = y.get(out=pinned)]] },
    non_blocking = { "x.set(pinned)", [[
+x = cp.empty(n, dtype=np.float32)    # once
-x = cp.asarray(host)
+x.set(pinned)
 y = work(x)]] },
    ["non_blocking from"] = { "blocking=False", [[
-result = y.get(out=pinned)
+result = y.get(out=pinned, blocking=False)
 prepare()
+cp.cuda.get_current_stream().synchronize()    # before it is read
 log(result)]] },
    ["non_blocking value"] = { "keep the sum on the GPU", [[
+total = cp.zeros(())
 for step in range(1000):
     loss = work(x).mean()
-    log(float(loss))
+    total += loss
+    if step % 100 == 99:
+        log(float(total) / 100)
+        total.fill(0)]] },
    move = { "run it in a side stream", [[
+side = cp.cuda.Stream(non_blocking=True)
+side.wait_event(cp.cuda.get_current_stream().record())    # which wrote x
 a = left(x)
-b = right(x)
+with side:
+    b = right(x)
+    done = side.record()
+cp.cuda.get_current_stream().wait_event(done)
 c = a + b]] },
    ["move to"] = { "copy in a side stream", [[
+copies = cp.cuda.Stream(non_blocking=True)
 for batch in pinned_batches:
-    x.set(batch)
+    x.set(batch, stream=copies)
+    cp.cuda.get_current_stream().wait_event(copies.record())
     y = work(x)
+    copies.wait_event(cp.cuda.get_current_stream().record())    # x is read]] },
    ["move from"] = { "copy in a side stream", [[
+copies = cp.cuda.Stream(non_blocking=True)
 for i in range(100):
     y = work(x)
-    y.get(out=results[i], blocking=False)
+    copies.wait_event(cp.cuda.get_current_stream().record())
+    y.get(out=results[i], stream=copies, blocking=False)
+    kept.append(y)    # until the copy has ended]] },
    priority = { "Stream(priority=$number)", [[
-urgent = cp.cuda.Stream(non_blocking=True)
+urgent = cp.cuda.Stream(non_blocking=True, priority=$number)
 with urgent:
     y = work(x)]] },
    drop_sync = { "wait later, for an event", [[
 y = work(x)
-cp.cuda.Device().synchronize()
+ready = cp.cuda.get_current_stream().record()
 z = head(x)
+ready.synchronize()    # only if the host reads y]] },
    ["drop_sync shape"] = { "shapes that do not depend on data", [[
-mean = x[mask].mean()
+mean = cp.where(mask, x, 0).sum() / mask.sum()]] },
    drop_wait = { "wait for an event right behind what is needed", [[
 needed = work(x)
+ready = main.record()
 other = head(x)
-side.wait_event(main.record())
+side.wait_event(ready)
 with side:
     y = needed * 2]] },
    prefetch = { "two buffers, and a stream for copies", [[
+copies = cp.cuda.Stream(non_blocking=True)
+two, used = [x, cp.empty_like(x)], [None, None]
+
+def copy(i):
+    if used[i % 2] is not None:
+        copies.wait_event(used[i % 2])
+    two[i % 2].set(pinned_batches[i], stream=copies)
+    return copies.record()
+
-for i in range(100):
-    x.set(pinned_batches[i])
-    y = work(x)
+there = copy(0)
+for i in range(100):
+    now, there = there, copy(i + 1) if i + 1 < 100 else None
+    cp.cuda.get_current_stream().wait_event(now)
+    y = work(two[i % 2])
+    used[i % 2] = cp.cuda.get_current_stream().record()]] },
    scale = { "lower precision", [[
-y = x @ weights
+y = x.astype(cp.float16) @ half_weights]] },
    ["scale to"] = { "fewer bytes", [[
-x.set(host)
+x[...] = cp.asarray(host.astype(np.float16))    # widened on the GPU]] },
    remove = { "leave it out", [[
 for i in range(100):
-    scale = head(weights)
+    # needless, or once before the loop
     y = work(x)]] },
    ["remove to"] = { "make it on the GPU", [[
-noise = cp.asarray(np.random.standard_normal(n))
+noise = cp.random.standard_normal(n)]] },
    ["remove from"] = { "keep it on the GPU", [[
-mean = y.get().mean()
+mean = y.mean()]] },
    ["remove fill"] = { "do not fill what is overwritten", [[
-y = cp.zeros_like(x)
+y = cp.empty_like(x)
 cp.multiply(x, x, out=y)]] },
    ["remove memory"] = { "leave the pool alone", [[
 for i in range(100):
     y = work(x)
-    cp.get_default_memory_pool().free_all_blocks()]] },
    fuse = { "cupy.fuse", [[
+@cp.fuse
 def activation(x, bias):
     return cp.maximum(x + bias, 0) * x]] },
    graph = { "capture and launch a graph", [[
+side = cp.cuda.Stream(non_blocking=True)
+work(x, out=y)    # which allocates, and loads code
+cp.cuda.Device().synchronize()
+with side:
+    side.begin_capture()
+    work(x, out=y)
+    graph = side.end_capture()
 for i in range(100):
-    work(x, out=y)
+    graph.launch()]] },
    host_scale = { "fewer calls", [[
 for i in range(100):
-    y = cp.maximum(x + bias, 0) * 2
+    y = fused(x, bias)    # one kernel, by cupy.ElementwiseKernel]] },
    batch = { "one copy for many", [[
-xs = [cp.asarray(part) for part in parts]
+xs = list(cp.asarray(np.stack(parts)))]] },
    ["batch kernel"] = { "one product for many", [[
-ys = [a @ b for a, b in zip(lefts, rights)]
+ys = cp.matmul(cp.stack(lefts), cp.stack(rights))]] },
    async = { "communicate in a stream of its own", [[
+side = cp.cuda.Stream(non_blocking=True)
+side.wait_event(cp.cuda.get_current_stream().record())
-comm.all_reduce(grad, grad)
+comm.all_reduce(grad, grad, stream=side)
+done = side.record()
 y = work(x)
+cp.cuda.get_current_stream().wait_event(done)
 grad /= 2]] },
    threads = { "prepare in a thread", [[
+pool = concurrent.futures.ThreadPoolExecutor(1)
+coming = pool.submit(prepare, 0)
 for i in range(100):
-    x.set(prepare(i))
+    batch, coming = coming.result(), pool.submit(prepare, i + 1)
+    x.set(batch)
     y = work(x)]] },
    buckets = { "one all-reduce for many", [[
-for grad in grads:
-    comm.all_reduce(grad, grad)
+flat = cp.concatenate([grad.ravel() for grad in grads])
+most = $number // flat.itemsize    # of a bucket
+for at in range(0, flat.size, most):
+    comm.all_reduce(flat[at:at + most], flat[at:at + most])]] },
    channels = { none = "Set NCCL_MAX_CTAS=$number in the environment of the program." },
    profile = { none = "Another GPU is no change of the code." },
}
