-- code_pytorch.lua - changes of a program in PyTorch, by edit, or by edit and what it is about:
-- in a few words, and before (-) and after (+). bindings/words/code.lua chooses; what to check of
-- each is there. The tests compile both sides.

return {
    pin = { "pin_memory=True", [[
-loader = DataLoader(data, batch_size=256)
+loader = DataLoader(data, batch_size=256, pin_memory=True)
 for batch in loader:
     model(batch.to(device))]] },
    ["pin from"] = { "copy into a pinned tensor", [[
+kept = torch.empty_like(out, device="cpu", pin_memory=True)    # once
 for x in batches:
     out = model(x)
-    kept = out.cpu()
+    kept.copy_(out)]] },
    non_blocking = { "non_blocking=True", [[
 for batch in loader:
-    x = batch.to(device)
+    x = batch.to(device, non_blocking=True)]] },
    ["non_blocking from"] = { "non_blocking=True", [[
 for x in batches:
-    results.append(model(x).cpu())
+    results.append(model(x).to("cpu", non_blocking=True))
+torch.cuda.synchronize()    # before any of them is read]] },
    ["non_blocking value"] = { "keep the sum on the GPU", [[
+total = torch.zeros((), device=device)
 for step, x in enumerate(batches):
     loss = model(x).mean()
-    log(loss.item())
+    total += loss.detach()
+    if step % 100 == 99:
+        log(total.item() / 100)
+        total.zero_()]] },
    move = { "run it in a side stream", [[
+side = torch.cuda.Stream()
+side.wait_stream(torch.cuda.current_stream())    # which has written x
 a = left(x)
-b = right(x)
+with torch.cuda.stream(side):
+    b = right(x)
+torch.cuda.current_stream().wait_stream(side)
+b.record_stream(torch.cuda.current_stream())
 c = a + b]] },
    ["move to"] = { "copy in a side stream", [[
+copies = torch.cuda.Stream()
 for batch in loader:
-    x = batch.to(device, non_blocking=True)
+    with torch.cuda.stream(copies):
+        x = batch.to(device, non_blocking=True)
+    torch.cuda.current_stream().wait_stream(copies)
+    x.record_stream(torch.cuda.current_stream())
     y = model(x)]] },
    ["move from"] = { "copy in a side stream", [[
+copies = torch.cuda.Stream()
 for x in batches:
     out = model(x)
-    results.append(out.to("cpu", non_blocking=True))
+    copies.wait_stream(torch.cuda.current_stream())
+    with torch.cuda.stream(copies):
+        results.append(out.to("cpu", non_blocking=True))
+    out.record_stream(copies)
 torch.cuda.synchronize()]] },
    priority = { "torch.cuda.Stream(priority=$number)", [[
-urgent = torch.cuda.Stream()
+urgent = torch.cuda.Stream(priority=$number)
 with torch.cuda.stream(urgent):
     y = model(x)]] },
    drop_sync = { "wait later, for an event", [[
 y = model(x)
-torch.cuda.synchronize()
+ready = torch.cuda.current_stream().record_event()
 z = head(x)
+ready.synchronize()    # only if the host reads y]] },
    ["drop_sync shape"] = { "shapes that do not depend on data", [[
-mean = x[mask].mean()
+mean = torch.where(mask, x, 0).sum() / mask.sum()]] },
    drop_wait = { "wait for an event right behind what is needed", [[
 needed = model(x)
+ready = main.record_event()
 other = head(x)
-side.wait_stream(main)
+side.wait_event(ready)
 with torch.cuda.stream(side):
     y = needed * 2]] },
    prefetch = { "copy the next batch in a side stream", [[
+copies = torch.cuda.Stream()
+
+def prefetched(loader):
+    ready = None
+    for batch in loader:
+        with torch.cuda.stream(copies):
+            coming = batch.to(device, non_blocking=True)
+        if ready is not None:
+            yield ready
+        torch.cuda.current_stream().wait_stream(copies)
+        coming.record_stream(torch.cuda.current_stream())
+        ready = coming
+    if ready is not None:
+        yield ready
+
-for batch in loader:
-    y = model(batch.to(device, non_blocking=True))
+for x in prefetched(loader):
+    y = model(x)]] },
    scale = { "TF32 or bfloat16", [[
+torch.set_float32_matmul_precision("high")    # TF32
-y = model(x)
+with torch.autocast("cuda", dtype=torch.bfloat16):
+    y = model(x)]] },
    ["scale to"] = { "fewer bytes", [[
-x = batch.to(device)
+x = batch.to(torch.bfloat16).to(device)    # or as uint8]] },
    remove = { "leave it out", [[
 for x in batches:
-    scale = head(weights)
+    # needless, or once before the loop
     y = model(x)]] },
    ["remove to"] = { "make it on the GPU", [[
-noise = torch.randn(256, 64).to(device)
+noise = torch.randn(256, 64, device=device)]] },
    ["remove from"] = { "keep it on the GPU", [[
-mean = out.cpu().mean()
+mean = out.mean()]] },
    ["remove fill"] = { "do not fill what is overwritten", [[
-y = torch.zeros(256, 64, device=device)
+y = torch.empty(256, 64, device=device)
 torch.mul(a, b, out=y)
-optimizer.zero_grad(set_to_none=False)
+optimizer.zero_grad()]] },
    ["remove layout"] = { "memory_format=torch.channels_last", [[
-model = Net().to(device)
+model = Net().to(device, memory_format=torch.channels_last)
 for batch in loader:
-    y = model(batch.to(device))
+    y = model(batch.to(device, memory_format=torch.channels_last))]] },
    ["remove copy"] = { "keep type and layout", [[
-y = model(x.t().contiguous().float())
+y = model(x)    # made as it is needed]] },
    ["remove memory"] = { "leave the cache alone", [[
 for x in batches:
     y = model(x)
-    torch.cuda.empty_cache()]] },
    fuse = { "torch.compile", [[
+@torch.compile
 def activation(x, bias):
     return torch.nn.functional.gelu(x + bias) * x]] },
    ["fuse optimizer"] = { "fused=True", [[
-optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
+optimizer = torch.optim.AdamW(model.parameters(), fused=True)]] },
    graph = { "CUDA graph", [[
+static_x = torch.empty_like(x)
+side = torch.cuda.Stream()
+side.wait_stream(torch.cuda.current_stream())
+with torch.cuda.stream(side):
+    for _ in range(3):    # which allocates, and loads code
+        model(static_x)
+torch.cuda.current_stream().wait_stream(side)
+graph = torch.cuda.CUDAGraph()
+with torch.cuda.graph(graph):
+    static_y = model(static_x)
 for x in batches:
-    y = model(x)
+    static_x.copy_(x)
+    graph.replay()
+    y = static_y.clone()    # the next replay overwrites it]] },
    ["graph training"] = { "CUDA graph of the step", [[
-optimizer = torch.optim.AdamW(model.parameters())
+optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
+static_x, static_y = x.clone(), y.clone()
+
+def step():
+    optimizer.zero_grad()
+    loss = loss_of(model(static_x), static_y)
+    loss.backward()
+    optimizer.step()
+    return loss
+
+side = torch.cuda.Stream()
+side.wait_stream(torch.cuda.current_stream())
+with torch.cuda.stream(side):
+    for _ in range(3):    # which allocates, and changes the weights
+        step()
+torch.cuda.current_stream().wait_stream(side)
+graph = torch.cuda.CUDAGraph()
+with torch.cuda.graph(graph):
+    loss = step()
 for x, y in batches:
-    optimizer.zero_grad()
-    loss = loss_of(model(x), y)
-    loss.backward()
-    optimizer.step()
+    static_x.copy_(x)
+    static_y.copy_(y)
+    graph.replay()]] },
    host_scale = { "torch.compile", [[
-model = Net().to(device)
+model = torch.compile(Net().to(device))]] },
    batch = { "one copy for many", [[
-xs = [part.to(device) for part in parts]
+xs = torch.stack(parts).to(device).unbind()]] },
    ["batch kernel"] = { "one product for many", [[
-ys = [a @ b for a, b in zip(lefts, rights)]
+ys = torch.bmm(torch.stack(lefts), torch.stack(rights)).unbind()]] },
    async = { "async_op=True", [[
-dist.all_reduce(grad)
+work = dist.all_reduce(grad, async_op=True)
 y = model(x)
+work.wait()    # which the stream does, and not the host
 grad /= dist.get_world_size()]] },
    threads = { "num_workers=4", [[
-loader = DataLoader(data, batch_size=256)
+loader = DataLoader(data, batch_size=256, num_workers=4,
+                    persistent_workers=True)]] },
    buckets = { "bucket_cap_mb=$mib", [[
-model = DistributedDataParallel(model)
+model = DistributedDataParallel(model, bucket_cap_mb=$mib)]] },
    channels = { "max_ctas = $number", [[
+options = dist.ProcessGroupNCCL.Options()
+options.config.max_ctas = $number
-dist.init_process_group("nccl")
+dist.init_process_group("nccl", pg_options=options)]] },
    profile = { none = "Another GPU is no change of the code." },
}
