/* kernels_views.cuh - kernels whose operands begin anywhere, as views do, for kernels_check.cu:
 * they give the bits that they give at aligned addresses, and touch nothing beside. */
#ifndef KERNELS_VIEWS_CUH
#define KERNELS_VIEWS_CUH

#include "kernels_rig.cuh"

/* In bytes: where in their memory the inputs and the output begin. */
typedef struct shifts {
    size_t in0, in1, out;
} shifts;

static bytes shifted(const bytes &data, size_t shift)
{
    bytes all(shift, (uint8_t)GUARD);
    all.insert(all.end(), data.begin(), data.end());
    return all;
}

/* The output; a byte more if it wrote outside of it. */
static bytes run_shifted(cuda_device *dev, const sl_work &work, size_t out_bytes, const bytes &in0,
                         const bytes &in1, shifts at)
{
    bytes all(at.out + out_bytes + GUARD_BYTES, (uint8_t)GUARD);
    uint8_t *to = (uint8_t *)upload(all), *a = (uint8_t *)upload(shifted(in0, at.in0)),
            *b = (uint8_t *)upload(shifted(in1, at.in1));
    uint32_t blocks;
    uint16_t threads;
    CHECK(launch_on(dev, work, to + at.out, a + at.in0, b + at.in1, &blocks, &threads));
    CHECK(cudaMemcpy(all.data(), to, all.size(), cudaMemcpyDeviceToHost));
    for (void *memory : { to, a, b })
        CHECK(cudaFree(memory));
    for (size_t i = 0; i < all.size(); i++)
        if ((i < at.out || i >= at.out + out_bytes) && all[i] != GUARD) return bytes(out_bytes + 1);
    return bytes(all.begin() + (long)at.out, all.begin() + (long)(at.out + out_bytes));
}

/* Each operand alone at an odd element, and all of them, each at another. */
static bool same_anywhere_of(cuda_device *dev, const sl_work &work, const bytes &in0,
                             const bytes &in1)
{
    const size_t size = numbers_dtype_bytes((sl_dtype)work.dtype);
    const size_t out_bytes = (size_t)sl_kernel_elems(&work, SL_OUTPUT) * size;
    const bytes want = run(dev, work, out_bytes, in0, in1, false);
    const shifts all[] = {
        { size, 0, 0 }, { 0, size, 0 }, { 0, 0, size }, { size, 3 * size, 5 * size },
        { 16, 32, 48 },
    };
    if (want.size() != out_bytes) return false;
    for (const shifts &at : all)
        if (run_shifted(dev, work, out_bytes, in0, in1, at) != want) {
            diag("  %lld x %lld elements at %zu, %zu to %zu", (long long)work.m, (long long)work.n,
                 at.in0, at.in1, at.out);
            return false;
        }
    return true;
}

static bool same_anywhere(cuda_device *dev, sl_kernel kernel, sl_dtype dtype, int64_t m, int64_t n)
{
    sl_work work = work_of(kernel, dtype, n, 2.5);
    work.m = m;
    return same_anywhere_of(dev, work, mixed_data(dtype, m * n, 5), mixed_data(dtype, m * n, 6));
}

static void views()
{
    static const struct {
        sl_kernel kernel;
        const char *name;
        int64_t m;
    } kernels[] = {
        { SL_KERNEL_POW, "pow", 1 },
        { SL_KERNEL_ADD, "add", 1 },
        { SL_KERNEL_DIV, "div", 1 },
        { SL_KERNEL_ADD_SCALAR, "add_scalar", 1 },
        { SL_KERNEL_RSUB_SCALAR, "rsub_scalar", 1 },
        { SL_KERNEL_RELU, "relu", 1 },
        { SL_KERNEL_SOFTMAX, "softmax", 3 },
        { SL_KERNEL_SUM, "sum", 1 },
        { SL_KERNEL_FILL, "fill", 1 },
        { SL_KERNEL_RAND, "rand", 1 },
        { SL_KERNEL_RANDN, "randn", 1 },
    };
    static const int64_t sizes[] = { 1, 2, 3, 7, 8, 9, 255, 1024, 4099, 70001 };
    for (int d = SL_FLOAT32; d <= SL_FLOAT16; d++)
        for (auto &which : kernels) {
            bool all = true;
            for (int64_t n : sizes)
                for (cuda_device *dev : { &gpu.dev, &gpu.small })
                    all = all && same_anywhere(dev, which.kernel, (sl_dtype)d, which.m, n);
            ok(all, "%s of dtype %d gives the same bits wherever its operands begin", which.name,
               d);
        }
}

#endif
