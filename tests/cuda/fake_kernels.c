/* fake_kernels.c - kernels.cu's functions over fake_streams.c: kernels that compute nothing. */
#include "fake_streams.h"

#include "../../core/cuda/cuda.h"

sl_status cuda_kernel_launch(cuda_device *dev, const sl_work *work, void *out, const void *in0,
                             const void *in1, void *scratch, cudaStream_t stream, uint32_t *blocks,
                             uint16_t *threads, sl_error *err)
{
    const int64_t duration_ns = work->kernel == SL_KERNEL_SPIN ? work->duration_ns : 0;
    (void)out, (void)in0, (void)in1;
    if (work->kernel == SL_KERNEL_SUM && !scratch) fake_cudart.misuses++;
    *blocks = *threads = 1;
    cudaError_t code;
    CUDA_ASIDE(dev, code, fake_launch(stream, work->kernel == SL_KERNEL_TRAP, duration_ns));
    return cuda_check(dev, code, "cudaLaunchKernel", err);
}

cudaError_t cuda_kernel_find_code(void)
{
    return fake_cudart.no_code ? fake_answer(fake_cudart.no_code) : fake_enter();
}

cudaError_t cuda_kernel_set_cache_config(bool shared)
{
    (void)shared;
    return fake_enter();
}
