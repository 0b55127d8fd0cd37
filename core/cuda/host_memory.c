/* host_memory.c - the memory of host tensors: pageable, pinned by cudaHostAlloc,
 * or pinned in place by cudaHostRegister.
 *
 * It belongs to no device: core hands a host tensor from one device to another, and
 * pinned memory is portable, so the pools are the process's. The last device that
 * closes frees them.
 *
 * Pinning 4 MiB and freeing it again takes 2 ms, and freeing waits for the device, which would look
 * like a property of the experiment. So pinned memory of closed tensors goes to a pool of any size;
 * what exceeds the limit is freed at the next call that pins more, which blocks the host anyway.
 * Registered memory stays registered, and is in the pool of pinned memory from then on.
 *
 * Pageable memory is kept too: the first use of each page costs a fault, which would show in the
 * first copy into it (docs/design/cuda.md).
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

size_t cuda_host_idle_max_bytes;

static const size_t mmap_from = (size_t)64 << 10, huge_page_bytes = (size_t)2 << 20;
static const size_t cache_line_bytes = 64;

/* A process has one host, whatever devices are open. */
static struct {
    size_t page_bytes;
    cuda_pool pinned, pageable; /* that nobody uses */
} host;

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/* ---- devices ---- */

void cuda_host_open(cuda_device *dev)
{
    host.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (cuda_host_idle_max_bytes == 0) cuda_host_idle_max_bytes = sl_host_memory_bytes() / 4;
    cuda_devices_add(dev);
}

sl_status cuda_host_settle(const char *call, sl_error *err)
{
    const cuda_device *dev = cuda_open_devices();
    if (!dev) return SL_OK;
    if (cuda_funcs_running())
        return sl_fail(err, SL_ESTATE,
                       "%s inside a host function: it may wait for GPU %d, "
                       "which waits for the function",
                       call, dev->base.info.index);
    return cuda_funcs_settle_all(err);
}

/* ---- the host's memory ---- */

/* A region of its own, aligned to huge pages if it is large enough for one: a huge page takes one
 * fault for 2 MiB instead of 512. */
static void *map_pages(size_t bytes)
{
    size_t align = bytes >= huge_page_bytes ? huge_page_bytes : host.page_bytes;
    size_t slack = align > host.page_bytes ? align - host.page_bytes : 0;
    size_t length = round_up(bytes, host.page_bytes);
    char *base = mmap(NULL, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (base == MAP_FAILED) return NULL;
    size_t before = round_up((uintptr_t)base, align) - (uintptr_t)base;
    if (before > 0) munmap(base, before);
    if (slack > before) munmap(base + before + length, slack - before);
#ifdef MADV_HUGEPAGE
    if (bytes >= huge_page_bytes) (void)madvise(base + before, length, MADV_HUGEPAGE);
#endif
    return base + before;
}

/* Blocks of a page or more share no page with another, so that each can be registered. */
static void *from_heap(size_t bytes)
{
    void *data = NULL;
    bool pages = bytes >= host.page_bytes;
    if (posix_memalign(&data, pages ? host.page_bytes : cache_line_bytes,
                       pages ? round_up(bytes, host.page_bytes) : bytes))
        return NULL;
    return data;
}

static bool is_pinned(const cuda_block *block)
{
    return block->registered || block->source == CUDA_FROM_HOST_ALLOC;
}

/* For pinned memory call cuda_host_settle first. On a lost device the calls fail; the driver
 * has freed the memory. */
static void free_block(cuda_block *block)
{
    if (block->registered) cudaHostUnregister(block->data);
    if (block->source == CUDA_FROM_HOST_ALLOC)
        cudaFreeHost(block->data);
    else if (block->source == CUDA_FROM_MMAP)
        munmap(block->data, round_up(block->bytes, host.page_bytes));
    else
        free(block->data);
    free(block);
}

static void free_down_to(cuda_pool *pool, size_t bytes)
{
    cuda_own_begin();
    while (pool->bytes > bytes)
        free_block(cuda_pool_take_largest(pool));
    cuda_own_end();
}

/* Frees all that is unused. `dev` makes the calls, since they would fail on a lost device. */
static void trim(const cuda_device *dev)
{
    free_down_to(&host.pageable, 0);
    if (cuda_host_settle("cudaFreeHost", NULL) == SL_OK) {
        cuda_use(dev);
        free_down_to(&host.pinned, 0);
    }
    cuda_use(dev);
    cudaGetLastError();
}

void cuda_host_close(cuda_device *dev)
{
    cuda_devices_remove(dev);
    if (cuda_open_devices()) return;
    cuda_use(dev);
    free_down_to(&host.pageable, 0);
    free_down_to(&host.pinned, 0);
    cudaGetLastError();
}

/* ---- pageable memory ---- */

static void *pageable_memory(const cuda_block *block)
{
    return block->source == CUDA_FROM_MMAP ? map_pages(block->bytes) : from_heap(block->bytes);
}

static sl_status new_pageable(const cuda_device *dev, size_t bytes, size_t asked, cuda_block **out,
                              sl_error *err)
{
    cuda_source source = bytes >= mmap_from ? CUDA_FROM_MMAP : CUDA_FROM_HEAP;
    cuda_block *block = cuda_block_new(source, bytes, err);
    if (!block) return SL_ENOMEM;
    block->data = pageable_memory(block);
    if (!block->data) {
        trim(dev);
        block->data = pageable_memory(block);
    }
    if (!block->data) {
        free(block);
        return sl_fail(err, SL_ENOMEM, "out of host memory: %zu bytes asked", asked);
    }
    *out = block;
    return SL_OK;
}

/* ---- pinned memory ---- */

static sl_status allocate_pinned(cuda_device *dev, size_t bytes, size_t asked, unsigned flags,
                                 cuda_block **out, sl_error *err)
{
    sl_status status = cuda_host_settle("cudaHostAlloc", err);
    cuda_block *block = status != SL_OK ? NULL : cuda_block_new(CUDA_FROM_HOST_ALLOC, bytes, err);
    if (!block) return status != SL_OK ? status : SL_ENOMEM;
    cuda_use(dev);
    free_down_to(&host.pinned, cuda_host_idle_max_bytes);
    cudaError_t code;
    CUDA_ASIDE(dev, code, cudaHostAlloc(&block->data, bytes, flags));
    if (code == cudaErrorMemoryAllocation) {
        trim(dev);
        code = cudaHostAlloc(&block->data, bytes, flags);
    }
    if (code == cudaSuccess) {
        *out = block;
        return SL_OK;
    }
    free(block);
    status = cuda_check(dev, code, "cudaHostAlloc", err);
    if (status == SL_ENOMEM && err)
        snprintf(err->msg, sizeof err->msg, "out of page-locked host memory: %zu bytes asked",
                 asked);
    return status;
}

sl_status cuda_host_malloc(cuda_device *dev, size_t bytes, cuda_block **block, sl_error *err)
{
    return allocate_pinned(dev, bytes < 512 ? 512 : bytes, bytes, cudaHostAllocDefault, block, err);
}

/* ---- pinning in place ---- */

size_t cuda_host_page_bytes(void) { return host.page_bytes; }

sl_status cuda_host_register(cuda_device *dev, cuda_block *block, sl_error *err)
{
    size_t length = round_up(block->bytes, host.page_bytes);
    cuda_use(dev);
    free_down_to(&host.pinned, cuda_host_idle_max_bytes);
    cudaError_t code;
    CUDA_ASIDE(dev, code, cudaHostRegister(block->data, length, cudaHostRegisterPortable));
    if (code == cudaErrorMemoryAllocation) {
        trim(dev);
        code = cudaHostRegister(block->data, length, cudaHostRegisterPortable);
    }
    block->registered = code == cudaSuccess;
    return cuda_check(dev, code, "cudaHostRegister", err);
}

sl_status cuda_host_unregister(cuda_device *dev, cuda_block *block, sl_error *err)
{
    cuda_use(dev);
    sl_status status = cuda_check(dev, cudaHostUnregister(block->data), "cudaHostUnregister", err);
    if (status == SL_OK) block->registered = false;
    return status;
}

/* ---- tensors ---- */

sl_status cuda_host_take(cuda_device *dev, sl_place place, size_t bytes, cuda_block **block,
                         sl_error *err)
{
    *block = cuda_pool_take(place == SL_PINNED ? &host.pinned : &host.pageable, bytes);
    if (*block) return SL_OK;
    if (place != SL_PINNED) return new_pageable(dev, cuda_class_bytes(bytes), bytes, block, err);
    cuda_own_begin();
    sl_status status = allocate_pinned(dev, cuda_class_bytes(bytes), bytes, cudaHostAllocPortable,
                                       block, err);
    cuda_own_end();
    return status;
}

/* Freeing pageable memory touches no device, so what is too much is freed at once. */
void cuda_host_give(cuda_block *block)
{
    if (is_pinned(block))
        cuda_pool_put(&host.pinned, block);
    else if (block->bytes > cuda_host_idle_max_bytes
             || host.pageable.bytes > cuda_host_idle_max_bytes - block->bytes)
        free_block(block);
    else
        cuda_pool_put(&host.pageable, block);
}

/* A tensor of the pinned pool may have been registered by the one before it; its
 * memory is then unregistered, which is what cudaFreeHost would have done. */
sl_status cuda_host_free(cuda_device *dev, cuda_block *block, sl_error *err)
{
    sl_status status = cuda_host_settle("cudaFreeHost", err);
    if (status != SL_OK) return status;
    cuda_use(dev);
    if (block->registered)
        status = cuda_check(dev, cudaHostUnregister(block->data), "cudaHostUnregister", err);
    else
        status = cuda_check(dev, cudaFreeHost(block->data), "cudaFreeHost", err);
    if (status != SL_OK) return status;
    if (block->registered) {
        block->registered = false;
        free_block(block);
    } else {
        free(block);
    }
    return SL_OK;
}
