/* cuda_custom.c - custom kernels on the device: loading, launching, unloading.
 *
 * The driver's own functions do it, since the run-time has them only from CUDA 12.8 on.
 *
 * Loading puts the code on the device at once (cuFuncLoad), not at the first launch: the driver may
 * wait for the whole device there. Unloading may wait likewise, so it is put off until the device
 * is idle.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's codes have the numbers of the run-time's. */
static sl_status check(cuda_device *dev, CUresult code, const char *call, sl_error *err)
{
    return cuda_check(dev, (cudaError_t)code, call, err);
}

/* ---- compiling ---- */

sl_status cuda_custom_key(const sl_custom *kernel, char *key, size_t key_bytes, sl_error *err)
{
    const sl_device_info *info = &kernel->device->info;
    int version = 0;
    (void)err;
    cudaDriverGetVersion(&version);
    snprintf(key, key_bytes, "cuda sm_%d%d %d %d", info->compute_capability_major,
             info->compute_capability_minor, CUDART_VERSION, version);
    return SL_OK;
}

sl_status cuda_custom_build(sl_custom *kernel, sl_image *image, sl_error *err)
{
    const sl_device_info *info = &kernel->device->info;
    return cuda_nvrtc_build(kernel, info->compute_capability_major, info->compute_capability_minor,
                            image, err);
}

/* ---- loading ---- */

/* The name in the code, and the code. NULL: no image of ours. */
static const char *parse(const sl_image *image, const void **code)
{
    cuda_code head;
    const char *name = (const char *)image->data + sizeof head;
    if (image->bytes < sizeof head) return NULL;
    memcpy(&head, image->data, sizeof head);
    if (memcmp(head.magic, CUDA_CODE_MAGIC, sizeof head.magic) != 0 || head.name_bytes == 0
        || head.code_at > image->bytes || head.code_bytes != image->bytes - head.code_at
        || head.code_at < sizeof head || head.name_bytes > head.code_at - sizeof head
        || name[head.name_bytes - 1])
        return NULL;
    *code = (const char *)image->data + head.code_at;
    return name;
}

/* What the driver says of code that it cannot use. */
static bool is_of_code(CUresult code)
{
    return code == CUDA_ERROR_INVALID_IMAGE || code == CUDA_ERROR_NO_BINARY_FOR_GPU
           || code == CUDA_ERROR_INVALID_PTX || code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION
           || code == CUDA_ERROR_INVALID_SOURCE;
}

static sl_status check_load(cuda_device *dev, CUresult code, const char *call, sl_error *err)
{
    if (code == CUDA_ERROR_NOT_FOUND)
        return sl_fail(err, SL_EINVAL, "the source has no __global__ function of that name");
    if (!is_of_code(code)) return check(dev, code, call, err);
    check(dev, code, call, err);
    if (err) err->status = SL_EIO;
    return SL_EIO;
}

static sl_status load(cuda_custom *kernel, const char *name, const void *code, sl_error *err)
{
    cuda_device *dev = cuda_of(kernel->base.device);
    CUkernel handle;
    sl_status status = check_load(
        dev, cuda_driver.LibraryLoadData(&kernel->library, code, NULL, NULL, 0, NULL, NULL, 0),
        "cuLibraryLoadData", err);
    if (status != SL_OK) {
        kernel->library = NULL;
        return status;
    }
    status = check_load(dev, cuda_driver.LibraryGetKernel(&handle, kernel->library, name),
                        "cuLibraryGetKernel", err);
    if (status == SL_OK)
        status = check_load(dev, cuda_driver.KernelGetFunction(&kernel->function, handle),
                            "cuKernelGetFunction", err);
    if (status == SL_OK && cuda_driver.FuncLoad)
        status = check_load(dev, cuda_driver.FuncLoad(kernel->function), "cuFuncLoad", err);
    return status;
}

static sl_status get(cuda_custom *kernel, CUfunction_attribute which, int *value, sl_error *err)
{
    return check(cuda_of(kernel->base.device),
                 cuda_driver.FuncGetAttribute(value, which, kernel->function), "cuFuncGetAttribute",
                 err);
}

/* All the shared memory that a block can have may be asked for at a launch: CUDA permits 48 KiB
 * unless the function's attribute says more. */
static sl_status permit_shared(cuda_custom *kernel, int static_bytes, sl_error *err)
{
    const int most = (int)kernel->base.device->info.max_shared_bytes_per_block - static_bytes;
    if (most <= 0) return SL_OK;
    return check(cuda_of(kernel->base.device),
                 cuda_driver.FuncSetAttribute(
                     kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most),
                 "cuFuncSetAttribute", err);
}

static sl_status fill_info(cuda_custom *kernel, sl_error *err)
{
    sl_custom_info *info = &kernel->base.info;
    int registers = 0, shared = 0, local = 0, threads = 0;
    sl_status status = get(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, &registers, err);
    if (status == SL_OK) status = get(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared, err);
    if (status == SL_OK) status = get(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local, err);
    if (status == SL_OK)
        status = get(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &threads, err);
    if (status == SL_OK) status = permit_shared(kernel, shared, err);
    if (status != SL_OK) return status;
    info->registers = registers;
    info->shared_bytes = shared;
    info->local_bytes = local;
    info->max_threads = threads;
    info->has_values = true;
    return SL_OK;
}

/* Host functions run first: loading may wait for the device. Perhaps while a graph is captured,
 * which it does not concern. */
sl_status cuda_custom_open(sl_custom *base, const sl_image *image, sl_error *err)
{
    cuda_custom *kernel = (cuda_custom *)base;
    cuda_device *dev = cuda_of(base->device);
    const void *code = NULL;
    const char *name = parse(image, &code);
    if (!name) return sl_fail(err, SL_EIO, "the compiled kernel is broken");
    sl_status status = cuda_funcs_settle(dev, err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    cuda_own_begin();
    status = load(kernel, name, code, err);
    if (status == SL_OK) status = fill_info(kernel, err);
    if (status != SL_OK && kernel->library) cuda_driver.LibraryUnload(kernel->library);
    cuda_own_end();
    if (status == SL_OK) return SL_OK;
    kernel->library = NULL;
    kernel->function = NULL;
    return status;
}

/* ---- unloading ---- */

void cuda_custom_unload(cuda_device *dev)
{
    if (dev->n_closed == 0) return;
    cuda_use(dev);
    cuda_own_begin();
    while (dev->n_closed > 0)
        cuda_driver.LibraryUnload(dev->closed[--dev->n_closed]);
    cuda_own_end();
    free(dev->closed);
    dev->closed = NULL;
    dev->cap_closed = 0;
}

/* Without memory for the list the code stays on the device until the process ends. */
static void put_off(cuda_device *dev, struct CUlib_st *library)
{
    if (SL__GROW(dev->closed, dev->cap_closed, dev->n_closed + 1))
        dev->closed[dev->n_closed++] = library;
}

void cuda_custom_close(sl_custom *base)
{
    cuda_custom *kernel = (cuda_custom *)base;
    cuda_device *dev = cuda_of(base->device);
    if (!kernel->library) return;
    put_off(dev, kernel->library);
    if (dev->n_in_flight == 0) cuda_custom_unload(dev);
}

/* ---- launching ---- */

/* The driver may wait for the whole device at a first launch: to load the code, if it was not able
 * to before, and to make room for more local memory than any kernel has had, which then stays
 * (CU_CTX_LMEM_RESIZE_TO_MAX). */
static sl_status before_first(cuda_device *dev, const cuda_custom *kernel, const sl_op *op,
                              sl_error *err)
{
    const bool may_wait = !cuda_driver.FuncLoad || kernel->base.info.local_bytes > dev->local_bytes;
    if (op->captured || !may_wait || cuda_funcs_pending == 0) return SL_OK;
    return cuda_funcs_settle(dev, err);
}

static void note_launched(cuda_device *dev, cuda_custom *kernel, const sl_op *op)
{
    if (op->captured) return;
    kernel->ready = true;
    if (kernel->base.info.local_bytes > dev->local_bytes)
        dev->local_bytes = kernel->base.info.local_bytes;
}

/* What recordings without CUPTI show. */
static void describe(sl_op *op)
{
    const sl_work *work = &op->work;
    op->blocks = work->blocks < UINT32_MAX ? (uint32_t)work->blocks : UINT32_MAX;
    op->threads = (uint16_t)work->threads;
    op->registers = (uint16_t)sl__max(0, work->registers);
    op->shared_bytes = (uint32_t)work->shared_bytes;
}

static CUresult launch(const cuda_custom *kernel, cudaStream_t stream, const sl_custom_call *call,
                       void **args)
{
    const uint32_t *grid = call->grid, *block = call->block;
    const unsigned shared = (unsigned)call->shared_bytes;
    if (call->cooperative)
        return cuda_driver.LaunchCooperativeKernel(kernel->function, grid[0], grid[1], grid[2],
                                                   block[0], block[1], block[2], shared, stream,
                                                   args);
    return cuda_driver.LaunchKernel(kernel->function, grid[0], grid[1], grid[2], block[0], block[1],
                                    block[2], shared, stream, args, NULL);
}

sl_status cuda_custom_launch(cuda_device *dev, sl_op *op, sl_error *err)
{
    sl_custom_call *call = op->custom;
    cuda_custom *kernel = (cuda_custom *)call->kernel;
    void *addresses[SL_MOST_ARGS], *args[SL_MOST_ARGS];
    sl_status status = kernel->ready ? SL_OK : before_first(dev, kernel, op, err);
    if (status != SL_OK) return status;
    for (uint32_t i = 0; i < call->n; i++) {
        sl_operand *arg = &call->arg[i];
        if (arg->buffer) addresses[i] = cuda_data(arg);
        args[i] = arg->buffer ? (void *)&addresses[i] : (void *)&arg->bits;
    }
    describe(op);
    CUresult code = launch(kernel, ((cuda_stream *)op->stream)->handle, call, args);
    if (code == CUDA_SUCCESS && !kernel->ready) note_launched(dev, kernel, op);
    return check(dev, code, call->cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel",
                 err);
}

sl_status cuda_custom_occupancy(sl_custom *base, int threads, size_t shared_bytes, int *blocks,
                                sl_error *err)
{
    cuda_custom *kernel = (cuda_custom *)base;
    cuda_device *dev = cuda_of(base->device);
    const int64_t most = dev->base.info.max_shared_bytes_per_block - base->info.shared_bytes;
    *blocks = 0;
    if (threads > base->info.max_threads || (int64_t)shared_bytes > most) return SL_OK;
    cuda_use(dev);
    return check(dev,
                 cuda_driver.OccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel->function,
                                                                       threads, shared_bytes),
                 "cuOccupancyMaxActiveBlocksPerMultiprocessor", err);
}
