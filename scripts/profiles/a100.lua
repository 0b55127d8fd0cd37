-- NVIDIA A100 (SXM, 80 GB), as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. It is the profile textbook with what differs:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   from the measured H200, scaled by the data sheet where one says how, or a
--              plausible value
-- All that is not here is that of the H200: an SM's other limits, which are the same (vendor), and
-- how CUDA queues and synchronises (measured there).
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    base = "textbook",
    name = "NVIDIA A100-SXM4-80GB",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = { 8, 0 },          -- vendor
    sm_count = 108,                         -- vendor
    shared_bytes_per_sm = 167936,           -- vendor: 164 KiB
    shared_bytes_per_block = 166912,        -- vendor: 163 KiB
    memory_bytes = 85899345920,             -- vendor: 80 GB, taken as GiB
    async_engine_count = 3,                 -- published (deviceQuery)

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 19.5,                     -- vendor
    tf32_tflops = 156,                      -- vendor
    bf16_tflops = 312,                      -- vendor
    gemm_efficiency = {
        float32 = 0.85,                     -- estimate
        tf32 = 0.82,                        -- estimate
        bfloat16 = 0.869,                   -- published: 271.2 TFLOP/s
    },
    gemm_fixed_us = 2.3,                    -- estimate
    gemm_persistent = false,                -- estimate: blocks come and go, others fit in between
    gemm_us = { float32 = {}, tf32 = {}, bfloat16 = {} },   -- none: the formula serves every size

    -- Kernels of one's own. Estimates: as on the H200, an SM's part by the clock.
    thread = { shared_ns = 14.2, l1_ns = 46.5, l2_ns = 189.5, memory_ns = 381 },
    block_start_ns = 0.865,

    -- Device memory.
    hbm_gb_per_s = 1765,                    -- estimate: 0.865 of 2039 GB/s, the H200's part
    l2_bytes = 41943040,                    -- published: 40 MiB
    l2_gb_per_s = 4000,                     -- estimate
    kernel_fixed_us = 0.9,                  -- estimate: near the H200's
    d2d_gb_per_s = 850,                     -- estimate: 0.42 of the peak, as on the H200
    d2d_fixed_us = 1.2,                     -- estimate: near the H200's
    memset_gb_per_s = 1900,                 -- estimate

    -- Copies between host and device.
    h2d_gb_per_s = 25,                      -- published: PCIe 4 x16
    d2h_gb_per_s = 25.5,                    -- published: PCIe 4 x16
    duplex_factor = 0.715,                  -- published: 18.6 of 26.0 GB/s on one PCIe 4 system
    copy_latency_us = 1.2,                  -- estimate
    -- Pageable memory goes through the driver's page-locked staging buffers.
    -- (bytes, GB/s) of the host's copy: estimates, the shape of the H200's.
    h2d_staging_gb_per_s = { { 65536, 12 }, { 16777216, 12 }, { 67108864, 7.5 },
                             { 268435456, 7.5 } },
    d2h_staging_gb_per_s = { { 1048576, 9.5 }, { 4194304, 11.5 }, { 16777216, 12.5 },
                             { 268435456, 12.5 } },
    host_gb_per_s = 11,                     -- estimate

    -- Latencies.
    submit_us = 3,                          -- estimate
    stream_gap_us = 1.2,                    -- estimate
    cross_stream_us = 1.5,                  -- estimate
    record_us = 2.2,                        -- estimate: a record with timing, on the device
    wake_us = 2.2,                          -- estimate

    -- What each call costs the host: estimates, 1.15 times the H200's.
    host = {
        launch_us = 4.37, matmul_us = 8.97, memcpy_async_us = 1.61, memset_us = 2.88,
        record_us = 1.41, record_untimed_us = 0.31, wait_us = 0.31, query_us = 0.34,
        synchronize_us = 0.45, host_func_us = 2.3, stream_create_us = 6.9,
        event_create_us = 0.57, tensor_alloc_us = 0.75, pinned_alloc_us = 1.15,
    },

    -- The plain calls: us + us_per_mib for each MiB. waits: first waits for all work.
    -- Costs are estimates near the H200's; what waits is vendor's or published, as in textbook.lua.
    calls = {
        cudaMalloc = { us = 50, us_per_mib = 0.3, waits = false },
        cudaFree = { us = 50, us_per_mib = 0, waits = true },
        cudaMallocHost = { us = 25, us_per_mib = 350, waits = false },
        cudaFreeHost = { us = 25, us_per_mib = 110, waits = true },
        cudaHostRegister = { us = 70, us_per_mib = 40, waits = false },
        cudaHostUnregister = { us = 70, us_per_mib = 40, waits = true },
        cudaMallocAsync = { us = 0.8, us_per_mib = 0, waits = false },
        cudaFreeAsync = { us = 0.8, us_per_mib = 0, waits = false },
    },
    peer = {
        gb_per_s = 250,                     -- estimate: NVLink 3 has 600 GB/s for the H100's 900
        host_gb_per_s = 15.5,               -- estimate: the H200's part of its PCIe rate
    },
    -- Collectives: estimates, the H100's by the link and by the clock.
    comm = {
        channel_gb_per_s = 22, link_gb_per_s = 244, ll_channel_gb_per_s = 7.7,
        ll_link_gb_per_s = 167, base_us = 13, ll_base_us = 5, tensor_slowdown = 0, cluster = 1,
        gpcs = 1, host_us = 12.5,
    },
    comm_us = { all_reduce = {}, all_gather = {}, reduce_scatter = {}, broadcast = {} },
}
