/* cuda_memory.c - the memory of buffers, and all device memory.
 *
 * Tensors take device memory from a pool of the driver's stream-ordered allocator that is ours
 * alone, so that the script's cudaMallocAsync has the default pool to itself, as in any other
 * program. Every block is allocated in a stream where nothing else runs, and the host waits for
 * that stream, which takes no time: so any stream may use the block at once.
 *
 * Memory of closed tensors is kept in lists by size (pool.c). Core closes a buffer only when all
 * operations that used it have completed, so the next tensor of any stream may have the block at
 * once, without a call of the driver. Before that a tensor of the same stream may take it over from
 * its lender (core/reuse.h).
 *
 * On a device without pools (some virtual GPUs) cudaMalloc is used, with the same lists.
 */
#include "cuda.h"

#include <sched.h>
#include <stdlib.h>

static const size_t least_bytes = 512; /* of a block: the smallest size class */
static const size_t least_step = (size_t)32 << 20, most_step = (size_t)1 << 30;

static const char *const call_names[] = {
    [CUDA_FROM_POOL] = "cudaMallocFromPoolAsync",
    [CUDA_FROM_MALLOC] = "cudaMalloc",
    [CUDA_FROM_MALLOC_ASYNC] = "cudaMallocAsync",
};

/* ---- from the driver ---- */

/* Mapping new memory takes the driver about 80 us, whatever its size; a piece of mapped memory
 * takes 1 us. So when the pool is used up, it grows by as much as is in use, between 32 MiB and 1
 * GiB: a piece of that size is allocated and freed, which leaves it mapped. It grows by at most
 * half of the device's free memory, since other programs and cudaMalloc need some. If that fails,
 * the request is mapped alone. */
static void reserve_ahead(cuda_device *dev, size_t bytes)
{
    uint64_t reserved = 0, used = 0;
    size_t free_bytes = 0, total_bytes;
    void *piece;
    if (cudaMemPoolGetAttribute(dev->pool, cudaMemPoolAttrReservedMemCurrent, &reserved)
        || cudaMemPoolGetAttribute(dev->pool, cudaMemPoolAttrUsedMemCurrent, &used)
        || used + bytes <= reserved || cudaMemGetInfo(&free_bytes, &total_bytes))
        return;
    size_t step = used < least_step ? least_step : used > most_step ? most_step : (size_t)used;
    if (step > free_bytes / 2) step = free_bytes / 2;
    if (step > bytes
        && cudaMallocFromPoolAsync(&piece, step, dev->pool, dev->memory_stream) == cudaSuccess)
        cudaFreeAsync(piece, dev->memory_stream);
}

/* Polls, as wait.c does: the memory stream may share a channel with a stream that waits for a host
 * function or a long kernel (CUDA_DEVICE_MAX_CONNECTIONS=1). cudaErrorNotReady: the user
 * interrupted the wait. At the end it synchronises, which takes no time: on an H200 the pool
 * counted memory that had been freed before as free only after that. */
static cudaError_t wait_for_memory_stream(cuda_device *dev)
{
    cudaError_t code;
    while ((code = cudaStreamQuery(dev->memory_stream)) == cudaErrorNotReady) {
        cudaGetLastError(); /* it stays as the last error otherwise */
        if (*dev->base.interrupted) return code;
        if (cuda_funcs_pending == 0 || !cuda_funcs_run_all()) sched_yield();
        cuda_use(dev);
    }
    return code ? code : cudaStreamSynchronize(dev->memory_stream);
}

/* If the wait is interrupted, the block is freed in the same stream. */
static cudaError_t from_pool(cuda_device *dev, cuda_block *block)
{
    reserve_ahead(dev, block->bytes);
    cudaGetLastError();
    cudaError_t code = cudaMallocFromPoolAsync(&block->data, block->bytes, dev->pool,
                                               dev->memory_stream);
    if (code == cudaSuccess && (code = wait_for_memory_stream(dev)) == cudaErrorNotReady)
        cudaFreeAsync(block->data, dev->memory_stream);
    return code;
}

static cudaError_t from_driver(cuda_device *dev, cuda_block *block, cudaStream_t stream)
{
    cuda_use(dev);
    switch ((cuda_source)block->source) {
    case CUDA_FROM_MALLOC: return cudaMalloc(&block->data, block->bytes);
    case CUDA_FROM_MALLOC_ASYNC:
        dev->has_pool = true;
        return cudaMallocAsync(&block->data, block->bytes, stream);
    case CUDA_FROM_POOL:
    case CUDA_FROM_HOST_ALLOC:
    case CUDA_FROM_MMAP:
    case CUDA_FROM_HEAP: break;
    }
    return from_pool(dev, block);
}

static sl_status out_of_memory(cuda_device *dev, size_t asked, sl_error *err)
{
    size_t free_bytes = 0, total_bytes = 0;
    cudaGetLastError();
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) cudaGetLastError();
    sl_fail(err, SL_ENOMEM, "out of device memory: %zu bytes asked, %zu of %s's %zu are free",
            asked, free_bytes, dev->base.info.name, total_bytes);
    if (err) err->backend_code = cudaErrorMemoryAllocation;
    return SL_ENOMEM;
}

static size_t at_least_least(size_t bytes) { return bytes < least_bytes ? least_bytes : bytes; }

/* When memory is short, unused blocks are freed, and the new block has the size that was asked for
 * instead of its class's, so that a tensor can have nearly all memory. */
static sl_status get_memory(cuda_device *dev, cuda_block *block, size_t asked, sl_stream *stream,
                            sl_error *err)
{
    cudaStream_t handle = stream ? ((cuda_stream *)stream)->handle : NULL;
    sl_status status = SL_OK;
    if (block->source == CUDA_FROM_MALLOC) status = cuda_funcs_settle(dev, err);
    if (status != SL_OK) return status;
    cudaError_t code = from_driver(dev, block, handle);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        cuda_memory_trim(dev);
        block->bytes = at_least_least(asked);
        code = from_driver(dev, block, handle);
    }
    if (code == cudaErrorMemoryAllocation) return out_of_memory(dev, asked, err);
    if (code == cudaErrorNotReady) return sl_fail(err, SL_EINTERRUPT, "interrupted");
    return cuda_check(dev, code, call_names[block->source], err);
}

static sl_status allocate(cuda_device *dev, cuda_source source, size_t bytes, size_t asked,
                          sl_stream *stream, cuda_block **out, sl_error *err)
{
    cuda_block *block = cuda_block_new(source, bytes, err);
    if (!block) return SL_ENOMEM;
    sl_status status = get_memory(dev, block, asked, stream, err);
    if (status != SL_OK) {
        free(block);
        return status;
    }
    block->stream_id = stream ? stream->id : 0;
    *out = block;
    return SL_OK;
}

/* ---- back to the driver ---- */

/* For memory of cudaMalloc the caller has settled the host functions. */
static void free_block(cuda_device *dev, cuda_block *block)
{
    cuda_use(dev);
    if (block->source == CUDA_FROM_MALLOC)
        cudaFree(block->data);
    else
        cudaFreeAsync(block->data, dev->memory_stream);
    free(block);
}

/* The documentation does not say whether cudaMemPoolTrimTo waits for the device, so no host
 * function may be pending on a busy device. */
static void trim_driver_pools(cuda_device *dev)
{
    cudaMemPool_t scripts;
    if (dev->n_in_flight > 0 && cuda_funcs_settle(dev, NULL)) return;
    cuda_use(dev);
    if (wait_for_memory_stream(dev) == cudaErrorNotReady) return;
    cudaMemPoolTrimTo(dev->pool, 0);
    if (cudaDeviceGetDefaultMemPool(&scripts, dev->base.info.index) == cudaSuccess)
        cudaMemPoolTrimTo(scripts, 0);
}

void cuda_memory_trim(cuda_device *dev)
{
    cuda_block *block, *kept = NULL;
    cuda_own_begin();
    while ((block = cuda_pool_take_largest(&dev->idle))) {
        if (block->source == CUDA_FROM_MALLOC && cuda_funcs_settle(dev, NULL)) {
            block->next = kept;
            kept = block;
        } else {
            free_block(dev, block);
        }
    }
    while ((block = kept)) {
        kept = block->next;
        cuda_pool_put(&dev->idle, block);
    }
    if (dev->pool) trim_driver_pools(dev);
    cudaGetLastError();
    cuda_own_end();
}

/* Memory of cudaMallocAsync is freed in the stream where it was allocated, which may not have
 * reached the allocation yet. NULL: that has been closed, and has no work left. */
static const cuda_stream *stream_of(const cuda_device *dev, const cuda_block *block)
{
    if (block->source == CUDA_FROM_MALLOC_ASYNC)
        for (const cuda_stream *stream = dev->streams; stream; stream = stream->next)
            if (stream->base.id == block->stream_id) return stream;
    return NULL;
}

static cudaError_t free_in(cuda_device *dev, const cuda_block *block, const cuda_stream *stream)
{
    cuda_use(dev);
    cuda_own_begin();
    cudaError_t code = cudaFreeAsync(block->data, stream ? stream->handle : dev->memory_stream);
    cuda_own_end();
    return code;
}

/* Never blocks: memory of cudaMalloc that the script has not freed is freed by cudaFreeAsync, which
 * accepts it, since cudaFree would wait for the device. If that fails, the block stays in the pool
 * for a tensor of its size, or until a trim. In a stream that is captured, and in the NULL stream
 * meanwhile, nothing can be freed. */
static void let_go(cuda_device *dev, cuda_block *block)
{
    if (block->source != CUDA_FROM_POOL && dev->pool) {
        const cuda_stream *stream = stream_of(dev, block);
        if (stream && dev->captures && cuda_capture_hides(stream)) {
            block->next = dev->late_frees;
            dev->late_frees = block;
            return;
        }
        if (free_in(dev, block, stream) == cudaSuccess) {
            free(block);
            return;
        }
        cudaGetLastError();
    }
    cuda_pool_put(&dev->idle, block);
}

/* Called when no capture goes on. */
void cuda_memory_free_late(cuda_device *dev)
{
    while (dev->late_frees) {
        cuda_block *block = dev->late_frees;
        dev->late_frees = block->next;
        block->next = NULL;
        let_go(dev, block);
    }
}

/* ---- device memory of tensors and of the backend ---- */

static sl_status take(cuda_device *dev, size_t bytes, cuda_block **block, sl_error *err)
{
    *block = cuda_pool_take(&dev->idle, bytes);
    if (*block) return SL_OK;
    cuda_own_begin();
    sl_status status = allocate(dev, dev->pool ? CUDA_FROM_POOL : CUDA_FROM_MALLOC,
                                cuda_class_bytes(bytes), bytes, NULL, block, err);
    cuda_own_end();
    return status;
}

cuda_block *cuda_block_take(cuda_device *dev, size_t bytes, sl_error *err)
{
    cuda_block *block = NULL;
    return take(dev, bytes, &block, err) == SL_OK ? block : NULL;
}

static sl_status zero(cuda_device *dev, cuda_block *block, size_t bytes, sl_error *err)
{
    cuda_own_begin();
    cuda_use(dev);
    cudaError_t code = cudaMemsetAsync(block->data, 0, bytes, dev->memory_stream);
    if (code == cudaSuccess) code = wait_for_memory_stream(dev);
    cuda_own_end();
    if (code == cudaErrorNotReady) return sl_fail(err, SL_EINTERRUPT, "interrupted");
    return cuda_check(dev, code, "cudaMemsetAsync", err);
}

/* If the wait is interrupted, the block is freed in the stream that zeroes it. */
cuda_block *cuda_block_take_zeros(cuda_device *dev, size_t bytes, sl_error *err)
{
    cuda_block *block = cuda_block_take(dev, bytes, err);
    if (!block || zero(dev, block, bytes, err) == SL_OK) return block;
    free_block(dev, block);
    cudaGetLastError();
    return NULL;
}

void cuda_block_give(cuda_device *dev, cuda_block *block) { cuda_pool_put(&dev->idle, block); }

/* ---- buffers ---- */

static void move_block(cuda_buffer *to, cuda_buffer *from)
{
    to->block = from->block;
    to->data = from->data;
    from->block = NULL;
    from->data = NULL;
}

/* Takes the lender's block, if it is large enough: a block that was allocated when memory was short
 * may be smaller than its class. Plain allocations always get memory from the driver. */
static bool take_over(cuda_buffer *buffer, cuda_buffer *lender)
{
    if (!lender || buffer->base.how != SL_ALLOC_TENSOR) return false;
    if (!lender->block || lender->block->bytes < buffer->base.bytes) {
        buffer->base.lender = NULL;
        return false;
    }
    move_block(buffer, lender);
    return true;
}

static sl_status open_device_memory(cuda_device *dev, size_t bytes, sl_alloc_how how,
                                    sl_stream *stream, cuda_block **block, sl_error *err)
{
    if (how == SL_ALLOC_TENSOR) return take(dev, bytes, block, err);
    if (how == SL_ALLOC_PLAIN)
        return allocate(dev, CUDA_FROM_MALLOC, at_least_least(bytes), bytes, NULL, block, err);
    return allocate(dev, CUDA_FROM_MALLOC_ASYNC, at_least_least(bytes), bytes, stream, block, err);
}

static sl_status open_memory(cuda_device *dev, const sl_buffer *buffer, sl_alloc_how how,
                             sl_stream *stream, cuda_block **block, sl_error *err)
{
    if (buffer->place == SL_ON_DEVICE)
        return open_device_memory(dev, buffer->bytes, how, stream, block, err);
    if (buffer->place == SL_PINNED && how != SL_ALLOC_TENSOR)
        return cuda_host_malloc(dev, buffer->bytes, block, err);
    return cuda_host_take(dev, (sl_place)buffer->place, buffer->bytes, block, err);
}

sl_status cuda_buffer_open(sl_buffer *base, sl_alloc_how how, sl_stream *stream, sl_error *err)
{
    cuda_buffer *buffer = (cuda_buffer *)base;
    cuda_device *dev = cuda_of(base->device);
    bool plain = how != SL_ALLOC_TENSOR, busy = plain && cuda_is_busy(dev);
    sl_status status = SL_OK;
    if (take_over(buffer, (cuda_buffer *)base->lender)) return SL_OK;
    if (base->bytes > 0) status = open_memory(dev, base, how, stream, &buffer->block, err);
    if (status != SL_OK) return status;
    if (plain) dev->call_waited = busy && !cuda_is_busy(dev);
    buffer->data = buffer->block ? buffer->block->data : NULL;
    return SL_OK;
}

void cuda_buffer_close(sl_buffer *base)
{
    cuda_buffer *buffer = (cuda_buffer *)base;
    cuda_block *block = buffer->block;
    if (base->lender && base->how == SL_ALLOC_TENSOR) {
        move_block((cuda_buffer *)base->lender, buffer);
        return;
    }
    buffer->block = NULL;
    buffer->data = NULL;
    if (!block) return;
    if (base->place == SL_ON_DEVICE)
        let_go(cuda_of(base->device), block);
    else
        cuda_host_give(block);
}

sl_status cuda_buffer_part(sl_buffer *base, sl_error *err)
{
    cuda_buffer *buffer = (cuda_buffer *)base;
    cuda_block *block = NULL;
    if (base->how != SL_ALLOC_TENSOR) return SL_OK;
    sl_status status = take(cuda_of(base->device), base->bytes, &block, err);
    if (status != SL_OK) return status;
    move_block((cuda_buffer *)base->lender, buffer);
    buffer->block = block;
    buffer->data = block->data;
    return SL_OK;
}

sl_status cuda_memory_info(sl_device *device, int64_t *free_bytes, int64_t *total_bytes,
                           sl_error *err)
{
    cuda_device *dev = cuda_of(device);
    size_t n_free = 0, n_total = 0;
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaMemGetInfo(&n_free, &n_total), "cudaMemGetInfo", err);
    *free_bytes = (int64_t)n_free;
    *total_bytes = (int64_t)n_total;
    return status;
}

/* ---- devices ---- */

/* The pool keeps all memory that is freed. An allocation never waits for a free that a stream of
 * the script has not reached, since that would block the host. */
static cudaError_t set_up_pool(cuda_device *dev)
{
    uint64_t keep_bytes = UINT64_MAX;
    int no = 0;
    cudaError_t code = cudaMemPoolSetAttribute(dev->pool, cudaMemPoolAttrReleaseThreshold,
                                               &keep_bytes);
    return code
               ? code
               : cudaMemPoolSetAttribute(dev->pool, cudaMemPoolReuseAllowInternalDependencies, &no);
}

static sl_status open_pool(cuda_device *dev, sl_error *err)
{
    const struct cudaMemPoolProps props = {
        .allocType = cudaMemAllocationTypePinned,
        .handleTypes = cudaMemHandleTypeNone,
        .location = { .type = cudaMemLocationTypeDevice, .id = dev->base.info.index },
    };
    int supported = 0;
    if (cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, dev->base.info.index))
        cudaGetLastError();
    if (!supported) return SL_OK;
    cudaError_t code = cudaMemPoolCreate(&dev->pool, &props);
    if (code == cudaSuccess && (code = set_up_pool(dev)) != cudaSuccess)
        cudaMemPoolDestroy(dev->pool);
    if (code != cudaSuccess) dev->pool = NULL;
    return cuda_check(dev, code, "cudaMemPoolCreate", err);
}

sl_status cuda_memory_open(cuda_device *dev, sl_error *err)
{
    cuda_use(dev);
    sl_status status = cuda_check(
        dev, cudaStreamCreateWithFlags(&dev->memory_stream, cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags", err);
    if (status != SL_OK) return status;
    status = open_pool(dev, err);
    if (status != SL_OK) {
        cudaStreamDestroy(dev->memory_stream);
        return status;
    }
    cuda_host_open(dev);
    return SL_OK;
}

/* On a lost device all calls fail; the driver has freed its memory. */
void cuda_memory_close(cuda_device *dev)
{
    cuda_memory_trim(dev);
    cuda_host_close(dev);
    cuda_use(dev);
    if (dev->pool) cudaMemPoolDestroy(dev->pool);
    cudaStreamDestroy(dev->memory_stream);
    cudaGetLastError();
}
