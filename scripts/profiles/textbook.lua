-- A GPU with round figures, for lessons and for checks that are worked out by hand. It is
-- modelled on an NVIDIA H200 (SXM, 141 GB) and does not change; h200.lua has what an H200 was
-- measured to do.
--
-- Where each figure comes from:
--   measured   on one H200 (CUDA 13.0, driver 580, 16 Xeon cores, PCIe 5 x16, a virtual
--              machine), medians of 5 to 9 repetitions, plain CUDA C
--   CUPTI      measured on another H200 of the same kind, as durations and gaps of 50 to 300
--              operations queued behind a 20 ms kernel (PyTorch 2.11's profiler)
--   fitted     chosen so that the simulated call takes the measured time
--   vendor     NVIDIA's documentation and data sheets
--   published  measured by others (docs/design/simulator.md names them)
--   estimate   nobody has measured it; a plausible value
-- docs/design/simulator.md says what each parameter does.
return {
    name = "textbook GPU",
    note = "CUDA 13.0, driver 580; GEMM and pow after warm-up at a steady clock",

    -- The chip.
    compute_capability = { 9, 0 },          -- vendor
    sm_count = 132,                         -- measured (device properties)
    max_threads_per_sm = 2048,              -- measured (device properties)
    max_blocks_per_sm = 32,                 -- measured (device properties)
    registers_per_sm = 65536,               -- vendor
    shared_bytes_per_sm = 233472,           -- vendor: 228 KiB
    shared_bytes_per_block = 232448,        -- vendor: 227 KiB
    max_threads_per_block = 1024,           -- vendor
    memory_bytes = 150109880320,            -- measured (device properties)
    async_engine_count = 3,                 -- measured (device properties)
    max_grids = 128,                        -- measured: of 129 one-block kernels the last waits
    connections = 8,                        -- vendor: default of CUDA_DEVICE_MAX_CONNECTIONS
    copy_connections = 8,                   -- vendor: default of CUDA_DEVICE_MAX_COPY_CONNECTIONS
    launch_queue_depth = 1022,              -- measured: launches before the host blocks
    priority_least = 0,                     -- measured
    priority_greatest = -5,                 -- measured
    priority_levels = 6,                    -- estimate; measured: 0 and -1 differ, 0 and -5 differ

    -- Arithmetic: dense peaks, and the part of them that a large matmul reaches.
    fp32_tflops = 66.9,                     -- vendor
    tf32_tflops = 494.7,                    -- vendor
    bf16_tflops = 989.4,                    -- vendor
    gemm_efficiency = {
        float32 = 0.77,                     -- measured at 8192: 51 TFLOP/s
        tf32 = 0.76,                        -- measured at 8192: 377 TFLOP/s
        bfloat16 = 0.80,                    -- published: 794.5 TFLOP/s on an H100 SXM
    },
    gemm_fixed_us = 2,                      -- estimate
    gemm_persistent = true,                 -- CUPTI: 132 blocks of 384 threads, 168 registers each
    -- (n, us): n x n x n, back to back in one stream, so with stream_gap_us in it. float32
    -- from 1024 on measured, the rest CUPTI (its duration + the gap: plain timings of small
    -- ones are bound by the host's calls).
    gemm_us = {
        float32 = { { 128, 5.3 }, { 256, 9 }, { 512, 12 }, { 1024, 56.7 }, { 2048, 343 },
                    { 4096, 2681 }, { 8192, 21451 }, { 10000, 40893 } },
        tf32 = { { 128, 4.3 }, { 256, 5.5 }, { 512, 7.9 }, { 1024, 13.6 }, { 2048, 46.9 },
                 { 4096, 329 }, { 8192, 2875 }, { 10000, 5868 } },
        bfloat16 = { { 512, 4.3 }, { 1024, 6.4 }, { 2048, 23.8 }, { 4096, 164.5 }, { 8192, 1512 } },
    },

    -- Device memory.
    hbm_gb_per_s = 4250,                    -- CUPTI: pow(a, 3) of 4096 x 4096 in 32.5 us
    l2_bytes = 62914560,                    -- measured (device properties)
    l2_gb_per_s = 7700,                     -- CUPTI: add and pow of 1024 x 1024 in 1.9 us
    kernel_fixed_us = 0.85,                 -- CUPTI: add of 64 x 64 in 0.86 us
    d2d_gb_per_s = 2050,                    -- CUPTI: 64 MiB in 32.5 us; measured: 1980 at 256 MiB
    d2d_fixed_us = 1.0,                     -- CUPTI: 4 MiB in 2.1 us
    d2d_engine = "sm",                      -- CUPTI: a matmul behind it started as it ended
    memset_gb_per_s = 4600,                 -- CUPTI: 64 MiB in 15.2 us

    -- Copies between host and device.
    h2d_gb_per_s = 55.0,                    -- CUPTI: 4 MiB in 78.1 us; measured: 55.4 at 256 MiB
    d2h_gb_per_s = 55.3,                    -- CUPTI: 4 MiB in 77.3 us; measured: 55.3 at 256 MiB
    duplex_factor = 0.915,                  -- measured: both directions at once, 5313 us for 4864
    copy_latency_us = 1.0,                  -- CUPTI: 1 KiB in 1.02 us
    -- From one GPU of a machine to another: measured on two H100s with NVLink, whose link is the
    -- H200's (tests/bench/cuda/raw_comm.cu: copies of 1 KiB to 1 GiB, kernels in turns by events).
    peer = {
        gb_per_s = 395,                     -- measured: 256 MiB in 679 us, 1 GiB in 2700
        latency_us = 2.5,                   -- measured: 1 KiB in 2.7 us, 1 MiB in 5.3
        -- measured: up to 256 KiB in a stream of the destination
        pull_us = 13.45,
        pull_latency_us = 10.5,             -- measured: there 16 MiB in 52.7 us
        -- Without access, through the host's memory: on two H200s, 28 November 2026, by streamlab
        -- while it recorded; a program in C (tests/bench/cuda/raw_comm.cu) had 38.6 GB/s and 18 us
        -- there.
        -- measured: 64 MiB in 1942 to 1979 us, 256 MiB in 7821 to 7961
        host_gb_per_s = 34.4,
        -- measured: 1 KiB in 23.0 to 24.2 us, 4 MiB in 152 to 155
        host_latency_us = 22,
        -- fitted: by the program in C, 1 MiB in 56 us, 4 MiB in 138
        host_piece_bytes = 262144,
        host_duplex_factor = 0.83,          -- measured: 64 and 256 MiB both ways
        -- measured: calls of 4, 16 and 64 MiB hold the host for 33, 106
        host_call_us_per_mib = 6.5,
                                            --   and 425 us (by the program in C)
        event_us = 3.5,                     -- measured: 7.0 us a kernel in turns, 3.5 on one GPU
    },
    -- Collectives: NCCL 2.28.9 on two H100s with NVLink, whose link is the H200's
    -- (tests/bench/cuda/raw_comm.cu: four of them, 1 KiB to 1 GiB, and by the number of channels).
    comm = {
        channels = 24,                      -- measured: blocks of the kernel
        channel_gb_per_s = 31,              -- fitted: 256 MiB with 1, 2, 4 and 8 channels
        link_gb_per_s = 366,                -- fitted: 256 MiB with 16, 24 and 32 channels
        base_us = 10.8, step_us = 3.6,      -- fitted: all_reduce and reduce_scatter of 4 MiB
        ll_channel_gb_per_s = 10.8,         -- fitted: 1 MiB with 1, 2 and 4 channels
        ll_link_gb_per_s = 250,             -- fitted: 1 MiB with 24 and 32 channels
        ll_base_us = 3.7, ll_step_us = 0.9, -- fitted: all_reduce and all_gather of 1 KiB
        ll128_base_us = 14, ll128_step_us = 1.9, -- published: NCCL's src/graph/tuning.cc
        memory_slowdown = 0.83,             -- measured on H200s: 1 GiB in 3.64 ms, beside mul 6.65
        tensor_slowdown = 0.07,             -- measured: bf16 products beside one channel +7.2 %
        cluster = 4, gpcs = 8,              -- vendor: NCCL's clusters of 4; a full H100 has 8 GPCs
        host_us = 10.85,                    -- measured: a group of two in 21.7 us
    },
    comm_us = {                             -- measured, one after the other in a stream; the
                                            --   all_gather of 4 MiB by its kernel and a gap
        all_reduce = { { 1024, 6.64 }, { 4096, 6.87 }, { 16384, 7.35 }, { 65536, 7.72 },
            { 262144, 9.11 },
            { 1048576, 13.55 }, { 4194304, 33.41 }, { 16777216, 79.08 }, { 67108864, 250.88 },
            { 268435456, 898.49 }, { 1073741824, 3245.23 } },
        all_gather = { { 1024, 5.74 }, { 4096, 5.95 }, { 16384, 6.67 }, { 65536, 6.92 },
            { 262144, 7.63 },
            { 1048576, 11.01 }, { 4194304, 26.4 }, { 16777216, 54.84 }, { 67108864, 159.69 },
            { 268435456, 551.01 }, { 1073741824, 1990.29 } },
        reduce_scatter = { { 1024, 5.65 }, { 4096, 5.84 }, { 16384, 6.29 }, { 65536, 6.56 },
            { 262144, 7.35 },
            { 1048576, 10.11 }, { 4194304, 23.5 }, { 16777216, 52.36 }, { 67108864, 163.73 },
            { 268435456, 572.69 }, { 1073741824, 1978.4 } },
        broadcast = { { 1024, 5.03 }, { 4096, 5.34 }, { 16384, 6.01 }, { 65536, 6.32 },
            { 262144, 6.93 },
            { 1048576, 11.73 }, { 4194304, 25.31 }, { 16777216, 62.4 }, { 67108864, 204.22 },
            { 268435456, 751.15 }, { 1073741824, 2926.86 } },
    },
    -- Pageable memory goes through the driver's page-locked staging buffers.
    stage_bytes = 524288,                   -- estimate
    stage_buffers = 4,                      -- measured: of 1 MiB copies the third waits: 2 MiB
    h2d_async_bytes = 2097152,              -- measured: behind a 20 ms kernel 2 MiB returned after
                                            --   0.2 ms, 3 MiB after 20.4 ms
    -- (bytes, GB/s) of the host's copy: fitted to the pageable copies of 64 KiB to 256 MiB.
    h2d_staging_gb_per_s = { { 65536, 14 }, { 262144, 18.5 }, { 1048576, 16.4 }, { 4194304, 14.8 },
                             { 16777216, 15.1 }, { 67108864, 8.07 }, { 268435456, 8.53 } },
    d2h_staging_gb_per_s = { { 65536, 11.3 }, { 262144, 10.5 }, { 1048576, 11.5 },
                             { 4194304, 14.1 },
                             { 16777216, 15.7 }, { 67108864, 16.4 }, { 268435456, 16.2 } },
    host_gb_per_s = 12,                     -- estimate

    -- Latencies.
    submit_us = 2.6,                        -- fitted with wake_us: a pinned copy of 1 KiB and its
                                            --   synchronisation take 6.6 to 6.9 us
    stream_gap_us = 1.1,                    -- CUPTI: 1.02 to 1.22 between kernels, copies 1.3
    cross_stream_us = 1.4,                  -- CUPTI: 1.38 from kernel to kernel through an event
    record_us = 2.15,                       -- CUPTI: a timed record between kernels adds 2.15, an
                                            --   untimed one nothing
    host_func_in_us = 10,                   -- estimate
    host_func_out_us = 5,                   -- estimate
    event_tick_ns = 32,                     -- estimate
    wake_us = 1.9,                          -- fitted, see submit_us
    lazy_load_us = 0,                       -- off: a process that has warmed up. Set it (300, say)
                                            --   to see a kernel's first use stop the device

    -- Graphs, rounded from h200.
    graph = {
        gap_us = 0.2,                       -- measured, as all of graph and host_graph
        switch_us = 0.4,
        launch_gap_us = 1.1,
    },
    host_graph = {
        capture_kernel_us = 0.7, capture_copy_us = 0.7, capture_memset_us = 0.3,
        capture_host_func_us = 0.2, capture_event_us = 0.2,
        instantiate_us = { { 0, 6 }, { 1000, 1306 } },      -- 6, and 1.3 for each kernel
        instantiate_other_us = 0.7,
        upload_us = 1.2,
        launch_us = { { 0, 2 }, { 1000, 5 } },
        branch_us = 1, copy_us = 1.6, memset_us = 0.7, host_func_us = 1.5,
        update_us = { { 0, 0.3 }, { 1000, 45.3 } },
    },

    -- What each call costs the host.
    host = {
        launch_us = 3.8,                    -- measured: 3.8 to 5.5
        matmul_us = 7.8,                    -- measured: cublasSgemm, 7.8 to 15
        memcpy_async_us = 1.4,              -- measured: 1.4 to 2.0
        memset_us = 2.5,                    -- estimate
        record_us = 1.23,                   -- measured, event with timing
        record_untimed_us = 0.27,           -- measured
        wait_us = 0.27,                     -- measured
        query_us = 0.3,                     -- measured: event 0.27, stream 0.32
        synchronize_us = 0.39,              -- measured, idle stream
        host_func_us = 2,                   -- estimate
        stream_create_us = 6,               -- measured: create + destroy 6.3
        event_create_us = 0.5,              -- measured: create + destroy 0.6
        tensor_alloc_us = 0.65,             -- measured: half of cudaMallocAsync + cudaFreeAsync
        pinned_alloc_us = 1,                -- estimate: from a pool, as PyTorch does it
    },

    -- The pool of cudaMallocAsync, on top of the calls. Measured, release threshold 0:
    -- cudaMallocAsync after a synchronisation took 55 us for 1 MiB, 80 for 64 MiB, 989 for 1 GiB,
    -- and the next synchronisation 59, 87 and 1233; threshold at its most: 1.4, 0.8, 1.3 and 1.1,
    -- 0.7, 0.9.
    host_pool = {
        chunk_bytes = 33554432,             -- estimate
        grow_us = { { 33554432, 53.6 }, { 67108864, 79.2 }, { 1073741824, 987.7 } },
        trim_us = { { 33554432, 57.9 }, { 67108864, 86.3 }, { 1073741824, 1232.1 } },
    },

    -- The plain calls: us + us_per_mib for each MiB. waits: first waits for all work.
    calls = {
        -- Measured: malloc + free of 4 MiB 81 us. The split is an estimate.
        cudaMalloc = { us = 40, us_per_mib = 0.3, waits = false },
        cudaFree = { us = 40, us_per_mib = 0, waits = true,       -- vendor: "may synchronize"
            -- measured: 48 while its own
            malloc_async = { us = 67, us_per_mib = 0, waits = false } },
                                            --   stream is busy, 86 beside another one; vendor: no
                                            --   implicit synchronisation
        -- Measured: 512 MiB pinned in 194 ms; malloc + free of 4 MiB 1994 us.
        cudaMallocHost = { us = 20, us_per_mib = 378.8, waits = false },
        cudaFreeHost = { us = 20, us_per_mib = 110, waits = true },  -- published: it waits
        -- Measured: 512 MiB registered in 17.5 ms; register + unregister of 4 MiB 409 us.
        cudaHostRegister = { us = 60, us_per_mib = 34.1, waits = false },
        cudaHostUnregister = { us = 60, us_per_mib = 38, waits = true },
        cudaMallocAsync = { us = 0.65, us_per_mib = 0, waits = false },  -- measured: the pair 1.3
        cudaFreeAsync = { us = 0.65, us_per_mib = 0, waits = false },
        cudaFuncSetCacheConfig = { us = 0.3, us_per_mib = 0, waits = false },  -- estimate
        cudaDeviceSetLimit = { us = 5, us_per_mib = 0, waits = false },        -- estimate
        cublasCreate = { us = 16000, us_per_mib = 0, waits = false },   -- measured, the first one
        cublasDestroy = { us = 100, us_per_mib = 0, waits = true },     -- vendor: it waits
    },
}
