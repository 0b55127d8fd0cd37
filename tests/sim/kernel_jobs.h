/* kernel_jobs.h - kernels of the simulator as jobs, and their elements as numbers, for tests. */
#ifndef TESTS_SIM_KERNEL_JOBS_H
#define TESTS_SIM_KERNEL_JOBS_H

#include "../../core/numbers/elements.h"
#include "../../core/numbers/half.h"
#include "../../core/sim/compute.h"

#include <stdlib.h>
#include <string.h>

static inline double element(sl_dtype dtype, const void *data, size_t i)
{
    uint16_t half;
    float x;
    if (dtype == SL_FLOAT32) {
        memcpy(&x, (const char *)data + 4 * i, 4);
        return x;
    }
    memcpy(&half, (const char *)data + 2 * i, 2);
    return dtype == SL_BFLOAT16 ? half_float_of_bf16(half) : half_float_of_f16(half);
}

static inline void set_element(sl_dtype dtype, void *data, size_t i, double value)
{
    const float x = (float)value;
    const uint16_t half = dtype == SL_BFLOAT16 ? half_bf16_of_float(x) : half_f16_of_float(x);
    if (dtype == SL_FLOAT32)
        memcpy((char *)data + 4 * i, &x, 4);
    else
        memcpy((char *)data + 2 * i, &half, 2);
}

static inline sim_job make_job(sl_kernel kernel, sl_dtype dtype, int64_t m, int64_t n, int64_t k,
                               double scalar)
{
    sl_work work = {
        .kind = SL_WORK_KERNEL,
        .kernel = (uint8_t)kernel,
        .dtype = (uint8_t)dtype,
        .m = m,
        .n = n,
        .k = k,
        .scalar = scalar,
        .seed = 3,
        .sequence = 4,
    };
    if (kernel == SL_KERNEL_MATMUL) work.outer = 1;
    sim_job job;
    sim_job_init(&job, &work);
    return job;
}

static const char *const dtype_names[] = { "float32", "bfloat16", "float16" };
static const double unit_roundoff[] = { 0x1p-24, 0x1p-8, 0x1p-11 };

#endif
