/* fake_cudart.c - CUDA's run-time for a machine without a GPU: memory, pools and peers.
 * fake_streams.c has the rest. Device memory is an address and a count of bytes; a pool
 * maps as much as it needs, keeps it until it is trimmed and has no gaps. Host memory is
 * real.
 */
#include "fake_graphs.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

fake_cudart_state fake_cudart = { .total_bytes = (size_t)1 << 30 };

static fake_cudart_state *const state = &fake_cudart;

typedef enum block_kind { PLAIN, POOL, SCRIPTS_POOL, HOST, REGISTERED } block_kind;

typedef struct block {
    struct block *next;
    void *data;
    size_t bytes;
    block_kind kind;
    int device;
} block;

static block *blocks;
_Thread_local int fake_device;
static _Thread_local cudaError_t last_error;

/* What cudaMemPoolCreate gives out, and what is each device's own. */
static struct CUmemPoolHandle_st {
    int device;
} pools[FAKE_DEVICES], scripts_pools[FAKE_DEVICES];

void fake_cudart_forget(void)
{
    while (blocks) {
        block *gone = blocks;
        blocks = gone->next;
        if (gone->kind != REGISTERED) free(gone->data);
        free(gone);
    }
    last_error = cudaSuccess;
    fake_device = 0;
    fake_graphs_forget();
    fake_cudart = (fake_cudart_state){ .total_bytes = (size_t)1 << 30 };
}

cudaError_t fake_answer(cudaError_t code)
{
    if (code != cudaSuccess) last_error = code;
    return code;
}

cudaError_t fake_lost(void) { return (cudaError_t)state->lost[fake_device]; }

cudaError_t fake_enter(void)
{
    state->calls++;
    return fake_answer(fake_lost());
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t code = last_error;
    last_error = fake_lost();
    return code;
}

/* ---- blocks ---- */

static void add(void *data, size_t bytes, block_kind kind)
{
    block *new = malloc(sizeof *new);
    *new = (block){ blocks, data, bytes, kind, fake_device };
    blocks = new;
}

static block *take(const void *data, unsigned kinds)
{
    for (block **link = &blocks; *link; link = &(*link)->next) {
        block *found = *link;
        if (found->data == data && (kinds >> found->kind & 1)) {
            *link = found->next;
            return found;
        }
    }
    state->misuses++;
    return NULL;
}

static bool is_known(const void *data, block_kind kind)
{
    for (const block *known = blocks; known; known = known->next)
        if (known->data == data && known->kind == kind) return true;
    return false;
}

/* ---- devices ---- */

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    (void)device;
    *value = attr == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 160 << 10 : !state->no_pools;
    return fake_enter();
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = state->total_bytes;
    *free_bytes = state->total_bytes - state->taken_bytes[fake_device];
    return fake_enter();
}

cudaError_t cudaDeviceGetLimit(size_t *bytes, enum cudaLimit limit)
{
    *bytes = limit == cudaLimitPrintfFifoSize ? 1 << 20 : 1024;
    return fake_enter();
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t bytes)
{
    if (limit == cudaLimitPrintfFifoSize && state->no_printf_limit)
        return fake_answer(cudaErrorInvalidValue);
    state->limits_set++;
    state->limit = limit;
    state->limit_bytes = bytes;
    return fake_enter();
}

/* ---- device memory ---- */

static bool take_from_device(size_t bytes)
{
    size_t *taken = &state->taken_bytes[fake_device];
    if (bytes > state->total_bytes - *taken) return false;
    *taken += bytes;
    return true;
}

static cudaError_t give_out(void **data, size_t bytes, block_kind kind)
{
    enum { ALIGNMENT = 256 }; /* as CUDA's */
    *data = aligned_alloc(ALIGNMENT, ALIGNMENT);
    add(*data, bytes, kind);
    state->blocks++;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **data, size_t bytes)
{
    state->mallocs++;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    if (!take_from_device(bytes)) return fake_answer(cudaErrorMemoryAllocation);
    return give_out(data, bytes, PLAIN);
}

cudaError_t cudaMallocAsync(void **data, size_t bytes, cudaStream_t stream)
{
    state->async_mallocs++;
    if (fake_unsafe((fake_stream *)stream)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    if (state->no_pools) return fake_answer(cudaErrorNotSupported);
    if (!take_from_device(bytes)) return fake_answer(cudaErrorMemoryAllocation);
    return give_out(data, bytes, SCRIPTS_POOL);
}

cudaError_t cudaMallocFromPoolAsync(void **data, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    int device = pool->device;
    (void)stream;
    state->pool_mallocs++;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    if (device != fake_device) state->misuses++;
    size_t spare = state->reserved_bytes[device] - state->used_bytes[device];
    if (bytes > spare) {
        if (!take_from_device(bytes - spare)) return fake_answer(cudaErrorMemoryAllocation);
        state->reserved_bytes[device] += bytes - spare;
        state->mappings++;
    }
    state->used_bytes[device] += bytes;
    return give_out(data, bytes, POOL);
}

static cudaError_t give_back(block *freed)
{
    if (!freed) return fake_answer(cudaErrorInvalidValue);
    if (freed->device != fake_device) state->misuses++;
    if (freed->kind == POOL)
        state->used_bytes[freed->device] -= freed->bytes;
    else
        state->taken_bytes[freed->device] -= freed->bytes;
    state->blocks--;
    free(freed->data);
    free(freed);
    return cudaSuccess;
}

static const unsigned device_kinds = 1 << PLAIN | 1 << POOL | 1 << SCRIPTS_POOL;

cudaError_t cudaFree(void *data)
{
    state->frees++;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    return data ? give_back(take(data, device_kinds)) : cudaSuccess;
}

cudaError_t cudaFreeAsync(void *data, cudaStream_t stream)
{
    state->async_frees++;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    if (state->no_pools || state->no_async_free) return fake_answer(cudaErrorNotSupported);
    ((fake_stream *)stream)->freed_in++;
    return give_back(take(data, device_kinds));
}

/* ---- pools ---- */

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    int device = props->location.id;
    if (props->location.type != cudaMemLocationTypeDevice) state->misuses++;
    pools[device].device = device;
    *pool = &pools[device];
    state->pools++;
    return fake_enter();
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    int device = pool->device;
    state->taken_bytes[device] -= state->reserved_bytes[device];
    state->reserved_bytes[device] = 0;
    state->pools--;
    return fake_enter();
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
    (void)pool;
    if (attr == cudaMemPoolAttrReleaseThreshold && *(uint64_t *)value != UINT64_MAX)
        state->misuses++;
    return fake_enter();
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
    *(uint64_t *)value = attr == cudaMemPoolAttrReservedMemCurrent
                             ? state->reserved_bytes[pool->device]
                             : state->used_bytes[pool->device];
    return fake_enter();
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    int device = pool->device;
    state->trims++;
    if (fake_enter() != cudaSuccess || pool != &pools[device]) return fake_lost();
    if (bytes < state->used_bytes[device]) bytes = state->used_bytes[device];
    if (bytes < state->reserved_bytes[device]) {
        state->taken_bytes[device] -= state->reserved_bytes[device] - bytes;
        state->reserved_bytes[device] = bytes;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    scripts_pools[device].device = device;
    *pool = &scripts_pools[device];
    return fake_enter();
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
                                 size_t n)
{
    if (n != 1 || access->location.type != cudaMemLocationTypeDevice) state->misuses++;
    if (state->no_pool_access) return fake_answer(cudaErrorInvalidValue);
    bool can = access->flags == cudaMemAccessFlagsProtReadWrite;
    state->pool_peers[access->location.id][pool->device] += can ? 1 : -1;
    return fake_enter();
}

/* ---- peers ---- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer && !state->no_peer;
    return fake_enter();
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    if (state->no_peer) return fake_answer(cudaErrorPeerAccessUnsupported);
    if (state->peers[fake_device][peer]) return fake_answer(cudaErrorPeerAccessAlreadyEnabled);
    state->peers[fake_device][peer] = 1;
    return fake_enter();
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (!state->peers[fake_device][peer]) return fake_answer(cudaErrorPeerAccessNotEnabled);
    state->peers[fake_device][peer] = 0;
    return fake_enter();
}

/* ---- host memory ---- */

cudaError_t cudaHostAlloc(void **data, size_t bytes, unsigned flags)
{
    state->host_allocs++;
    state->host_flags = flags;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    if (state->no_host_memory) return fake_answer(cudaErrorMemoryAllocation);
    *data = malloc(bytes);
    add(*data, bytes, HOST);
    state->host_blocks++;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *data)
{
    state->host_frees++;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    block *freed = take(data, 1 << HOST);
    if (!freed) return fake_answer(cudaErrorInvalidValue);
    state->host_blocks--;
    free(freed->data);
    free(freed);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned flags)
{
    state->registers++;
    state->host_flags = flags;
    state->register_bytes = bytes;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    if (state->no_host_memory) return fake_answer(cudaErrorMemoryAllocation);
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if ((uintptr_t)data % page_bytes || bytes % page_bytes) state->misuses++;
    if (is_known(data, REGISTERED)) return fake_answer(cudaErrorHostMemoryAlreadyRegistered);
    add(data, bytes, REGISTERED);
    state->registered++;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *data)
{
    state->unregisters++;
    if (fake_unsafe(NULL)) return cudaErrorStreamCaptureUnsupported;
    if (fake_enter() != cudaSuccess) return fake_lost();
    block *unlocked = take(data, 1 << REGISTERED);
    if (!unlocked) return fake_answer(cudaErrorHostMemoryNotRegistered);
    state->registered--;
    free(unlocked);
    return cudaSuccess;
}
