-- code_lua.lua - changes of a script, as code_pytorch.lua has them for PyTorch. The tests run both
-- sides on the simulated GPU.

return {
    pin = { "pinned = true", [[
-local host = lab.rand(n, n, { device = "cpu" })
+local host = lab.rand(n, n, { device = "cpu", pinned = true })
 for i = 1, 8 do
     x:copy_(host)
     lab.matmul(x, weights, { out = y })
 end]] },
    ["pin from"] = { "pinned = true", [[
-local results = lab.empty(n, n, { device = "cpu" })
+local results = lab.empty(n, n, { device = "cpu", pinned = true })
 for i = 1, 8 do
     lab.matmul(x, weights, { out = y })
     results:copy_(y)
 end]] },
    non_blocking = { "non_blocking = true", [[
 for i = 1, 8 do
-    x:copy_(pinned)
+    x:copy_(pinned, { non_blocking = true })
     lab.matmul(x, weights, { out = y })
     lab.host_work(0.5)
 end]] },
    ["non_blocking from"] = { "non_blocking = true", [[
 for i = 1, 8 do
     lab.matmul(x, weights, { out = y })
-    results[i]:copy_(y)
+    results[i]:copy_(y, { non_blocking = true })
     lab.host_work(0.5)
 end
+lab.synchronize()    -- before any of them is read]] },
    ["non_blocking value"] = { "read it every 100 steps", [[
 for step = 1, 100 do
     lab.sum(x, { out = total })
-    log(total:item())
+    if step % 100 == 0 then log(total:item()) end
 end]] },
    move = { "launch it in another stream", [[
+side:wait_stream(lab.current_stream())    -- which has written x
 lab.spin(1, { blocks = 32 })
-lab.spin(1, { blocks = 32 })
+lab.spin(1, { blocks = 32, stream = side })
+lab.current_stream():wait_stream(side)]] },
    ["move to"] = { "copy in a stream of its own", [[
 for i = 1, 8 do
     local into = two[i % 2 + 1]
-    into:copy_(pinned, { non_blocking = true })
+    if used[i % 2 + 1] then copies:wait_event(used[i % 2 + 1]) end
+    into:copy_(pinned, { non_blocking = true, stream = copies })
+    s:wait_event(copies:record_event())
     lab.matmul(into, weights, { out = y })
+    used[i % 2 + 1] = s:record_event()
 end]] },
    ["move from"] = { "copy in a stream of its own", [[
 for i = 1, 8 do
     local from = two[i % 2 + 1]
+    if used[i % 2 + 1] then s:wait_event(used[i % 2 + 1]) end
     lab.matmul(x, weights, { out = from })
-    results[i]:copy_(from, { non_blocking = true })
+    copies:wait_event(s:record_event())
+    results[i]:copy_(from, { non_blocking = true, stream = copies })
+    used[i % 2 + 1] = copies:record_event()
 end]] },
    priority = { "lab.stream{ priority = $number }", [[
-local urgent = lab.stream{ non_blocking = true }
+local urgent = lab.stream{ non_blocking = true, priority = $number }
 for i = 1, 8 do lab.spin(0.5, { blocks = 4224, stream = patient[i] }) end
 lab.spin(0.5, { blocks = 4224, stream = urgent })
 for i = 1, 8 do
     results[i]:copy_(y, { non_blocking = true, stream = urgent })
 end]] },
    drop_sync = { "wait later, for an event", [[
 for i = 1, 8 do
     lab.matmul(x, weights, { out = y })
-    lab.synchronize()
     lab.host_work(0.5)
 end
+lab.synchronize()    -- before the host reads y]] },
    drop_wait = { "wait for an event right behind what is needed", [[
 lab.spin(0.1)    -- what side needs
+local ready = s:record_event()
 lab.spin(1, { blocks = 32 })
-side:wait_stream(s)
+side:wait_event(ready)
 lab.spin(1, { blocks = 32, stream = side })]] },
    prefetch = { "two buffers, and a stream for copies", [[
+local function copy(i)
+    if used[i % 2 + 1] then copies:wait_event(used[i % 2 + 1]) end
+    two[i % 2 + 1]:copy_(pinned, { non_blocking = true, stream = copies })
+    return copies:record_event()
+end
+
+local there = copy(1)
 for i = 1, 8 do
-    x:copy_(pinned, { non_blocking = true })
-    lab.matmul(x, weights, { out = y })
+    s:wait_event(there)
+    there = i < 8 and copy(i + 1) or nil
+    lab.matmul(two[i % 2 + 1], weights, { out = y })
+    used[i % 2 + 1] = s:record_event()
     s:synchronize()
 end]] },
    scale = { "a faster kernel, or lower precision", [[
 for i = 1, 8 do
-    lab.matmul(x, weights, { out = y })
+    lab.matmul(half_x, half_weights, { out = half_y })
 end]] },
    ["scale to"] = { "fewer bytes", [[
 for i = 1, 8 do
-    x:copy_(pinned, { non_blocking = true })
+    half_x:copy_(half_pinned, { non_blocking = true })
 end]] },
    remove = { "leave it out", [[
 for i = 1, 8 do
-    lab.relu(weights)    -- needless, or once before the loop
     lab.matmul(x, weights, { out = y })
 end]] },
    ["remove to"] = { "make it on the GPU", [[
-x:copy_(pinned, { non_blocking = true })
 lab.matmul(x, weights, { out = y })]] },
    ["remove from"] = { "keep it on the GPU", [[
 for i = 1, 8 do
     lab.matmul(x, weights, { out = y })
-    results[i]:copy_(y, { non_blocking = true })
 end]] },
    ["remove fill"] = { "do not fill what is overwritten", [[
 for i = 1, 8 do
-    y:zero_()
     lab.matmul(x, weights, { out = y })
 end]] },
    fuse = { "one kernel that does both (lab.kernel)", [[
-for i = 1, 8 do lab.spin(0.1) end
+lab.spin(0.8)]] },
    graph = { "lab.graph", [[
+local g = lab.graph(function()
+    for _ = 1, 100 do lab.relu(small, { out = small }) end
+end)
 for step = 1, 8 do
-    for _ = 1, 100 do lab.relu(small, { out = small }) end
+    g:launch()
 end]] },
    host_scale = { "less work between calls", [[
 for i = 1, 8 do
-    lab.host_work(1)
+    lab.host_work(0.5)
     lab.spin(0.1)
 end]] },
    batch = { "one copy for many", [[
-for i = 1, 8 do
-    views[i]:copy_(pinned_views[i], { non_blocking = true })
-end
+x:copy_(pinned, { non_blocking = true })]] },
    ["batch kernel"] = { "one product for many", [[
-for i = 1, 8 do lab.matmul(lefts[i], rights[i], { out = products[i] }) end
+lab.matmul(left, right, { out = product })    -- stacks of 8 matrices]] },
    async = { "async = true", [[
-comm:all_reduce(grads, { streams = streams })
+local work = comm:all_reduce(grads, { streams = streams, async = true })
 for k = 1, 2 do lab.spin(1, { stream = streams[k], blocks = 64 }) end
+for k = 1, 2 do lab.with(streams[k], work.wait, work) end
 for k = 1, 2 do lab.spin(0.1, { stream = streams[k] }) end]] },
    threads = { "lab.thread", [[
-for i = 1, 8 do
-    lab.host_work(1)
-    x:copy_(pinned)
-end
+local function prepare() lab.host_work(1) end
+prepare()
+for i = 1, 8 do
+    local coming = i < 8 and lab.thread(prepare)
+    x:copy_(pinned)
+    if coming then coming:join() end
+end]] },
    buckets = { "one all-reduce for many", [[
-for i = 1, 8 do comm:all_reduce(parts[i]) end
+comm:all_reduce(grads)    -- parts are views of it]] },
    channels = { "lab.comm{ channels = $number }", [[
-local comm = lab.comm{ devices = gpus }
+local comm = lab.comm{ devices = gpus, channels = $number }
 comm:all_reduce(grads)]] },
    profile = { "lab.open{ profile = ... }", [[
-lab.open{ backend = "sim" }
+lab.open{ backend = "sim", profile = "a100" }
 lab.spin(1)]] },
}
