-- NVIDIA GeForce RTX 4060 Laptop GPU (8 GB), under Linux, as the simulator sees it.
--
-- Nobody has measured this GPU for streamlab. Where each figure comes from:
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   from the measured H200 (h200.lua), scaled by the data sheet where one says how,
--              or a plausible value
-- Trust the picture (what overlaps, what waits) more than the microseconds.
return {
    name = "NVIDIA GeForce RTX 4060 Laptop GPU",
    note = "not measured: data sheet and estimates",

    -- The chip.
    compute_capability = {8, 9},            -- vendor
    sm_count = 24,                          -- vendor
    max_threads_per_sm = 1536,              -- vendor
    max_blocks_per_sm = 24,                 -- vendor
    registers_per_sm = 65536,               -- vendor
    shared_bytes_per_sm = 102400,           -- vendor: 100 KiB
    shared_bytes_per_block = 101376,        -- vendor: 99 KiB
    max_threads_per_block = 1024,           -- vendor
    memory_bytes = 8589934592,              -- vendor: 8 GB, taken as GiB
    async_engine_count = 2,                 -- published (deviceQuery) of L4 and RTX 4090
    max_grids = 128,                        -- vendor: resident grids of this compute capability
    connections = 8,                        -- vendor: default of CUDA_DEVICE_MAX_CONNECTIONS
    copy_connections = 8,                   -- vendor: default of CUDA_DEVICE_MAX_COPY_CONNECTIONS
    launch_queue_depth = 1022,              -- estimate: as on the H200; published: about 1000
    priority_least = 0,                     -- estimate
    priority_greatest = -5,                 -- estimate
    priority_levels = 6,                    -- estimate

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 14.6,                     -- vendor: 24 SMs at 2.37 GHz, the highest boost
    tf32_tflops = 14.6,                     -- estimate: as float32 on this generation
    bf16_tflops = 29.1,                     -- estimate: twice that
    gemm_efficiency = {
        float32 = 0.7,                      -- estimate: power and heat of a laptop
        tf32 = 0.8,                         -- estimate
        bfloat16 = 0.8,                     -- estimate
    },
    gemm_fixed_us = 2.3,                    -- estimate
    gemm_persistent = false,                -- estimate: blocks come and go, others fit in between
    -- No gemm_us tables: the formula serves every size.

    -- Device memory.
    hbm_gb_per_s = 230,                     -- estimate: 0.9 of 256 GB/s (GDDR6)
    l2_bytes = 33554432,                    -- vendor: 32 MiB
    l2_gb_per_s = 1200,                     -- estimate
    kernel_fixed_us = 0.9,                  -- estimate: near the H200's
    d2d_gb_per_s = 112,                     -- estimate
    d2d_fixed_us = 1.2,                     -- estimate: near the H200's
    d2d_engine = "sm",                      -- estimate: a device-to-device copy runs as a kernel
    memset_gb_per_s = 235,                  -- estimate

    -- Copies between host and device.
    h2d_gb_per_s = 12,                      -- estimate: PCIe 4 x8
    d2h_gb_per_s = 12.5,                    -- estimate: PCIe 4 x8
    duplex_factor = 0.85,                   -- estimate
    copy_latency_us = 1.2,                  -- estimate
    -- Pageable memory goes through the driver's page-locked staging buffers.
    stage_bytes = 524288,                   -- estimate
    stage_buffers = 4,                      -- estimate: as on the H200
    h2d_async_bytes = 65536,                -- vendor: CUDA's guides up to 12.x
    -- (bytes, GB/s) of the host's copy: estimates, the shape of the H200's.
    h2d_staging_gb_per_s = {{65536, 11}, {16777216, 11}, {67108864, 7}, {268435456, 7}},
    d2h_staging_gb_per_s = {{1048576, 8.5}, {4194304, 10}, {16777216, 11}, {268435456, 11}},
    host_gb_per_s = 10,                     -- estimate

    -- Latencies.
    submit_us = 2.9,                        -- estimate
    stream_gap_us = 1.2,                    -- estimate
    cross_stream_us = 1.5,                  -- estimate
    record_us = 2.2,                        -- estimate: a record with timing, on the device
    host_func_in_us = 10,                   -- estimate
    host_func_out_us = 5,                   -- estimate
    event_tick_ns = 32,                     -- estimate
    wake_us = 2.1,                          -- estimate
    lazy_load_us = 0,                       -- off: a process that has warmed up. Set it (300, say)
                                            --   to see a kernel's first use stop the device

    -- What each call costs the host: estimates, 1.1 times the H200's.
    host = {
        launch_us = 4.18,
        matmul_us = 8.58,
        memcpy_async_us = 1.54,
        memset_us = 2.75,
        record_us = 1.35,
        record_untimed_us = 0.3,
        wait_us = 0.3,
        query_us = 0.33,
        synchronize_us = 0.43,
        host_func_us = 2.2,
        stream_create_us = 6.6,
        event_create_us = 0.55,
        tensor_alloc_us = 0.72,
        pinned_alloc_us = 1.1,
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
