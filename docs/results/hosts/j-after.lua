-- The host's part of a profile, measured by streamlab calibrate --host: on NVIDIA H200, driver
--   580.159.04, CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most
--   3201 MHz.
-- A day's factors are those of the base's figures with which the simulated host takes as long in
--   the same programs. The figures here are the base's times the median of the days' medians;
--   docs/design/calibration.md says more.
return {
    base = "h200",
    note = "streamlab calibrate --host, 2026-11-23 23:55, on NVIDIA H200, driver 580.159.04, \z
        CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most 3201 \z
        MHz",
    days = {
        { date = "2026-11-23 23:55", rounds = 49, calls = { low = 1.179, median = 1.297, high =
            1.566 }, uploads_warm = { low = 0.7851, median = 0.858, high = 0.9017 }, uploads_cold =
            { low = 0.7775, median = 0.8149, high = 0.9286 }, downloads = { low = 0.8739, median =
            0.9277, high = 0.9474 } },
    },
    calls = {
        cublasCreate = { us = 131.958 },
        cublasDestroy = { us = 139.666 },
        cudaDeviceSetLimit = { us = 2.09837 },
        cudaFree = { us = 42.2374 },
        cudaFreeAsync = { us = 2.81599 },
        cudaFreeHost = { us = 0 },
        cudaFuncSetCacheConfig = { us = 2.56828 },
        cudaHostRegister = { us = 57.93 },
        cudaHostUnregister = { us = 36.8224 },
        cudaMalloc = { us = 50.3555 },
        cudaMallocAsync = { us = 3.59807 },
        cudaMallocHost = { us = 0 },
        cudaMemGetInfo = { us = 5.58916 },
    },
    d2h_staging_cold_gb_per_s = { { 4096, 0.986078 }, { 16384, 3.9535 }, { 65536, 7.92233 }, { 262144,
        11.215 }, { 1048576, 13.253 }, { 2097152, 13.1245 }, { 4194304, 14.2227 }, { 16777216, 14.0532 },
        { 67108864, 14.607 }, { 268435456, 15.1757 } },
    d2h_staging_gb_per_s = { { 4096, 1.22617 }, { 16384, 4.01207 }, { 65536, 8.48872 }, { 262144, 11.3607 },
        { 1048576, 13.0739 }, { 2097152, 13.1906 }, { 4194304, 14.1485 }, { 16777216, 14.5728 }, { 67108864,
        14.658 }, { 268435456, 15.1757 } },
    h2d_staging_cold_gb_per_s = { { 4096, 2.53462 }, { 16384, 7.73132 }, { 65536, 5.78482 }, { 262144,
        7.09312 }, { 1048576, 7.22495 }, { 2097152, 7.55799 }, { 4194304, 7.09615 }, { 16777216, 6.98525 },
        { 67108864, 7.22194 }, { 268435456, 7.28959 } },
    h2d_staging_gb_per_s = { { 4096, 171.61 }, { 16384, 171.61 }, { 65536, 22.4022 }, { 262144, 20.5994 },
        { 1048576, 16.6363 }, { 2097152, 15.0321 }, { 4194304, 13.4568 }, { 16777216, 14.8247 }, { 67108864,
        7.79073 }, { 268435456, 7.31038 } },
    host = {
        event_create_us = 1.80332,
        host_func_us = 5.10741,
        launch_us = 10.2444,
        matmul_us = 14.783,
        memcpy_async_us = 7.65086,
        memset_us = 15.5611,
        pinned_alloc_us = 2.29771,
        query_us = 2.4181,
        record_untimed_us = 2.47499,
        record_us = 4.60755,
        stream_create_us = 10.531,
        synchronize_us = 4.22266,
        tensor_alloc_us = 3.26799,
        wait_us = 2.98485,
    },
    host_cold = {
        launch_us = 29.1482,
        matmul_us = 49.4619,
        memcpy_async_us = 21.5933,
    },
}

-- Found besides, and no value of a profile:
-- the last day: pinned, 256 x 256, what calls cost: 1009.5 us; simulated 794.3 us, once fitted
--   1030.0 us
-- the last day: pinned, 512 x 512, what calls cost: 893.9 us; simulated 712.4 us, once fitted
--   923.8 us
-- the last day: pinned, 1024 x 1024, what calls cost: 879.0 us; simulated 647.4 us, once fitted
--   839.6 us
-- the last day: pageable, 256 x 256, cached pageable uploads: 387.7 us; simulated 283.3 us, once
--   fitted 345.2 us
-- the last day: pageable, 256 x 256, pageable downloads: 114.0 us; simulated 107.5 us, once
--   fitted 118.1 us
-- the last day: pageable, 512 x 512, cached pageable uploads: 820.6 us; simulated 626.3 us, once
--   fitted 747.0 us
-- the last day: pageable, 512 x 512, pageable downloads: 1408.3 us; simulated 1362.5 us, once
--   fitted 1467.4 us
-- the last day: pageable, 1024 x 1024, cached pageable uploads: 4034.0 us; simulated 4010.2 us,
--   once fitted 4746.5 us
-- the last day: pageable, 1024 x 1024, pageable downloads: 2376.2 us; simulated 2167.9 us, once
--   fitted 2342.3 us
-- the last day: pageable, 2048 x 2048, cached pageable uploads: 16470.7 us; simulated 14468.8 us,
--   once fitted 17328.7 us
-- the last day: pageable, 2048 x 2048, pageable downloads: 8656.8 us; simulated 7873.3 us, once
--   fitted 8508.8 us
-- the last day: uncached uploads of 1 MiB, uncached pageable uploads: 14932.6 us; simulated
--   12070.5 us, once fitted 14862.8 us
-- the last day: uncached uploads of 4 MiB, uncached pageable uploads: 19309.2 us; simulated
--   15795.9 us, once fitted 19411.3 us
-- the last day: uncached uploads of 16 MiB, uncached pageable uploads: 19225.4 us; simulated
--   15828.4 us, once fitted 19436.5 us
-- the last day: downloads of 256 KiB, pageable downloads: 644.3 us; simulated 581.6 us, once
--   fitted 640.4 us
-- the last day: downloads of 1 MiB, pageable downloads: 908.0 us; simulated 834.9 us, once fitted
--   900.3 us
-- the last day: downloads of 4 MiB, pageable downloads: 1385.5 us; simulated 1237.7 us, once
--   fitted 1337.8 us
-- the last day: downloads of 16 MiB, pageable downloads: 2496.0 us; simulated 2266.9 us, once
--   fitted 2447.9 us
