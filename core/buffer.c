/* buffer.c - memory by reference count, its bytes counted by place. */
#include "buffer.h"

#include <stdlib.h>

#include "device.h"

static int64_t *bytes_counter(sl_buffer *buffer)
{
    sl_device_stats *stats = &buffer->device->core->stats;

    if (buffer->place == SL_ON_DEVICE)
        return &stats->device_bytes;
    return buffer->place == SL_PINNED ? &stats->pinned_bytes : &stats->pageable_bytes;
}

/* The hook may run the host language's collector, whose finalizers release
 * objects; nothing half-built may be in their reach. */
static sl_status open_under_pressure(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                                     sl_error *err)
{
    sl_device *device = buffer->device;
    sl__device_core *core = device->core;
    sl_status status = device->backend->buffer_open(buffer, how, stream, err);

    if (status != SL_ENOMEM)
        return status;
    if (core->pressure_hook)
        core->pressure_hook(core->pressure_ud);
    sl__device_reap(device);
    return device->backend->buffer_open(buffer, how, stream, err);
}

sl_status sl__buffer_create(sl_device *device, size_t bytes, sl_place place, sl_alloc_how how,
                            sl_stream *stream, sl_buffer **out, sl_error *err)
{
    sl_buffer *buffer = calloc(1, device->backend->buffer_bytes);
    sl_status status;

    if (!buffer)
        return sl_fail(err, SL_ENOMEM, "out of host memory for a buffer's record");
    buffer->device = sl_device_retain(device);
    buffer->bytes = bytes;
    buffer->place = (uint8_t)place;
    buffer->refs = 1;
    buffer->id = ++device->core->last_buffer_id;
    status = open_under_pressure(buffer, how, stream, err);
    if (status) {
        if (device->core->last_buffer_id == buffer->id)
            device->core->last_buffer_id--;
        free(buffer);
        sl_device_release(device);
        return status;
    }
    device->core->stats.buffers++;
    *bytes_counter(buffer) += (int64_t)bytes;
    *out = buffer;
    return SL_OK;
}

sl_buffer *sl__buffer_retain(sl_buffer *buffer)
{
    if (buffer)
        buffer->refs++;
    return buffer;
}

void sl__buffer_release(sl_buffer *buffer)
{
    sl_device *device;

    if (!buffer || --buffer->refs > 0)
        return;
    device = buffer->device;
    *bytes_counter(buffer) -= (int64_t)buffer->bytes;
    device->core->stats.buffers--;
    device->backend->buffer_close(buffer);
    free(buffer);
    sl_device_release(device);
}

void sl__buffer_set_place(sl_buffer *buffer, sl_place place)
{
    *bytes_counter(buffer) -= (int64_t)buffer->bytes;
    buffer->place = (uint8_t)place;
    *bytes_counter(buffer) += (int64_t)buffer->bytes;
}

void sl__buffer_move(sl_buffer *buffer, sl_device *device)
{
    sl_device *old = buffer->device;

    *bytes_counter(buffer) -= (int64_t)buffer->bytes;
    old->core->stats.buffers--;
    buffer->device = sl_device_retain(device);
    device->core->stats.buffers++;
    *bytes_counter(buffer) += (int64_t)buffer->bytes;
    sl_device_release(old);
}
