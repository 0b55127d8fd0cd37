-- NVIDIA V100 (SXM2, 16 GB), as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile a100 with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   from the measured H200, scaled by the data sheet where one says how, or a
--              plausible value
-- All that is not here is that of the A100: an SM's other limits, which are the same (vendor), and
-- what is an estimate for both.
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "a100",
    name = "Tesla V100-SXM2-16GB",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = { 7, 0 },          -- vendor
    sm_count = 80,                          -- vendor
    shared_bytes_per_sm = 98304,            -- vendor: 96 KiB
    shared_bytes_per_block = 98304,         -- vendor: 96 KiB
    memory_bytes = 17179869184,             -- vendor: 16 GB, taken as GiB
    async_engine_count = 5,                 -- published (deviceQuery of a V100-SXM2-32GB)

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 15.7,                     -- vendor
    tf32_tflops = 15.7,                     -- no such units: float32's
    bf16_tflops = 125,                      -- vendor: float16 (no bfloat16 units)
    gemm_efficiency = {
        float32 = 0.88,                     -- estimate
        tf32 = 0.88,                        -- estimate
        bfloat16 = 0.75,                    -- estimate
    },
    gemm_fixed_us = 3,                      -- estimate

    -- Device memory.
    hbm_gb_per_s = 780,                     -- estimate: 0.865 of 900 GB/s, the H200's part
    l2_bytes = 6291456,                     -- vendor
    l2_gb_per_s = 2000,                     -- estimate
    kernel_fixed_us = 1.2,                  -- estimate
    d2d_gb_per_s = 375,                     -- estimate: 0.42 of the peak, as on the H200
    memset_gb_per_s = 840,                  -- estimate

    -- Copies between host and device.
    h2d_gb_per_s = 12.3,                    -- published: PCIe 3 x16
    d2h_gb_per_s = 12.8,                    -- estimate: PCIe 3 x16
    duplex_factor = 0.85,                   -- estimate
    copy_latency_us = 1.4,                  -- estimate
    -- (bytes, GB/s) of the host's copy: estimates, the shape of the H200's.
    h2d_staging_gb_per_s = { { 65536, 9 }, { 16777216, 9 }, { 67108864, 6 }, { 268435456, 6 } },
    d2h_staging_gb_per_s = { { 1048576, 7 }, { 4194304, 8 }, { 16777216, 9 }, { 268435456, 9 } },
    host_gb_per_s = 9,                      -- estimate

    -- Latencies.
    submit_us = 3.4,                        -- estimate
    stream_gap_us = 1.4,                    -- estimate
    cross_stream_us = 1.8,                  -- estimate
    event_tick_ns = 1000,                   -- estimate
    wake_us = 2.5,                          -- estimate

    -- What each call costs the host: estimates, 1.3 times the H200's.
    host = {
        launch_us = 4.94, matmul_us = 10.14, memcpy_async_us = 1.82, memset_us = 3.25,
        record_us = 1.6, record_untimed_us = 0.35, wait_us = 0.35, query_us = 0.39,
        synchronize_us = 0.51, host_func_us = 2.6, stream_create_us = 7.8,
        event_create_us = 0.65, tensor_alloc_us = 0.85, pinned_alloc_us = 1.3,
    },
    peer = {
        gb_per_s = 125,                     -- estimate: NVLink 2 has 300 GB/s for the H100's 900
        host_gb_per_s = 7.6,                -- estimate: the H200's part of its PCIe rate
    },
    -- Collectives: estimates, the A100's by the link.
    comm = {
        channels = 12, channel_gb_per_s = 22, link_gb_per_s = 122, ll_link_gb_per_s = 83,
        host_us = 14,
    },
}
