-- NVIDIA T4 (16 GB, 70 W), as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. Where each figure comes from:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   from the measured H200 (h200.lua), scaled by the data sheet where one says how,
--              or a plausible value
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    name = "Tesla T4",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = {7, 5},            -- vendor
    sm_count = 40,                          -- vendor
    max_threads_per_sm = 1024,              -- vendor
    max_blocks_per_sm = 16,                 -- vendor
    registers_per_sm = 65536,               -- vendor
    shared_bytes_per_sm = 65536,            -- vendor: 64 KiB
    shared_bytes_per_block = 65536,         -- vendor: 64 KiB
    max_threads_per_block = 1024,           -- vendor
    memory_bytes = 17179869184,             -- vendor: 16 GB, taken as GiB
    async_engine_count = 3,                 -- published (deviceQuery)
    max_grids = 128,                        -- vendor: resident grids of this compute capability
    connections = 8,                        -- vendor: default of CUDA_DEVICE_MAX_CONNECTIONS
    copy_connections = 8,                   -- vendor: as connections before 8.0
    launch_queue_depth = 1022,              -- estimate: as on the H200; published: about 1000
    priority_least = 0,                     -- published for this generation
    priority_greatest = -5,                 -- published for this generation
    priority_levels = 6,                    -- estimate

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 8.1,                      -- vendor
    tf32_tflops = 8.1,                      -- no such units: float32's
    bf16_tflops = 65,                       -- vendor: float16 (no bfloat16 units)
    gemm_efficiency = {
        float32 = 0.55,                     -- estimate: 70 W lower the clock under load
        tf32 = 0.55,                        -- estimate
        bfloat16 = 0.4,                     -- estimate: 70 W
    },
    gemm_fixed_us = 3,                      -- estimate
    gemm_persistent = false,                -- estimate: blocks come and go, others fit in between
    -- No gemm_us tables: the formula serves every size.

    -- Device memory.
    hbm_gb_per_s = 250,                     -- estimate: 0.78 of 320 GB/s (GDDR6)
    l2_bytes = 4194304,                     -- vendor
    l2_gb_per_s = 900,                      -- estimate
    kernel_fixed_us = 1.2,                  -- estimate
    d2d_gb_per_s = 120,                     -- estimate
    d2d_fixed_us = 1.2,                     -- estimate: near the H200's
    d2d_engine = "sm",                      -- estimate: a device-to-device copy runs as a kernel
    memset_gb_per_s = 270,                  -- estimate

    -- Copies between host and device.
    h2d_gb_per_s = 12,                      -- published: PCIe 3 x16
    d2h_gb_per_s = 12.5,                    -- estimate: PCIe 3 x16
    duplex_factor = 0.85,                   -- estimate
    copy_latency_us = 1.4,                  -- estimate
    -- Pageable memory goes through the driver's page-locked staging buffers.
    stage_bytes = 524288,                   -- estimate
    stage_buffers = 4,                      -- estimate: as on the H200
    h2d_async_bytes = 65536,                -- vendor: CUDA's guides up to 12.x
    -- (bytes, GB/s) of the host's copy: estimates, the shape of the H200's.
    h2d_staging_gb_per_s = {{65536, 9}, {16777216, 9}, {67108864, 6}, {268435456, 6}},
    d2h_staging_gb_per_s = {{1048576, 7}, {4194304, 8}, {16777216, 9}, {268435456, 9}},
    host_gb_per_s = 9,                      -- estimate

    -- Latencies.
    submit_us = 3.4,                        -- estimate
    stream_gap_us = 1.4,                    -- estimate
    cross_stream_us = 1.8,                  -- estimate
    record_us = 2.2,                        -- estimate: a record with timing, on the device
    host_func_in_us = 10,                   -- estimate
    host_func_out_us = 5,                   -- estimate
    event_tick_ns = 32,                     -- estimate
    wake_us = 2.5,                          -- estimate
    lazy_load_us = 0,                       -- off: a process that has warmed up. Set it (300, say)
                                            --   to see a kernel's first use stop the device

    -- What each call costs the host: estimates, 1.3 times the H200's.
    host = {
        launch_us = 4.94,
        matmul_us = 10.14,
        memcpy_async_us = 1.82,
        memset_us = 3.25,
        record_us = 1.6,
        record_untimed_us = 0.35,
        wait_us = 0.35,
        query_us = 0.39,
        synchronize_us = 0.51,
        host_func_us = 2.6,
        stream_create_us = 7.8,
        event_create_us = 0.65,
        tensor_alloc_us = 0.85,
        pinned_alloc_us = 1.3,
    },

    -- The plain calls: us + us_per_mib for each MiB. waits: first waits for all work.
    -- Costs are estimates near the H200's; what waits is vendor's or published, as in h200.lua.
    calls = {
        cudaMalloc = {us = 50, us_per_mib = 0.3, waits = false},
        cudaFree = {us = 50, us_per_mib = 0, waits = true},
        cudaMallocHost = {us = 25, us_per_mib = 350, waits = false},
        cudaFreeHost = {us = 25, us_per_mib = 110, waits = true},
        cudaHostRegister = {us = 70, us_per_mib = 40, waits = false},
        cudaHostUnregister = {us = 70, us_per_mib = 40, waits = true},
        cudaMallocAsync = {us = 0.8, us_per_mib = 0, waits = false},
        cudaFreeAsync = {us = 0.8, us_per_mib = 0, waits = false},
        cudaFuncSetCacheConfig = {us = 0.3, us_per_mib = 0, waits = false},
        cudaDeviceSetLimit = {us = 5, us_per_mib = 0, waits = false},
        cublasCreate = {us = 16000, us_per_mib = 0, waits = false},
        cublasDestroy = {us = 100, us_per_mib = 0, waits = true},
    },
}
