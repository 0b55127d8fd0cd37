/* ordered.c - the pool of cudaMallocAsync: when it takes memory from the system, and when it gives
 * it back. It counts bytes, and has no addresses and no fragments.
 *
 * Its release threshold is 0, CUDA's default: "when more than the release threshold bytes of memory
 * are held by the memory pool, the allocator will try to release memory back to the OS on the next
 * call to stream, event or device synchronize" (CUDA Runtime API, cudaMemPoolAttrReleaseThreshold).
 * Memory that is freed in a stream is used again in that stream at once, in others when the stream
 * has come to the free (measured: another stream gets new memory until then).
 */
#include <stdlib.h>

#include "host.h"

/* By cudaFreeAsync, in a stream that has not come to the free. */
struct sim_freed {
    sim_freed *next;
    const sim_stream *stream;
    uint64_t last; /* the number of the last operation before it */
    int64_t bytes;
};

static void drop(sim_freed **at)
{
    sim_freed *freed = *at;
    *at = freed->next;
    free(freed);
}

/* Forgets what the streams have come to. */
static void settle(sim_ordered *pool)
{
    for (sim_freed **at = &pool->freed; *at;)
        if (sim_host_is_past((*at)->stream, (*at)->last))
            drop(at);
        else
            at = &(*at)->next;
}

static int64_t in_flight(const sim_ordered *pool)
{
    int64_t bytes = 0;
    for (const sim_freed *freed = pool->freed; freed; freed = freed->next)
        bytes += freed->bytes;
    return bytes;
}

/* Of `bytes`, how many the stream's own frees leave over. */
static int64_t use_again(sim_ordered *pool, const sim_stream *stream, int64_t bytes)
{
    for (sim_freed **at = &pool->freed; *at;) {
        sim_freed *freed = *at;
        const int64_t part = freed->stream == stream ? sl__min(freed->bytes, bytes) : 0;
        freed->bytes -= part;
        bytes -= part;
        if (freed->bytes > 0)
            at = &freed->next;
        else
            drop(at);
    }
    return bytes;
}

static int64_t whole_chunks(const sim_device *dev, int64_t bytes)
{
    const int64_t chunk = (int64_t)dev->profile.host_pool_chunk_bytes;
    return bytes / chunk * chunk + (bytes % chunk > 0 ? chunk : 0);
}

void sim_ordered_take(sim_device *dev, const sim_stream *stream, size_t bytes)
{
    sim_ordered *pool = &dev->ordered;
    settle(pool);
    const int64_t idle = pool->reserved - pool->used - in_flight(pool);
    const int64_t more = use_again(pool, stream, (int64_t)bytes) - idle;
    pool->used += (int64_t)bytes;
    if (more <= 0) return;
    const int64_t grown = whole_chunks(dev, more);
    pool->reserved += grown;
    sim_host_spend_us(dev, sim_table_us(&dev->profile.host_pool_grow_us, (double)grown));
}

/* Out of host memory: as if the stream had come to it. */
void sim_ordered_give(sim_device *dev, const sim_stream *stream, size_t bytes)
{
    sim_ordered *pool = &dev->ordered;
    const uint64_t last = dev->machine->issued;
    pool->used -= (int64_t)bytes;
    if (!stream || bytes == 0 || sim_host_is_past(stream, last)) return;
    sim_freed *freed = malloc(sizeof *freed);
    if (!freed) return;
    *freed = (sim_freed){ pool->freed, stream, last, (int64_t)bytes };
    pool->freed = freed;
}

void sim_ordered_trim(sim_device *dev)
{
    sim_ordered *pool = &dev->ordered;
    if (pool->reserved == 0) return;
    settle(pool);
    const int64_t kept = whole_chunks(dev, pool->used + in_flight(pool));
    if (kept >= pool->reserved) return;
    const double bytes = (double)(pool->reserved - kept);
    pool->reserved = kept;
    sim_host_spend_us(dev, sim_table_us(&dev->profile.host_pool_trim_us, bytes));
}

/* Its work is done. */
void sim_ordered_stream_closed(const sim_stream *stream)
{
    sim_ordered *pool = &((sim_device *)stream->base.device)->ordered;
    for (sim_freed **at = &pool->freed; *at;)
        if ((*at)->stream == stream)
            drop(at);
        else
            at = &(*at)->next;
}

void sim_ordered_close(sim_device *dev)
{
    while (dev->ordered.freed)
        drop(&dev->ordered.freed);
}
