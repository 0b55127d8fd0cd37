-- The host's part of a profile, measured by streamlab calibrate --host: on NVIDIA H200, driver
--   580.159.04, CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most
--   3201 MHz.
-- A day's factors are those of the base's figures with which the simulated host takes as long in
--   the same programs. The figures here are the base's times the median of the days' medians;
--   docs/design/calibration.md says more.
return {
    base = "h200",
    note = "streamlab calibrate --host, 2026-11-23 23:59, on NVIDIA H200, driver 580.159.04, \z
        CUDA 13.0; SM clock 1980 MHz of at most 1980 MHz, memory clock 3201 MHz of at most 3201 \z
        MHz",
    days = {
        { date = "2026-11-23 23:59", rounds = 55, calls = { low = 0.9136, median = 0.9583, high =
            1.285 }, uploads_warm = { low = 0.8514, median = 0.9868, high = 1.053 }, uploads_cold =
            { low = 0.8325, median = 1.047, high = 1.102 }, downloads = { low = 0.9563, median = 1.062,
            high = 1.119 } },
    },
    calls = {
        cublasCreate = { us = 97.5153 },
        cublasDestroy = { us = 103.211 },
        cudaDeviceSetLimit = { us = 1.55067 },
        cudaFree = { us = 31.213 },
        cudaFreeAsync = { us = 2.08099 },
        cudaFreeHost = { us = 0 },
        cudaFuncSetCacheConfig = { us = 1.89793 },
        cudaHostRegister = { us = 42.8096 },
        cudaHostUnregister = { us = 27.2113 },
        cudaMalloc = { us = 37.2121 },
        cudaMallocAsync = { us = 2.65893 },
        cudaMallocHost = { us = 0 },
        cudaMemGetInfo = { us = 4.13032 },
    },
    d2h_staging_cold_gb_per_s = { { 4096, 1.12934 }, { 16384, 4.5279 }, { 65536, 9.07333 }, { 262144,
        12.8443 }, { 1048576, 15.1784 }, { 2097152, 15.0313 }, { 4194304, 16.2891 }, { 16777216, 16.095 },
        { 67108864, 16.7292 }, { 268435456, 17.3805 } },
    d2h_staging_gb_per_s = { { 4096, 1.40432 }, { 16384, 4.59497 }, { 65536, 9.72202 }, { 262144, 13.0113 },
        { 1048576, 14.9734 }, { 2097152, 15.107 }, { 4194304, 16.2041 }, { 16777216, 16.6901 }, { 67108864,
        16.7876 }, { 268435456, 17.3805 } },
    h2d_staging_cold_gb_per_s = { { 4096, 3.25753 }, { 16384, 9.93638 }, { 65536, 7.43472 }, { 262144,
        9.11617 }, { 1048576, 9.28559 }, { 2097152, 9.71362 }, { 4194304, 9.12005 }, { 16777216, 8.97753 },
        { 67108864, 9.28172 }, { 268435456, 9.36867 } },
    h2d_staging_gb_per_s = { { 4096, 197.358 }, { 16384, 197.358 }, { 65536, 25.7635 }, { 262144, 23.6902 },
        { 1048576, 19.1324 }, { 2097152, 17.2876 }, { 4194304, 15.4759 }, { 16777216, 17.049 }, { 67108864,
        8.95965 }, { 268435456, 8.40723 } },
    host = {
        event_create_us = 1.33263,
        host_func_us = 3.77432,
        launch_us = 7.57047,
        matmul_us = 10.9245,
        memcpy_async_us = 5.6539,
        memset_us = 11.4994,
        pinned_alloc_us = 1.69798,
        query_us = 1.78695,
        record_untimed_us = 1.82899,
        record_us = 3.40493,
        stream_create_us = 7.7823,
        synchronize_us = 3.1205,
        tensor_alloc_us = 2.41501,
        wait_us = 2.20577,
    },
    host_cold = {
        launch_us = 21.5402,
        matmul_us = 36.5518,
        memcpy_async_us = 15.9572,
    },
}

-- Found besides, and no value of a profile:
-- the last day: pinned, 256 x 256, what calls cost: 752.9 us; simulated 794.3 us, once fitted
--   761.2 us
-- the last day: pinned, 512 x 512, what calls cost: 656.7 us; simulated 712.4 us, once fitted
--   682.6 us
-- the last day: pinned, 1024 x 1024, what calls cost: 656.8 us; simulated 647.4 us, once fitted
--   620.4 us
-- the last day: pageable, 256 x 256, cached pageable uploads: 314.0 us; simulated 283.3 us, once
--   fitted 279.8 us
-- the last day: pageable, 256 x 256, pageable downloads: 100.1 us; simulated 107.5 us, once
--   fitted 102.9 us
-- the last day: pageable, 512 x 512, cached pageable uploads: 659.9 us; simulated 626.3 us, once
--   fitted 623.2 us
-- the last day: pageable, 512 x 512, pageable downloads: 1236.5 us; simulated 1362.5 us, once
--   fitted 1301.5 us
-- the last day: pageable, 1024 x 1024, cached pageable uploads: 3365.8 us; simulated 4010.2 us,
--   once fitted 4005.6 us
-- the last day: pageable, 1024 x 1024, pageable downloads: 2033.3 us; simulated 2167.9 us, once
--   fitted 2051.3 us
-- the last day: pageable, 2048 x 2048, cached pageable uploads: 14006.6 us; simulated 14468.8 us,
--   once fitted 14237.1 us
-- the last day: pageable, 2048 x 2048, pageable downloads: 7287.3 us; simulated 7873.3 us, once
--   fitted 7422.3 us
-- the last day: uncached uploads of 1 MiB, uncached pageable uploads: 11642.7 us; simulated
--   12070.5 us, once fitted 11528.1 us
-- the last day: uncached uploads of 4 MiB, uncached pageable uploads: 14943.4 us; simulated
--   15795.9 us, once fitted 15084.1 us
-- the last day: uncached uploads of 16 MiB, uncached pageable uploads: 14774.2 us; simulated
--   15828.4 us, once fitted 15114.5 us
-- the last day: downloads of 256 KiB, pageable downloads: 559.1 us; simulated 581.6 us, once
--   fitted 556.9 us
-- the last day: downloads of 1 MiB, pageable downloads: 805.7 us; simulated 834.9 us, once fitted
--   797.4 us
-- the last day: downloads of 4 MiB, pageable downloads: 1182.7 us; simulated 1237.7 us, once
--   fitted 1171.2 us
-- the last day: downloads of 16 MiB, pageable downloads: 2042.7 us; simulated 2266.9 us, once
--   fitted 2136.9 us
