/* buffer.c - memory by reference count, its bytes counted by place. */
#include "buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dtype.h"
#include "race/checker.h"
#include "record.h"
#include "reuse.h"
#include "tensor.h"

/* Counters hold 63 bits: they are kept from running over also when memory is pinned or
 * moves to another device. */
static int64_t all_bytes;

static int64_t *bytes_counter(sl_buffer *buffer)
{
    sl_device_stats *stats = &buffer->device->core->stats;

    if (buffer->place == SL_ON_DEVICE)
        return &stats->device_bytes;
    return buffer->place == SL_PINNED ? &stats->pinned_bytes : &stats->pageable_bytes;
}

/* ---- when memory runs out ------------------------------------------------------ */

typedef struct bytes_text { char text[32]; } bytes_text;

/* "1.5 GiB". */
static const char *format_bytes(int64_t bytes, bytes_text *out)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    int64_t unit = 1024;
    int64_t tenths;
    int at = 0;

    if (bytes < 1024) {
        snprintf(out->text, sizeof out->text, "%lld bytes", (long long)bytes);
        return out->text;
    }
    while (at < 4 && bytes / 1024 >= unit) {
        unit *= 1024;
        at++;
    }
    tenths = (int64_t)((double)bytes / (double)unit * 10 + 0.5);
    snprintf(out->text, sizeof out->text, "%lld.%lld %s", (long long)(tenths / 10),
             (long long)(tenths % 10), units[at]);
    return out->text;
}

/* Room that is left behind the text of an error. */
typedef struct tail { char *at; size_t room; } tail;

static tail tail_of(sl_error *err)
{
    size_t len = strlen(err->msg);

    return (tail){ err->msg + len, sizeof err->msg - len };
}

/* The buffers of that place that are larger than all others, the largest first. */
static int find_largest(const sl_buffer *asking, const sl_buffer **largest, int most)
{
    int n = 0;

    for (const sl_buffer *b = asking->device->core->buffers; b; b = b->next) {
        int at = n;
        if (b->place != asking->place || b->bytes == 0 || b->heir)
            continue;
        while (at > 0 && largest[at - 1]->bytes < b->bytes)
            at--;
        if (at == most)
            continue;
        if (n < most)
            n++;
        for (int i = n - 1; i > at; i--)
            largest[i] = largest[i - 1];
        largest[at] = b;
    }
    return n;
}

/* "16.0 GiB (65536x65536 float32, lab.lua:3)" */
static void add_buffer(const sl_buffer *buffer, sl_error *err)
{
    const char *where = sl__strings_text(&buffer->device->core->strings, buffer->where);
    tail end = tail_of(err);
    sl__shape_text shape;
    bytes_text bytes;

    snprintf(end.at, end.room, "%s (%s %s%s%s)", format_bytes((int64_t)buffer->bytes, &bytes),
             sl__shape_format(&buffer->made_as, &shape), sl_dtype_name(buffer->made_as.dtype),
             where[0] ? ", " : "", where);
}

static void add_largest(const sl_buffer *asking, sl_error *err)
{
    enum { MOST = 3 };
    const sl_buffer *largest[MOST];
    int n = find_largest(asking, largest, MOST);

    for (int i = 0; i < n; i++) {
        tail end = tail_of(err);
        snprintf(end.at, end.room, "%s", i ? ", " : "; the largest: ");
        add_buffer(largest[i], err);
    }
}

/* The backend's sentence, and what holds memory. */
static void add_what_is_live(sl_buffer *buffer, sl_error *err)
{
    const sl_device_stats *stats = &buffer->device->core->stats;
    const char *place = buffer->place == SL_ON_DEVICE ? "on the device" : "of pinned memory";
    bytes_text bytes;
    tail end;

    if (!err)
        return;
    end = tail_of(err);
    snprintf(end.at, end.room, "; live here: %lld tensor%s, %s %s, %lld operation%s in flight",
             (long long)stats->tensors, stats->tensors == 1 ? "" : "s",
             format_bytes(*bytes_counter(buffer), &bytes), place,
             (long long)stats->ops_in_flight, stats->ops_in_flight == 1 ? "" : "s");
    add_largest(buffer, err);
}

/* Operations in flight hold memory that nobody else wants. In the simulator that is so when
 * its GPU is full; its clock must not move for lack of the host's memory. */
static bool waiting_may_help(const sl_buffer *buffer, sl_alloc_how how)
{
    const sl_device *device = buffer->device;
    const sl_device_stats *stats = &device->core->stats;
    bool full = buffer->bytes > (size_t)(device->info.memory_bytes - stats->device_bytes);

    return how == SL_ALLOC_TENSOR && buffer->place == SL_ON_DEVICE && stats->ops_in_flight > 0
           && (full || !device->info.simulated);
}

sl_status sl__buffer_wait_for_device(sl_device *device, sl_error *err)
{
    sl_call call;
    sl_status status;

    sl__call_begin(device, &call, SL_CALL_DEVICE_SYNC);
    status = device->backend->device_synchronize(device, err);
    sl__call_end(device, &call, NULL, status);
    sl__device_reap(device);
    return status;
}

void sl__buffer_relieve(sl_device *device)
{
    sl__device_core *core = device->core;

    if (core->pressure_hook)
        core->pressure_hook(core->pressure_ud);
    device->backend->host_work(device, 0, NULL);    /* so that what has ended is reaped */
    sl__device_reap(device);
}

static sl_status open_counted(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                              sl_error *err)
{
    if (buffer->bytes > (size_t)(INT64_MAX - all_bytes))
        return sl_fail(err, SL_ENOMEM, "%zu bytes, with the %lld that are live, do not fit in 63 "
                       "bits", buffer->bytes, (long long)all_bytes);
    return buffer->device->backend->buffer_open(buffer, how, stream, err);
}

static sl_status open_in_backend(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                                 sl_error *err)
{
    sl_buffer *lender = sl__reuse_borrow(buffer, stream);
    sl_status status = open_counted(buffer, how, stream, err);

    if (lender && (status || !buffer->lender))
        sl__reuse_return(buffer, lender);
    return status;
}

/* The hook may run the host language's collector, whose finalizers release
 * objects; nothing half-built may be in their reach. */
static sl_status open_under_pressure(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream,
                                     sl_error *err)
{
    sl_device *device = buffer->device;
    sl_status status = open_in_backend(buffer, how, stream, err);

    if (status != SL_ENOMEM)
        return status;
    sl__buffer_relieve(device);
    status = open_in_backend(buffer, how, stream, err);
    if (status == SL_ENOMEM && waiting_may_help(buffer, how)) {
        status = sl__buffer_wait_for_device(device, err);
        if (!status)
            status = open_in_backend(buffer, how, stream, err);
    }
    if (status == SL_ENOMEM && buffer->place != SL_PAGEABLE)
        add_what_is_live(buffer, err);
    return status;
}

/* Page-locking is slow, and may be what the GPU waits for: timelines have it as work of the
 * host's. The plain calls note theirs themselves. */
static sl_status open_noted(sl_buffer *buffer, sl_alloc_how how, sl_stream *stream, sl_error *err)
{
    sl_device *device = buffer->device;
    sl_call call;
    sl_status status;

    if (!device->core->recordings || how != SL_ALLOC_TENSOR || buffer->place != SL_PINNED)
        return open_under_pressure(buffer, how, stream, err);
    sl__call_begin(device, &call, SL_CALL_HOST_WORK);
    call.name = sl__strings_intern(&device->core->strings, "pinned allocation");
    status = open_under_pressure(buffer, how, stream, err);
    sl__call_end(device, &call, NULL, status);
    return status;
}

void sl__buffer_count(sl_buffer *buffer, int64_t n_bytes)
{
    *bytes_counter(buffer) += n_bytes;
    all_bytes += n_bytes;
}

/* Among what its device has. */
static void enlist(sl_buffer *buffer)
{
    sl__device_core *core = buffer->device->core;

    buffer->next = core->buffers;
    buffer->link = &core->buffers;
    if (buffer->next)
        buffer->next->link = &buffer->next;
    core->buffers = buffer;
    core->stats.buffers++;
}

static void delist(sl_buffer *buffer)
{
    *buffer->link = buffer->next;
    if (buffer->next)
        buffer->next->link = buffer->link;
    buffer->device->core->stats.buffers--;
}

/* ---- lifecycle -------------------------------------------------------------------- */

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
    buffer->how = (uint8_t)how;
    buffer->home = stream ? stream->id : 0;
    buffer->refs = 1;
    buffer->id = ++device->core->last_buffer_id;
    buffer->where = device->core->where;
    status = open_noted(buffer, how, stream, err);
    if (status) {
        if (device->core->last_buffer_id == buffer->id)
            device->core->last_buffer_id--;
        free(buffer);
        sl_device_release(device);
        return status;
    }
    enlist(buffer);
    sl__buffer_count(buffer, (int64_t)buffer->bytes);
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

    if (!buffer)
        return;
    if (--buffer->refs > 0) {
        if (buffer->refs == buffer->uses)
            sl__reuse_offer(buffer);
        return;
    }
    device = buffer->device;
    sl__race_buffer_closed(buffer);
    delist(buffer);
    sl__buffer_count(buffer, sl_lent_bytes(buffer, buffer->heir) - (int64_t)buffer->bytes);
    sl__reuse_closing(buffer);
    device->backend->buffer_close(buffer);
    sl__reuse_closed(buffer);
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

    delist(buffer);
    sl__buffer_count(buffer, -(int64_t)buffer->bytes);
    buffer->where = sl__strings_intern(&device->core->strings,
                                       sl__strings_text(&old->core->strings, buffer->where));
    buffer->device = sl_device_retain(device);
    enlist(buffer);
    sl__buffer_count(buffer, (int64_t)buffer->bytes);
    sl_device_release(old);
}
