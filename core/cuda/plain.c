/* plain.c - the host API calls of lab.cuda, and peer access. Each makes the CUDA call that it is
 * named after. Calls that allocate or pin are made in buffer_open and host_pin. */
#include "cuda.h"

#include <cublas_v2.h>
#include <stdlib.h>

typedef struct cuda_blas {
    struct cuda_blas *next;
    cublasHandle_t handle;
} cuda_blas;

typedef __typeof__(&cublasCreate_v2) create_fn;
typedef __typeof__(&cublasDestroy_v2) destroy_fn;

/* ---- freeing ---- */

static bool names(const cuda_stream *stream, const sl_buffer *buffer)
{
    for (const sl_op *op = stream->head; op; op = op->next)
        if (sl_op_uses(op, buffer)) return true;
    return false;
}

static cuda_stream *find_user(const sl_buffer *buffer)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        for (cuda_stream *stream = dev->streams; stream; stream = stream->next)
            if (names(stream, buffer)) return stream;
    return NULL;
}

/* cudaFree waits for the device only if the memory is cudaMalloc's. Memory of the stream-ordered
 * allocator it frees at once, even while operations use it: memory of cudaMallocAsync, too, as the
 * script must know, but a tensor's comes from a pool of ours, and so this waits for the operations
 * that use it. The search starts again after each wait, since host functions may have closed
 * streams meanwhile. */
static sl_status wait_for_users(cuda_device *dev, const cuda_buffer *buffer, sl_error *err)
{
    cuda_stream *stream = find_user(&buffer->base);
    sl_status status = SL_OK;
    while (stream && status == SL_OK) {
        const bool is_other = cuda_of(stream->base.device) != dev;
        status = cuda_stream_synchronize(&stream->base, err);
        if (status == SL_EFAULT && is_other)
            status = SL_OK; /* its operations ended when its device was lost */
        stream = find_user(&buffer->base);
    }
    return status;
}

static void forget(cuda_buffer *buffer)
{
    free(buffer->block);
    buffer->block = NULL;
    buffer->data = NULL;
}

static sl_status free_now(cuda_device *dev, cuda_buffer *buffer, sl_error *err)
{
    sl_status status = cuda_funcs_settle(dev, err);
    if (status == SL_OK && !buffer->block) return SL_OK; /* a host function has freed it */
    if (status == SL_OK && buffer->block->source != CUDA_FROM_MALLOC
        && buffer->block->source != CUDA_FROM_MALLOC_ASYNC)
        status = wait_for_users(dev, buffer, err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    status = cuda_check(dev, cudaFree(buffer->data), "cudaFree", err);
    if (status == SL_OK) forget(buffer);
    return status;
}

/* As in CUDA, the script must see to it that the stream reaches the free after all work with the
 * memory. */
static sl_status free_in_stream(cuda_device *dev, cuda_buffer *buffer, sl_stream *stream,
                                sl_error *err)
{
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaFreeAsync(buffer->data, ((cuda_stream *)stream)->handle),
                                  "cudaFreeAsync", err);
    if (status == SL_OK) forget(buffer);
    return status;
}

static sl_status free_host(cuda_device *dev, cuda_buffer *buffer, sl_error *err)
{
    sl_status status = cuda_host_settle("cudaFreeHost", err);
    if (status == SL_OK && buffer->block) /* else a host function has freed it */
        status = cuda_host_free(dev, buffer->block, err);
    if (status != SL_OK) return status;
    buffer->block = NULL;
    buffer->data = NULL;
    return SL_OK;
}

/* ---- cuBLAS ---- */

static sl_status blas_check(cuda_device *dev, cublasStatus_t code, const char *call, sl_error *err)
{
    if (code == CUBLAS_STATUS_SUCCESS) return SL_OK;
    sl_status captured = dev->captures ? cuda_capture_explain(dev, NULL, call, err) : SL_OK;
    if (captured != SL_OK) return captured;
    cudaError_t lost = cuda_ask_device(dev);
    if (lost != cudaSuccess) return cuda_check(dev, lost, call, err);
    cudaGetLastError();
    sl_status status = code == CUBLAS_STATUS_ALLOC_FAILED ? SL_ENOMEM : SL_EBACKEND;
    sl_fail(err, status, "%s: cuBLAS answered with status %d", call, (int)code);
    if (err) err->backend_code = (int)code;
    return status;
}

/* cuBLAS may lack memory that the pool holds. It reports this with either code. */
static cublasStatus_t create_handle(cuda_device *dev, create_fn create, cublasHandle_t *handle)
{
    cuda_use(dev);
    cublasStatus_t code = create(handle);
    if (code != CUBLAS_STATUS_ALLOC_FAILED && code != CUBLAS_STATUS_NOT_INITIALIZED) return code;
    if (cuda_captures > 0) return code; /* a capture has forbidden it */
    cuda_memory_trim(dev);
    cuda_use(dev);
    return create(handle);
}

static sl_status blas_create(cuda_device *dev, sl_error *err)
{
    create_fn create = (create_fn)cuda_library_symbol(CUDA_CUBLAS, "cublasCreate_v2", err);
    if (!create) return SL_EUNSUPPORTED;
    sl_status status = cuda_funcs_settle(dev, err);
    cuda_blas *blas = status != SL_OK ? NULL : calloc(1, sizeof *blas);
    if (status != SL_OK) return status;
    if (!blas) return sl__no_memory(err, "a cuBLAS handle");
    status = blas_check(dev, create_handle(dev, create, &blas->handle), "cublasCreate", err);
    if (status != SL_OK) {
        free(blas);
        return status;
    }
    blas->next = dev->blas;
    dev->blas = blas;
    return SL_OK;
}

/* Destroys the latest handle. It is gone afterwards, also on failure. */
static sl_status destroy_latest(cuda_device *dev, sl_error *err)
{
    destroy_fn destroy = (destroy_fn)cuda_library_symbol(CUDA_CUBLAS, "cublasDestroy_v2", err);
    cuda_blas *blas = dev->blas;
    dev->blas = blas->next;
    cuda_use(dev);
    sl_status status = destroy ? blas_check(dev, destroy(blas->handle), "cublasDestroy", err)
                               : SL_EUNSUPPORTED;
    free(blas);
    return status;
}

static sl_status blas_destroy(cuda_device *dev, sl_error *err)
{
    sl_status status = cuda_funcs_settle(dev, err);
    if (status != SL_OK) return status;
    if (!dev->blas) return sl_fail(err, SL_ESTATE, "no handle of cublas_create is left");
    return destroy_latest(dev, err);
}

void cuda_plain_close(cuda_device *dev)
{
    while (dev->blas)
        destroy_latest(dev, NULL);
}

/* ---- a limit ---- */

/* Sets the size of printf's buffer in kernels, which no kernel of ours uses, in turn to twice its
 * first value and back, so that each call changes something. CUDA refuses that once a kernel that
 * prints has run; then the stack's limit is set to its current value. */
static sl_status set_limit(cuda_device *dev, sl_error *err)
{
    sl_status status = cuda_funcs_settle(dev, err);
    size_t stack_bytes = 0;
    cudaError_t code = cudaSuccess;
    if (status != SL_OK) return status;
    cuda_use(dev);
    if (dev->limit_bytes == 0)
        code = cudaDeviceGetLimit(&dev->limit_bytes, cudaLimitPrintfFifoSize);
    if (code == cudaSuccess)
        code = cudaDeviceSetLimit(cudaLimitPrintfFifoSize,
                                  dev->limit_raised ? dev->limit_bytes : 2 * dev->limit_bytes);
    if (code == cudaSuccess) dev->limit_raised = !dev->limit_raised;
    if (code == cudaErrorInvalidValue) {
        cudaGetLastError();
        code = cudaDeviceGetLimit(&stack_bytes, cudaLimitStackSize);
        if (code == cudaSuccess) code = cudaDeviceSetLimit(cudaLimitStackSize, stack_bytes);
    }
    return cuda_check(dev, code, "cudaDeviceSetLimit", err);
}

/* Each call sets the other preference: a launch with the same one as the last switches nothing. */
static sl_status set_cache_config(cuda_device *dev, sl_error *err)
{
    sl_status status = cuda_funcs_settle(dev, err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    dev->prefers_shared = !dev->prefers_shared;
    return cuda_check(dev, cuda_kernel_set_cache_config(dev->prefers_shared),
                      "cudaFuncSetCacheConfig", err);
}

/* ---- the calls ---- */

static sl_status make_call(cuda_device *dev, sl_plain_call call, cuda_buffer *buffer,
                           sl_stream *stream, sl_error *err)
{
    switch (call) {
    case SL_PLAIN_FREE: return buffer->block ? free_now(dev, buffer, err) : SL_OK;
    case SL_PLAIN_FREE_ASYNC:
        return buffer->block ? free_in_stream(dev, buffer, stream, err) : SL_OK;
    case SL_PLAIN_FREE_HOST: return buffer->block ? free_host(dev, buffer, err) : SL_OK;
    case SL_PLAIN_FUNC_SET_CACHE_CONFIG: return set_cache_config(dev, err);
    case SL_PLAIN_DEVICE_SET_LIMIT: return set_limit(dev, err);
    case SL_PLAIN_CUBLAS_CREATE: return blas_create(dev, err);
    case SL_PLAIN_CUBLAS_DESTROY: return blas_destroy(dev, err);
    case SL_PLAIN_MALLOC:
    case SL_PLAIN_MALLOC_HOST:
    case SL_PLAIN_MALLOC_ASYNC:
    case SL_PLAIN_HOST_REGISTER:
    case SL_PLAIN_HOST_UNREGISTER:
    case SL_PLAIN_CALLS: break;
    }
    return SL_OK;
}

/* Those that buffer_open or host_pin has made. */
enum {
    MADE_BEFORE = 1 << SL_PLAIN_MALLOC | 1 << SL_PLAIN_MALLOC_HOST | 1 << SL_PLAIN_MALLOC_ASYNC
                  | 1 << SL_PLAIN_HOST_REGISTER | 1 << SL_PLAIN_HOST_UNREGISTER
};

sl_status cuda_plain_call(sl_device *device, sl_plain_call call, sl_buffer *buffer,
                          sl_stream *stream, size_t bytes, bool *waited, sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    (void)bytes;
    if (MADE_BEFORE >> call & 1) {
        *waited = dev->call_waited;
        return SL_OK;
    }
    const bool busy = cuda_is_busy(dev);
    sl_status status = make_call(dev, call, (cuda_buffer *)buffer, stream, err);
    *waited = busy && !cuda_is_busy(dev);
    return status;
}

/* ---- peers ---- */

/* cudaDeviceEnablePeerAccess is for memory of cudaMalloc. Pools have their own access rights: that
 * of tensors, and the default one, which cudaMallocAsync uses. */
static cudaError_t share_pools(const cuda_device *dev, const cuda_device *peer, bool share)
{
    const struct cudaMemAccessDesc access = {
        .location = { .type = cudaMemLocationTypeDevice, .id = dev->base.info.index },
        .flags = share ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone,
    };
    cudaMemPool_t scripts;
    if (!peer->pool) return cudaSuccess;
    cudaError_t code = cudaDeviceGetDefaultMemPool(&scripts, peer->base.info.index);
    if (code == cudaSuccess) code = cudaMemPoolSetAccess(scripts, &access, 1);
    return code ? code : cudaMemPoolSetAccess(peer->pool, &access, 1);
}

/* Shares the pools also if the devices are peers already: they may have new pools, since they may
 * have been closed and opened. */
static sl_status enable(cuda_device *dev, cuda_device *peer, bool *changed, sl_error *err)
{
    sl_status settled = cuda_host_settle("cudaDeviceEnablePeerAccess", err);
    if (settled) return settled;
    cuda_use(dev);
    cudaError_t code = cudaDeviceEnablePeerAccess(peer->base.info.index, 0);
    *changed = code == cudaSuccess;
    if (code == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        code = cudaSuccess;
    }
    sl_status status = cuda_check(dev, code, "cudaDeviceEnablePeerAccess", err);
    if (status != SL_OK) return status;
    status = cuda_check(dev, share_pools(dev, peer, true), "cudaMemPoolSetAccess", err);
    if (status != SL_OK && *changed) {
        cudaDeviceDisablePeerAccess(peer->base.info.index);
        cudaGetLastError();
        *changed = false;
    }
    if (status == SL_OK) dev->peers |= cuda_peer_bit(&peer->base);
    return status;
}

/* Waits for both devices first, so that copies in flight keep their access. No host function is
 * pending then that could enqueue another copy. */
static sl_status disable(cuda_device *dev, cuda_device *peer, bool *changed, sl_error *err)
{
    sl_status status = cuda_host_settle("cudaDeviceDisablePeerAccess", err);
    if (status == SL_OK) status = cuda_device_synchronize(&dev->base, err);
    if (status == SL_OK) status = cuda_device_synchronize(&peer->base, err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    cudaError_t code = cudaDeviceDisablePeerAccess(peer->base.info.index);
    if (code == cudaSuccess || code == cudaErrorPeerAccessNotEnabled)
        dev->peers &= ~cuda_peer_bit(&peer->base);
    if (code == cudaErrorPeerAccessNotEnabled) {
        cudaGetLastError();
        return SL_OK;
    }
    *changed = code == cudaSuccess;
    status = cuda_check(dev, code, "cudaDeviceDisablePeerAccess", err);
    return status != SL_OK
               ? status
               : cuda_check(dev, share_pools(dev, peer, false), "cudaMemPoolSetAccess", err);
}

sl_status cuda_peer_access(sl_device *device, sl_device *peer, sl_peer_call call, bool *answer,
                           sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    int can = 0;
    cuda_use(dev);
    *answer = false;
    if (call == SL_PEER_ENABLE) return enable(dev, cuda_of(peer), answer, err);
    if (call == SL_PEER_DISABLE) return disable(dev, cuda_of(peer), answer, err);
    sl_status status = cuda_check(
        dev, cudaDeviceCanAccessPeer(&can, device->info.index, peer->info.index),
        "cudaDeviceCanAccessPeer", err);
    *answer = can != 0;
    return status;
}
