/* launch.cu - launching a kernel, whose code the driver may have to load first. */
#include "kernels.cuh"

extern "C" {
#include "driver.h"
}

enum { MOST_DEVICES = 64, SLOTS = 2048 }; /* there are far fewer kernels than slots */

/* The kernels whose code the driver has loaded, and as which function on each device. */
static struct {
    const void *kernel;
    cudaFunction_t function[MOST_DEVICES];
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

static cudaFunction_t loaded_function(const cuda_device *dev, const void *kernel)
{
    const int index = dev->base.info.index;
    return index < MOST_DEVICES ? loaded[slot_of(kernel)].function[index] : NULL;
}

sl_status before_load(const kernel_call *call, const void *kernel)
{
    if (cuda_funcs_pending == 0 || loaded_function(call->dev, kernel)) return SL_OK;
    return cuda_funcs_settle(call->dev, call->err);
}

static void note_loaded(const cuda_device *dev, const void *kernel, cudaFunction_t function)
{
    const int at = slot_of(kernel), index = dev->base.info.index;
    if (index >= MOST_DEVICES) return;
    loaded[at].kernel = kernel;
    loaded[at].function[index] = function;
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

static cudaError_t launch_function(const kernel_call *call, cudaFunction_t function,
                                   uint32_t threads, size_t shared_bytes, void **arguments)
{
    return (cudaError_t)cuda_driver.LaunchKernel((CUfunction)function, call->blocks, 1, 1, threads,
                                                 1, 1, (unsigned)shared_bytes, call->stream,
                                                 arguments, NULL);
}

/* A function is known to be loaded once it was launched. */
sl_status launch_blocks(kernel_call *call, const void *kernel, int64_t blocks, uint32_t threads,
                        size_t shared_bytes, void **arguments)
{
    if (blocks > INT32_MAX) return too_many_blocks(call, blocks);
    sl_status status = before_load(call, kernel);
    if (status != SL_OK) return status;
    call->blocks = blocks > 0 ? (uint32_t)blocks : 1;
    call->threads = threads;
    cudaFunction_t function = loaded_function(call->dev, kernel);
    const bool is_known = function != NULL;
    cudaError_t code = is_known ? cudaSuccess : cudaGetFuncBySymbol(&function, kernel);
    if (code == cudaSuccess)
        CUDA_ASIDE(call->dev, code,
                   launch_function(call, function, threads, shared_bytes, arguments));
    if (code == cudaSuccess && !is_known) note_loaded(call->dev, kernel, function);
    return launch_status(call, code);
}
