/* lifetime.c - references to devices, streams, events and buffers, and what the last one closes.
 *
 * They are in one file because they hold one another: a stream, an event and a buffer hold their
 * device, and a buffer that cudaFreeAsync has freed holds the stream.
 *
 * Retaining a stream that its device owns (the NULL stream, the per-thread stream) retains the
 * device instead: the stream lives as long as the device, and a counted reference from the device
 * to itself would keep both for ever.
 */
#include <stdlib.h>

#include "buffer.h"
#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "op.h"
#include "reuse.h"
#include "stream.h"

/* ---- devices ---- */

/* Its operations have retired. NULL is fine. */
static void close_stream(sl_stream *stream)
{
    if (!stream) return;
    sl__device_core *core = stream->device->core;
    if (core->latest_call.stream == stream) core->latest_call.stream = NULL;
    sl__tell(stream_closed, stream);
    sl__reuse_stream_closed(stream);
    stream->device->backend->stream_close(stream);
    free(stream);
}

sl_device *sl_device_retain(sl_device *device)
{
    if (device) device->refs++;
    return device;
}

static void release_numbers(sl__numbers *numbers)
{
    if (!numbers || --numbers->refs > 0) return;
    if (numbers->threads) numbers->threads->free(numbers->threads);
    free(numbers);
}

static void unlink_device(sl_device *device)
{
    sl_device **at = &device->core->numbers->devices;
    while (*at != device)
        at = &(*at)->core->beside;
    *at = device->core->beside;
}

void sl__device_deallocate(sl_device *device)
{
    release_numbers(device->core->numbers);
    sl__op_pool_free(device);
    sl__strings_free(&device->core->strings);
    sl__table_free(&device->core->meetings);
    free(device->core);
    free(device);
}

static void close_per_threads(sl_stream *stream)
{
    while (stream) {
        sl_stream *next = stream->next_own;
        close_stream(stream);
        stream = next;
    }
}

void sl_device_release(sl_device *device)
{
    if (!device || --device->refs > 0) return;
    sl__tell(device_closed, device);
    unlink_device(device);
    close_per_threads(device->core->per_threads);
    close_stream(device->core->legacy);
    device->backend->device_close(device);
    sl__device_deallocate(device);
}

/* A user stream that is current holds its device. */
bool sl_device_is_unused(const sl_device *device)
{
    const sl_stream *current = device->core->current;
    int by_current = !current->owned && current->refs == 1;
    return device->refs == 1 + by_current && !device->core->recordings;
}

/* ---- streams ---- */

sl_stream *sl_stream_retain(sl_stream *stream)
{
    if (!stream) return NULL;
    if (stream->owned)
        sl_device_retain(stream->device);
    else
        stream->refs++;
    return stream;
}

void sl_stream_release(sl_stream *stream)
{
    if (!stream) return;
    sl_device *device = stream->device;
    if (stream->owned) {
        sl_device_release(device);
        return;
    }
    if (--stream->refs > 0) return;
    close_stream(stream);
    device->core->stats.streams--;
    sl_device_release(device);
}

/* ---- events ---- */

sl_event *sl_event_retain(sl_event *event)
{
    if (event) event->refs++;
    return event;
}

void sl_event_release(sl_event *event)
{
    if (!event || --event->refs > 0) return;
    sl_device *device = event->device;
    sl__tell(event_closed, event);
    sl__captured_free(event->captured);
    device->backend->event_close(event);
    free(event);
    device->core->stats.events--;
    sl_device_release(device);
}

/* ---- buffers ---- */

void sl__buffer_release(sl_buffer *buffer)
{
    if (!buffer) return;
    if (--buffer->refs > 0) {
        if (buffer->refs == buffer->uses) sl__reuse_offer(buffer);
        return;
    }
    sl_device *device = buffer->device;
    sl__tell(buffer_closed, buffer);
    sl__buffer_delist(buffer);
    sl__buffer_count(buffer, sl_lent_bytes(buffer, buffer->heir) - (int64_t)buffer->bytes);
    sl__reuse_closing(buffer);
    device->backend->buffer_close(buffer);
    sl__reuse_closed(buffer);
    sl_stream_release(buffer->freed_in);
    free(buffer);
    sl_device_release(device);
}
