/* buffer.c - memory from the backend, and what is tried when it has none left. */
#include "buffer.h"

#include <stdlib.h>

#include "device.h"
#include "record.h"
#include "reuse.h"

/* ---- when memory runs out ------------------------------------------------------ */

/* Waiting helps if operations in flight hold device memory that is otherwise free. Where equal runs
 * have equal times only a full GPU counts: no clock may move because the host is out of memory. */
static bool waiting_may_help(const sl_buffer *buffer, sl_alloc_how how)
{
    const sl_device *device = buffer->device;
    const sl_device_stats *stats = &device->core->stats;
    bool full = buffer->bytes > (uint64_t)(device->info.memory_bytes - stats->device_bytes);
    return how == SL_ALLOC_TENSOR && buffer->place == SL_ON_DEVICE && stats->ops_in_flight > 0
           && !device->core->captures && (full || !device->info.repeats);
}

/* Retires all work; recordings note the wait. */
static sl_status wait_for_device(sl_device *device, sl_error *err)
{
    sl_call call;
    sl__call_begin(device, &call, SL_CALL_DEVICE_SYNC);
    sl_status status = device->backend->device_synchronize(device, err);
    sl__call_end(device, &call, NULL, status);
    sl__device_reap(device);
    return status;
}

void sl__buffer_relieve(sl_device *device)
{
    sl__device_core *core = device->core;
    if (core->pressure_hook) core->pressure_hook(core->pressure_ud);
    device->backend->host_work(device, 0, NULL); /* so that what has ended is reaped */
    sl__device_reap(device);
}

static sl_status open_counted(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream, sl_error *err)
{
    sl_status status = sl__buffer_check_total(buffer, err);
    if (status != SL_OK) return status;
    return buffer->device->backend->buffer_open(buffer, how, stream, err);
}

static sl_status open_in_backend(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                                 sl_error *err)
{
    bool captured = stream && stream->branch; /* a graph's memory is its own */
    sl_buffer *lender = captured ? NULL : sl__reuse_borrow(buffer, stream);
    sl_status status = open_counted(buffer, how, stream, err);
    if (lender && (status != SL_OK || !buffer->lender)) sl__reuse_return(buffer, lender);
    return status;
}

/* The hook may run the host language's garbage collector, whose finalizers release objects: none
 * of them may be half made. */
static sl_status open_under_pressure(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                                     sl_error *err)
{
    sl_device *device = buffer->device;
    sl_status status = open_in_backend(buffer, how, stream, err);
    if (status != SL_ENOMEM) return status;
    sl__buffer_relieve(device);
    status = open_in_backend(buffer, how, stream, err);
    if (status == SL_ENOMEM && waiting_may_help(buffer, how)) {
        status = wait_for_device(device, err);
        if (status == SL_OK) status = open_in_backend(buffer, how, stream, err);
    }
    if (status == SL_ENOMEM && buffer->place != SL_PAGEABLE) sl__buffer_add_live(buffer, err);
    return status;
}

/* Page-locking is slow, and the GPU may wait for it: timelines show it as work of the host.
 * cudaMallocHost is recorded by its own call. */
static sl_status open_noted(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream, sl_error *err)
{
    sl_device *device = buffer->device;
    sl_call call;
    if (!device->core->recordings || how != SL_ALLOC_TENSOR || buffer->place != SL_PINNED)
        return open_under_pressure(buffer, how, stream, err);
    sl__call_begin(device, &call, SL_CALL_HOST_WORK);
    call.name = sl__strings_intern(&device->core->strings, "pinned allocation");
    sl_status status = open_under_pressure(buffer, how, stream, err);
    sl__call_end(device, &call, NULL, status);
    return status;
}

/* ---- memory that was lent ---------------------------------------------------------- */

static sl_status open_own(sl_buffer *buffer, sl_error *err)
{
    sl_buffer *lender = buffer->lender;
    sl_status status = buffer->device->backend->buffer_part(buffer, err);
    if (status == SL_OK) sl__reuse_return(buffer, lender);
    return status;
}

/* If there is no other memory, waits for the device: then nobody else uses this. A capture forbids
 * to wait. */
sl_status sl__buffer_settle_all(sl_buffer *buffer, sl_error *err)
{
    if (!buffer || !buffer->lender || buffer->uses > buffer->foreign_uses) return SL_OK;
    sl_status status = open_own(buffer, err);
    if (status != SL_ENOMEM) return status;
    sl__buffer_relieve(buffer->device);
    status = buffer->lender ? open_own(buffer, err) : SL_OK;
    if (status != SL_ENOMEM || buffer->device->core->captures) return status;
    return wait_for_device(buffer->device, err);
}

sl_status sl__buffer_settle(sl_buffer *buffer, const sl_stream *stream, size_t bytes, sl_error *err)
{
    bool at_home = stream->id == buffer->home && stream->device == buffer->device;
    return at_home && bytes == buffer->bytes ? SL_OK : sl__buffer_settle_all(buffer, err);
}

void sl__buffer_freed(sl_buffer *buffer, sl_stream *stream)
{
    if (buffer->how == SL_ALLOC_ASYNC && stream)
        buffer->freed_in = sl_stream_retain(stream);
    else
        buffer->how = SL_ALLOC_PLAIN;
}

/* ---- lifecycle -------------------------------------------------------------------- */

sl_status sl__buffer_create(sl_device *device, size_t bytes, sl_place place, sl_alloc_how how,
                            sl_stream *stream, sl_buffer **out, sl_error *err)
{
    sl_buffer *buffer = calloc(1, device->backend->buffer_bytes);
    if (!buffer) return sl__no_memory(err, "a buffer's record");
    buffer->device = sl_device_retain(device);
    buffer->bytes = bytes;
    buffer->place = (uint8_t)place;
    buffer->how = (uint8_t)how;
    buffer->home = stream ? stream->id : 0;
    buffer->refs = 1;
    buffer->id = ++device->core->last_buffer_id;
    buffer->where = device->core->where;
    sl_status status = open_noted(buffer, how, stream, err);
    if (status != SL_OK) {
        if (device->core->last_buffer_id == buffer->id) device->core->last_buffer_id--;
        free(buffer);
        sl_device_release(device);
        return status;
    }
    sl__buffer_enlist(buffer);
    sl__buffer_count(buffer, (int64_t)buffer->bytes);
    *out = buffer;
    return SL_OK;
}

void sl__buffer_move(sl_buffer *buffer, sl_device *device)
{
    sl_device *old = buffer->device;
    old->core->drops++;
    sl__buffer_delist(buffer);
    sl__buffer_count(buffer, -(int64_t)buffer->bytes);
    buffer->where = sl__strings_intern(&device->core->strings,
                                       sl__strings_text(&old->core->strings, buffer->where));
    buffer->device = sl_device_retain(device);
    sl__buffer_enlist(buffer);
    sl__buffer_count(buffer, (int64_t)buffer->bytes);
    sl_device_release(old);
}
