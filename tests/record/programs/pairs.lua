-- pairs.lua - the pairs of programs of pairs.py in its order: each with the change that its
-- docstring names as edits of lab.whatif. Those of pairs with an even number were chosen before any
-- prediction for these was seen; pairs with an odd number may be looked at while the model is
-- adjusted.
--
-- The factor "measured" of a scale: the time of these operations after, as a part of that before,
-- as the two recordings have it.
local h2d <const>, d2h <const> = "Memcpy HtoD*", "Memcpy DtoH*"

return {
    -- pairs_host.py
    { "pin_inputs", { "pin", h2d }, { "non_blocking", h2d } },
    { "non_blocking_to", { "non_blocking", h2d } },
    { "prefetch_stream", { "prefetch", h2d, 1 } },
    { "results_side_stream", { "move", d2h, "side" } },
    { "pageable_results", { "pin", d2h }, { "non_blocking", d2h } },
    { "one_large_copy", { "batch", h2d } },
    { "one_copy_for_chunks", { "batch", h2d } },
    { "scalar_from_host", { "remove", h2d } },
    { "noise_on_gpu", { "remove", "line=* in noise" } },
    { "results_one_behind", { "drop_sync", "cudaEventSynchronize" } },
    { "item_each_step", { "remove", d2h } },
    { "log_every_50", { "remove", "line=* in log" } },
    { "timing_synchronizes", { "drop_sync", "line=* in mark" } },
    { "boolean_mask", { "drop_sync", "line=* in mean" }, { "remove", "at_cuda_detail*" },
      { "remove", "*write_indices*" }, { "remove", d2h } },
    { "nonzero_rows", { "drop_sync", "line=* in clear" }, { "remove", "at_cuda_detail*" },
      { "remove", d2h } },
    { "check_for_nan", { "remove", "line=* in check" } },
    { "synchronized_prefetch", { "drop_sync", "cudaStreamSynchronize" } },
    { "empty_cache_each_step", { "remove", "cudaFree" }, { "remove", "cudaMalloc" } },
    { "augment_in_thread", { "threads", h2d } },
    { "collate_in_thread", { "threads", h2d } },
    -- pairs_device.py
    { "foreach_optimizer", { "fuse", "line=* in update" } },
    { "fused_optimizer", { "fuse", "line=* in update" } },
    { "clip_foreach", { "fuse", "line=* in clip" } },
    { "zero_grad_to_none", { "remove", "*FillFunctor*" }, { "remove", "*CUDAFunctor_add*" } },
    { "accumulate_gradients", { "remove", "line=* in update_after_first" } },
    { "batched_products", { "batch", "line=* in multiply" } },
    { "batched_heads", { "batch", "line=* in attend" } },
    { "fused_layer_norm", { "fuse", "line=* in normalise" } },
    { "compiled_pointwise", { "fuse", "line=* in chain" } },
    { "graph_inference", { "graph", "line=* in answer" } },
    { "graph_training", { "graph", "line=* in step*" } },
    { "tf32_products", { "scale", "*gemm*", "measured" } },
    { "bfloat16_model", { "scale", "*", "measured" } },
    { "fused_attention", { "scale", "*", "measured" } },
    { "channels_last", { "remove", "*nchwToNhwc*" }, { "remove", "*nhwcToNchw*" } },
    { "empty_not_zeros", { "remove", "*FillFunctor*" } },
    { "two_streams", { "move", "*oftMax*", "side" } },
    { "graph_branches", { "move", "*oftMax*", "side" } },
    { "urgent_stream", { "priority", "line=*:417 in run", -1 } },
    { "needless_wait", { "drop_wait", "line=*:440 in run" } },
    -- pairs_ranks.py
    { "larger_buckets", { "buckets", 64 << 20 } },
    { "several_buckets", { "buckets", 25 << 20 } },
    { "all_reduce_async", { "async", "*AllReduce*" } },
}
