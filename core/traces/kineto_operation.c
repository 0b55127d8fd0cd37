/* kineto_operation.c - the operations of a trace: kernels, copies, memsets and host functions. */
#include "kineto_read.h"

#include <inttypes.h>
#include <string.h>

#include "kineto.h"

/* ---- texts -------------------------------------------------------------------- */

sl_status sl__reader_decode(sl__reader *r, const sl__json_value *value, sl_error *err)
{
    r->text.len = 0;
    return sl__json_decode(value, &r->text, err);
}

sl_status sl__reader_intern(sl__reader *r, const sl__json_value *value, uint32_t *id, sl_error *err)
{
    *id = 0;
    if (value->type != SL__JSON_TEXT)
        return SL_OK;
    sl_status status = sl__reader_decode(r, value, err);
    if (status == SL_OK)
        status = sl_timeline_intern(r->records.timeline, r->text.data, id, err);
    return status;
}

/* ---- operations ----------------------------------------------------------------- */

static bool contains(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        if (strstr(text, *parts))
            return true;
    }
    return false;
}

/* CUPTI's words, and those of AMD's counterpart. Copies within the host and to or from arrays count
 * as copies within the device. */
static sl_span_kind kind_of_copy(const char *name)
{
    static const char *const up[] = { "HtoD", "HostToDevice", "HtoA", NULL };
    static const char *const down[] = { "DtoH", "DeviceToHost", "AtoH", NULL };
    static const char *const across[] = { "PtoP", "PeerToPeer", NULL };
    if (contains(name, up))
        return SL_SPAN_MEMCPY_H2D;
    if (contains(name, down))
        return SL_SPAN_MEMCPY_D2H;
    return contains(name, across) ? SL_SPAN_MEMCPY_P2P : SL_SPAN_MEMCPY_D2D;
}

/* "Pageable -> Device" within a name. */
static uint8_t place_flags(const char *text)
{
    static const char *const places[] = { "Pageable", "Pinned", "Device" };
    static const uint8_t src[] = { SL_SPAN_SRC_PAGEABLE, SL_SPAN_SRC_PINNED, 0 };
    static const uint8_t dst[] = { SL_SPAN_DST_PAGEABLE, SL_SPAN_DST_PINNED, 0 };
    const char *arrow = strstr(text, " -> ");
    uint8_t flags = 0;
    for (size_t i = 0; arrow && i < 3; i++) {
        size_t n = strlen(places[i]);
        if ((size_t)(arrow - text) >= n && strncmp(arrow - n, places[i], n) == 0)
            flags |= src[i];
        if (strncmp(arrow + 4, places[i], n) == 0)
            flags |= dst[i];
    }
    return flags;
}

/* Kind, engine and memory where category and name do not give them, from our own files. */
static sl_status take_own_kind(sl__reader *r, sl_span *span, sl_error *err)
{
    const sl__json_value *kind = &r->event.arg[SL__ARG_KIND];
    const sl__json_value *engine = &r->event.arg[SL__ARG_ENGINE];
    const sl__json_value *memory = &r->event.arg[SL__ARG_MEMORY];
    sl_span_kind named = (sl_span_kind)span->kind;
    sl_engine on;
    sl_status status = SL_OK;
    if (kind->type == SL__JSON_TEXT) {
        status = sl__reader_decode(r, kind, err);
        if (status == SL_OK && sl_span_kind_parse(r->text.data, &named))
            span->kind = (uint8_t)named;
    }
    span->engine = (uint8_t)sl__usual_engine(named);
    if (status == SL_OK && engine->type == SL__JSON_TEXT) {
        status = sl__reader_decode(r, engine, err);
        if (status == SL_OK && sl_engine_parse(r->text.data, &on))
            span->engine = (uint8_t)on;
    }
    if (status == SL_OK && memory->type == SL__JSON_TEXT) {
        status = sl__reader_decode(r, memory, err);
        if (status == SL_OK)
            span->flags = place_flags(r->text.data);
    }
    return status;
}

static sl_status take_kind(sl__reader *r, sl_span *span, sl_error *err)
{
    static const sl_span_kind kinds[] = {
        [SL__CAT_KERNEL] = SL_SPAN_KERNEL, [SL__CAT_MEMSET] = SL_SPAN_MEMSET,
        [SL__CAT_CPU_OP] = SL_SPAN_HOST_FUNC,
    };
    bool copy = r->event.category == SL__CAT_MEMCPY;
    sl_status status = sl__reader_intern(r, &r->event.name, &span->name, err);
    if (status != SL_OK)
        return status;
    const char *name = sl_timeline_text(r->records.timeline, span->name);
    sl_span_kind kind = copy ? kind_of_copy(name) : kinds[r->event.category];
    span->kind = (uint8_t)kind;
    span->engine = (uint8_t)sl__usual_engine(kind);
    if (copy || r->records.own)
        span->flags = place_flags(name);
    return r->records.own ? take_own_kind(r, span, err) : SL_OK;
}

/* Values that no GPU has are left out. */
static sl_status take_resources(const sl__event *event, sl_span *span, sl_error *err)
{
    uint64_t registers = 0, shared_bytes = 0;
    sl_status status = sl__event_count(event, SL__ARG_REGISTERS, &registers, err);
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_SHARED, &shared_bytes, err);
    if (status == SL_OK && registers > 0 && registers <= UINT16_MAX &&
        shared_bytes <= UINT32_MAX) {
        span->registers = (uint16_t)registers;
        span->shared_bytes = (uint32_t)shared_bytes;
    }
    return status;
}

static sl_status take_sizes(sl__reader *r, sl__work *work, sl_error *err)
{
    const sl__event *event = &r->event;
    uint64_t blocks = 0, threads = 0;
    int64_t priority = 0;
    sl_status status = sl__event_count(event, SL__ARG_BYTES, &work->span.bytes, err);
    if (status == SL_OK)
        status = sl__event_product(event, SL__ARG_GRID, UINT32_MAX, &blocks, err);
    if (status == SL_OK)
        status = sl__event_product(event, SL__ARG_BLOCK, UINT16_MAX, &threads, err);
    if (status == SL_OK)
        status = take_resources(event, &work->span, err);
    if (status == SL_OK)
        status = sl__event_whole(event, SL__ARG_PRIORITY, &priority, err);
    if (status == SL_OK)
        status = sl__reader_intern(r, &event->arg[SL__ARG_SYMBOL], &work->span.symbol, err);
    work->span.blocks = (uint32_t)blocks;
    work->span.threads = (uint16_t)threads;
    work->priority = priority < INT32_MIN || priority > INT32_MAX ? 0 : (int32_t)priority;
    return status;
}

static sl_status read_cause(sl__reader *r, sl__arg arg, uint8_t *cause, sl_error *err)
{
    sl_cause found;
    const sl__json_value *value = &r->event.arg[arg];
    sl_status status = value->type == SL__JSON_TEXT ? sl__reader_decode(r, value, err) : SL_OK;
    if (status == SL_OK && value->type == SL__JSON_TEXT && sl_cause_parse(r->text.data, &found))
        *cause = (uint8_t)found;
    return status;
}

sl_status sl__hold_read(sl__reader *r, uint64_t correlation, sl_error *err)
{
    const sl__event *event = &r->event;
    sl__records *records = &r->records;
    if (!records->own || event->arg[SL__ARG_READY].type == SL__JSON_MISSING)
        return SL_OK;
    sl_hold hold = { .correlation = correlation };
    sl_status status = sl__event_time(event, SL__ARG_READY, &hold.ready_ns, err);
    hold.ready_ns += records->start_ns;
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_HELD_BY, &hold.ready_by, err);
    if (status == SL_OK)
        status = sl__event_count(event, SL__ARG_START_BY, &hold.start_by, err);
    if (status == SL_OK)
        status = read_cause(r, SL__ARG_HELD_CAUSE, &hold.ready_cause, err);
    if (status == SL_OK)
        status = read_cause(r, SL__ARG_START_CAUSE, &hold.start_cause, err);
    if (status == SL_OK)
        status = sl__records_reserve((void **)&records->holds, records->n_holds,
                                     &records->cap_holds, sizeof hold, err);
    if (status == SL_OK)
        records->holds[records->n_holds++] = hold;
    return status;
}

/* The stream's number: "stream", or the row if that is a number. */
static sl_status take_stream(sl__reader *r, int64_t *stream, sl_error *err)
{
    const sl__event *event = &r->event;
    sl_status status = SL_OK;
    int64_t number = 0;
    if (event->arg[SL__ARG_STREAM].type != SL__JSON_MISSING)
        status = sl__event_whole(event, SL__ARG_STREAM, &number, err);
    else if (!sl__json_whole(&event->tid, &number))
        number = 0;
    if (status == SL_OK && (number < 0 || number > SL__MAX_STREAM_NUMBER))
        return sl__event_fail(event, err, "it is in stream %" PRId64 ", which cannot be", number);
    *stream = number;
    return status;
}

sl_status sl__device_read(const sl__event *event, int64_t *device, sl_error *err)
{
    *device = 0;
    if (event->arg[SL__ARG_DEVICE].type == SL__JSON_MISSING) {
        if (!sl__json_whole(&event->pid, device))
            *device = 0;
        return SL_OK;
    }
    return sl__event_whole(event, SL__ARG_DEVICE, device, err);
}

static sl_status add_work(sl__reader *r, const sl__work *work, sl_error *err)
{
    sl__records *records = &r->records;
    sl_status status = sl__records_reserve((void **)&records->works, records->n_works,
                                           &records->cap_works, sizeof *work, err);
    if (status == SL_OK)
        records->works[records->n_works++] = *work;
    return status;
}

sl_status sl__work_read(sl__reader *r, sl__work *work, sl_error *err)
{
    sl_span *span = &work->span;
    bool host_func = r->event.category == SL__CAT_CPU_OP;
    sl__arg id = host_func ? SL__ARG_EXTERNAL_ID : SL__ARG_CORRELATION;
    span->host_start_ns = span->host_end_ns = span->start_ns;
    sl_status status = take_kind(r, span, err);
    if (status == SL_OK)
        status = take_sizes(r, work, err);
    if (status == SL_OK)
        status = sl__event_count(&r->event, id, &span->correlation, err);
    if (status == SL_OK && !host_func)
        status = take_stream(r, &work->stream, err);
    if (status == SL_OK && !host_func)
        status = sl__device_read(&r->event, &work->device, err);
    if (status == SL_OK)
        status = sl__hold_read(r, span->correlation, err);
    return status == SL_OK ? add_work(r, work, err) : status;
}
