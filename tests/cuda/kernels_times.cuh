/* kernels_times.cuh - how long kernels take next to a copy kernel, for kernels_check.cu: diagnostics. */
#ifndef KERNELS_TIMES_CUH
#define KERNELS_TIMES_CUH

#include "kernels_rig.cuh"

enum { SIDE = 4096, TIMED_BATCHES = 15, PER_BATCH = 20 };

/* Blocks of 256 threads, each of which copies VECTORS of 16 bytes. */
template <int VECTORS> __global__ void copy(uint4 *out, const uint4 *in)
{
    const size_t first = (size_t)blockIdx.x * (256 * VECTORS) + threadIdx.x;
    uint4 vector[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        vector[v] = in[first + v * 256];
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        out[first + v * 256] = vector[v];
}

/* The median over batches of launches, in us each. */
template <typename F> static double median_us(F launch)
{
    std::vector<double> us;
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int batch = -2; batch < TIMED_BATCHES; batch++) {
        float ms = 0;
        CHECK(cudaEventRecord(start));
        for (int i = 0; i < PER_BATCH; i++)
            CHECK(launch());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        if (batch >= 0) us.push_back(1e3 * ms / PER_BATCH);
    }
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
}

static double kernel_us(sl_kernel kernel, sl_dtype dtype, double scalar, void *out, void *in0,
                        void *in1)
{
    sl_work work = work_of(kernel, dtype, (int64_t)SIDE * SIDE, scalar);
    if (kernel == SL_KERNEL_SOFTMAX) {
        work.m = SIDE;
        work.n = SIDE;
    }
    return median_us([&] {
        uint32_t blocks;
        uint16_t threads;
        return launch_on(&gpu.dev, work, out, in0, in1, &blocks, &threads);
    });
}

static double copy_us(void *to, const void *from, size_t n_bytes)
{
    const unsigned blocks = (unsigned)(n_bytes / 16 / 256);
    const double one = median_us([&] {
        copy<1><<<blocks, 256>>>((uint4 *)to, (const uint4 *)from);
        return cudaGetLastError();
    });
    const double four = median_us([&] {
        copy<4><<<blocks / 4, 256>>>((uint4 *)to, (const uint4 *)from);
        return cudaGetLastError();
    });
    const double moved = 2e-6 * (double)n_bytes;
    diag("copy of %zu bytes: %.1f us with one vector a thread, %.1f with four; %.2f TB/s", n_bytes,
         one, four, moved / fmin(one, four));
    return fmin(one, four);
}

static void times()
{
    static const double exponents[] = { 2, 3, 0.5, -1, -2, 5, 16, 1.5 };
    static const struct {
        sl_kernel kernel;
        const char *name;
        double tensors;
    } others[] = {
        { SL_KERNEL_ADD, "add", 3 },         { SL_KERNEL_MUL_SCALAR, "mul_scalar", 2 },
        { SL_KERNEL_SOFTMAX, "softmax", 2 }, { SL_KERNEL_SUM, "sum", 1 },
        { SL_KERNEL_FILL, "fill", 1 },       { SL_KERNEL_RAND, "rand", 1 },
        { SL_KERNEL_RANDN, "randn", 1 },
    };
    void *tensor[3];
    for (void *&t : tensor)
        CHECK(cudaMalloc(&t, (size_t)SIDE * SIDE * sizeof(float)));
    for (sl_dtype dtype : { SL_FLOAT32, SL_BFLOAT16 }) {
        const size_t n_bytes = (size_t)SIDE * SIDE * numbers_dtype_bytes(dtype);
        for (void *t : tensor)
            kernel_us(SL_KERNEL_RAND, dtype, 0, t, NULL, NULL);
        const double copied_us = copy_us(tensor[0], tensor[1], n_bytes);
        for (double e : exponents) {
            const double us = kernel_us(SL_KERNEL_POW, dtype, e, tensor[0], tensor[1], NULL);
            diag("pow %g in %s: %.1f us, copy: %.1f us, %.2f of its bandwidth", e,
                 dtype_names[dtype], us, copied_us, copied_us / us);
        }
        for (auto &other : others) {
            const double us = kernel_us(other.kernel, dtype, 2.5, tensor[0], tensor[1], tensor[2]);
            diag("%s in %s: %.1f us, %.2f TB/s", other.name, dtype_names[dtype], us,
                 other.tensors * (double)n_bytes * 1e-6 / us);
        }
    }
    for (void *t : tensor)
        CHECK(cudaFree(t));
}

#endif
