/* kineto_header.c - the members of a trace that are no events.
 *
 * Members that are missing or hold something else than usual are left at 0: they are only
 * printed.
 */
#include "kineto_read.h"

#include <limits.h>
#include <string.h>

#include "../text/utf8.h"
#include "../timeline/thread_names.h"
#include "../timeline/store.h"

/* What a visit of members fills. */
typedef struct header {
    sl__records *records;
    const sl__scan *whole;
    sl_text text; /* decoded last */
    sl_device_info *device;
    sl_stream_note note;
    sl_host_thread thread;
    uint32_t thread_id; /* its number */
    int n_priorities;
    bool says_simulated, lines;
} header;

/* ---- what members hold ----------------------------------------------------------- */

/* 0 for what is no whole number. */
static int64_t clamped(const sl__json_value *value, int64_t least, int64_t greatest)
{
    int64_t number;
    if (!sl__json_whole(value, &number)) number = 0;
    return number < least ? least : number > greatest ? greatest : number;
}

static int small(const sl__json_value *value) { return (int)clamped(value, 0, INT_MAX); }

/* In h->text; "" for what is no text. */
static sl_status decode(header *h, const sl__json_value *value, sl_error *err)
{
    static const sl__json_value none = { "\"\"", 2, SL__JSON_TEXT };
    h->text.len = 0;
    return sl__json_decode(value->type == SL__JSON_TEXT ? value : &none, &h->text, err);
}

/* Whole characters, as many as fit into n - 1 bytes; bytes that are none end it. */
static sl_status copy_text(header *h, const sl__json_value *value, char *to, size_t n,
                           sl_error *err)
{
    sl_status status = decode(h, value, err);
    if (status != SL_OK) return status;
    const char *at = h->text.data;
    size_t length = 0;
    bool good = true;
    while (good && sl__utf8_next(&at, &good) != 0) {
        good = good && (size_t)(at - h->text.data) < n;
        length = good ? (size_t)(at - h->text.data) : length;
    }
    memcpy(to, h->text.data, length);
    memset(to + length, 0, n - length);
    return SL_OK;
}

static sl_status intern(header *h, const sl__json_value *value, uint32_t *id, sl_error *err)
{
    sl_status status = decode(h, value, err);
    return status == SL_OK ? sl_timeline_intern(h->records->timeline, h->text.data, id, err)
                           : status;
}

/* ---- "deviceProperties" --------------------------------------------------------- */

static sl_status take_property(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    header *h = ud;
    sl_device_info *info = h->device;
    if (sl__json_is(key, "id"))
        info->index = small(value);
    else if (sl__json_is(key, "numSms"))
        info->sm_count = small(value);
    else if (sl__json_is(key, "totalGlobalMem"))
        info->memory_bytes = clamped(value, 0, INT64_MAX);
    else if (sl__json_is(key, "computeMajor"))
        info->compute_capability_major = small(value);
    else if (sl__json_is(key, "computeMinor"))
        info->compute_capability_minor = small(value);
    else if (sl__json_is(key, "maxThreadsPerBlock"))
        info->max_threads_per_block = small(value);
    else if (sl__json_is(key, "sharedMemPerBlockOptin"))
        info->max_shared_bytes_per_block = clamped(value, 0, INT64_MAX);
    else if (sl__json_is(key, "name"))
        return copy_text(h, value, info->name, sizeof info->name, err);
    return SL_OK;
}

static sl_status add_device(void *ud, const sl__json_value *key, const sl__json_value *value,
                            sl_error *err)
{
    header *h = ud;
    sl_device_info device = { 0 };
    (void)key;
    h->device = &device;
    sl_status status = sl__json_each(h->whole, value, take_property, h, err);
    return status == SL_OK ? SL__RECORDS_ADD(h->records, devices, &device, err) : status;
}

sl_status sl__header_devices(sl__records *records, const sl__scan *whole,
                             const sl__json_value *value, sl_error *err)
{
    header h = { .records = records, .whole = whole };
    sl_status status = sl__json_each(whole, value, add_device, &h, err);
    sl_text_free(&h.text);
    return status;
}

/* ---- "distributedInfo", "baseTimeNanoseconds" ------------------------------------- */

static sl_status take_rank(void *ud, const sl__json_value *key, const sl__json_value *value,
                           sl_error *err)
{
    sl__records *records = ((header *)ud)->records;
    (void)err;
    if (sl__json_is(key, "rank"))
        records->rank = small(value);
    else if (sl__json_is(key, "world_size"))
        records->ranks = small(value);
    return SL_OK;
}

sl_status sl__header_ranks(sl__records *records, const sl__scan *whole, const sl__json_value *value,
                           sl_error *err)
{
    header h = { .records = records, .whole = whole };
    return sl__json_each(whole, value, take_rank, &h, err);
}

void sl__header_base(sl__records *records, const sl__json_value *value)
{
    records->clock_ns = clamped(value, 0, INT64_MAX / 4);
}

/* ---- "streamlab" ------------------------------------------------------------------ */

static sl_status take_of_note(void *ud, const sl__json_value *key, const sl__json_value *value,
                              sl_error *err)
{
    header *h = ud;
    if (sl__json_is(key, "id"))
        h->note.id = (uint32_t)clamped(value, 0, UINT32_MAX);
    else if (sl__json_is(key, "priority"))
        h->note.priority = (int32_t)clamped(value, INT32_MIN, INT32_MAX);
    else if (sl__json_is(key, "non_blocking"))
        h->note.non_blocking = sl__json_true(value);
    else if (sl__json_is(key, "context"))
        h->note.context = (uint32_t)clamped(value, 0, UINT32_MAX);
    else if (sl__json_is(key, "is_null"))
        h->note.is_null = sl__json_true(value);
    else if (sl__json_is(key, "number"))
        h->note.numbered = sl__json_whole(value, &h->note.number);
    else if (sl__json_is(key, "row_of")) {
        h->note.is_row = true;
        h->note.row_of = (uint32_t)clamped(value, 0, UINT32_MAX);
    } else if (sl__json_is(key, "name"))
        return intern(h, value, &h->note.name, err);
    return SL_OK;
}

static sl_status add_note(void *ud, const sl__json_value *key, const sl__json_value *value,
                          sl_error *err)
{
    header *h = ud;
    (void)key;
    h->note = (sl_stream_note){ 0 };
    sl_status status = sl__json_each(h->whole, value, take_of_note, h, err);
    return status == SL_OK ? SL__RECORDS_ADD(h->records, notes, &h->note, err) : status;
}

static sl_status add_source(void *ud, const sl__json_value *key, const sl__json_value *value,
                            sl_error *err)
{
    header *h = ud;
    uint32_t where;
    sl_status status = intern(h, key, &where, err);
    if (status != SL_OK || !h->lines || where == 0) return status;
    status = decode(h, value, err);
    return status == SL_OK ? sl_timeline_set_source(h->records->timeline, where, h->text.data, err)
                           : status;
}

static sl_status take_of_place(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    header *h = ud;
    sl_device_info *place = &h->records->places[h->records->n_places - 1];
    if (sl__json_is(key, "id")) place->index = small(value);
    if (sl__json_is(key, "profile"))
        return copy_text(h, value, place->profile, sizeof place->profile, err);
    return SL_OK;
}

static sl_status add_place(void *ud, const sl__json_value *key, const sl__json_value *value,
                           sl_error *err)
{
    header *h = ud;
    const sl_device_info none = { 0 };
    (void)key;
    if (h->records->n_places == SL_MOST_DEVICES) return SL_OK;
    sl_status status = SL__RECORDS_ADD(h->records, places, &none, err);
    return status == SL_OK ? sl__json_each(h->whole, value, take_of_place, h, err) : status;
}

static sl_status take_of_thread(void *ud, const sl__json_value *key, const sl__json_value *value,
                                sl_error *err)
{
    header *h = ud;
    if (sl__json_is(key, "id"))
        h->thread_id = (uint32_t)clamped(value, 0, SL_MOST_THREADS - 1);
    else if (sl__json_is(key, "caller"))
        h->thread.caller = (uint32_t)clamped(value, 0, SL_MOST_THREADS - 1);
    else if (sl__json_is(key, "name"))
        return intern(h, value, &h->thread.name, err);
    return SL_OK;
}

static sl_status add_thread(void *ud, const sl__json_value *key, const sl__json_value *value,
                            sl_error *err)
{
    header *h = ud;
    (void)key;
    h->thread = (sl_host_thread){ 0 };
    h->thread_id = 0;
    sl_status status = sl__json_each(h->whole, value, take_of_thread, h, err);
    h->thread.caller = sl__min(h->thread.caller, h->thread_id);
    return status == SL_OK
               ? sl_timeline_set_host_thread(h->records->timeline, h->thread_id, &h->thread, err)
               : status;
}

/* All positions first: the timeline makes room for the lines of as many texts as it has. */
static sl_status add_sources(header *h, const sl__json_value *value, sl_error *err)
{
    if (value->type != SL__JSON_OBJECT) return SL_OK;
    h->lines = false;
    sl_status status = sl__json_each(h->whole, value, add_source, h, err);
    h->lines = true;
    return status == SL_OK ? sl__json_each(h->whole, value, add_source, h, err) : status;
}

static sl_status take_priority(void *ud, const sl__json_value *key, const sl__json_value *value,
                               sl_error *err)
{
    header *h = ud;
    sl_device_info *info = h->device;
    int priority = (int)clamped(value, INT_MIN, INT_MAX);
    (void)key;
    (void)err;
    if (h->n_priorities < 2)
        *(h->n_priorities++ ? &info->priority_greatest : &info->priority_least) = priority;
    return SL_OK;
}

static sl_status take_range(void *ud, const sl__json_value *key, const sl__json_value *value,
                            sl_error *err)
{
    header *h = ud;
    sl_range *range = &h->records->range;
    const bool earlier = sl__json_is(key, "earlier");
    if (sl__json_is(key, "low_ns")) {
        range->low_ns = clamped(value, 0, SL__TIME_LIMIT_NS - 1);
    } else if (sl__json_is(key, "high_ns")) {
        range->high_ns = clamped(value, 0, SL__TIME_LIMIT_NS - 1);
    } else if (sl__json_is(key, "runs")) {
        range->runs = small(value);
    } else if (sl__json_is(key, "swapped")) {
        range->swapped = small(value);
    } else if (earlier || sl__json_is(key, "later")) {
        sl_status status = decode(h, value, err);
        if (status != SL_OK) return status;
        sl_cause *cause = earlier ? &range->earlier : &range->later;
        if (!sl_cause_parse(h->text.data, cause)) *cause = SL_CAUSE_NONE;
    }
    return SL_OK;
}

/* Without both causes nothing can be said about their order. */
static sl_status read_range(header *h, const sl__json_value *value, sl_error *err)
{
    sl_range *range = &h->records->range;
    sl_status status = sl__json_each(h->whole, value, take_range, h, err);
    if (range->earlier == SL_CAUSE_NONE || range->later == SL_CAUSE_NONE) range->swapped = 0;
    return status;
}

static sl_status take_backend(header *h, const sl__json_value *value, sl_error *err)
{
    char *backend = h->records->backend;
    sl_status status = copy_text(h, value, backend, sizeof h->records->backend, err);
    h->device->backend = backend;
    if (!h->says_simulated) /* older files do not */
        h->device->simulated = strcmp(backend, "sim") == 0;
    return status;
}

static sl_status take_own(void *ud, const sl__json_value *key, const sl__json_value *value,
                          sl_error *err)
{
    header *h = ud;
    sl__records *records = h->records;
    if (sl__json_is(key, "backend")) return take_backend(h, value, err);
    if (sl__json_is(key, "profile"))
        return copy_text(h, value, h->device->profile, sizeof h->device->profile, err);
    if (sl__json_is(key, "range")) return read_range(h, value, err);
    if (sl__json_is(key, "sources")) return add_sources(h, value, err);
    if (sl__json_is(key, "priorities"))
        return sl__json_each(h->whole, value, take_priority, h, err);
    if (sl__json_is(key, "devices")) return sl__json_each(h->whole, value, add_place, h, err);
    if (sl__json_is(key, "threads")) return sl__json_each(h->whole, value, add_thread, h, err);
    if (sl__json_is(key, "streams")) {
        records->noted = true;
        return sl__json_each(h->whole, value, add_note, h, err);
    }
    if (sl__json_is(key, "pytorch")) {
        records->pytorch = sl__json_true(value);
    } else if (sl__json_is(key, "ranks")) {
        records->is_joined = sl__json_true(value);
    } else if (sl__json_is(key, "recorded")) {
        records->recorded = sl__json_true(value);
    } else if (sl__json_is(key, "played")) {
        records->is_played = sl__json_true(value);
    } else if (sl__json_is(key, "nsys")) {
        records->nsys = sl__json_true(value);
    } else if (sl__json_is(key, "simulated")) {
        h->says_simulated = true;
        h->device->simulated = sl__json_true(value);
    } else if (sl__json_is(key, "async_engines")) {
        h->device->async_engine_count = small(value);
    } else if (sl__json_is(key, "start_ns")) {
        records->start_ns = clamped(value, -SL__TIME_LIMIT_NS + 1, SL__TIME_LIMIT_NS - 1);
    } else if (sl__json_is(key, "recording_ns")) {
        records->recording_ns = (int32_t)clamped(value, 0, INT32_MAX);
    } else if (sl__json_is(key, "wall_ns")) {
        records->wall_ns = clamped(value, 0, SL__TIME_LIMIT_NS - 1);
    }
    return SL_OK;
}

sl_status sl__header_own(sl__records *records, const sl__scan *whole, const sl__json_value *value,
                         sl_error *err)
{
    header h = { .records = records, .whole = whole, .device = &records->info };
    if (value->type != SL__JSON_OBJECT) return SL_OK;
    records->own = true;
    sl_status status = sl__json_each(whole, value, take_own, &h, err);
    sl_text_free(&h.text);
    return status;
}
