/* launch.cu - launching a kernel, whose code the driver may have to load first. */
#include "kernels.cuh"

enum { MOST_DEVICES = 64, SLOTS = 2048 }; /* there are far fewer kernels than slots */

/* The kernels whose code the driver has loaded, and on which devices. */
static struct {
    const void *kernel;
    uint64_t devices;
} loaded[SLOTS];

uint64_t device_bit(const cuda_device *dev)
{
    const int index = dev->base.info.index;
    return index < MOST_DEVICES ? (uint64_t)1 << index : 0;
}

/* The kernel's slot, or the free one where it belongs. */
static int slot_of(const void *kernel)
{
    int at = (int)(((uintptr_t)kernel >> 4) * 0x9E3779B1u >> 8) & (SLOTS - 1);
    while (loaded[at].kernel && loaded[at].kernel != kernel)
        at = (at + 1) & (SLOTS - 1);
    return at;
}

sl_status before_load(const kernel_call *call, const void *kernel)
{
    if (cuda_funcs_pending == 0 || (loaded[slot_of(kernel)].devices & device_bit(call->dev)))
        return SL_OK;
    return cuda_funcs_settle(call->dev, call->err);
}

static void note_loaded(const cuda_device *dev, const void *kernel)
{
    const int at = slot_of(kernel);
    loaded[at].kernel = kernel;
    loaded[at].devices |= device_bit(dev);
}

sl_status launch_status(const kernel_call *call, cudaError_t code)
{
    return cuda_check(call->dev, code, "cudaLaunchKernel", call->err);
}

static sl_status too_many_blocks(const kernel_call *call, int64_t blocks)
{
    sl_fail(call->err, SL_EBACKEND,
            "cudaLaunchKernel: %lld blocks, and a grid has at most %d (cudaErrorInvalidValue)",
            (long long)blocks, INT32_MAX);
    if (call->err) call->err->backend_code = cudaErrorInvalidValue;
    return SL_EBACKEND;
}

/* With cudaLaunchKernel and not <<<>>>, whose errors cudaGetLastError would have to fetch,
 * together with those of somebody else. */
sl_status launch_blocks(kernel_call *call, const void *kernel, int64_t blocks, uint32_t threads,
                        size_t shared_bytes, void **arguments)
{
    if (blocks > INT32_MAX) return too_many_blocks(call, blocks);
    sl_status status = before_load(call, kernel);
    if (status != SL_OK) return status;
    call->blocks = blocks > 0 ? (uint32_t)blocks : 1;
    call->threads = threads;
    cudaError_t code;
    CUDA_ASIDE(call->dev, code,
               cudaLaunchKernel(kernel, dim3(call->blocks), dim3(threads), arguments, shared_bytes,
                                call->stream));
    if (code == cudaSuccess) note_loaded(call->dev, kernel);
    return launch_status(call, code);
}
