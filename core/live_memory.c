/* live_memory.c - which buffers a device has, how many bytes they are by place, and what the
 * error says of them when memory runs out. */
#include "buffer.h"

#include <stdio.h>
#include <string.h>

#include "device.h"
#include "dtype.h"
#include "tensor.h"

/* Counters hold 63 bits: they are kept from running over also when memory is pinned or
 * moves to another device. */
static int64_t all_bytes;

static int64_t *bytes_counter(sl_buffer *buffer)
{
    sl_device_stats *stats = &buffer->device->core->stats;
    if (buffer->place == SL_ON_DEVICE) return &stats->device_bytes;
    return buffer->place == SL_PINNED ? &stats->pinned_bytes : &stats->pageable_bytes;
}

sl_status sl__buffer_check_total(const sl_buffer *buffer, sl_error *err)
{
    if (buffer->bytes <= (uint64_t)(INT64_MAX - all_bytes)) return SL_OK;
    return sl_fail(err, SL_ENOMEM, "%zu bytes, with the %lld that are live, do not fit in 63 bits",
                   buffer->bytes, (long long)all_bytes);
}

void sl__buffer_count(sl_buffer *buffer, int64_t n_bytes)
{
    *bytes_counter(buffer) += n_bytes;
    all_bytes += n_bytes;
}

void sl__buffer_set_place(sl_buffer *buffer, sl_place place)
{
    *bytes_counter(buffer) -= (int64_t)buffer->bytes;
    buffer->place = (uint8_t)place;
    *bytes_counter(buffer) += (int64_t)buffer->bytes;
}

/* ---- the list ---- */

void sl__buffer_enlist(sl_buffer *buffer)
{
    sl__device_core *core = buffer->device->core;
    SL__PUSH(core->buffers, buffer, next, link);
    core->stats.buffers++;
}

void sl__buffer_delist(sl_buffer *buffer)
{
    SL__UNLINK(buffer, next, link);
    buffer->device->core->stats.buffers--;
}

/* ---- in errors ---- */

typedef struct bytes_text {
    char text[32];
} bytes_text;

/* "1.5 GiB". */
static const char *format_bytes(int64_t bytes, bytes_text *out)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    int64_t unit = 1024;
    int at = 0;
    if (bytes < 1024) {
        snprintf(out->text, sizeof out->text, "%lld bytes", (long long)bytes);
        return out->text;
    }
    while (at < 4 && bytes / 1024 >= unit) {
        unit *= 1024;
        at++;
    }
    int64_t tenths = (int64_t)((double)bytes / (double)unit * 10 + 0.5);
    snprintf(out->text, sizeof out->text, "%lld.%lld %s", (long long)(tenths / 10),
             (long long)(tenths % 10), units[at]);
    return out->text;
}

/* Room that is left behind the text of an error. */
typedef struct tail {
    char *at;
    size_t room;
} tail;

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
        if (b->place != asking->place || b->bytes == 0 || b->heir) continue;
        while (at > 0 && largest[at - 1]->bytes < b->bytes)
            at--;
        if (at == most) continue;
        if (n < most) n++;
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

void sl__buffer_add_live(sl_buffer *buffer, sl_error *err)
{
    const sl_device_stats *stats = &buffer->device->core->stats;
    const char *place = buffer->place == SL_ON_DEVICE ? "on the device" : "of pinned memory";
    bytes_text bytes;
    if (!err) return;
    tail end = tail_of(err);
    snprintf(end.at, end.room, "; live here: %lld tensor%s, %s %s, %lld operation%s in flight",
             (long long)stats->tensors, stats->tensors == 1 ? "" : "s",
             format_bytes(*bytes_counter(buffer), &bytes), place, (long long)stats->ops_in_flight,
             stats->ops_in_flight == 1 ? "" : "s");
    add_largest(buffer, err);
}
